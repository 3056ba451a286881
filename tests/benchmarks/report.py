"""What a run found: tables for people, JSON for programs, and the machine it was found on."""

import os
import platform
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import Struct
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tests.benchmarks.measure import Run, middle, ratio
from tests.benchmarks.plots import bars

Cell: TypeAlias = str | float | None
WIDTH = 124
SHORT = {
    "_per_second": "/s",
    "ratio_to_": "÷ ",
    "postgres_cpu_us": "Postgres µs",
    "cpu_us": "CPU µs",
}

Row: TypeAlias = dict[str, Cell]
"""One side. Keys are the columns, with their units last; None: not known here."""


def row(side: str, runs: Sequence[Run], **references: Sequence[Run]) -> Row:
    """The figures of one side: medians of its repetitions, and its ratio to reference sides."""
    ratios = {f"ratio_to_{name}": ratio(runs, of) for name, of in references.items()}
    return {
        "side": side,
        "commands_per_second": middle(runs, "per_second"),
        **ratios,
        "p50_ms": middle(runs, "p50_ms"),
        "p99_ms": middle(runs, "p99_ms"),
        "cpu_us": middle(runs, "cpu_us"),
        "postgres_cpu_us": middle(runs, "postgres_cpu_us"),
    }


class Goal(Struct, frozen=True):
    """A figure with the least (or, `at_most`, the most) that is wanted of it."""

    name: str
    reached: float
    wanted: float
    at_most: bool = False

    @property
    def is_reached(self) -> bool:
        if self.at_most:
            return self.reached <= self.wanted
        return self.reached >= self.wanted

    @property
    def bound(self) -> str:
        return f"{'≤' if self.at_most else '≥'} {number(self.wanted)}"

    def __str__(self) -> str:
        return f"{self.name}: {number(self.reached)}, goal {self.bound}"


class Part(Struct, frozen=True):
    """One comparison: its sides, the goals it answers, and free text such as a profile.

    `plot` is the column that is drawn, with a line at 1 where that is a ratio.
    """

    name: str
    rows: list[Row]
    goals: list[Goal]
    plot: str
    text: str = ""

    def picture(self) -> str:
        """The plot as SVG."""
        known = [(str(row["side"]), row[self.plot]) for row in self.rows]
        sides = [(side, float(of), number(of)) for side, of in known if isinstance(of, int | float)]
        return bars(self.name, header(self.plot), sides, 1.0 if "ratio" in self.plot else None)


class Report(Struct, frozen=True):
    """All parts of a run, with the command that made it and the machine it ran on."""

    command: str
    day: str
    machine: dict[str, str]
    parts: list[Part]

    def write(self, directory: Path) -> None:
        """`RESULTS.md` for people, with a plot a part; `results.json` for programs."""
        (directory / "plots").mkdir(parents=True, exist_ok=True)
        for part in self.parts:
            (directory / plot_of(part)).write_text(part.picture())
        (directory / "RESULTS.md").write_text("\n".join(self._lines()))
        encoded = msgspec.json.format(msgspec.json.encode(self), indent=2)
        (directory / "results.json").write_bytes(encoded + b"\n")

    def _lines(self) -> Iterator[str]:
        yield "# What was measured\n"
        yield f"`{self.command}`, {self.day}.\n"
        yield " · ".join(f"{name} {value}" for name, value in self.machine.items())
        yield "\n| Goal | reached | wanted | |\n| --- | ---: | ---: | --- |"
        for goal in (goal for part in self.parts for goal in part.goals):
            verdict = "reached" if goal.is_reached else "**missed**"
            yield f"| {goal.name} | {number(goal.reached)} | {goal.bound} | {verdict} |"
        for part in self.parts:
            yield f"\n## {part.name}\n\n![{part.name}]({plot_of(part)})\n"
            yield f"| {' | '.join(map(header, part.rows[0]))} |"
            yield f"|{' --- |' + ' ---: |' * (len(part.rows[0]) - 1)}"
            yield from (f"| {' | '.join(map(cell, row.values()))} |" for row in part.rows)
            if part.text:
                yield f"\n```\n{part.text.strip()}\n```"
        yield ""


def plot_of(part: Part) -> str:
    """Where its plot is, from the directory of the report."""
    return f"plots/{re.sub('[^a-z0-9]+', '-', part.name.lower()).strip('-')}.svg"


def machine() -> dict[str, str]:
    """The cores, CPU, system and Python of this run."""
    return {
        "cores": str(
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        ),
        "cpu": _cpu_model(),
        "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def show(report: Report) -> None:
    """Print everything, in lines of at least `WIDTH` characters: a cut figure is none."""
    console = Console()
    console.width = max(console.width, WIDTH)
    console.print(" · ".join(f"{name} {value}" for name, value in report.machine.items()))
    for part in report.parts:
        console.print(_table(part))
        for goal in part.goals:
            console.print(f"{goal} {'[green]reached' if goal.is_reached else '[red]missed'}")
        if part.text:
            console.print(part.text, markup=False, highlight=False, soft_wrap=True)


def _table(part: Part) -> Table:
    table = Table(title=part.name, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for number, column in enumerate(part.rows[0]):
        table.add_column(header(column), justify="right" if number else "left", no_wrap=True)
    for row in part.rows:
        table.add_row(*map(cell, row.values()))
    return table


def header(column: str) -> str:
    """`commands_per_second` → `commands/s`, `ratio_to_floor` → `÷ floor`, `cpu_us` → `CPU µs`."""
    for long, short in SHORT.items():
        column = column.replace(long, short)
    return column.replace("_", " ")


def cell(value: Cell) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else number(value)


def number(value: float) -> str:
    """At least three digits that mean something: 12,345 · 123 · 12.3 · 1.23."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
