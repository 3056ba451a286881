"""A comparison as a picture: one bar a side, drawn as SVG by hand."""

from collections.abc import Sequence
from html import escape

Bar = tuple[str, float, str]
"""What is compared, how long its bar is, and its figure as text."""

WIDTH, LABELS, FIGURES = 760, 250, 70
"""The whole picture, and the room for labels left and figures right of the bars; in pixels."""
TOP, STEP, THICK = 64, 28, 18

OURS, OTHERS, MARK = "#0f766e", "#a8b3bd", "#b45309"
HALO = 'stroke="#ffffff" stroke-width="5" paint-order="stroke"'
"""Keeps a figure readable where the line crosses it."""


def bars(title: str, unit: str, sides: Sequence[Bar], mark: float | None = None) -> str:
    """An SVG document. `mark`: a line across all bars, such as the side that counts as 1.

    Sides whose name begins with `croupier` stand out.
    """
    scale = (WIDTH - LABELS - FIGURES) / max(*(value for _, value, _ in sides), mark or 0, 1e-9)
    height = TOP + STEP * len(sides) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>',
        _text(20, 28, title, 'font-size="16" font-weight="600" fill="#1f2933"'),
        _text(20, 48, unit, 'fill="#616e7c"'),
        *([] if mark is None else [_line(LABELS + mark * scale, height)]),
        *(_bar(number, bar, scale) for number, bar in enumerate(sides)),
    ]
    return "\n".join([*parts, "</svg>\n"])


def _line(x: float, height: int) -> str:
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{height - 10}" '
        f'stroke="{MARK}" stroke-dasharray="3 3"/>'
    )


def _bar(number: int, bar: Bar, scale: float) -> str:
    label, value, figure = bar
    y, length = TOP + STEP * number, max(1.0, value * scale)
    ours = label.startswith("croupier")
    weight = ' font-weight="600"' if ours else ""
    return (
        _text(LABELS - 10, y + 13, label, f'text-anchor="end" fill="#1f2933"{weight}')
        + f'<rect x="{LABELS}" y="{y}" width="{length:.1f}" height="{THICK}" rx="2" '
        f'fill="{OURS if ours else OTHERS}"/>'
        + _text(LABELS + length + 8, y + 13, figure, f'fill="#1f2933" {HALO}{weight}')
    )


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y}" {style}>{escape(text)}</text>'
