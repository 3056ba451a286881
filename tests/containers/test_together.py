"""Several containers as one Croupier: they play together, die one after the other, and agree."""

import asyncio

import pytest

from shared.local.process import until
from tests.api.croupier import House
from tests.containers.stack import PART, SERVICES, THOUGHT_SECONDS, WORKERS, Stack
from tests.crash.audit import nothing_is_lost_and_nothing_is_doubled, verified
from tests.crash.load import Load


@pytest.mark.parametrize("ruleset", ["a2g", "coinlounge", "classic", "european"])
def test_a_round_is_played_and_verified(ruleset: str, house: House) -> None:
    house.seat("oak", "ada", ruleset=ruleset)
    house.deal("oak", 20)
    house.finish("oak")

    report = verified(house)

    assert report.rounds == 1
    assert sum(report.balances.values()) == 0


def test_an_auditor_needs_nothing_but_the_image(stack: Stack, house: House) -> None:
    house.seat("oak", "ada", ruleset="european")
    house.deal("oak", 20)
    house.finish("oak")
    export = f"/exports/{house.name}"

    stack.run("export", export, CROUPIER_HOUSE=house.name)

    assert "1 round" in stack.run("verify", export, DATABASE_URL_FILE="", REDIS_URL="")


async def test_each_container_is_killed_in_turn(stack: Stack, house: House) -> None:
    """Two services and two workers at the same tables, on one Postgres and one Valkey."""
    second = stack.processes["api-2"].address
    load = Load(house, addresses=[second], thought_seconds=THOUGHT_SECONDS)
    async with load.running():
        for name in ("postgres", "valkey", *SERVICES, *WORKERS):
            victim = stack.processes[name]
            await load.until_answered(PART)
            await asyncio.to_thread(victim.kill)
            await asyncio.to_thread(victim.start)
        await load.until_answered(PART)

    report = nothing_is_lost_and_nothing_is_doubled(load)
    assert report.rounds >= load.players
    assert load.troubles, "some were cut off, and asked again"
    assert stack.serves()


def test_the_database_restarts_in_the_middle_of_a_round(stack: Stack, house: House) -> None:
    house.seat("oak", "ada", "bob", ruleset="european")
    while (before := house.deal("oak", 20, 20)["table"])["phase"] == "betting":
        pass  # a dealer's natural has ended the round at once

    stack.postgres.restart()
    assert stack.serves()

    assert house.get("/v1/tables/oak") == before
    assert house.finish("oak")["phase"] == "betting"
    assert verified(house).rounds == before["round"]["number"]


def test_of_two_workers_one_says_that_time_is_out(house: House) -> None:
    house.open("oak", "european", host="ada", clock={"action_seconds": 1})
    house.grant("ada", 1000)
    house.do("oak", "sit", seat=1, player="ada", buy_in=400)
    while house.deal("oak", 20)["table"]["phase"] == "betting":
        pass  # a natural has ended the round at once

    assert until(lambda: house.get("/v1/tables/oak")["phase"] == "betting")
    assert verified(house).rounds >= 1


def test_views_are_kept_by_either_worker(house: House) -> None:
    house.seat("oak", "ada", ruleset="european")
    house.deal("oak", 20)
    house.finish("oak")

    listed = house.get("/v1/tables/oak/rounds", wait_for=house.head())

    assert len(listed["data"]) == 1
