"""What may be asked about a game, and the answers."""

from typing import TypeAlias

from msgspec import Struct

from services.blackjack.odds.figures import Hand, Odds, Strategy
from services.blackjack.odds.game import Game
from services.blackjack.odds.luck import Exact


class AboutGame(Struct, frozen=True, tag="game"):
    """All figures of a game."""

    game: Game


class AboutHand(Struct, frozen=True, tag="hand"):
    """What each move of a hand is worth. Cards and upcard are told by their ranks."""

    game: Game
    cards: str
    upcard: str


class AboutStrategy(Struct, frozen=True, tag="strategy"):
    """What a round is worth to whoever plays this table."""

    game: Game
    strategy: Strategy


class AboutReturns(Struct, frozen=True, tag="returns"):
    """What a game returns, played best and played as the dealer plays."""

    game: Game


Question: TypeAlias = AboutGame | AboutHand | AboutStrategy | AboutReturns


class Answer(Struct, frozen=True, omit_defaults=True):
    """One of these: all figures, a hand, the bets won a round, returns, or why there are none."""

    odds: Odds | None = None
    hand: Hand | None = None
    bets: float | None = None
    returns: Exact | None = None
    refusal: str | None = None
    """The name of a class of `rejections`, whose `detail` comes with it."""
    detail: str = ""
