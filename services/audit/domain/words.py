"""Cards, totals and chips as a person says them."""

from collections.abc import Sequence
from typing import Final

from services.blackjack.domain.cards import Card, Cards, is_soft, total

ORDINALS: Final = ("first", "second", "third", "fourth")
"""How the hands of a seat are told apart."""

_RANKS: Final = {"A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}
_SUITS: Final = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}


def spoken(card: Card) -> str:
    """`As` → the ace of spades."""
    return f"the {_RANKS.get(card[0], card[0])} of {_SUITS[card[1]]}"


def spoken_cards(cards: Cards) -> str:
    """`As Td 9h` → the ace of spades, the 10 of diamonds and the 9 of hearts."""
    return listed([spoken(card) for card in cards])


def listed(words: Sequence[str]) -> str:
    """Words with commas, and an "and" before the last."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def points(cards: Cards) -> str:
    """What the cards add up to: 16, soft 17, or 26."""
    return f"soft {total(cards)}" if is_soft(cards) and total(cards) < 21 else str(total(cards))


def chips(amount: int) -> str:
    """An amount with its unit."""
    return "1 chip" if amount == 1 else f"{amount} chips"
