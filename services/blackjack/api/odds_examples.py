"""Examples of the odds in the API's description: `a2g`, as it is."""

from typing import Any, Final

from services.blackjack.odds.figures import MEANINGS


def _rows(table: str) -> dict[str, list[str]]:
    """`9: H D D` a line: the name of a row and its codes."""
    lines = [line.split() for line in table.strip().splitlines()]
    return {name.rstrip(":"): codes for name, *codes in lines}


_HEAD: Final[dict[str, Any]] = {"ruleset": "a2g", "version": "1.0.0", "bet": 2}
_EDGE: Final = 0.005176367945605061

ODDS: Final[dict[str, Any]] = {
    **_HEAD,
    "game": "fa80297595ebf8b6092bf8590119b8c3fa288097ae2a1ca9f6384bbcb577db63",
    "house_edge": {
        "published": "about 0.5 %",
        "source": "A2G Blackjack",
        "by_composition": 0.0051405645529020855,
        "by_total": _EDGE,
    },
    "insurance": -0.07395498392282962,
    "upcards": [
        {
            "upcard": "A",
            "chance": 0.07692307692307693,
            "dealer": {
                "17": 0.1300166307967757,
                "18": 0.1308215561456253,
                "19": 0.13059394954451514,
                "20": 0.1309096913058077,
                "21": 0.053503534301920945,
                "bust": 0.11547296587963182,
                "natural": 0.3086816720257235,
            },
            "by_composition": -0.3427824169351504,
            "by_total": -0.34278365366465285,
        }
    ],
    "hands": [
        {
            "cards": "88",
            "upcard": "T",
            "best": "hit",
            "stand": -0.5728258585202568,
            "hit": -0.5714495014054622,
            "double_down": -1.1428990028109245,
            "split": -0.6158448133703618,
        }
    ],
}
HAND: Final[dict[str, Any]] = {
    "cards": "T42",
    "upcard": "T",
    "best": "stand",
    "stand": -0.5769405188495959,
    "hit": -0.5770639214680175,
}
TABLE: Final[dict[str, Any]] = {
    "upcards": list("23456789TA"),
    "hard": _rows("""
        4:    H H H H H H H H H H
        5:    H H H H H H H H H H
        6:    H H H H H H H H H H
        7:    H H H H H H H H H H
        8:    H H H H H H H H H H
        9:    H D D D D H H H H H
        10:   D D D D D D D D H H
        11:   D D D D D D D D H H
        12:   H H S S S H H H H H
        13:   S S S S S H H H H H
        14:   S S S S S H H H H H
        15:   S S S S S H H H H H
        16:   S S S S S H H H H H
        17:   S S S S S S S S S S
        18:   S S S S S S S S S S
        19:   S S S S S S S S S S
        20:   S S S S S S S S S S
    """),
    "soft": _rows("""
        12:   H H H H H H H H H H
        13:   H H H D D H H H H H
        14:   H H H D D H H H H H
        15:   H H D D D H H H H H
        16:   H H D D D H H H H H
        17:   H D D D D H H H H H
        18:   S Ds Ds Ds Ds S S H H H
        19:   S S S S S S S S S S
        20:   S S S S S S S S S S
    """),
    "pairs": _rows("""
        A:    P P P P P P P P P -
        2:    P P P P P P - - - -
        3:    P P P P P P - - - -
        4:    - - - P P - - - - -
        5:    - - - - - - - - - -
        6:    P P P P P - - - - -
        7:    P P P P P P - - - -
        8:    P P P P P P P P - -
        9:    P P P P P - P P - -
        T:    - - - - - - - - - -
    """),
}
STRATEGY: Final[dict[str, Any]] = {
    **_HEAD,
    "house_edge": _EDGE,
    "strategy": TABLE,
    "codes": MEANINGS,
}
WORTH: Final[dict[str, Any]] = {**_HEAD, "house_edge": _EDGE, "best": _EDGE}
CHART: Final = '<svg xmlns="http://www.w3.org/2000/svg">…</svg>'
