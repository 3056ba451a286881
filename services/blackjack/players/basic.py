"""Basic strategy for several decks and a dealer who stands on all 17s, as it is printed anywhere.

Double after split is allowed and the dealer has peeked; where a table's rules differ, this is not
quite its best play, which is what tells `normal` from `hard`.
"""

from typing import Final

from services.blackjack.odds.figures import Row, Strategy

_UPCARDS: Final = "2 3 4 5 6 7 8 9 T A"

_HARD: Final = """
    4    H  H  H  H  H  H  H  H  H  H
    5    H  H  H  H  H  H  H  H  H  H
    6    H  H  H  H  H  H  H  H  H  H
    7    H  H  H  H  H  H  H  H  H  H
    8    H  H  H  H  H  H  H  H  H  H
    9    H  D  D  D  D  H  H  H  H  H
    10   D  D  D  D  D  D  D  D  H  H
    11   D  D  D  D  D  D  D  D  D  H
    12   H  H  S  S  S  H  H  H  H  H
    13   S  S  S  S  S  H  H  H  H  H
    14   S  S  S  S  S  H  H  H  H  H
    15   S  S  S  S  S  H  H  H  H  H
    16   S  S  S  S  S  H  H  H  H  H
    17   S  S  S  S  S  S  S  S  S  S
    18   S  S  S  S  S  S  S  S  S  S
    19   S  S  S  S  S  S  S  S  S  S
    20   S  S  S  S  S  S  S  S  S  S
    """
_SOFT: Final = """
    12   H  H  H  H  H  H  H  H  H  H
    13   H  H  H  D  D  H  H  H  H  H
    14   H  H  H  D  D  H  H  H  H  H
    15   H  H  D  D  D  H  H  H  H  H
    16   H  H  D  D  D  H  H  H  H  H
    17   H  D  D  D  D  H  H  H  H  H
    18   S  Ds Ds Ds Ds S  S  H  H  H
    19   S  S  S  S  S  S  S  S  S  S
    20   S  S  S  S  S  S  S  S  S  S
    """
_PAIRS: Final = """
    A    P  P  P  P  P  P  P  P  P  P
    2    P  P  P  P  P  P  -  -  -  -
    3    P  P  P  P  P  P  -  -  -  -
    4    -  -  -  P  P  -  -  -  -  -
    5    -  -  -  -  -  -  -  -  -  -
    6    P  P  P  P  P  -  -  -  -  -
    7    P  P  P  P  P  P  -  -  -  -
    8    P  P  P  P  P  P  P  P  P  P
    9    P  P  P  P  P  -  P  P  -  -
    T    -  -  -  -  -  -  -  -  -  -
    """


def _rows(printed: str) -> dict[str, Row]:
    lines = [line.split() for line in printed.strip().splitlines()]
    return {name: tuple(codes) for name, *codes in lines}


BASIC: Final = Strategy(
    upcards=tuple(_UPCARDS.split()),
    hard={int(total): codes for total, codes in _rows(_HARD).items()},
    soft={int(total): codes for total, codes in _rows(_SOFT).items()},
    pairs=_rows(_PAIRS),
)
