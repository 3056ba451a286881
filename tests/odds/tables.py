"""Tables as they are printed on cards: upcards 2 to 10 and ace, a letter each."""

from typing import Final

from services.blackjack.odds.strategy import Strategy

PEEK_WITH_DAS: Final = """
hard 4 H H H H H H H H H H
hard 5 H H H H H H H H H H
hard 6 H H H H H H H H H H
hard 7 H H H H H H H H H H
hard 8 H H H H H H H H H H
hard 9 H D D D D H H H H H
hard 10 D D D D D D D D H H
hard 11 D D D D D D D D D H
hard 12 H H S S S H H H H H
hard 13 S S S S S H H H H H
hard 14 S S S S S H H H H H
hard 15 S S S S S H H H H H
hard 16 S S S S S H H H H H
hard 17 S S S S S S S S S S
hard 18 S S S S S S S S S S
hard 19 S S S S S S S S S S
hard 20 S S S S S S S S S S
soft 12 H H H H H H H H H H
soft 13 H H H D D H H H H H
soft 14 H H H D D H H H H H
soft 15 H H D D D H H H H H
soft 16 H H D D D H H H H H
soft 17 H D D D D H H H H H
soft 18 S Ds Ds Ds Ds S S H H H
soft 19 S S S S S S S S S S
soft 20 S S S S S S S S S S
A-A P P P P P P P P P P
2-2 P P P P P P - - - -
3-3 P P P P P P - - - -
4-4 - - - P P - - - - -
5-5 - - - - - - - - - -
6-6 P P P P P - - - - -
7-7 P P P P P P - - - -
8-8 P P P P P P P P P P
9-9 P P P P P - P P - -
T-T - - - - - - - - - -
"""
"""The chart that everybody knows for many decks, S17, double after split."""

WITHOUT_A_PEEK: Final = {
    "hard 11 D D D D D D D D D H": "hard 11 D D D D D D D D H H",
    "8-8 P P P P P P P P P P": "8-8 P P P P P P P P - -",
    "A-A P P P P P P P P P P": "A-A P P P P P P P P P -",
}


def without_a_peek() -> str:
    """The same chart, with what is different when a dealer's natural takes all stakes."""
    table = PEEK_WITH_DAS
    for row, other in WITHOUT_A_PEEK.items():
        table = table.replace(row, other)
    return table


def as_text(strategy: Strategy) -> str:
    """A strategy in the same form; rows of 21, which nobody plays on, are left out."""
    assert strategy.upcards == tuple("23456789TA")
    rows = [
        *((f"hard {total}", codes) for total, codes in strategy.hard.items() if total < 21),
        *((f"soft {total}", codes) for total, codes in strategy.soft.items() if total < 21),
        *((f"{card}-{card}", codes) for card, codes in strategy.pairs.items()),
    ]
    return "\n".join(f"{name} {' '.join(codes)}" for name, codes in rows)
