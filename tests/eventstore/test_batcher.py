"""Many callers, one connection: who is answered what, also when something breaks."""

import asyncio
import secrets
from collections.abc import Sequence

import psycopg
import pytest

from shared.eventstore.batcher import Batcher
from shared.eventstore.chain import verify_chain
from shared.eventstore.memory import MemoryStore
from shared.eventstore.migrate import open_house
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.rejections import (
    InsufficientChips,
    KeyReused,
    Overloaded,
    Unreachable,
    VersionConflict,
)
from shared.eventstore.store import Append, Appended, EventStore, HouseNotOpen
from shared.kernel.rejected import Rejected
from tests.conftest import Database, Mortal
from tests.eventstore.appends import ADA, BOB, HOUSE, a_command, a_grant, an_event

KILL = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE query LIKE 'SELECT append_batch%' AND datname = current_database()"""


class Watched(MemoryStore):
    """A store in memory that tells of every batch, may be held, and breaks on demand."""

    def __init__(self, *houses: str) -> None:
        super().__init__(*houses)
        self.batches: list[tuple[str, list[str]]] = []
        self.faults: list[Exception | None] = []
        self.answers_get_lost = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def append_batch(
        self, house: str, appends: Sequence[Append]
    ) -> list[Appended | Rejected]:
        self.batches.append((house, [append.command_id for append in appends]))
        await self.gate.wait()
        if any(append.command_id == "poison" for append in appends):
            raise RuntimeError("poison")
        fault = self.faults.pop(0) if self.faults else None
        if fault and not self.answers_get_lost:
            raise fault
        answers = await super().append_batch(house, appends)
        if fault:
            raise fault
        return answers


async def test_what_comes_in_during_a_flush_goes_into_the_next() -> None:
    store = Watched(HOUSE)
    async with Batcher(store, most_in_a_batch=3) as batcher:
        store.gate.clear()
        callers = [
            asyncio.create_task(batcher.append(HOUSE, on(f"table-{n}", n))) for n in range(6)
        ]
        await until_sent(store, 1)
        callers += [
            asyncio.create_task(batcher.append(HOUSE, on(f"table-{n}", n))) for n in range(6, 8)
        ]
        await asyncio.sleep(0)
        store.gate.set()
        answers = await asyncio.gather(*callers)

    assert [ids for _, ids in store.batches] == [["0", "1", "2"], ["3", "4", "5"], ["6", "7"]]
    assert [answer.first_position for answer in answers] == list(range(1, 9))


async def test_houses_take_turns() -> None:
    store = Watched("east", "west")
    async with Batcher(store, most_in_a_batch=2) as batcher:
        await asyncio.gather(
            *(batcher.append("east", on("table-1", n)) for n in range(5)),
            *(batcher.append("west", on("table-1", n)) for n in range(2)),
        )

    assert [house for house, _ in store.batches] == ["east", "west", "east", "east"]


async def test_commands_of_one_stream_keep_their_order(store: EventStore) -> None:
    async with Batcher(store, most_in_a_batch=7) as batcher:
        answers = await asyncio.gather(
            *(batcher.append(HOUSE, on("table-1", n, expected=n)) for n in range(50))
        )

    assert [answer.version for answer in answers] == list(range(1, 51))


async def test_the_same_key_five_times_at_once_is_one_event_and_five_equal_answers(
    store: EventStore,
) -> None:
    async with Batcher(store) as batcher:
        answers = await asyncio.gather(
            *(batcher.append(HOUSE, on("table-1", 1, expected=0)) for _ in range(5))
        )

    assert {(a.stream, a.first_position, a.last_position, a.version) for a in answers} == {
        ("table-1", 1, 1, 1)
    }
    assert [answer.replayed for answer in answers] == [False, True, True, True, True]
    assert len(await store.read_log(HOUSE)) == 1


async def test_each_caller_hears_its_own_refusal(store: EventStore) -> None:
    await store.append_batch(HOUSE, [a_grant("grant", ADA, 10)])
    async with Batcher(store) as batcher:
        answers = await asyncio.gather(
            batcher.append(HOUSE, on("table-1", 1, expected=4)),
            batcher.append(HOUSE, a_command("c", an_event("table-2", ADA, -11, BOB, 11))),
            batcher.append(HOUSE, on("table-3", 3)),
            batcher.append(HOUSE, a_command("grant", an_event("table-4"), body=b"other")),
            return_exceptions=True,
        )

    assert list(map(type, answers)) == [VersionConflict, InsufficientChips, Appended, KeyReused]


async def test_of_a_hundred_debits_of_60_percent_exactly_one_is_accepted(store: EventStore) -> None:
    await store.append_batch(HOUSE, [a_grant("grant", ADA, 100)])
    debits = [a_command(f"{n}", an_event(f"table-{n}", ADA, -60, BOB, 60)) for n in range(100)]
    async with Batcher(store, most_in_a_batch=16) as batcher:
        answers = await asyncio.gather(
            *(batcher.append(HOUSE, debit) for debit in debits), return_exceptions=True
        )

    kinds = [type(answer) for answer in answers]
    assert (kinds.count(Appended), kinds.count(InsufficientChips)) == (1, 99)
    assert [await store.balance(HOUSE, account) for account in (ADA, BOB)] == [40, 60]


async def test_a_poisonous_command_fails_alone() -> None:
    store = Watched(HOUSE)
    async with Batcher(store) as batcher:
        first, poison, last = await asyncio.gather(
            batcher.append(HOUSE, on("table-1", 1)),
            batcher.append(HOUSE, a_command("poison", an_event("table-2"))),
            batcher.append(HOUSE, on("table-3", 3)),
            return_exceptions=True,
        )

    assert (first, last) == (Appended("table-1", 1, 1, 1), Appended("table-3", 2, 2, 1))
    assert isinstance(poison, RuntimeError)


async def test_what_postgres_cannot_store_fails_alone(postgres: PostgresStore) -> None:
    async with Batcher(postgres) as batcher:
        first, *poison, last = await asyncio.gather(
            batcher.append(HOUSE, on("table-1", 1)),
            batcher.append(HOUSE, on("a NUL \0", 2)),
            batcher.append(HOUSE, a_command("a lone surrogate \ud800", an_event("t"))),
            batcher.append(HOUSE, on("beyond an index: " + secrets.token_hex(5000), 4)),
            batcher.append(HOUSE, a_command("5", an_event("t", "a", 2**63, "b", -(2**63)))),
            batcher.append(HOUSE, a_command("6", an_event("t", "a", 2**62, "b", -(2**62)))),
            batcher.append(HOUSE, a_command("7", an_event("t", "a", 2**62, "b", -(2**62)))),
            batcher.append(HOUSE, on("table-3", 8)),
            return_exceptions=True,
        )

    assert (first, last) == (Appended("table-1", 1, 1, 1), Appended("table-3", 3, 3, 1))
    fine = poison.pop(4)
    assert isinstance(fine, Appended)
    assert all(isinstance(answer, Exception) for answer in poison)
    assert not any(isinstance(answer, Unreachable) for answer in poison)


async def test_a_house_that_is_not_open_is_said_to_all(store: EventStore) -> None:
    async with Batcher(store) as batcher:
        answers = await asyncio.gather(
            *(batcher.append("elsewhere", on("t", n)) for n in range(3)), return_exceptions=True
        )

    assert list(map(type, answers)) == [HouseNotOpen] * 3


async def test_an_answer_lost_on_its_way_is_asked_for_again() -> None:
    store = Watched(HOUSE)
    store.faults, store.answers_get_lost = [Unreachable("gone"), Unreachable("gone")], True
    async with Batcher(store, pauses=(0, 0)) as batcher:
        answer = await batcher.append(HOUSE, on("table-1", 1))

    assert (answer.first_position, answer.version) == (1, 1)
    assert len(await store.read_log(HOUSE)) == 1
    assert [ids for _, ids in store.batches] == [["1"]] * 3


async def test_a_store_that_stays_away_is_given_up_and_asked_again_by_the_next() -> None:
    store = Watched(HOUSE)
    store.faults = [Unreachable("gone")] * 3
    async with Batcher(store, pauses=(0, 0)) as batcher:
        with pytest.raises(Unreachable):
            await batcher.append(HOUSE, on("table-1", 1))
        assert (await batcher.append(HOUSE, on("table-1", 1))).version == 1


async def test_a_killed_connection_loses_nothing_and_doubles_nothing(
    postgres: PostgresStore, database: Database
) -> None:
    answers: list[Appended] = []
    killed = asyncio.Event()

    async def append() -> None:
        """However fast that is, it goes on until enough connections were killed."""
        while not killed.is_set():
            numbers = range(len(answers), len(answers) + 20)
            calls = (batcher.append(HOUSE, on(f"table-{n % 20}", n)) for n in numbers)
            answers.extend(await asyncio.gather(*calls))

    async def kill(connections: int) -> None:
        admin = await psycopg.AsyncConnection.connect(database.owner_url, autocommit=True)
        async with admin:
            while connections > 0:
                connections -= (await admin.execute(KILL)).rowcount
                await asyncio.sleep(0.01)
        killed.set()

    async with (
        Batcher(postgres, most_in_a_batch=5, patience=60, pauses=(0,) * 20) as batcher,
        asyncio.TaskGroup() as both,
    ):
        both.create_task(append())
        both.create_task(kill(5))

    log = await postgres.read_log(HOUSE)
    assert sorted(answer.first_position for answer in answers) == [r.position for r in log]
    assert sorted(int(record.command_id) for record in log) == list(range(len(answers)))
    assert verify_chain(log) == (len(answers), log[-1].chain)


async def test_a_killed_server_loses_nothing_and_doubles_nothing(mortal: Mortal) -> None:
    open_house(mortal.database.owner_url, HOUSE)
    async with (
        PostgresStore(mortal.database.app_url) as store,
        Batcher(store, most_in_a_batch=4, patience=60, pauses=(0.02,) * 500) as batcher,
    ):
        callers = [
            asyncio.create_task(batcher.append(HOUSE, on(f"table-{n % 7}", n))) for n in range(400)
        ]
        await callers[100]
        mortal.kill()
        await asyncio.to_thread(mortal.start)
        answers = await asyncio.gather(*callers)
        log = await store.read_log(HOUSE)

    assert sorted(answer.first_position for answer in answers) == list(range(1, 401))
    assert {log[a.first_position - 1].command_id: n for n, a in enumerate(answers)} == {
        str(n): n for n in range(400)
    }
    assert verify_chain(log) == (400, log[-1].chain)


async def test_a_cancelled_caller_takes_back_what_still_waits_and_nothing_else() -> None:
    store = Watched(HOUSE)
    async with Batcher(store, most_in_a_batch=2) as batcher:
        store.gate.clear()
        callers = [asyncio.create_task(batcher.append(HOUSE, on("table-1", n))) for n in range(4)]
        await until_sent(store, 1)
        callers[0].cancel()
        callers[3].cancel()
        await asyncio.sleep(0)
        store.gate.set()
        answers = await asyncio.gather(*callers, return_exceptions=True)

    assert [type(answer) for answer in answers] == [
        asyncio.CancelledError,
        Appended,
        Appended,
        asyncio.CancelledError,
    ]
    assert [record.command_id for record in await store.read_log(HOUSE)] == ["0", "1", "2"]


async def test_a_full_queue_says_when_to_come_back() -> None:
    store = Watched(HOUSE)
    async with Batcher(store, most_in_a_batch=1, most_waiting=2) as batcher:
        store.gate.clear()
        first = asyncio.create_task(batcher.append(HOUSE, on("table-1", 0)))
        await until_sent(store, 1)
        waiting = [asyncio.create_task(batcher.append(HOUSE, on("table-1", n))) for n in (1, 2)]
        await asyncio.sleep(0)

        with pytest.raises(Overloaded) as refused:
            await batcher.append(HOUSE, on("table-1", 3))

        store.gate.set()
        await asyncio.gather(first, *waiting)
    assert refused.value.facts == {"retry_after": 1}


async def test_closing_records_what_waits_and_takes_no_more() -> None:
    store = Watched(HOUSE)
    batcher = Batcher(store, most_in_a_batch=1)
    callers = [asyncio.create_task(batcher.append(HOUSE, on("table-1", n))) for n in range(3)]
    await asyncio.sleep(0)

    await batcher.close()

    assert [answer.version for answer in await asyncio.gather(*callers)] == [1, 2, 3]
    with pytest.raises(Overloaded):
        await batcher.append(HOUSE, on("table-1", 4))


async def test_growth_is_announced_after_it_was_recorded() -> None:
    store, announced = Watched(HOUSE), list[tuple[str, int]]()
    async with Batcher(store, on_appended=lambda *growth: announced.append(growth)) as batcher:
        await asyncio.gather(*(batcher.append(HOUSE, on("table-1", n)) for n in range(3)))
        with pytest.raises(VersionConflict):
            await batcher.append(HOUSE, on("table-1", 4, expected=1))
        await batcher.append(HOUSE, on("table-2", 5))
    await asyncio.sleep(0)

    assert announced == [(HOUSE, 3), (HOUSE, 4)]


def on(stream: str, number: int, expected: int | None = None) -> Append:
    return a_command(str(number), an_event(stream), expected=expected)


async def until_sent(store: Watched, batches: int) -> None:
    while len(store.batches) < batches:  # noqa: ASYNC110
        await asyncio.sleep(0)
