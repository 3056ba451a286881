"""The append alone: Croupier's batches beside pgbench's floor and a naive psycopg client.

Every side writes the same for a command: three events, two postings, two balances, the stream's
head, the command's outcome, durably before the caller goes on. Callers are concurrent and each
waits for its own answer; Croupier's and the naive client's are one Python process on one core.
The naive client keeps no stream heads; pgbench checks nothing. The recorder of the package
`eventsourcing` writes the events alone.

Two more sides show what hurts others: every command moves chips of one hot account, and a tenth
of the commands come with a stale version first, are refused, and come again (the accepted count).
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from time import perf_counter
from typing import TypeAlias

import uvloop
from msgspec.structs import replace
from psycopg_pool import AsyncConnectionPool

from services.blackjack.domain.events import CardDealt
from shared.eventstore.batcher import Batcher
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.rejections import VersionConflict
from shared.eventstore.store import Append, NewEvent
from shared.kernel.chips import Posting, bank, stack
from tests.benchmarks import floor, naive_store, recorder
from tests.benchmarks.measure import Meter, Run, in_turns, middle, percentile, ratio
from tests.benchmarks.report import Goal, Part, row
from tests.benchmarks.servers import HOUSE, Postgres, croupier_database, naive_database

CALLERS = (1, 8, 32, 128)
NAIVE_CALLERS = 32
WANTED = {8: 0.75, 32: 1.25, 128: 2.2}
WANTED_OF_RECORDER = 8.0
PLAIN_CALLERS = 32
HOT, STALE = f"croupier, {PLAIN_CALLERS}, hot account", f"croupier, {PLAIN_CALLERS}, 10 % stale"
WANTED_OF_PLAIN = {HOT: 0.95, STALE: 0.9}
STALE_EVERY = 10
TABLES_A_CALLER = 50
EVENT_TYPE = "blackjack.card_dealt"
ENVELOPE = b"e" * floor.ENVELOPE_BYTES
REQUEST_HASH = bytes(32)
WARM_UP_SECONDS = 0.5

One: TypeAlias = Callable[[int, int], Awaitable[object]]
"""One append of a caller: which caller, and its how-manieth append, both from 0."""


def compare(postgres: Postgres, quick: bool) -> Part:
    """Commands a second of all sides, in turns."""
    seconds, repetitions = (1.0, 3) if quick else (4.0, 5)
    with (
        postgres.database("bench_floor") as floor_url,
        postgres.database("bench_recorder") as recorder_url,
        naive_database(postgres) as naive_url,
        ExitStack() as databases,
    ):
        floor.create(floor_url)
        clients = floor.best_client_count(floor_url, seconds)
        threads = recorder.best_thread_count(recorder_url, seconds)
        ground, peer = f"floor, pgbench {clients}", f"eventsourcing, {threads} threads"

        def ours(callers: int, **how: bool) -> Callable[[], Run]:
            """On a log of its own: every side writes into what it alone has written."""
            database = croupier_database(postgres, f"bench_{callers}{''.join(how)}")
            url = databases.enter_context(database)
            return partial(batched, url, callers, seconds, postgres.pid, **how)

        sides = {
            ground: partial(floor.run, floor_url, clients, seconds, postgres.pid),
            **{f"croupier, {callers}": ours(callers) for callers in CALLERS},
            HOT: ours(PLAIN_CALLERS, hot=True),
            STALE: ours(PLAIN_CALLERS, stale=True),
            peer: partial(recorder.run, recorder_url, threads, seconds, postgres.pid),
            f"naive psycopg, {NAIVE_CALLERS}": partial(
                naive, naive_url, NAIVE_CALLERS, seconds, postgres.pid
            ),
        }
        runs = in_turns(sides, repetitions)
    rows = [
        row(name, of, floor=runs[ground]) | {"wal_bytes": middle(of, "wal_bytes")}
        for name, of in runs.items()
    ]
    return Part("append, by callers", rows, list(_goals(runs, ground, peer)), "ratio_to_floor")


def _goals(runs: Mapping[str, Sequence[Run]], ground: str, peer: str) -> Iterator[Goal]:
    for callers, wanted in WANTED.items():
        reached = ratio(runs[f"croupier, {callers}"], runs[ground])
        yield Goal(f"append ÷ floor, {callers} callers", reached, wanted)
    reached = ratio(runs[f"croupier, {CALLERS[-1]}"], runs[peer])
    yield Goal("events/s ÷ eventsourcing's recorder at its best", reached, WANTED_OF_RECORDER)
    for name, wanted in WANTED_OF_PLAIN.items():
        reached = ratio(runs[name], runs[f"croupier, {PLAIN_CALLERS}"])
        yield Goal(f"{name} ÷ plain", reached, wanted)


async def hammer(callers: int, seconds: float, one: One) -> list[float]:
    """All callers at once, each with one append after another; how long each took, in seconds."""
    end = perf_counter() + seconds
    took: list[float] = []

    async def call(caller: int) -> None:
        number = 0
        while (begin := perf_counter()) < end:
            await one(caller, number)
            took.append(perf_counter() - begin)
            number += 1

    await asyncio.gather(*map(call, range(callers)))
    return took


async def measured(
    url: str, callers: int, seconds: float, postgres: int | None, make: Callable[[], One]
) -> Run:
    """The callers warmed up, then timed. `make` gives them fresh tables."""
    await hammer(callers, WARM_UP_SECONDS, make())
    one, meter, begin = make(), Meter(postgres, wal_of=url), perf_counter()
    took = await hammer(callers, seconds, one)
    milliseconds = [1000 * each for each in took]
    return meter.run(
        len(took),
        len(took) / (perf_counter() - begin),
        p50_ms=percentile(milliseconds, 0.5),
        p99_ms=percentile(milliseconds, 0.99),
    )


def batched(
    url: str,
    callers: int,
    seconds: float,
    postgres: int | None,
    hot: bool = False,
    stale: bool = False,
) -> Run:
    """Croupier's batcher over its Postgres store."""

    async def run() -> Run:
        async with PostgresStore(url) as store, Batcher(store) as batcher:
            make = partial(tables_of_batched, batcher, hot, stale)
            return await measured(url, callers, seconds, postgres, make)

    return uvloop.run(run())


