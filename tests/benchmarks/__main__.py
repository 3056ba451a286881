"""How fast is Croupier? Every figure is a comparison within one run on one machine.

**append**: commands a second that the batched append makes durable, for 1, 8, 32 and 128 callers,
beside the *floor*: pgbench running one prepared statement that writes the same rows, at its best
number of clients. That is what Postgres itself can do with one transaction a command; group commit
beats it because many commands share one. Also beside the recorder of `eventsourcing`, and psycopg
with a statement a row; with the bytes of write-ahead log a command.

**http**: the whole service through real HTTP with 64 and 256 players, beside the floor and a naive
service that speaks the same contract and decides with the same rules, but reloads and folds a
table's events for each command and writes a statement a row.

**engine**: one-seat rounds a second through `decide` and `evolve`, beside two blackjack packages
that play the same cards with the same strategy; then with a fresh shoe for every round.

**odds**: how long it takes to solve each published game exactly, with both ways to play.

**replay**: a million events read and folded into balances, beside psycopg's default cursor and
json.

**verify**: an export judged by two processes, its hashes alone and with every command decided
again, beside json.loads over the same lines; and the memory it takes, over ten times the events.

**load**: how long it takes to load a table, with a thousand events behind it and with a million.

**memory**: what a process with ten thousand open tables weighs.

**watching**: what it costs a request to be measured, and to be told in a line of the log.

**lag**: how far the views and a listener are behind while the service is under full load.

**growth**: appends, http, views, loads and replay on a log of ten million events, beside a young
one. Only when it is named: it wants some 10 GB of disk.

**verify-memory**: what verification holds at a hundred thousand, a million and ten million events.
Only when it is named: it wants 8 GB of disk, and half an hour.

Why fair: the sides take turns within one run, in alternating order, and a ratio is the median of
the ratios of each repetition; Postgres runs with fsync and its default durability; where the work
differs, the others do less. Rates drift with the machine, ratios and CPU times do not: compare
those. `--profile` adds a tree of where the serving process spends its time.

    make bench                                       all but the two that have to be named
    python -m tests.benchmarks append --quick        one part, a first impression
    python -m tests.benchmarks http --profile        with a profile of the serving process
    python -m tests.benchmarks --output DIRECTORY    where RESULTS.md and its plots go

`tests/benchmarks/measured` is a run of everything: whoever changes what is hot writes it anew.

DATABASE_URL measures against your own Postgres, as an owner who may create databases.
"""

import argparse
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from tests.benchmarks import (
    append,
    end_to_end,
    engine,
    growth,
    lag,
    odds,
    replay,
    tables,
    verify,
    watching,
)
from tests.benchmarks.report import Part, Report, machine, show
from tests.benchmarks.servers import Postgres, postgres

PARTS: dict[str, Callable[[Postgres, bool], Part]] = {
    "append": append.compare,
    "http": end_to_end.compare,
    "engine": lambda _, quick: engine.compare(quick),
    "odds": lambda _, quick: odds.measure(quick),
    "replay": replay.compare,
    "verify": lambda _, quick: verify.compare(quick),
    "load": tables.loads,
    "memory": tables.memory,
    "watching": lambda _, quick: watching.measure(quick),
    "lag": lag.measure,
    "growth": growth.compare,
    "verify-memory": lambda _, quick: verify.memory(quick),
}
WHEN_ASKED = {"growth", "verify-memory"}
"""Left out of a run of everything, for what they ask of the disk and of your time."""


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m tests.benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="a short run: a first impression")
    parser.add_argument("--profile", action="store_true", help="profile Croupier's http process")
    parser.add_argument(
        "--output", type=Path, default=Path("bench"), help="the directory for the report"
    )
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"{', '.join(sorted(unknown))}: choose from {', '.join(PARTS)}")
    report = measure(
        options.parts or [part for part in PARTS if part not in WHEN_ASKED],
        options.quick,
        options.profile,
    )
    show(report)
    report.write(options.output)
    print(f"{options.output}/RESULTS.md has it all, with plots.")


def measure(names: list[str], quick: bool, profile: bool) -> Report:
    """Run the named parts, one after the other."""
    command = " ".join(["python -m tests.benchmarks", *names, *(["--quick"] if quick else [])])
    with ExitStack() as stack:
        server = stack.enter_context(postgres())
        about = machine() | {"postgres": server.version} | server.settings
        parts = [PARTS[name](server, quick) for name in names]
        if profile:
            parts.append(end_to_end.profile(server, quick))
    return Report(command, datetime.now(UTC).date().isoformat(), about, parts)


if __name__ == "__main__":
    main()
