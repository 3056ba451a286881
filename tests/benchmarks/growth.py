"""What ten million events in a log change: a young database and a grown one, in turns. It takes
some 10 GB of disk, and a few minutes to grow.

Both begin with the same events of real play. The grown one has them many times over, with all that
an append leaves behind: events, postings, balances, outcomes, heads. Copies have streams, accounts
and command ids of their own; their chain is not computed anew, since nothing here checks the past.
"""

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from statistics import median
from time import perf_counter
from typing import LiteralString

import psycopg
import uvloop
from psycopg import Connection

from services.worker import VIEWS
from shared.eventstore.postgres import PostgresStore
from tests.benchmarks import append, end_to_end, lag, long_game, replay, tables
from tests.benchmarks.measure import Run, in_turns, middle, percentile, ratio
from tests.benchmarks.report import Goal, Part, Row
from tests.benchmarks.servers import HOUSE, Postgres, croupier_database

PLAYED = 100_000
CALLERS, PLAYERS = 32, 64
TABLE, TABLE_EVENTS = "fresh", 1_000
TURNS_OF_LOADS = 20
WANTED = 0.8
YOUNG, GROWN, LAG = "young", "grown", "http with views"


def compare(postgres: Postgres, quick: bool) -> Part:
    """The grown log's rate of everything ÷ the young one's."""
    copies, seconds, repetitions = (9, 2.0, 3) if quick else (99, 4.0, 5)
    with (
        croupier_database(postgres) as young,
        croupier_database(postgres, "bench_grown") as grown,
        end_to_end.croupier_on(young).serve() as serving_young,
        end_to_end.croupier_on(grown).serve() as serving_grown,
    ):
        played = {url: uvloop.run(replay.fill(url, PLAYED)) for url in (young, grown)}
        multiply(grown, copies)
        last = {young: played[young], grown: played[grown] * (1 + copies)}
        served = {young: serving_young, grown: serving_grown}
        sides: dict[str, Callable[[], Run]] = {}
        for age, url in ((YOUNG, young), (GROWN, grown)):
            newest = uvloop.run(write_table(url))
            sides |= {
                f"append, {age}": partial(append.batched, url, CALLERS, seconds, postgres.pid),
                f"http, {age}": partial(end_to_end.load, served[url], postgres, PLAYERS, seconds),
                f"{LAG}, {age}": partial(lagging, url, seconds),
                f"table loads, {age}": partial(loads, url, newest),
                f"replay, {age}": partial(replayed, url, last[url] - played[url], last[url]),
            }
        runs = in_turns(sides, repetitions)
    return Part(f"{last[grown]:,} events in the log", *_judged(runs), "per_second")


def _judged(runs: Mapping[str, list[Run]]) -> tuple[list[Row], list[Goal]]:
    rows: list[Row] = []
    goals = []
    for name, of in runs.items():
        what, _, age = name.partition(", ")
        kept = ratio(of, runs[f"{what}, {YOUNG}"])
        rows.append(
            {
                "side": name,
                "per_second": middle(of, "per_second"),
                "p50_ms": middle(of, "p50_ms"),
                "p99_ms": middle(of, "p99_ms"),
                "wal_bytes": middle(of, "wal_bytes"),
                "ratio_to_young": kept,
            }
        )
        if age == GROWN:
            goals.append(Goal(f"{what} with a grown log ÷ with a young one", kept, WANTED))
    lags = ratio(runs[f"{LAG}, {GROWN}"], runs[f"{LAG}, {YOUNG}"], "p50_ms")
    goals.append(Goal("lag of views with a grown log ÷ with a young one", lags, 1.2, at_most=True))
    return rows, goals


def multiply(url: str, copies: int) -> None:
    """The whole log again and again, a copy in each transaction."""
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("SET synchronous_commit = off")
        about = {"house": HOUSE, "events": position(owner)}
        for copy in range(1, copies + 1):
            with owner.transaction():
                for statement in _COPY:
                    owner.execute(statement, about | {"copy": copy})
        owner.execute("VACUUM ANALYZE")
        owner.execute("CHECKPOINT")