def tables_of_batched(batcher: Batcher, hot: bool, stale: bool) -> One:
    """Fresh tables where every player wins ten from the bank, loses it again, and so on.

    `hot`: all from the same bank; `stale`: every tenth command takes two tries.
    """
    run = secrets.token_hex(4)

    async def one(caller: int, number: int) -> None:
        turn, place = divmod(number, TABLES_A_CALLER)
        table, command = f"{run}-{caller}-{place}", f"{run}.{caller}.{number}"
        events = _events(f"table-{table}", postings(table, turn, "house" if hot else table))
        append = Append(command, REQUEST_HASH, f"table-{table}", 3 * turn, events)
        if stale and number % STALE_EVERY == 0:
            with suppress(VersionConflict):
                await batcher.append(HOUSE, replace(append, expected_version=3 * turn + 1))
        await batcher.append(HOUSE, append)

    return one


def postings(table: str, turn: int, banker: str) -> tuple[Posting, ...]:
    """Ten chips from the bank to the player's stack, every second time back."""
    amount = -10 if turn % 2 else 10
    return Posting(stack(table, "ada"), amount), Posting(bank(banker), -amount)


def _events(stream: str, lines: tuple[Posting, ...]) -> tuple[NewEvent, ...]:
    first = NewEvent(stream, EVENT_TYPE, 1, ENVELOPE, lines)
    other = NewEvent(stream, EVENT_TYPE, 1, ENVELOPE, ())
    return first, other, other


def naive(url: str, callers: int, seconds: float, postgres: int | None) -> Run:
    """psycopg with a pool, a transaction a command and a statement a row."""

    async def run() -> Run:
        async with AsyncConnectionPool(url, open=False, min_size=16) as pool:
            make = partial(tables_of_naive, pool)
            return await measured(url, callers, seconds, postgres, make)

    return uvloop.run(run())


def tables_of_naive(pool: AsyncConnectionPool) -> One:
    """The same on the tables of the naive service, with the statements of the naive service."""
    run = secrets.token_hex(4)
    event = CardDealt(seat=1, hand=0, card="As")

    async def one(caller: int, number: int) -> None:
        turn, place = divmod(number, TABLES_A_CALLER)
        table, command = f"{run}-{caller}-{place}", f"{run}.{caller}.{number}"
        async with pool.connection() as connection:
            if turn == 0:
                await naive_store.insert_table(connection, table, naive_store.fresh_seed())
            await naive_store.answered(connection, command)
            for version in range(3 * turn + 1, 3 * turn + 4):
                await naive_store.insert_event(connection, table, version, event)
            for line in postings(table, turn, table):
                await naive_store.move_chips(connection, command, line)
            await naive_store.remember(connection, command, {"version": 3 * turn + 3})

    return one
