"""A strategy as a chart that a person can read: a letter and a colour a cell, drawn as SVG."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Final, TypeAlias

from services.blackjack.domain.modifiers import PLAIN, Scoring, scoring
from services.blackjack.domain.rules import Ruleset
from services.blackjack.odds.figures import MEANINGS, Odds, Row, Strategy

COLOURS: Final = {
    "H": "#f6d7a7",
    "S": "#f3f4f1",
    "D": "#a9d3b9",
    "Ds": "#cfe6c9",
    "R": "#d8c3e4",
    "Rs": "#e7dcee",
    "RD": "#c9b3db",
    "RDs": "#ddcbe8",
    "P": "#9cc3e6",
}
"""Light enough that a black letter is read on each, and told apart by the letter without it."""
INK, FAINT, PAPER = "#1f2933", "#616e7c", "#ffffff"
CELL_WIDTH, CELL_HEIGHT, LABELS, MARGIN = 46, 26, 96, 24
LEGEND_COLUMNS: Final = 2

Block: TypeAlias = tuple[str, list[tuple[str, Row]]]


def best_chart(rules: Ruleset, bet: int, odds: Odds, *more: str) -> str:
    """The chart of a ruleset's best table for a bet, what it is worth, and `more` lines."""
    decks = "1 deck" if rules.decks == 1 else f"{rules.decks} decks"
    keeps = f"the house keeps {-100 * odds.by_total:.4f} % of it on average"
    title = f"{rules.title}: how to play"
    lines = [f"{decks}, a bet of {bet}: {keeps}", *more]
    return chart(odds.strategy, title, lines, scoring(rules.environment))


def chart(strategy: Strategy, title: str, lines: Sequence[str] = (), count: Scoring = PLAIN) -> str:
    """An SVG document with hard totals, soft totals and pairs against the upcards.

    `lines` are told below the title. Neighbours with the same moves share a row. `count` is how
    the game counts hands: it shows a pair that is not split with the move of its total.
    """
    all_blocks = blocks(strategy, count)
    width = 2 * MARGIN + LABELS + CELL_WIDTH * len(strategy.upcards)
    parts = [_text(MARGIN, 38, title, f'font-size="20" font-weight="600" fill="{INK}"')]
    y = 60
    for line in lines:
        parts.append(_text(MARGIN, y, line, f'fill="{FAINT}"'))
        y += 20
    for name, rows in all_blocks:
        parts += _block(name, strategy.upcards, rows, y + 14)
        y += 14 + 30 + CELL_HEIGHT * len(rows)
    used = {code for _, rows in all_blocks for _, row in rows for code in row}
    legend = list(_legend(used, y + 36))
    height = y + 36 + CELL_HEIGHT * -(-len(used) // LEGEND_COLUMNS) + 4
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="system-ui, sans-serif" font-size="14" role="img">'
    )
    named = f"<title>{escape(title)}</title>"
    paper = f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>'
    return "\n".join([opening, named, paper, *parts, *legend, "</svg>\n"])


def blocks(strategy: Strategy, count: Scoring = PLAIN) -> list[Block]:
    """Hard totals, soft totals and pairs: their rows by name, as they are read."""
    all_blocks: list[Block] = [
        ("Hard", _merged({str(total): row for total, row in strategy.hard.items()})),
        ("Soft", _merged({str(total): row for total, row in strategy.soft.items()})),
        ("Pair", list(_pairs(strategy, count))),
    ]
    return [(name, rows) for name, rows in all_blocks if rows]


def _merged(rows: Mapping[str, Row]) -> list[tuple[str, Row]]:
    """Neighbours with the same moves as one row, from high to low as they are read."""
    merged = []
    for row, alike in groupby(reversed(list(rows.items())), key=lambda item: item[1]):
        names = [name for name, _ in alike]
        merged.append((names[0] if len(names) == 1 else f"{names[-1]}–{names[0]}", row))
    return merged


def _pairs(strategy: Strategy, count: Scoring) -> Iterator[tuple[str, Row]]:
    """The pairs; one that is not split shows the move of its total."""
    for name, row in strategy.pairs.items():
        first, second = name[0], name[-1]
        two = f"{first}c", f"{second}d"
        rows = strategy.soft if count.is_soft(two) else strategy.hard
        moves = rows.get(count.total(two), row)
        yield (
            f"{first} {second}",
            tuple(move if code == "-" else code for code, move in zip(row, moves, strict=True)),
        )


def _block(
    name: str, upcards: tuple[str, ...], rows: list[tuple[str, Row]], top: int
) -> Iterator[str]:
    bold = f'font-weight="600" fill="{INK}"'
    yield _text(MARGIN, top + 18, name, bold)
    for column, upcard in enumerate(upcards):
        yield _middle(column, top + 18, "10" if upcard == "T" else upcard, bold)
    for number, (label, row) in enumerate(rows):
        y = top + 30 + CELL_HEIGHT * number
        shown = label.replace("T", "10")
        yield _text(MARGIN, y + 18, shown, f'fill="{INK}"')
        for column, code in enumerate(row):
            yield _cell(MARGIN + LABELS + CELL_WIDTH * column, y, code)
            yield _middle(column, y + 18, code, f'fill="{INK}"')


def _legend(used: set[str], top: int) -> Iterator[str]:
    for number, code in enumerate(code for code in MEANINGS if code in used):
        row, column = divmod(number, LEGEND_COLUMNS)
        x, y = MARGIN + 260 * column, top + CELL_HEIGHT * row
        yield _cell(x, y - 18, code)
        style = f'text-anchor="middle" fill="{INK}"'
        yield _text(x + CELL_WIDTH / 2, y, code, style)
        yield _text(x + CELL_WIDTH + 10, y, MEANINGS[code], f'fill="{INK}"')


def _cell(x: float, y: int, code: str) -> str:
    return (
        f'<rect x="{x + 1:g}" y="{y + 1}" width="{CELL_WIDTH - 2}" height="{CELL_HEIGHT - 2}" '
        f'rx="3" fill="{COLOURS.get(code, PAPER)}"/>'
    )


def _middle(column: int, y: int, text: str, style: str) -> str:
    x = MARGIN + LABELS + CELL_WIDTH * (column + 0.5)
    return _text(x, y, text, f'text-anchor="middle" {style}')


def _text(x: float, y: int, text: str, style: str) -> str:
    return f'<text x="{x:g}" y="{y}" {style}>{escape(text)}</text>'
