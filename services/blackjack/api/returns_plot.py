"""How a return came about, as a picture: the realised one in its narrowing band. SVG by hand."""

from collections.abc import Callable, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Final

from services.blackjack.odds.luck import Exact, Judged, Played, judge

WIDTH, HEIGHT = 960, 540
LEFT, RIGHT, TOP, BOTTOM = 72, 872, 118, 478
"""Where the plot lies in the picture; in pixels."""

INK, SOFT, GRID, PAPER = "#1f2933", "#616e7c", "#e4e7eb", "#ffffff"
BAND, CARELESS, EXACT = "#0f766e", "#94a3b8", "#0f766e"
CALM, ALARM = "#1f2933", "#b91c1c"
SAYS: Final = {
    "unplayed": "nothing played yet",
    "as_expected": "as expected",
    "below_best_play": "players could play better",
    "too_much": "alarm: more than any play explains",
    "too_little": "alarm: less than careless play explains",
}
_FAINT = 'fill-opacity="0.14"'

Scale = Callable[[float], float]


def plot(title: str, points: Sequence[Played], exact: Exact) -> str:
    """An SVG document; the same points give the same bytes."""
    judged = [judge(each, exact) for each in points]
    drawn = _picture(points, judged) if points else [_blank()]
    last = (points[-1], judged[-1]) if points else None
    told = _told(*last) if last else SAYS["unplayed"]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="system-ui, sans-serif" font-size="13" role="img">'
    )
    parts = [
        head,
        f"<title>{escape(title)}: what came back</title>",
        f"<desc>{escape(told)}</desc>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="{PAPER}"/>',
        _text(28, 42, title, f'font-size="20" font-weight="600" fill="{INK}"'),
        _text(28, 66, told, f'fill="{SOFT}"'),
        _verdict(judged[-1] if judged else None),
        *drawn,
    ]
    return "\n".join([*parts, "</svg>\n"])


def _picture(points: Sequence[Played], judged: Sequence[Judged]) -> list[str]:
    rounds = [each.rounds for each in points]
    x, y, low, high = _scales(rounds, judged)
    realised = [each.realised for each in judged]
    color = ALARM if judged[-1].alarm else CALM
    best_low = [each.best - each.chance for each in judged]
    tops, bottoms = [each.high for each in judged], [each.low for each in judged]
    return [
        f'<clipPath id="plot"><rect x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" '
        f'height="{BOTTOM - TOP}"/></clipPath>',
        *_legend(color),
        *_percents(y, low, high),
        *_rounds(x, rounds),
        '<g clip-path="url(#plot)">',
        _area(x, y, rounds, best_low, bottoms, CARELESS),
        _area(x, y, rounds, tops, best_low, BAND),
        _line(x, y, rounds, tops, f'stroke="{BAND}" stroke-opacity="0.5"'),
        _line(x, y, rounds, bottoms, f'stroke="{CARELESS}"'),
        _line(
            x, y, rounds, [each.best for each in judged], f'stroke="{EXACT}" stroke-dasharray="6 5"'
        ),
        _line(
            *(x, y, rounds, realised),
            f'stroke="{color}" stroke-width="2.5" stroke-linejoin="round"',
        ),
        "</g>",
        f'<circle cx="{x(rounds[-1]):.1f}" cy="{y(realised[-1]):.1f}" r="5" fill="{color}" '
        f'stroke="{PAPER}" stroke-width="2"/>',
        *_names(y, judged[-1], color),
    ]


def _scales(rounds: Sequence[int], judged: Sequence[Judged]) -> tuple[Scale, Scale, float, float]:
    """Rounds by their logarithm, returns as they are: tall enough for the later half to be seen
    whole. Of the first rounds, which may be anywhere, the clipped part shows the direction."""
    widest = max(log10(rounds[-1]), 1.0)
    late = [each for n, each in zip(rounds, judged, strict=True) if log10(n) >= 0.6 * widest]
    late = late or [judged[-1]]
    low = max(min(each.low for each in late), judged[-1].best - 1)
    high = min(max(each.high for each in late), judged[-1].best + 1)
    low = min(low, *(each.realised for each in late))
    high = max(high, *(each.realised for each in late))
    margin = 0.06 * (high - low)
    low, high = low - margin, high + margin

    def x(n: float) -> float:
        return LEFT + (RIGHT - LEFT) * log10(n) / widest

    def y(share: float) -> float:
        clipped = min(max(share, low - (high - low)), high + (high - low))
        return BOTTOM - (BOTTOM - TOP) * (clipped - low) / (high - low)

    return x, y, low, high


