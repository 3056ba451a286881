"""What the odds depend on: a ruleset and a bet, reduced to shares of the bet."""

from hashlib import sha256
from itertools import combinations_with_replacement
from typing import Final, Literal

from msgspec import Struct, json

from services.blackjack.domain.cards import POINTS, RANKS, is_natural
from services.blackjack.domain.modifiers import Modifiers, scoring
from services.blackjack.domain.rules import Ruleset
from services.blackjack.domain.settlement import insurance_price, payout
from shared.kernel.chips import MOST_CHIPS

ALGORITHM: Final = "croupier.odds.v1"
"""Grows when the same game is solved to other figures, so that kept ones are not taken for new."""

PRINTED: Final = tuple(POINTS[f"{rank}c"] for rank in RANKS)


class Modifier(Struct, frozen=True, kw_only=True):
    """What may change how hands are scored. Without arguments: nothing."""

    points: tuple[int, ...] = PRINTED
    """What each rank counts, 1 to 11, in the order of `RANKS`."""
    ace_rises: bool = True
    """Whether aces, as many as do not bust, count 10 more; False: their points, fixed."""
    bust_limit: int = 21
    """The hands grow with it: a limit of 31 has eight times as many as one of 21."""
    instant_busts: frozenset[str] = frozenset()
    """Starting hands that bust before the first decision, as two ranks in either order."""
    bust_pushes: bool = False
    """Whether a player's bust is a push."""

    def busts_at_once(self, first: str, second: str) -> bool:
        """Whether a starting hand of these ranks meets the condition of an instant bust."""
        return first + second in self.instant_busts or second + first in self.instant_busts


UNMODIFIED: Final = Modifier()


class Game(Struct, frozen=True, kw_only=True):
    """Everything that moves the player's expectation, and nothing else. Money is in bets."""

    shoe: tuple[int, ...]
    """How many cards of each rank, in the order of `RANKS`."""
    peek: bool
    hits_soft_17: bool = False
    natural_pays: float = 1.5
    insurance_price: float = 0.0
    """0 where none is offered. Pays 2:1."""
    surrender_refund: float | None = None
    double: bool = True
    double_after_split: bool = False
    split: Literal["none", "same_rank", "same_value"] = "same_value"
    """By what is printed on the cards, whatever they count."""
    hands: int = 4
    hands_of_aces: int = 2
    """Split aces get one card each; 2: they are split once."""
    hit_on_21: bool = False
    """False: a hand of 21, or of the bust limit, stands by itself."""
    modifier: Modifier = UNMODIFIED

    @property
    def key(self) -> str:
        """SHA-256 of the game and the algorithm, in hex: equal games have equal odds."""
        return sha256(ALGORITHM.encode() + json.encode(self, order="deterministic")).hexdigest()


def decks(number: int) -> tuple[int, ...]:
    """The shoe of so many full decks."""
    return (4 * number,) * len(RANKS)


def game_of(rules: Ruleset, bet: int, modifiers: Modifiers = ()) -> Game:
    """The game that a seat plays with this bet, in chips, and a stack that covers every move.

    `modifiers` are a round's own, after the environment's, as if they too had come before any hand
    was played.
    """
    return Game(
        shoe=decks(rules.decks),
        peek=rules.peek != "never",
        natural_pays=payout("natural", bet) / bet - 1,
        insurance_price=insurance_price(bet) / bet if rules.insurance != "none" else 0.0,
        surrender_refund=payout("surrender", bet) / bet if rules.surrender else None,
        double_after_split=rules.double_after_split,
        split=rules.split if rules.hands_per_seat > 1 else "none",
        hands=rules.hands_per_seat,
        hit_on_21=rules.hit_on_21,
        modifier=modifier_of((*rules.environment, *modifiers)),
    )


def modifier_of(modifiers: Modifiers) -> Modifier:
    """What these modifiers come to, rank by rank."""
    count = scoring(modifiers)
    low = count.values | {"A": 1} if count.ace_drops else count.values
    starts = combinations_with_replacement(RANKS, 2)
    return Modifier(
        points=tuple(low[rank] for rank in RANKS),
        ace_rises=count.ace_drops,
        bust_limit=count.limit,
        instant_busts=frozenset(
            first + second
            for first, second in starts
            if not is_natural(two := (f"{first}c", f"{second}d")) and count.busts_at_once(two)
        ),
        bust_pushes=count.reverse_bust,
    )


def plain_bet(rules: Ruleset) -> int:
    """The least even bet, with which nothing is rounded; where all bets are odd, the least."""
    least = rules.bets(2 * MOST_CHIPS)[:2]
    return next((bet for bet in least if bet % 2 == 0), least[0])
