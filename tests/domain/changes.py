"""Modifiers in short, and games of many seats that have them."""

from msgspec.structs import replace

from services.blackjack.domain import modifiers as m
from services.blackjack.domain.rules import Clocks
from services.blackjack.domain.rulesets import PUBLISHED

SHARED = replace(PUBLISHED["coinlounge"], deals="server", modifiers=True)
"""A game of many seats with modifiers: insurance is offered to all before play."""
ON_TURN = replace(PUBLISHED["a2g"], modifiers=True, clock=Clocks(action_seconds=20))
"""The same with insurance on one's turn, and a clock."""
CONDITIONS = {
    "12 to 16": m.TotalFrom(12, 16),
    "an ace": m.Holds("A"),
    "a king": m.Holds("K"),
    "a pair": m.Pair(),
}


def modifiers(words: str) -> m.Modifiers:
    """`7=9, A=5, limit=25, reverse, 12 to 16, a pair`: in this order."""
    return tuple(_modifier(word) for word in words.split(", ") if word)


def _modifier(word: str) -> m.Modifier:
    name, _, value = word.partition("=")
    match name:
        case "limit":
            return m.BustLimit(int(value))
        case "reverse":
            return m.ReverseBust()
        case "A":
            return m.FixedAce(int(value))
        case condition if condition in CONDITIONS:
            return m.InstantBust(CONDITIONS[condition])
        case rank:
            return m.RankValue(rank, int(value))
