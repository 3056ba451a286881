"""What statements look like, for the API's description."""

from typing import Any, Final

_TIME: Final = "2026-01-31T12:00:00Z"
PLAYER: Final[dict[str, Any]] = {
    "player": "ada",
    "first_position": 10,
    "last_position": 16,
    "opening": {"balance": 1000, "vault": 600, "at_tables": 400, "at_risk": 0},
    "closing": {"balance": 1020, "vault": 600, "at_tables": 420, "at_risk": 0},
    "data": [
        {
            "position": 10,
            "time": _TIME,
            "kind": "bet",
            "text": "ada bets 20 in round table-3.5.",
            "table": "table-3",
            "round": "table-3.5",
            "hand": None,
            "amount": -20,
            "balance": 980,
            "vault": 600,
            "at_risk": 20,
        },
        {
            "position": 15,
            "time": _TIME,
            "kind": "hand",
            "text": "ada wins 20 in round table-3.5: 40 come back.",
            "table": "table-3",
            "round": "table-3.5",
            "hand": None,
            "amount": 40,
            "balance": 1020,
            "vault": 600,
            "at_risk": 0,
        },
    ],
    "next": None,
}
BANK: Final[dict[str, Any]] = {
    "table": "table-3",
    "first_position": 10,
    "last_position": 16,
    "opening": 70,
    "closing": 50,
    "data": [
        {
            "position": 15,
            "time": _TIME,
            "kind": "hand",
            "text": "ada wins 20 in round table-3.5: 40 come back.",
            "player": "ada",
            "round": "table-3.5",
            "hand": None,
            "amount": -20,
            "balance": 50,
        }
    ],
    "next": None,
}
PLAYER_CSV: Final = """\
position,time,kind,text,table,round,hand,amount,balance,vault,at_risk
9,,opening,,,,,,1000,600,0
10,2026-01-31T12:00:00.000000Z,bet,ada bets 20 in round table-3.5.,table-3,table-3.5,,-20,980,600,20
12,,closing,,,,,,980,600,20
"""
BANK_CSV: Final = """\
position,time,kind,text,player,round,hand,amount,balance
9,,opening,,,,,,70
15,2026-01-31T12:00:00.000000Z,hand,ada loses 20 in round table-3.5.,ada,table-3.5,,20,90
16,,closing,,,,,,90
"""
PAGE: Final = "<!doctype html>…"
