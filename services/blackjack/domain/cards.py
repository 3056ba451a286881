"""Cards and what they add up to. A card is two characters, rank then suit: `As Td 9h 2c`."""

from itertools import permutations
from typing import Final, TypeAlias

Card: TypeAlias = str
Cards: TypeAlias = tuple[Card, ...]

RANKS: Final = "A23456789TJQK"
SUITS: Final = "cdhs"
DECK: Final[Cards] = tuple(rank + suit for suit in SUITS for rank in RANKS)

POINTS: Final = {card: min(RANKS.index(card[0]) + 1, 10) for card in DECK}
"""What each card counts, with the ace as 1; ten, jack, queen and king are the ten-value cards."""

_POINTS_OF = POINTS.__getitem__
_ACES: Final = frozenset(card for card in DECK if card[0] == "A")


def total(cards: Cards) -> int:
    """The best total: one ace counts 11 as long as that does not bust."""
    hard = sum(map(_POINTS_OF, cards))
    return hard + 10 if hard <= 11 and not _ACES.isdisjoint(cards) else hard


def is_soft(cards: Cards) -> bool:
    """Whether an ace counts 11 in the best total."""
    return sum(map(_POINTS_OF, cards)) <= 11 and not _ACES.isdisjoint(cards)


def is_ace(card: Card) -> bool:
    return card in _ACES


def is_natural(cards: Cards) -> bool:
    """An ace and a ten-value card, nothing more. Whether the hand was split is for its owner."""
    return cards in _NATURALS


_NATURALS: Final = frozenset(two for two in permutations(DECK, 2) if total(two) == 21)
