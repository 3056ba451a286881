"""Loading tables: with a short past and a long one, from nothing but the database; and what a
process with ten thousand open tables weighs.

A load has no cache to help it: it reads the newest snapshot at or before one of the table's last
versions, then the events from there on. A table that is played on has any number of events behind
its newest snapshot; the versions that its newest snapshots serve stand for all of these numbers.
"""

import asyncio
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from urllib.parse import urlsplit

import uvloop

from services.blackjack.application.reading import TABLES, table_stream
from shared.eventstore.loader import SNAPSHOT_EVERY, Loader
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.store import NEWEST_SNAPSHOTS
from tests.benchmarks import end_to_end, load, long_game
from tests.benchmarks.measure import children, percentile
from tests.benchmarks.report import Goal, Part, Row
from tests.benchmarks.servers import HOUSE, Postgres, croupier_database
from tests.benchmarks.serving import Served

RECENT = (NEWEST_SNAPSHOTS - 1) * SNAPSHOT_EVERY
LOADS_A_TURN = 50
WANTED_P99_MS, WANTED_GROWTH, WANTED_MIB = 2.0, 1.2, 1024.0
PLAYERS = 64


def loads(postgres: Postgres, quick: bool) -> Part:
    """How long a load takes, by the number of events behind the table; in turns."""
    lengths = (1_000, 10_000, 100_000) if quick else (1_000, 10_000, 100_000, 1_000_000)
    with croupier_database(postgres) as url:
        took = uvloop.run(_load_tables(url, lengths, turns=10 if quick else 60))
    medians = {length: percentile(of, 0.5) for length, of in took.items()}
    rows: list[Row] = [
        {
            "side": f"croupier, {length:,} events",
            "p50_ms": medians[length],
            "p99_ms": percentile(of, 0.99),
            f"ratio_to_{lengths[0]:,}_events": medians[length] / medians[lengths[0]],
        }
        for length, of in took.items()
    ]
    longest = lengths[-1]
    growth = medians[longest] / medians[lengths[0]]
    goals = [
        Goal("table load p99, ms", percentile(took[longest], 0.99), WANTED_P99_MS, at_most=True),
        Goal(f"load with {longest:,} events ÷ with 1,000", growth, WANTED_GROWTH, at_most=True),
    ]
    return Part("loading a table", rows, goals, "p50_ms")


async def _load_tables(url: str, lengths: tuple[int, ...], turns: int) -> Mapping[int, list[float]]:
    chance, took = Random(21), {length: list[float]() for length in lengths}
    async with PostgresStore(url) as store:
        versions = {
            length: await long_game.write(store, f"long-{length}", length) for length in lengths
        }
        for _ in range(turns):
            for length, newest in versions.items():
                took[length] += await load_some(store, f"long-{length}", newest, chance)
    return took


async def load_some(store: PostgresStore, table: str, newest: int, chance: Random) -> list[float]:
    """Some loads of a table at one of its last versions; how long each took, in ms."""
    took = []
    for _ in range(LOADS_A_TURN):
        version = chance.randint(max(1, newest - RECENT), newest)
        loader = Loader(store, long_game.CODEC, TABLES)
        begin = perf_counter()
        await loader.load(HOUSE, table_stream(table), version)
        took.append(1000 * (perf_counter() - begin))
    return took


def memory(postgres: Postgres, quick: bool) -> Part:
    """The resident memory of `croupier serve`, by the number of tables with a round under way."""
    counts = (0, 1_000) if quick else (0, 1_000, 10_000)
    weights: dict[int, float] = {}
    with end_to_end.croupier(postgres) as service, service.serve() as served:
        opened = 0
        for tables in counts:
            uvloop.run(open_tables(served, opened, tables))
            opened = tables
            weights[tables] = resident_mib(served.pid)
    rows: list[Row] = [
        {
            "side": f"croupier, {tables:,} open tables",
            "mib": weight,
            "kib_per_table": 1024 * (weight - weights[0]) / tables if tables else None,
        }
        for tables, weight in weights.items()
    ]
    goal = Goal(
        f"MiB with {counts[-1]:,} open tables", weights[counts[-1]], WANTED_MIB, at_most=True
    )
    return Part("memory", rows, [goal], "mib")


async def open_tables(served: Served, first: int, end: int) -> None:
    """Through HTTP: a table each for the players of these numbers, with chips and a bet on it."""
    await asyncio.gather(
        *(_open_tables(served, range(first + one, end, PLAYERS)) for one in range(PLAYERS))
    )


async def _open_tables(served: Served, numbers: range) -> None:
    address = urlsplit(served.url)
    make = partial(load.Connection, address.netloc, served.key)
    _, connection = await asyncio.get_running_loop().create_connection(
        make, address.hostname, address.port
    )
    for number in numbers:
        name = f"open-{number}"
        path = f"/v1/tables/{name}/commands"
        await connection.request("PUT", f"/v1/tables/{name}", load.OPEN, f"{name}.open")
        grant = f"/v1/players/{name}/grants"
        await connection.request("POST", grant, load.GRANT, f"{name}.grant")
        await connection.request("POST", path, load.START % name.encode(), f"{name}.start")
        await connection.request("POST", path, load.BET % 10, f"{name}.bet")


def resident_mib(pid: int) -> float:
    """The memory that a process and its children hold, in MiB; shared pages count for each."""
    processes = (pid, *children(pid))
    pages = [int(Path(f"/proc/{each}/statm").read_text().split()[1]) for each in processes]
    return sum(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20