def lagging(url: str, seconds: float) -> Run:
    """Commands a second beside a worker, and how far the views are behind, in ms. They begin at
    the end of the log: what is measured is how they keep up, not how they catch up."""
    with psycopg.connect(url) as owner:
        owner.execute(_CAUGHT_UP, {"house": HOUSE, "names": [view.name for view in VIEWS]})
        end = position(owner)
    with end_to_end.croupier_on(url, "--work").serve() as served:
        visit, views, _ = uvloop.run(lag.watch(served, url, seconds, end))
    return Run(visit.per_second, p50_ms=percentile(views, 0.5), p99_ms=percentile(views, 0.99))


def position(owner: Connection) -> int:
    """Where the log ends."""
    [(end,)] = owner.execute("SELECT position FROM log_head WHERE house = %s", (HOUSE,)).fetchall()
    return int(end)


async def write_table(url: str) -> int:
    """A table at the end of the log; its newest version."""
    async with PostgresStore(url) as store:
        return await long_game.write(store, TABLE, TABLE_EVENTS)


def loads(url: str, newest: int) -> Run:
    """Loads of the table at the end of the log, one after the other."""

    async def run() -> list[float]:
        async with PostgresStore(url) as store:
            chance, took = Random(21), list[float]()
            for _ in range(TURNS_OF_LOADS):
                took += await tables.load_some(store, TABLE, newest, chance)
            return took

    took = uvloop.run(run())
    return Run(1000 / median(took), p50_ms=median(took), p99_ms=percentile(took, 0.99))


def replayed(url: str, after: int, until: int) -> Run:
    """Events a second of a part of the log, folded into balances."""
    begin = perf_counter()
    uvloop.run(replay.balances(url, after, until))
    return Run((until - after) / (perf_counter() - begin))


_CAUGHT_UP: LiteralString = """
    INSERT INTO projection_checkpoint (house, name, generation, position, holder, held_until)
    SELECT house, unnest(%(names)s::text[]), 1, position, '', '-infinity'
      FROM log_head WHERE house = %(house)s
    ON CONFLICT (house, name) DO UPDATE SET position = excluded.position"""

_COPY: tuple[LiteralString, ...] = (
    """
    INSERT INTO event_log (house, position, stream, version, type, schema_version, command_id,
                           envelope, leaf, chain)
    SELECT house, position + %(copy)s * %(events)s, stream || '-' || %(copy)s, version, type,
           schema_version, command_id || '-' || %(copy)s, envelope, leaf, chain
      FROM event_log WHERE house = %(house)s AND position <= %(events)s ORDER BY position""",
    """
    INSERT INTO posting (house, position, line, account, amount, balance_after)
    SELECT house, position + %(copy)s * %(events)s, line, %(copy)s || '/' || account, amount,
           balance_after
      FROM posting WHERE house = %(house)s AND position <= %(events)s ORDER BY position""",
    """
    INSERT INTO account (house, account, balance)
    SELECT house, %(copy)s || '/' || account, balance
      FROM account WHERE house = %(house)s AND account !~ '^[0-9]'""",
    """
    INSERT INTO stream_head (house, stream, version)
    SELECT house, stream || '-' || %(copy)s, version
      FROM stream_head WHERE house = %(house)s AND stream !~ '-[0-9]+-[0-9]+$'""",
    """
    INSERT INTO command_outcome (house, command_id, request_hash, stream, version, first_position,
                                 last_position)
    SELECT house, command_id || '-' || %(copy)s, request_hash, stream || '-' || %(copy)s, version,
           first_position + %(copy)s * %(events)s, last_position + %(copy)s * %(events)s
      FROM command_outcome WHERE house = %(house)s AND last_position <= %(events)s""",
    """
    UPDATE log_head SET position = position + %(events)s WHERE house = %(house)s""",
)
