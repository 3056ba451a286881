"""`croupier odds`: what a game is worth, worked out here and now, without a server."""

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec.structs import replace
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from services.blackjack.application.odds import bet_and_game
from services.blackjack.domain.modifiers import scoring
from services.blackjack.domain.rules import Ruleset
from services.blackjack.domain.rulesets import PUBLISHED, ruleset
from services.blackjack.odds.chart import best_chart, blocks
from services.blackjack.odds.figures import MEANINGS, Hand, Odds, Strategy
from services.blackjack.odds.game import Game
from services.cli.refused import Refused
from shared.kernel.rejected import Rejected

if TYPE_CHECKING:
    from services.blackjack.odds.solve import Solution

_COLOURS: Final = {
    "S": "grey82",
    "H": "khaki1",
    "D": "dark_sea_green2",
    "R": "plum2",
    "P": "light_sky_blue1",
}
_MOVES: Final = ("stand", "hit", "double_down", "split", "surrender")
_PATIENCE_SECONDS: Final = 1.0
_OTHER_RULES: Final = "What if the rules were others?"


def _rule(*names: str, **more: Any) -> Any:
    return Option(*names, rich_help_panel=_OTHER_RULES, **more)


def odds(
    name: Annotated[str, Argument(help="A ruleset; without it, all of them at a glance.")] = "",
    bet: Annotated[int | None, Option(help="The opening bet, where payouts are rounded.")] = None,
    hand: Annotated[str, Option(help="Only the moves of this hand, such as T6 or A22.")] = "",
    table: Annotated[Path | None, Option(help="What the table in this JSON is worth.")] = None,
    chart: Annotated[Path | None, Option(help="Draw the best table into this SVG.")] = None,
    decks: Annotated[int | None, _rule(min=1, max=8, help="How many decks.")] = None,
    h17: Annotated[bool | None, _rule("--h17/--s17", help="Dealer hits soft 17.")] = None,
    peek: Annotated[bool | None, _rule(help="The dealer peeks.")] = None,
    das: Annotated[bool | None, _rule(help="Double after a split.")] = None,
    hands: Annotated[int | None, _rule(min=1, max=4, help="Hands of a seat, at most.")] = None,
    ace_hands: Annotated[int | None, _rule(min=2, max=4, help="The same of aces.")] = None,
    surrender: Annotated[bool | None, _rule(help="Late, for half of the bet.")] = None,
    natural: Annotated[float | None, _rule(min=0, max=10, help="What it pays: 1.2 is 6:5.")] = None,
) -> None:
    """Work out a game, exactly: the house edge, how to play, what each move is worth."""
    console = Console(highlight=False)
    changes: dict[str, float | None] = {"natural_pays": natural}
    changes |= {"decks": decks, "hits_soft_17": h17, "peek": peek, "double_after_split": das}
    changes |= {"hands": hands, "hands_of_aces": ace_hands, "surrender": surrender}
    other = {rule: value for rule, value in changes.items() if value is not None}
    try:
        if name:
            _one(console, _Asked(ruleset(name), bet, other), hand, table, chart)
        else:
            _all(console, other)
    except Rejected as rejected:
        raise Refused(rejected.detail) from None


class _Asked:
    """A ruleset and a bet, with the rules that are to be others."""

    def __init__(self, rules: Ruleset, bet: int | None, other: dict[str, Any]) -> None:
        self.rules = replace(rules, decks=other.get("decks", rules.decks))
        self.bet, game = bet_and_game(self.rules, bet)
        self.other = [
            f"{rule.replace('_', ' ')}: {_said(value)}"
            for rule, value in other.items()
            if rule != "decks"
        ]
        more = {rule: value for rule, value in other.items() if rule not in ("decks", "surrender")}
        if "surrender" in other:
            more["surrender_refund"] = 0.5 if other["surrender"] else None
        if "hands" in other:
            more["split"] = "none" if other["hands"] == 1 else _pairs(self.rules)
        self.game: Game = replace(game, **more)


def _all(console: Console, other: dict[str, Any]) -> None:
    glance = Table("ruleset", "title", title="The house edge", title_justify="left")
    for column in ("published", "best play", "best table"):
        glance.add_column(column, justify="right")
    for rules in PUBLISHED.values():
        _, found = _solved(_Asked(rules, None, other).game)
        edges = _percent(-found.by_composition), _percent(-found.by_total)
        glance.add_row(rules.name, rules.title, rules.house_edge, *edges)
    console.print(glance)


