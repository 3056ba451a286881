"""An export judged: its hashes alone, and every command decided again.

The reference is what anybody's auditor does at least: reading the same file, line by line, with
json.loads, in one process. Memory is the most that any process of a whole judgement has ever held,
the one that joins what the others found included.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from services.audit.application.engines import local
from services.audit.application.offline import verify_export
from services.blackjack.domain import commands as c
from shared.eventstore.chain import GENESIS
from shared.eventstore.exports import FORMAT, Manifest, Scope, Taking, begun, read_manifest
from shared.eventstore.jsonlines import LinesWriter, opened
from tests.audit.log import Log
from tests.benchmarks.measure import Meter, Run, children, in_turns, middle, ratio
from tests.benchmarks.report import Goal, Part, Row

GROWTH_WANTED = 1.2
PROCESSES = 2
LOOK_AGAIN_SECONDS = 0.1
TABLES_AT_ONCE = 20
ROUNDS_A_TABLE = 500
JSON, HASHES, ALL = "json.loads, one process", "hashes and chain", "every command decided again"
WANTED = {HASHES: 200_000, ALL: 40_000}


def compare(quick: bool) -> Part:
    """Events a second of each, in turns; and memory, over ten times the events."""
    events, repetitions = (50_000, 3) if quick else (1_000_000, 5)
    with TemporaryDirectory() as directory:
        short, long = (Path(directory) / name for name in ("short", "long"))
        make(short, events // 10)
        count = make(long, events)
        ways: dict[str, Callable[[], object]] = {
            JSON: partial(read_with_json, long),
            HASHES: partial(judge, long, hashes_alone=True),
            ALL: partial(judge, long),
        }
        runs = in_turns(
            {name: partial(timed, way, count) for name, way in ways.items()}, repetitions
        )
        growth = memory_mb(long) / memory_mb(short)
    rows: list[Row] = [
        {
            "side": name,
            "events_per_second": middle(of, "per_second"),
            "ratio_to_json.loads": ratio(of, runs[JSON]),
            "cpu_us": middle(of, "cpu_us"),
        }
        for name, of in runs.items()
    ]
    goals = [
        Goal(f"{name}, events a second", middle(runs[name], "per_second") or 0, wanted)
        for name, wanted in WANTED.items()
    ]
    goals += [
        Goal(f"memory at {count:,} events ÷ a tenth of it", growth, GROWTH_WANTED, at_most=True),
    ]
    name = f"verification of {count:,} events by {PROCESSES} processes"
    return Part(name, rows, goals, "events_per_second")


def memory(quick: bool) -> Part:
    """What the processes of a judgement hold, over ten and a hundred times the events."""
    rows: list[Row] = []
    for events in (10_000, 100_000) if quick else (100_000, 1_000_000, 10_000_000):
        with TemporaryDirectory() as directory:
            count = make(Path(directory), events)
            rows.append({"side": f"{count:,} events", "mb": memory_mb(Path(directory))})
    first, *_, last = (float(row["mb"] or 0) for row in rows)
    name = f"memory at {rows[-1]['side']} ÷ at {rows[0]['side']}"
    goals = [Goal(name, last / first, GROWTH_WANTED, at_most=True)]
    return Part("memory of verification", rows, goals, "mb")


def make(directory: Path, events: int) -> int:
    """An export of tables of all games, twenty at a time; how many events it has."""
    manifest = begun(directory, Manifest(FORMAT, "local", "jsonl", Scope(), events))
    taking = Taking(directory, manifest, partial(LinesWriter, directory, "jsonl"), GENESIS)
    log, written, opened_tables = Log(), 0, 0
    while written < events:
        tables = [f"t{opened_tables + n}" for n in range(TABLES_AT_ONCE)]
        opened_tables += TABLES_AT_ONCE
        for number, table in enumerate(tables):
            seat(log, table, ("a2g", "coinlounge", "european")[number % 3])
        for _ in range(ROUNDS_A_TABLE):
            for table in tables:
                log.play_round(table, 20, 20, 20)
            written += take(log, taking)
            if written >= events:
                break
    taking.finish()
    return written


def seat(log: Log, table: str, game: str) -> None:
    """A table with three players, who have chips for a long evening."""
    log.open(table, c.Open(game, host="ada"))
    for number, player in enumerate(("ada", "bob", "cyd"), 1):
        log.grant(player, 100_000)
        log.play(table, c.Sit(number, player, 100_000))


def take(log: Log, taking: Taking) -> int:
    """Moves what was recorded into the export; how many events that were."""
    records, log.records = log.records, []
    first = 0
    for at in range(1, len(records) + 1):
        if at == len(records) or records[at].command_id != records[first].command_id:
            taking.take(records[first:at])
            first = at
    return len(records)


def timed(way: Callable[[], object], events: int) -> Run:
    """Events a second of one way through all of them."""
    meter, begin = Meter(None), perf_counter()
    way()
    return meter.run(events, events / (perf_counter() - begin))


def judge(directory: Path, hashes_alone: bool = False) -> None:
    report = verify_export(directory, engine=local(PROCESSES), hashes_alone=hashes_alone)
    assert report.holds, report.faults[:3]


def read_with_json(directory: Path) -> None:
    for part in read_manifest(directory).parts:
        with opened(directory / part.files[0].path) as lines:
            for line in lines:
                json.loads(line)


JUDGING = """
import sys
from pathlib import Path
from tests.benchmarks.verify import judge
if __name__ == "__main__":
    judge(Path(sys.argv[1]))
"""


def memory_mb(directory: Path) -> float:
    """The most memory that a process of a judgement held: those that judge, and who joins."""
    most = 0
    with subprocess.Popen((sys.executable, "-c", JUDGING, str(directory))) as judging:
        while judging.poll() is None:
            most = max([most, *map(peak_kb, (judging.pid, *children(judging.pid)))])
            sleep(LOOK_AGAIN_SECONDS)
    assert judging.returncode == 0
    return most / 1024


def peak_kb(pid: int) -> int:
    """The most memory that a process has ever held since it runs its program; 0 when it ended.

    Not `ru_maxrss`, in which whoever started it counts too.
    """
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)
