"""Modifiers: what may change in how hands are counted. A closed set, as data, and its arithmetic.

They are for the scoring alone. Naturals, pairs and what the dealer peeks at are judged on the
printed ranks, the dealer draws to 17 whatever the bust limit, and no modifier looks into the shoe.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from services.blackjack.domain.cards import DECK, RANKS, Cards, is_ace, is_soft, total

MOST_MODIFIERS: Final = 16
"""How many the environment of a table may have."""
HIGHEST_LIMIT: Final = 31
"""A limit that a deck with most of its cards at 1 does not outlast: a round always ends."""

Rank: TypeAlias = Literal["A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K"]
RankButAce: TypeAlias = Literal["2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K"]
Value = Annotated[int, Meta(ge=1, le=11, description="What a card counts.")]
Limit = Annotated[int, Meta(ge=17, le=HIGHEST_LIMIT, description="The most that is no bust.")]
StartingTotal = Annotated[int, Meta(ge=2, le=22, description="A total of two cards.")]


class _Tagged(Struct, frozen=True, gc=False, tag_field="type", forbid_unknown_fields=True):
    pass


class TotalFrom(_Tagged, frozen=True, gc=False, tag="total"):
    """The hand totals from `least` to `most`, as it is counted now."""

    least: StartingTotal
    most: StartingTotal


class Holds(_Tagged, frozen=True, gc=False, tag="holds"):
    """The hand has a card of this rank."""

    rank: Annotated[Rank, Meta(description="The rank that is printed on the card.")]


class Pair(_Tagged, frozen=True, gc=False, tag="pair"):
    """The hand is two cards of one rank."""


Condition: TypeAlias = TotalFrom | Holds | Pair


class RankValue(_Tagged, frozen=True, gc=False, tag="rank_value"):
    """Every card of a rank counts something else, for players and dealer alike."""

    rank: Annotated[RankButAce, Meta(description="The rank that is printed on the card.")]
    value: Value


class FixedAce(_Tagged, frozen=True, gc=False, tag="fixed_ace"):
    """Every ace counts this, and does not drop by 10 when the hand would bust."""

    value: Value


class BustLimit(_Tagged, frozen=True, gc=False, tag="bust_limit"):
    """A hand busts above this instead of 21, for players and dealer alike."""

    limit: Limit


class InstantBust(_Tagged, frozen=True, gc=False, tag="instant_bust"):
    """A player's starting hand that meets the condition busts at once."""

    condition: Annotated[Condition, Meta(description="What the starting hand has to be.")]


class ReverseBust(_Tagged, frozen=True, gc=False, tag="reverse_bust"):
    """A player's bust is a push."""


Modifier: TypeAlias = RankValue | FixedAce | BustLimit | InstantBust | ReverseBust
Modifiers: TypeAlias = tuple[Modifier, ...]
"""In the order in which they came. Of two that say something else of one thing, the later wins."""


class Scoring(Struct, frozen=True, gc=False):
    """How hands are counted.

    `values` gives what a card of a rank counts, an ace 11 unless it is fixed. While the hand would
    bust and `ace_drops`, one ace after the other counts 10 less. `total` is the best total, as
    shown; `is_soft` whether an ace in it could still drop.
    """

    total: Callable[[Cards], int]
    is_soft: Callable[[Cards], bool]
    values: dict[str, int]
    ace_drops: bool = True
    limit: int = 21
    reverse_bust: bool = False
    instant_busts: tuple[Condition, ...] = ()

    def busts_at_once(self, cards: Cards) -> bool:
        """Whether two cards, a starting hand, meet the condition of an instant bust."""
        return any(self._meets(cards, condition) for condition in self.instant_busts)

    def _meets(self, cards: Cards, condition: Condition) -> bool:
        match condition:
            case TotalFrom(least, most):
                return least <= self.total(cards) <= most
            case Holds(rank):
                return rank in (cards[0][0], cards[1][0])
            case Pair():
                return cards[0][0] == cards[1][0]


PRINTED: Final = {rank: min(place, 10) for place, rank in enumerate(RANKS, 1)} | {"A": 11}
PLAIN: Final = Scoring(total, is_soft, PRINTED)
"""Without any modifier."""


def scoring(modifiers: Modifiers) -> Scoring:
    """How hands are counted under these modifiers."""
    return _scoring(modifiers) if modifiers else PLAIN


@lru_cache(maxsize=1024)
def _scoring(modifiers: Modifiers) -> Scoring:
    values, ace_drops, limit, reverse_bust = dict(PRINTED), True, 21, False
    instant_busts: list[Condition] = []
    for modifier in modifiers:
        match modifier:
            case RankValue(rank, value):
                values[rank] = value
            case FixedAce(value):
                values["A"], ace_drops = value, False
            case BustLimit(highest):
                limit = highest
            case InstantBust(condition):
                instant_busts.append(condition)
            case ReverseBust():
                reverse_bust = True
    count = _count_dropping(values, limit) if ace_drops else _count_fixed(values)
    low = _count_fixed(values | {"A": 1} if ace_drops else values)
    return Scoring(
        total=count,
        is_soft=lambda cards: count(cards) > low(cards),
        values=values,
        ace_drops=ace_drops,
        limit=limit,
        reverse_bust=reverse_bust,
        instant_busts=tuple(instant_busts),
    )


def _count_fixed(values: dict[str, int]) -> Callable[[Cards], int]:
    points = {card: values[card[0]] for card in DECK}
    return lambda cards: sum(map(points.__getitem__, cards))


def _count_dropping(values: dict[str, int], limit: int) -> Callable[[Cards], int]:
    """Aces count high as long as that does not bust: under a high limit more than one may."""
    high = _count_fixed(values)

    def count(cards: Cards) -> int:
        best = high(cards)
        for card in cards:
            if best > limit and is_ace(card):
                best -= 10
        return best

    return count
