"""How a comparison is made: in turns, so that a slow minute of the machine hits all sides alike."""

import os
from collections.abc import Callable, Mapping, Sequence
from math import nan
from pathlib import Path
from statistics import median
from typing import TypeVar

import psycopg
from msgspec import Struct

T = TypeVar("T")

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class Run(Struct, frozen=True):
    """One repetition of one side. CPU times are microseconds a command, as WAL bytes are bytes a
    command; None: not known."""

    per_second: float
    cpu_us: float | None = None
    postgres_cpu_us: float | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    wal_bytes: float | None = None

    @property
    def all_cpu_us(self) -> float:
        """The CPU time of client and Postgres; NaN where it is not known."""
        if self.cpu_us is None or self.postgres_cpu_us is None:
            return nan
        return self.cpu_us + self.postgres_cpu_us


def in_turns(sides: Mapping[str, Callable[[], T]], repetitions: int) -> dict[str, list[T]]:
    """Every side once a repetition; every second repetition in the opposite order."""
    results: dict[str, list[T]] = {name: [] for name in sides}
    for repetition in range(repetitions):
        names = list(sides)
        for name in names if repetition % 2 == 0 else reversed(names):
            results[name].append(sides[name]())
    return results


def ratio(ours: Sequence[Run], theirs: Sequence[Run], figure: str = "per_second") -> float:
    """The median of the ratios of each repetition: drift between repetitions cancels out."""
    pairs = zip(ours, theirs, strict=True)
    return median(getattr(a, figure) / getattr(b, figure) for a, b in pairs)


def middle(runs: Sequence[Run], figure: str) -> float | None:
    """The median of one figure over all repetitions; None where it is not known."""
    known = [value for run in runs if (value := getattr(run, figure)) is not None]
    return median(known) if known else None


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` (0 to 1) of all values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Meter:
    """CPU time from now on: of a client and of Postgres, where that is a process of this machine.

    The client is this process, with the programs it has waited for, unless another is named.
    With the URL of a database the bytes of write-ahead log are counted too.
    """

    def __init__(
        self, postgres: int | None, client: int | None = None, *, wal_of: str | None = None
    ) -> None:
        self._postgres, self._client, self._url = postgres, client, wal_of
        self._wal_before = wal_position(wal_of) if wal_of else 0
        self._before = self._seconds()

    def run(self, commands: int, per_second: float, **latencies: float) -> Run:
        """What was measured since, over so many commands."""
        client, postgres = (
            None if before is None or after is None else 1e6 * (after - before) / commands
            for before, after in zip(self._before, self._seconds(), strict=True)
        )
        wal = (wal_position(self._url) - self._wal_before) / commands if self._url else None
        return Run(per_second, client, postgres, wal_bytes=wal, **latencies)

    def _seconds(self) -> tuple[float | None, float | None]:
        client = sum(os.times()[:4]) if self._client is None else cpu_seconds(self._client)
        return client, None if self._postgres is None else cpu_seconds(self._postgres)


def wal_position(url: str) -> int:
    """The bytes of write-ahead log that the server has ever written."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn").fetchone()
    assert row
    return int(row[0])


def cpu_seconds(pid: int) -> float | None:
    """User and system time of a process and its children, those that have ended included.

    Children are followed one level deep: Postgres keeps all of its processes there. None where
    there is no /proc to read it from.
    """
    own = _stat(pid)
    if not own:
        return None
    ticks = [*own[11:15], *(tick for child in children(pid) for tick in _stat(child)[11:13])]
    return sum(map(int, ticks)) / TICKS_A_SECOND


def children(pid: int) -> list[int]:
    """The processes that a process has started and that live."""
    everybody = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [each for each in everybody if _stat(each)[1:2] == [str(pid)]]


def _stat(pid: str | int) -> list[str]:
    """The fields after the name: state, parent, …; empty when the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []
