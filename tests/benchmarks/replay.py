"""The whole log read again: the balance of every account from the events alone.

Both sides read the same columns of the same pages and fold the postings of each event. Croupier
reads binary rows into slotted structs, the next page while it folds one, and decodes what it needs
in typed JSON; the other side is what one writes first: psycopg's default cursor and json. A third
figure folds whole tables, as a start without any snapshot would.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from itertools import count
from time import perf_counter

import msgspec
import psycopg
import uvloop

from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.table import Table
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.store import Fact
from shared.eventstore.subscription import pages
from shared.kernel.chips import Posting
from tests.benchmarks import long_game
from tests.benchmarks.measure import Meter, Run, in_turns, middle, ratio
from tests.benchmarks.report import Goal, Part, Row
from tests.benchmarks.servers import HOUSE, Postgres, croupier_database

PAGE = 2000
WANTED = 4.0
EVENTS_A_TABLE = 20_000
PLAIN, OURS, TABLES = "psycopg and json, balances", "croupier, balances", "croupier, whole tables"

READ = """SELECT position, stream, version, type, schema_version, envelope
            FROM event_log WHERE house = %s AND position > %s ORDER BY position LIMIT %s"""


class Moved(msgspec.Struct, gc=False):
    """The part of an envelope that the balances are folded from."""

    postings: tuple[Posting, ...]


read_postings = msgspec.json.Decoder(Moved).decode


def compare(postgres: Postgres, quick: bool) -> Part:
    """Events a second of both sides, in turns. They have to find the same balances."""
    events, repetitions = (100_000, 3) if quick else (1_000_000, 5)
    with croupier_database(postgres) as url:
        written = uvloop.run(fill(url, events))
        assert uvloop.run(balances(url)) == uvloop.run(plain_balances(url))
        ways: dict[str, Callable[[], object]] = {
            PLAIN: lambda: uvloop.run(plain_balances(url)),
            OURS: lambda: uvloop.run(balances(url)),
            TABLES: lambda: uvloop.run(tables(url)),
        }
        runs = in_turns(
            {name: partial(timed, way, written, postgres.pid) for name, way in ways.items()},
            repetitions,
        )
    rows: list[Row] = [
        {
            "side": name,
            "events_per_second": middle(of, "per_second"),
            "cpu_us": middle(of, "cpu_us"),
            "postgres_cpu_us": middle(of, "postgres_cpu_us"),
            "ratio_to_psycopg": ratio(of, runs[PLAIN]),
        }
        for name, of in runs.items()
    ]
    reached = ratio(runs[OURS], runs[PLAIN])
    goal = Goal("replay and fold ÷ psycopg's default cursor and json", reached, WANTED)
    return Part(f"replay of {events:,} events", rows, [goal], "events_per_second")


def timed(way: Callable[[], object], events: int, postgres: int | None) -> Run:
    """Events a second of one way through all of them, and the CPU time of each."""
    meter, begin = Meter(postgres), perf_counter()
    way()
    return meter.run(events, events / (perf_counter() - begin))


async def fill(url: str, events: int) -> int:
    """Tables with a long past, one after the other; how many events they have together.

    Postgres knows the table then as it does after some time: else the other side would sort the
    rest of the log for every page.
    """
    written, numbers = 0, count(1)
    async with PostgresStore(url) as store:
        while written < events:
            written += await long_game.write(store, f"long-{next(numbers)}", EVENTS_A_TABLE)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as owner:
        await owner.execute("VACUUM ANALYZE event_log")
    return written


async def balances(url: str, after: int = 0, until: int | None = None) -> Counter[str]:
    """What is on each account, as Croupier reads it; or what a part of the log adds to it."""
    found: Counter[str] = Counter()
    async for page in _pages(url, after, until):
        for record in page:
            for posting in read_postings(record.envelope).postings:
                found[posting.account] += posting.amount
    return found


async def plain_balances(url: str) -> Counter[str]:
    """The same, as one writes it first."""
    found: Counter[str] = Counter()
    position, rows = 0, 1
    async with await psycopg.AsyncConnection.connect(url) as connection:
        while rows:
            cursor = await connection.execute(READ, [HOUSE, position, PAGE])
            rows = cursor.rowcount
            async for position, *_, envelope in cursor:  # noqa: B007
                for account, amount in json.loads(envelope)["postings"]:
                    found[account] += amount
    return found


async def tables(url: str) -> dict[str, Table]:
    """Every table as it is now, without a snapshot."""
    found: dict[str, Table | None] = {}
    async for page in _pages(url):
        for record in page:
            event, at = long_game.CODEC.told(record)
            found[record.stream] = evolve(found.get(record.stream), event, at)
    return {stream: table for stream, table in found.items() if table}


async def _pages(
    url: str, after: int = 0, until: int | None = None
) -> AsyncIterator[Sequence[Fact]]:
    async with PostgresStore(url) as store:
        async for page in pages(partial(store.log_facts, HOUSE), after, until, size=PAGE):
            yield page
