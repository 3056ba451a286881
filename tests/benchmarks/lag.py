"""How far behind everybody else is while the service is under full load: the views that a worker
keeps, and somebody who listens to the whole log as server-sent events.

A view's lag is the time since the log's end was where the view stands now; the listener's is from
the time in an event, when its command was decided, to the event's arrival.
"""

import asyncio
import sys
from asyncio.subprocess import PIPE
from bisect import bisect_right
from contextlib import suppress
from datetime import UTC, datetime
from time import perf_counter
from urllib.parse import urlsplit

import msgspec
import psycopg
import uvloop

from tests.benchmarks import end_to_end
from tests.benchmarks.load import Visit
from tests.benchmarks.measure import percentile
from tests.benchmarks.report import Goal, Part, Row
from tests.benchmarks.servers import HOUSE, Postgres
from tests.benchmarks.serving import Served

LOOK_SECONDS = 0.02
PLAYERS = 64
WANTED_P99_MS = 1000.0

POSITIONS = """SELECT (SELECT position FROM log_head WHERE house = %(house)s),
                      (SELECT min(position) FROM projection_checkpoint WHERE house = %(house)s)"""


class Told(msgspec.Struct):
    """The part of an entry that says when its event happened."""

    event: "Happened"


class Happened(msgspec.Struct):
    time: datetime


read_entry = msgspec.json.Decoder(Told).decode


def measure(postgres: Postgres, quick: bool) -> Part:
    """Lags while 64 players play; of one run, because they are about bounds and not ratios."""
    with end_to_end.croupier(postgres, "--work") as service, service.serve() as served:
        url = service.environment["DATABASE_URL"]
        visit, views, listener = uvloop.run(watch(served, url, 4.0 if quick else 20.0))
    rows: list[Row] = [
        {
            "side": name,
            "p50_ms": percentile(lags, 0.5),
            "p99_ms": percentile(lags, 0.99),
            "max_ms": max(lags),
            "seen": float(len(lags)),
        }
        for name, lags in (("croupier, views", views), ("croupier, event stream", listener))
    ]
    goals = [
        Goal(f"lag of {row['side']}, p99 in ms", float(row["p99_ms"]), WANTED_P99_MS, at_most=True)
        for row in rows
    ]
    text = f"{visit.per_second:,.0f} commands/s, p50 {visit.p50_ms:.1f} ms, p99 {visit.p99_ms:.1f}"
    return Part("lag under load", rows, goals, "p99_ms", text)


async def watch(
    served: Served, url: str, seconds: float, after: int = 0
) -> tuple[Visit, list[float], list[float]]:
    """The visit of the players, the lags of the views and those of a listener, who begins after a
    position, in ms."""
    lags = _lags_of_views(url), _lags_of_stream(served, after)
    tasks = [asyncio.create_task(each) for each in lags]
    command = ["-m", "tests.benchmarks.load", served.url, served.key]
    command += [f"--connections={PLAYERS}", f"--seconds={seconds}"]
    playing = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=PIPE)
    said, _ = await playing.communicate()
    for task in tasks:
        task.cancel()
    views, listener = await asyncio.gather(*tasks)
    return msgspec.json.decode(said, type=Visit), views, listener


async def _lags_of_views(url: str) -> list[float]:
    """Looks every 20 ms until it is cancelled."""
    lags: list[float] = []
    ends, times = [0], [perf_counter()]
    with suppress(asyncio.CancelledError):
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            while True:
                found = await connection.execute(POSITIONS, {"house": HOUSE})
                end, behind = await found.fetchone() or (0, 0)
                now = perf_counter()
                ends.append(end)
                times.append(now)
                reached = bisect_right(ends, behind or 0) - 1
                lags.append(0.0 if behind == end else 1000 * (now - times[reached]))
                await asyncio.sleep(LOOK_SECONDS)
    return lags


async def _lags_of_stream(served: Served, after: int) -> list[float]:
    """Listens to the whole log from a position on, until it is cancelled."""
    lags: list[float] = []
    address = urlsplit(served.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=2**20)
    writer.write(
        f"GET /v1/events/stream HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Authorization: Bearer {served.key}\r\nLast-Event-ID: {after}\r\n\r\n".encode()
    )
    with suppress(asyncio.CancelledError):
        while line := await reader.readline():
            if line.startswith(b"data: "):
                happened = read_entry(line.removeprefix(b"data: ")).event.time
                lags.append(1000 * (datetime.now(UTC) - happened).total_seconds())
    writer.close()
    return lags
