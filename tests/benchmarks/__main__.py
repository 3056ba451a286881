"""How fast is Croupier? Three figures, each a ratio within one run on one machine.

**append**: commands a second that Croupier's batched append makes durable, for 1, 8, 32 and 128
concurrent callers, beside pgbench running one prepared statement that writes the same rows at its
best number of clients. That is what Postgres itself can do with one transaction a command; group
commit beats it because many commands share one. Also beside psycopg with a statement a row.

**http**: the whole service through real HTTP with 64 players, beside a naive service that speaks
the same contract and decides with the same rules, but reloads and folds a table's events for each
command and writes a statement a row. Same server, same load, same kind of process.

**engine**: one-seat rounds a second through `decide` and `evolve`, beside two blackjack packages
that play the same cards with the same strategy.

Why fair: the sides take turns within one run, in alternating order, and a ratio is the median of
the ratios of each repetition; Postgres runs with fsync and its default durability; where the work
differs, the others do less. Rates drift with the machine, ratios and CPU times do not: compare
those. `--profile` adds a tree of where the serving process spends its time.

    make bench                                             everything, some minutes
    python -m tests.benchmarks append --quick              one part, a first impression
    python -m tests.benchmarks http --profile
    python -m tests.benchmarks --output bench.json         the figures for programs

DATABASE_URL measures against your own Postgres, as an owner who may create databases.
"""

import argparse
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks import append, end_to_end, engine
from tests.benchmarks.report import Part, Report, machine, show
from tests.benchmarks.servers import postgres

PARTS = ("append", "http", "engine")


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m tests.benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="a short run: a first impression")
    parser.add_argument("--profile", action="store_true", help="profile Croupier's http process")
    parser.add_argument("--output", type=Path, help="write the report as JSON to this file")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"{', '.join(sorted(unknown))}: choose from {', '.join(PARTS)}")
    report = measure(options.parts or list(PARTS), options.quick, options.profile)
    show(report)
    if options.output:
        report.write(options.output)


def measure(names: list[str], quick: bool, profile: bool) -> Report:
    """Run the named parts, one after the other."""
    about = machine()
    parts: list[Part] = []
    with ExitStack() as stack:
        if "append" in names or "http" in names:
            server = stack.enter_context(postgres())
            about |= {"postgres": server.version} | server.settings
        if "append" in names:
            parts.append(append.compare(server, quick))
        if "http" in names:
            parts.append(end_to_end.compare(server, quick, profile))
        if "engine" in names:
            parts.append(engine.compare(quick))
    return Report(about, parts)


if __name__ == "__main__":
    main()
