"""Statements as whole documents: CSV for machines, a page for people and their printers."""

import csv
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from datetime import datetime
from html import escape
from io import StringIO
from typing import Any, Final, TypeAlias

from services.audit.projections.statements import (
    BankLine,
    BankStatement,
    Chips,
    Line,
    PlayerStatement,
)
from shared.eventstore.envelope import rfc3339

CSV: Final = "text/csv"
HTML: Final = "text/html"

Statement: TypeAlias = PlayerStatement | BankStatement
More: TypeAlias = Callable[[int], Awaitable[Statement]]
"""The lines after a position."""

_STYLE: Final = """\
body { font: 14px/1.5 system-ui, sans-serif; color: #1f2933; margin: 2rem auto; max-width: 62rem;
  padding: 0 1rem }
h1 { font-size: 1.5rem; margin: 0 } p { color: #616e7c; margin: .25rem 0 1rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem;
  border-bottom: 1px solid #e4e7eb }
th { color: #616e7c; font-weight: 600 } .n { text-align: right; white-space: nowrap }
.t { white-space: nowrap } .sum td { font-weight: 600 }
thead { display: table-header-group } tr { break-inside: avoid }
@page { margin: 16mm } @media print { body { margin: 0; max-width: none; font-size: 10px } }"""


async def as_csv(house: str, first: Statement, more: More) -> AsyncIterator[bytes]:
    """A line of names, the opening, all lines, the closing: each as wide as the others."""
    names = _kind(first).__struct_fields__
    yield _csv([names, _balance(first, "opening")])
    async for lines in _pages(first, more):
        yield _csv([_cell(getattr(line, name)) for name in names] for line in lines)
    yield _csv([_balance(first, "closing")])


async def as_html(house: str, first: Statement, more: More) -> AsyncIterator[bytes]:
    """A page by itself. The same range gives the same bytes."""
    if isinstance(first, PlayerStatement):
        title = f"Statement of player {first.player}"
    else:
        title = f"Statement of the bank of table {first.table}"
    title = escape(title)
    heads = "".join(f'<th class="{kind}">{name}</th>' for name, kind in _columns(first))
    yield (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f"<style>\n{_STYLE}\n</style></head><body>\n<h1>{title}</h1>\n"
        f"<p>House {escape(house)}, positions {first.first_position} to {first.last_position} of "
        f"its log. Amounts are whole chips, times are UTC.</p>\n"
        f"<table><thead><tr>{heads}</tr></thead><tbody>\n{_sum(first, 'opening')}"
    ).encode()
    async for lines in _pages(first, more):
        yield "".join(map(_row, lines)).encode()
    yield f"{_sum(first, 'closing')}</tbody></table>\n</body></html>\n".encode()


async def _pages(first: Statement, more: More) -> AsyncIterator[list[Line] | list[BankLine]]:
    page = first
    while True:
        yield page.data
        if page.next is None:
            return
        page = await more(page.next)


def _kind(statement: Statement) -> type[Line] | type[BankLine]:
    return Line if isinstance(statement, PlayerStatement) else BankLine


def _balance(statement: Statement, end: str) -> list[object]:
    """The opening or the closing as a line: after which position, and what was there."""
    has = getattr(statement, end)
    position = statement.first_position - 1 if end == "opening" else statement.last_position
    if isinstance(has, Chips):
        return [position, "", end, "", "", "", "", "", has.balance, has.vault, has.at_risk]
    return [position, "", end, "", "", "", "", "", has]


def _csv(rows: Iterable[Iterable[object]]) -> bytes:
    text = StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _cell(value: object) -> object:
    return rfc3339(value) if isinstance(value, datetime) else value


def _columns(statement: Statement) -> list[tuple[str, str]]:
    risk = [("At risk", "n")] if isinstance(statement, PlayerStatement) else []
    named = [("Position", "n"), ("Time", "t"), ("What happened", "w")]
    return [*named, ("Amount", "n"), ("Balance", "n"), *risk]


def _row(line: Line | BankLine) -> str:
    numbers = [f"{line.amount:+,}" if line.amount else "0", f"{line.balance:,}"]
    if isinstance(line, Line):
        numbers.append(f"{line.at_risk:,}")
    time = f"{line.time:%Y-%m-%d %H:%M:%S}"
    cells = "".join(f'<td class="n">{_signed(number)}</td>' for number in numbers)
    return (
        f'<tr><td class="n">{line.position}</td><td class="t">{time}</td>'
        f"<td>{escape(line.text)}</td>{cells}</tr>\n"
    )


def _sum(statement: Statement, end: str) -> str:
    has: Any = getattr(statement, end)
    position = statement.first_position - 1 if end == "opening" else statement.last_position
    balance, risk = (has.balance, has.at_risk) if isinstance(has, Chips) else (has, None)
    numbers = ["", f"{balance:,}", *([] if risk is None else [f"{risk:,}"])]
    cells = "".join(f'<td class="n">{_signed(number)}</td>' for number in numbers)
    return (
        f'<tr class="sum"><td class="n">{position}</td><td></td>'
        f"<td>{end.capitalize()} balance</td>{cells}</tr>\n"
    )


def _signed(number: str) -> str:
    """With a real minus sign."""
    return number.replace("-", "−")