def _percents(y: Scale, low: float, high: float) -> list[str]:
    """Lines across at round percentages, five to ten of them."""
    rough = (high - low) / 5
    power = 10 ** floor(log10(rough))
    step = power * max(n for n in (1, 2, 5) if n * power <= rough)
    digits = max(0, -floor(log10(step)) - 2)
    lines = []
    for number in range(ceil(low / step), floor(high / step) + 1):
        share = number * step
        at = f'y1="{y(share):.1f}" y2="{y(share):.1f}"'
        lines.append(f'<line x1="{LEFT}" x2="{RIGHT}" {at} stroke="{GRID}"/>')
        label = f"{100 * share:.{digits}f} %"
        lines.append(_text(LEFT - 10, y(share) + 4, label, f'text-anchor="end" fill="{SOFT}"'))
    return lines


def _rounds(x: Scale, rounds: Sequence[int]) -> list[str]:
    """Lines down at the powers of ten."""
    lines = []
    for power in range(floor(max(log10(rounds[-1]), 1.0)) + 1):
        at = f'x1="{x(10**power):.1f}" x2="{x(10**power):.1f}"'
        lines.append(f'<line {at} y1="{TOP}" y2="{BOTTOM}" stroke="{GRID}"/>')
        style = f'text-anchor="middle" fill="{SOFT}"'
        lines.append(_text(x(10**power), BOTTOM + 22, f"{10**power:,}", style))
    style = f'text-anchor="end" fill="{SOFT}"'
    return [*lines, _text(RIGHT, BOTTOM + 44, "rounds", style)]


def _legend(color: str) -> list[str]:
    """Above the plot: what is what."""
    marks = [
        (f'<line x1="0" x2="22" y1="0" y2="0" stroke="{color}" stroke-width="2.5"/>', "realised"),
        (
            f'<line x1="0" x2="22" y1="0" y2="0" stroke="{EXACT}" stroke-dasharray="6 5"/>',
            "best play, exact",
        ),
        (f'<rect y="-7" width="22" height="14" fill="{BAND}" {_FAINT}/>', "chance, around it"),
        (f'<rect y="-7" width="22" height="14" fill="{CARELESS}" {_FAINT}/>', "careless play"),
    ]
    legend, at = [], LEFT
    for mark, name in marks:
        legend.append(f'<g transform="translate({at} 96)">{mark}</g>')
        legend.append(_text(at + 30, 100, name, f'fill="{SOFT}"'))
        at += 60 + round(7 * len(name))
    return legend


def _names(y: Scale, last: Judged, color: str) -> list[str]:
    """At the right, what each line is; none over another."""
    wanted = [
        (last.realised, f"{100 * last.realised:.2f} %", f'fill="{color}" font-weight="600"'),
        (last.best, "exact", f'fill="{EXACT}"'),
        (last.high, "highest", f'fill="{SOFT}"'),
        (last.low, "lowest", f'fill="{SOFT}"'),
    ]
    names, above = [], 0.0
    for share, name, style in sorted(wanted, reverse=True):
        if not TOP <= y(share) <= BOTTOM:
            continue
        above = max(y(share) + 4, above + 15)
        names.append(_text(RIGHT + 10, above, name, style))
    return names


def _verdict(last: Judged | None) -> str:
    """A label at the upper right: calm, or an alarm."""
    said = SAYS[last.verdict] if last else SAYS["unplayed"]
    color = ALARM if last and last.alarm else BAND
    width = 7.6 * len(said) + 28
    return (
        f'<rect x="{WIDTH - 28 - width:.1f}" y="24" width="{width:.1f}" height="26" rx="13" '
        f'fill="{color}" {_FAINT}/>'
        + _text(
            *(WIDTH - 28 - width / 2, 42, said),
            f'text-anchor="middle" font-weight="600" fill="{color}"',
        )
    )


def _told(played: Played, judged: Judged) -> str:
    return (
        f"{played.rounds:,} rounds, {played.bet:,} chips bet. Back came "
        f"{100 * judged.realised:.2f} %; the best play returns {100 * judged.best:.2f} %, "
        f"the band is {100 * judged.low:.2f} to {100 * judged.high:.2f} %."
    )


def _blank() -> str:
    style = f'text-anchor="middle" font-size="16" fill="{SOFT}"'
    return _text((LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2, "The first round has yet to end.", style)


def _area(
    x: Scale, y: Scale, rounds: Sequence[int], top: Sequence[float], low: Sequence[float], fill: str
) -> str:
    there = [f"{x(n):.1f},{y(share):.1f}" for n, share in zip(rounds, top, strict=True)]
    back = [f"{x(n):.1f},{y(share):.1f}" for n, share in zip(rounds, low, strict=True)]
    return f'<polygon points="{" ".join([*there, *reversed(back)])}" fill="{fill}" {_FAINT}/>'


def _line(x: Scale, y: Scale, rounds: Sequence[int], shares: Sequence[float], style: str) -> str:
    points = " ".join(f"{x(n):.1f},{y(s):.1f}" for n, s in zip(rounds, shares, strict=True))
    return f'<polyline points="{points}" fill="none" {style}/>'


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'
