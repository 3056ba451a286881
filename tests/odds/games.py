"""Games by name, each solved once in a run."""

from functools import cache
from typing import Any, Final

from msgspec.structs import replace

from services.blackjack.domain.rulesets import PUBLISHED
from services.blackjack.odds.game import Game, decks, game_of, plain_bet
from services.blackjack.odds.solve import Solution, solve

SIX_DECKS_OF_CLASSIC: Final = replace(PUBLISHED["classic"], decks=6)


def casino(**rules: Any) -> Game:
    """Six decks, S17, peek, 3:2, four hands, one card on split aces, unless told otherwise."""
    return Game(**{"shoe": decks(6), "peek": True, "double_after_split": True} | rules)


GAMES: Final[dict[str, Game]] = {
    **{name: game_of(rules, plain_bet(rules)) for name, rules in PUBLISHED.items()},
    **{f"classic, 6 decks, bet {b}": game_of(SIX_DECKS_OF_CLASSIC, b) for b in (10, 5, 25)},
    "peek": casino(),
    "no DAS": casino(double_after_split=False),
    "late surrender": casino(surrender_refund=0.5),
    "aces split again": casino(hands_of_aces=4),
    "H17": casino(hits_soft_17=True),
    "1 deck": casino(shoe=decks(1), double_after_split=False, hands=2),
    "no peek": casino(peek=False),
}


@cache
def solved(name: str) -> Solution:
    return solve(GAMES[name])
