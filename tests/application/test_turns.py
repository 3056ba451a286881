"""Taking turns: one at a time, in order, whoever gives up in between."""

import asyncio

import pytest

from services.blackjack.application.turns import Turns


async def at_the_door(turns: Turns, key: str, name: str, seen: list[str]) -> None:
    await turns.take(key)
    try:
        seen.append(name)
        await asyncio.sleep(0)
        seen.append(name)
    finally:
        turns.give(key)


async def until_all_wait() -> None:
    for _ in range(2):
        await asyncio.sleep(0)


async def test_those_of_one_key_go_one_after_the_other_and_those_of_others_side_by_side() -> None:
    turns, seen = Turns(), list[str]()

    comers = [("oak", "ada"), ("oak", "bob"), ("elm", "cyd"), ("oak", "dan")]
    await asyncio.gather(*(at_the_door(turns, key, name, seen) for key, name in comers))

    assert seen.index("cyd") < seen.index("bob")
    assert [name for name in seen if name != "cyd"] == ["ada", "ada", "bob", "bob", "dan", "dan"]


@pytest.mark.parametrize("handed_on", [False, True], ids=["in the queue", "as its turn comes"])
async def test_who_gives_up_stops_nobody(handed_on: bool) -> None:
    turns, seen = Turns(), list[str]()
    await turns.take("oak")
    leaver = asyncio.create_task(at_the_door(turns, "oak", "leaver", seen))
    patient = asyncio.create_task(at_the_door(turns, "oak", "patient", seen))
    await until_all_wait()

    if handed_on:
        turns.give("oak")
    leaver.cancel()
    if not handed_on:
        await until_all_wait()
        turns.give("oak")
    await asyncio.wait([leaver, patient])

    assert leaver.cancelled()
    assert seen == ["patient", "patient"]
    await asyncio.wait_for(turns.take("oak"), timeout=1)
