"""The figures themselves, for people and programs. Whoever only passes them on needs no more."""

from typing import Final, TypeAlias

from msgspec import Struct

Row: TypeAlias = tuple[str, ...]


class Strategy(Struct, frozen=True):
    """Codes by upcard, in the order of `upcards`; see `MEANINGS`.

    `pairs` is asked first (`P` or `-`), then the total.
    """

    upcards: tuple[str, ...]
    hard: dict[int, Row]
    soft: dict[int, Row]
    pairs: dict[str, Row]


CODES: Final = {
    "H": (True, False, False),
    "S": (False, False, False),
    "D": (True, True, False),
    "Ds": (False, True, False),
    "R": (True, False, True),
    "Rs": (False, False, True),
    "RD": (True, True, True),
    "RDs": (False, True, True),
}
"""Hit, double, surrender: the first that is allowed is done, from the last to the first of them,
and the hand stands when it is told none."""
MEANINGS: Final = {
    "H": "hit",
    "S": "stand",
    "D": "double, else hit",
    "Ds": "double, else stand",
    "R": "surrender, else hit",
    "Rs": "surrender, else stand",
    "RD": "surrender, else double, else hit",
    "RDs": "surrender, else double, else stand",
    "P": "split",
    "-": "play the total",
}


class Hand(Struct, frozen=True, omit_defaults=True):
    """Two or more cards against an upcard: bets won on average by each move, and the best of them.

    After the move everything is played best. When the dealer has peeked, there is no natural.
    """

    cards: str
    upcard: str
    best: str
    stand: float
    hit: float | None = None
    double_down: float | None = None
    split: float | None = None
    surrender: float | None = None


class Upcard(Struct, frozen=True):
    """One upcard: how likely it is, what the dealer makes of it before any peek, and bets won."""

    upcard: str
    chance: float
    dealer: dict[str, float]
    """The chances of each final total, `bust` and `natural`."""
    by_composition: float
    by_total: float


class Odds(Struct, frozen=True):
    """The player's expectation in bets: what a round wins (+) or loses (−) for each chip bet.

    `by_composition`: the best play by all cards of the hand. `by_total`: the best single table.
    The house edge is the expectation with the other sign. `insurance`: what a chip of insurance
    wins, bought blindly, null where there is none.
    """

    game: str
    by_composition: float
    by_total: float
    insurance: float | None
    strategy: Strategy
    upcards: list[Upcard]
    hands: list[Hand]
