"""What a run found: tables for people, JSON for programs, and the machine it was found on."""

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import Struct
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tests.benchmarks.measure import Run, middle, ratio

Cell: TypeAlias = str | float | None
WIDTH = 100
SHORT = {
    "_per_second": "/s",
    "ratio_to_": "÷ ",
    "postgres_cpu_us": "Postgres µs",
    "cpu_us": "CPU µs",
}

Row: TypeAlias = dict[str, Cell]
"""One side. Keys are the columns, with their units last; None: not known here."""


def row(side: str, runs: Sequence[Run], reference: str, of_reference: Sequence[Run]) -> Row:
    """The figures of one side: medians of its repetitions, and its ratio to a reference side."""
    return {
        "side": side,
        "commands_per_second": middle(runs, "per_second"),
        f"ratio_to_{reference}": ratio(runs, of_reference),
        "p50_ms": middle(runs, "p50_ms"),
        "p99_ms": middle(runs, "p99_ms"),
        "cpu_us": middle(runs, "cpu_us"),
        "postgres_cpu_us": middle(runs, "postgres_cpu_us"),
    }


class Goal(Struct, frozen=True):
    """A figure with the least that is wanted of it."""

    name: str
    reached: float
    wanted: float


class Part(Struct, frozen=True):
    """One comparison: its sides, the goals it answers, and free text such as a profile."""

    name: str
    rows: list[Row]
    goals: list[Goal]
    text: str = ""


class Report(Struct, frozen=True):
    machine: dict[str, str]
    parts: list[Part]

    def write(self, path: Path) -> None:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")


def machine() -> dict[str, str]:
    """The cores, CPU, system and Python of this run."""
    return {
        "cores": str(
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        ),
        "cpu": _cpu_model(),
        "system": platform.platform(terse=True),
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
            verdict = "[green]reached" if goal.reached >= goal.wanted else "[red]missed"
            console.print(
                f"{goal.name}: {_number(goal.reached)}, goal {_number(goal.wanted)} {verdict}"
            )
        if part.text:
            console.print(part.text, markup=False, highlight=False, soft_wrap=True)


def _table(part: Part) -> Table:
    table = Table(title=part.name, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for number, column in enumerate(part.rows[0]):
        table.add_column(_header(column), justify="right" if number else "left", no_wrap=True)
    for row in part.rows:
        table.add_row(*map(_cell, row.values()))
    return table


def _header(column: str) -> str:
    """`commands_per_second` → `commands/s`, `ratio_to_floor` → `÷ floor`, `cpu_us` → `CPU µs`."""
    for long, short in SHORT.items():
        column = column.replace(long, short)
    return column.replace("_", " ")


def _cell(value: Cell) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    """Three digits that mean something: 12,345 · 123 · 12.3 · 1.23."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
