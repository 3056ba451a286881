"""The append alone: Croupier's batches beside pgbench's floor and a naive psycopg client.

Every side writes the same for a command: three events, two postings, two balances, the stream's
head, the command's outcome, durably before the caller goes on. Callers are concurrent and each
waits for its own answer; Croupier's and the naive client's are one Python process on one core.
The naive client keeps no stream heads; pgbench checks nothing.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from time import perf_counter
from typing import TypeAlias

import uvloop
from psycopg_pool import AsyncConnectionPool

from services.blackjack.domain.events import CardDealt
from shared.eventstore.batcher import Batcher
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.store import Append, NewEvent
from shared.kernel.chips import Posting, bank, stack
from tests.benchmarks import floor, naive_store
from tests.benchmarks.measure import Meter, Run, in_turns, percentile, ratio
from tests.benchmarks.report import Goal, Part, row
from tests.benchmarks.servers import HOUSE, Postgres, croupier_database, naive_database

CALLERS = (1, 8, 32, 128)
NAIVE_CALLERS = 32
WANTED = {32: 1.25, 128: 2.2}
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
        croupier_database(postgres) as croupier_url,
        naive_database(postgres) as naive_url,
    ):
        floor.create(floor_url)
        clients = floor.best_client_count(floor_url, seconds)
        ground = f"floor, pgbench {clients}"
        sides = {ground: partial(floor.run, floor_url, clients, seconds, postgres.pid)}
        for callers in CALLERS:
            run = partial(batched, croupier_url, callers, seconds, postgres.pid)
            sides[f"croupier, {callers}"] = run
        sides[f"naive psycopg, {NAIVE_CALLERS}"] = partial(
            naive, naive_url, NAIVE_CALLERS, seconds, postgres.pid
        )
        runs = in_turns(sides, repetitions)
    rows = [row(name, of, "floor", runs[ground]) for name, of in runs.items()]
    goals = [
        Goal(f"÷ floor, {n} callers", ratio(runs[f"croupier, {n}"], runs[ground]), wanted)
        for n, wanted in WANTED.items()
    ]
    return Part("append", rows, goals)


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
    callers: int, seconds: float, postgres: int | None, make: Callable[[], One]
) -> Run:
    """The callers warmed up, then timed. `make` gives them fresh tables."""
    await hammer(callers, WARM_UP_SECONDS, make())
    one, meter, begin = make(), Meter(postgres), perf_counter()
    took = await hammer(callers, seconds, one)
    milliseconds = [1000 * each for each in took]
    return meter.run(
        len(took),
        len(took) / (perf_counter() - begin),
        p50_ms=percentile(milliseconds, 0.5),
        p99_ms=percentile(milliseconds, 0.99),
    )


def batched(url: str, callers: int, seconds: float, postgres: int | None) -> Run:
    """Croupier's batcher over its Postgres store."""

    async def run() -> Run:
        async with PostgresStore(url) as store, Batcher(store) as batcher:
            return await measured(callers, seconds, postgres, partial(tables_of_batched, batcher))

    return uvloop.run(run())


def tables_of_batched(batcher: Batcher) -> One:
    """Fresh tables where every player wins ten from the bank, loses it again, and so on."""
    run = secrets.token_hex(4)

    async def one(caller: int, number: int) -> None:
        turn, place = divmod(number, TABLES_A_CALLER)
        table = f"{run}-{caller}-{place}"
        events = _events(f"table-{table}", postings(table, turn))
        command = f"{run}.{caller}.{number}"
        await batcher.append(
            HOUSE, Append(command, REQUEST_HASH, f"table-{table}", 3 * turn, events)
        )

    return one


def postings(table: str, turn: int) -> tuple[Posting, ...]:
    """Ten chips from the bank to the player's stack, every second time back."""
    amount = -10 if turn % 2 else 10
    return Posting(stack(table, "ada"), amount), Posting(bank(table), -amount)


def _events(stream: str, lines: tuple[Posting, ...]) -> tuple[NewEvent, ...]:
    first = NewEvent(stream, EVENT_TYPE, 1, ENVELOPE, lines)
    other = NewEvent(stream, EVENT_TYPE, 1, ENVELOPE, ())
    return first, other, other


def naive(url: str, callers: int, seconds: float, postgres: int | None) -> Run:
    """psycopg with a pool, a transaction a command and a statement a row."""

    async def run() -> Run:
        async with AsyncConnectionPool(url, open=False, min_size=16) as pool:
            return await measured(callers, seconds, postgres, partial(tables_of_naive, pool))

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
            for line in postings(table, turn):
                await naive_store.move_chips(connection, command, line)
            await naive_store.remember(connection, command, {"version": 3 * turn + 3})

    return one