def _one(
    console: Console, asked: _Asked, hand: str, table: Path | None, chart: Path | None
) -> None:
    solution, found = _solved(asked.game)
    moves = [solution.hand(hand, up) for up in found.strategy.upcards] if hand else []
    worth = _worth(asked.game, table) if table else 0.0
    decks = "1 deck" if asked.rules.decks == 1 else f"{asked.rules.decks} decks"
    said = [f"[bold]{asked.rules.title}[/bold]", decks, f"a bet of {asked.bet}", *asked.other]
    console.print(", ".join(said))
    console.print(_edges(asked.rules, found))
    if moves:
        console.print(_moves(moves))
    elif table:
        console.print(f"The house keeps {_percent(-worth)} of each bet against {table}.")
    else:
        console.print(_table(asked.rules, found.strategy))
        console.print(_upcards(found))
    if chart:
        chart.write_text(best_chart(asked.rules, asked.bet, found, *asked.other))
        console.print(f"The chart is in {chart}.")


def _solved(game: Game) -> "tuple[Solution, Odds]":
    """Solve a game; whoever waits longer than a second sees how far it has come."""
    # Only here: numpy has no place in the processes that the other commands start.
    from services.blackjack.odds.solve import odds_of, solve

    begun = monotonic()
    progress = Progress(console=Console(stderr=True), transient=True)
    upcards = progress.add_task("Upcards")

    def tell(done: int, of: int) -> None:
        progress.update(upcards, completed=done, total=of)
        if monotonic() - begun > _PATIENCE_SECONDS:
            progress.start()

    try:
        solution = solve(game, tell)
    finally:
        if progress.live.is_started:
            progress.stop()
    return solution, odds_of(solution)


def _worth(game: Game, file: Path) -> float:
    from services.blackjack.odds.solve import expectation_of

    try:
        strategy = msgspec.json.decode(file.read_bytes(), type=Strategy)
    except (OSError, msgspec.MsgspecError) as error:
        raise Refused(f"{file} is no table in JSON: {error}") from None
    return expectation_of(game, strategy)


def _edges(rules: Ruleset, found: Odds) -> Table:
    edges = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    edges.add_row("House edge, published", rules.house_edge)
    edges.add_row("against the best play by all cards", _percent(-found.by_composition))
    edges.add_row("against the best table", _percent(-found.by_total))
    if found.insurance is not None:
        edges.add_row("of each chip of insurance", _percent(-found.insurance))
    return edges


def _table(rules: Ruleset, strategy: Strategy) -> Table:
    heads = (f" {_card(upcard)}" for upcard in strategy.upcards)
    table = Table("", *heads, padding=0, title="How to play", title_justify="left")
    used = set()
    for name, rows in blocks(strategy, scoring(rules.environment)):
        table.add_section()
        for label, codes in rows:
            cells = (Text(f"{code:^4}", f"black on {_COLOURS[code[0]]}") for code in codes)
            table.add_row(f"{name} {label.replace('T', '10')}", *cells)
            used |= set(codes)
    table.caption = " · ".join(f"{code} {MEANINGS[code]}" for code in MEANINGS if code in used)
    return table


def _upcards(found: Odds) -> Table:
    table = Table("upcard", title="Bets won with the best play", title_justify="left")
    for column in ("wins", "dealt", "dealer busts", "dealer's natural"):
        table.add_column(column, justify="right")
    for each in found.upcards:
        shares = each.by_composition, each.chance, each.dealer["bust"], each.dealer["natural"]
        table.add_row(_card(each.upcard), *(_percent(share, 2) for share in shares))
    return table


def _moves(hands: list[Hand]) -> Table:
    cards = " ".join(map(_card, hands[0].cards))
    table = Table("against", title=f"{cards}: bets won by each move", title_justify="left")
    moves = [m for m in _MOVES if any(getattr(hand, m) is not None for hand in hands)]
    for move in moves:
        table.add_column(move.replace("_", " "), justify="right")
    for hand in hands:
        worth = [(move, getattr(hand, move)) for move in moves]
        cells = (
            Text("" if value is None else f"{value:+.6f}", "bold" if hand.best == move else "dim")
            for move, value in worth
        )
        table.add_row(_card(hand.upcard), *cells)
    return table


def _card(name: str) -> str:
    return "10" if name == "T" else name


def _percent(share: float, digits: int = 4) -> str:
    return f"{100 * share:.{digits}f} %"


def _pairs(rules: Ruleset) -> str:
    return "same_rank" if rules.split == "none" else rules.split


def _said(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
