"""Deadlines: written with the append that causes them, claimed by one at a time."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from shared.eventstore.migrate import open_house
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.store import Append, Appended, Deadline, EventStore
from tests.conftest import Database
from tests.eventstore.appends import ADA, BOB, HOUSE, NOW, a_command, an_event

NOON = NOW.replace(microsecond=0)
SECOND = timedelta(seconds=1)


def due(stream: str, seconds: float = 0, turn: str = "1.bets") -> Deadline:
    """A deadline so many seconds after noon."""
    return Deadline(stream, turn, NOON + seconds * SECOND)


def waiting(
    command_id: str, deadline: Deadline | UnsetType | None, expected: int | None = None
) -> Append:
    """A command of one event at table t that leaves this deadline."""
    append = a_command(command_id, an_event("table-t"), expected=expected)
    return replace(append, deadline=deadline)


FIRST = waiting("first", due("table-t", -1))
OTHER = due("table-t", -2, turn="1.1.1.0.2")
REFUSED = a_command("refused", an_event("table-t", ADA, -1, BOB, 1))
STORIES: dict[str, tuple[Sequence[Append], list[Deadline]]] = {
    "set": ([FIRST], [due("table-t", -1)]),
    "replaced": ([FIRST, waiting("c", OTHER)], [OTHER]),
    "cleared": ([FIRST, waiting("c", None)], []),
    "cleared, then set again": ([FIRST, waiting("c", None), waiting("d", OTHER)], [OTHER]),
    "as it was": ([FIRST, waiting("c", UNSET)], [due("table-t", -1)]),
    "replaced, then as it was": ([FIRST, waiting("c", OTHER), waiting("d", UNSET)], [OTHER]),
    "there never was one": ([waiting("c", None), waiting("d", UNSET)], []),
    "a stale version clears none": ([FIRST, waiting("c", None, expected=7)], [due("table-t", -1)]),
    "missing chips clear none": ([FIRST, replace(REFUSED, deadline=None)], [due("table-t", -1)]),
    "a replay clears none": (
        [waiting("c", None), FIRST, waiting("c", None)],
        [due("table-t", -1)],
    ),
    "of another stream than the event's": (
        [replace(FIRST, events=(an_event("vault-ada"),))],
        [due("table-t", -1)],
    ),
}
ONE_BATCH = {
    name: (appends, then)
    for name, (appends, then) in STORIES.items()
    if len({append.command_id for append in appends}) == len(appends)  # the ids of a batch differ
}


@pytest.mark.parametrize(("appends", "then"), STORIES.values(), ids=STORIES)
async def test_what_a_stream_waits_for(
    store: EventStore, appends: Sequence[Append], then: list[Deadline]
) -> None:
    for append in appends:
        await store.append_batch(HOUSE, [append])

    assert await store.claim_deadlines(HOUSE, NOON, NOON + SECOND) == then


@pytest.mark.parametrize(("appends", "then"), ONE_BATCH.values(), ids=ONE_BATCH)
async def test_the_commands_of_a_batch_decide_one_after_the_other(
    store: EventStore, appends: Sequence[Append], then: list[Deadline]
) -> None:
    await store.append_batch(HOUSE, appends)

    assert await store.claim_deadlines(HOUSE, NOON, NOON + SECOND) == then


async def test_only_what_is_due_is_claimed_the_oldest_first(store: EventStore) -> None:
    seconds = {"table-a": 1, "table-b": -1, "table-c": 0, "table-d": -2, "table-e": -1}
    await waits(store, *(due(stream, at) for stream, at in seconds.items()))

    first = await store.claim_deadlines(HOUSE, NOON, NOON + SECOND, limit=2)
    rest = await store.claim_deadlines(HOUSE, NOON, NOON + SECOND)

    assert [each.stream for each in first] == ["table-d", "table-b"]
    assert [each.stream for each in rest] == ["table-e", "table-c"]


async def test_a_claim_holds_until_it_ends(store: EventStore) -> None:
    await waits(store, due("table-t"))
    lease = 2 * SECOND

    async def claimed(seconds: float) -> int:
        now = NOON + seconds * SECOND
        return len(await store.claim_deadlines(HOUSE, now, now + lease))

    assert [await claimed(s) for s in (-0.001, 0, 0, 1.999, 2, 3.999, 4)] == [0, 1, 0, 0, 1, 0, 1]


async def test_the_houses_in_which_something_is_due(database: Database) -> None:
    for house in ("early", "late", "idle"):
        open_house(database.owner_url, house)
    async with PostgresStore(database.app_url) as store:
        await store.append_batch("early", [FIRST])
        await store.append_batch("late", [waiting("c", due("table-t", 1))])

        assert await store.houses_due(NOON) == ["early"]
        assert await store.houses_due(NOON + SECOND) == ["early", "late"]
        await store.claim_deadlines("early", NOON, NOON + 2 * SECOND)
        assert await store.houses_due(NOON + SECOND) == ["late"]
        assert await store.houses_due(NOON + 2 * SECOND) == ["early", "late"]


async def test_a_new_deadline_is_nobodys_yet(store: EventStore) -> None:
    await waits(store, due("table-t", -1))
    await store.claim_deadlines(HOUSE, NOON, NOON + 9 * SECOND)
    (answer,) = await store.append_batch(HOUSE, [waiting("next", OTHER)])

    assert isinstance(answer, Appended)
    assert await store.claim_deadlines(HOUSE, NOON, NOON + SECOND) == [OTHER]


async def test_an_append_that_changes_nothing_leaves_the_claim(store: EventStore) -> None:
    await waits(store, due("table-t", -1))
    await store.claim_deadlines(HOUSE, NOON, NOON + 9 * SECOND)
    await store.append_batch(HOUSE, [waiting("next", UNSET)])

    assert await store.claim_deadlines(HOUSE, NOON, NOON + SECOND) == []


async def test_of_many_who_claim_at_once_each_gets_others(store: EventStore) -> None:
    streams = [f"table-{n}" for n in range(60)]
    await waits(store, *(due(stream, -1) for stream in streams))

    claims = await asyncio.gather(
        *(store.claim_deadlines(HOUSE, NOON, NOON + SECOND, limit=7) for _ in range(12))
    )
    rest = [each for _ in range(9) for each in await store.claim_deadlines(HOUSE, NOON, NOON, 60)]
    claimed = [each.stream for claim in claims for each in claim]

    assert max(map(len, claims)) <= 7
    assert len(claimed) == len(set(claimed))
    assert {*claimed, *(each.stream for each in rest)} == set(streams)


async def test_a_house_has_its_own(store: EventStore) -> None:
    await waits(store, due("table-t", -1))

    assert await store.claim_deadlines("elsewhere", NOON, NOON + SECOND) == []


async def waits(store: EventStore, *deadlines: Deadline) -> None:
    """A stream with each of these."""
    for deadline in deadlines:
        append = a_command(deadline.stream, an_event(deadline.stream))
        (answer,) = await store.append_batch(HOUSE, [replace(append, deadline=deadline)])
        assert isinstance(answer, Appended)
