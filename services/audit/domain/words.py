"""Cards, totals, chips and counts as a person says them."""

from collections.abc import Sequence
from typing import Final

from services.blackjack.domain.cards import Card, Cards
from services.blackjack.domain.modifiers import (
    BustLimit,
    FixedAce,
    Holds,
    InstantBust,
    Modifier,
    Modifiers,
    Pair,
    RankValue,
    ReverseBust,
    TotalFrom,
    scoring,
)

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


def points(cards: Cards, modifiers: Modifiers = ()) -> str:
    """What the cards add up to: 16, soft 17, or 26."""
    count = scoring(modifiers)
    best = count.total(cards)
    return f"soft {best}" if count.is_soft(cards) and best < count.limit else str(best)


def spoken_modifier(modifier: Modifier) -> str:
    """What it does, as half a sentence."""
    match modifier:
        case RankValue(rank, value):
            return f"every {_RANKS.get(rank, rank)} counts {value}"
        case FixedAce(value):
            return f"every ace counts {value}, and nothing else"
        case BustLimit(limit):
            return f"a hand busts above {limit}"
        case ReverseBust():
            return "a player's bust is a push"
        case InstantBust(TotalFrom(least, most)):
            return f"a starting hand that totals {least} to {most} busts at once"
        case InstantBust(Holds(rank)):
            return f"a starting hand with {_article(rank)} busts at once"
        case InstantBust(Pair()):
            return "a starting hand that is a pair busts at once"
        case _:
            raise AssertionError("every modifier has its words")


def _article(rank: str) -> str:
    return f"an {_RANKS.get(rank, rank)}" if rank in "A8" else f"a {_RANKS.get(rank, rank)}"


def chips(amount: int) -> str:
    """An amount with its unit."""
    return "1 chip" if amount == 1 else f"{amount} chips"


def counted(number: int, noun: str) -> str:
    """`1 fault`, `1,000 faults`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
