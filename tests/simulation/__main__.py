"""The whole system from a seed: players of all kinds, several processes, and whatever breaks.

    make simulate                            from a seed drawn now, for one minute
    make simulate SEED=42 MINUTES=60         from seed 42 on: 42, 43, 44, … for an hour
    python -m tests.simulation --seed=42     the one run of seed 42

A run draws a plan from its seed, plays it until so many commands are answered, sends everybody
home, and judges the log and every answer. A seed that fails is printed with its plan and the
command that plays it again. With `--memory` the world is one thread without chance or clock of its
own, and equal seeds give equal logs, to the last byte; without it there are real processes, a
Postgres, a Valkey and broken connections, and equal seeds give equal plans.
"""

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from random import SystemRandom

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.simulation import timeless
from tests.simulation.desk import Desk
from tests.simulation.memory import MemoryWorld
from tests.simulation.plan import FAULTS, Plan, draw
from tests.simulation.run import simulate
from tests.simulation.servers import SERVER_FAULTS, ServedWorld, Servers, servers

console = Console(highlight=False)


def main() -> None:
    options = _options()
    deadline = time.monotonic() + 60 * options.minutes
    tally: Counter[str] = Counter()
    seed = options.seed
    with nullcontext() if options.memory else servers() as running:
        while True:
            faults = SERVER_FAULTS if running else FAULTS
            tally += _one(draw(seed, options.commands, faults), running)
            if time.monotonic() >= deadline:
                break
            seed += 1
    _summary(tally, seed - options.seed + 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tests.simulation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6))
    parser.add_argument("--minutes", type=float, default=0, help="go on with the next seeds")
    parser.add_argument("--commands", type=int, default=1500, help="in each run")
    parser.add_argument("--memory", action="store_true", help="one thread, exactly repeatable")
    return parser.parse_args()


def _one(plan: Plan, running: Servers | None) -> Counter[str]:
    """One run with its bar; ends the process when it fails."""
    try:
        with _bar(plan) as seen:
            if running:
                run = asyncio.run(simulate(plan, ServedWorld(plan, running), seen))
            else:
                run = timeless.run(simulate(plan, MemoryWorld(plan), seen))
    except Exception:
        console.print_exception(max_frames=5)
        console.print(f"\n[bold red]This should not be.[/] The plan was\n\n{plan}\n")
        again = f"--seed={plan.seed} --commands={plan.commands}{'' if running else ' --memory'}"
        console.print(f"Play it again: python -m tests.simulation {again}", soft_wrap=True)
        sys.exit(1)
    rounds, events = run.tally["rounds"], run.tally["events"]
    told = f"seed {plan.seed}: {rounds} rounds, {events} events, head {run.head}"
    console.print(told, soft_wrap=True)
    return run.tally


@contextmanager
def _bar(plan: Plan) -> Iterator[Callable[[Desk], None]]:
    columns = (TextColumn("seed {task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task(str(plan.seed), total=plan.commands)
        yield lambda desk: progress.update(task, completed=min(desk.answered, plan.commands))


def _summary(tally: Counter[str], runs: int) -> None:
    table = Table("What happened", "How often", title=f"{runs} runs, and nothing wrong")
    table.columns[1].justify = "right"
    for name, count in sorted(tally.items()):
        table.add_row(name, f"{count:,}")
    console.print(table)


if __name__ == "__main__":
    main()
