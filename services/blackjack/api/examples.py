"""What requests and answers look like, for the API's description."""

from typing import Any, Final, get_args

from msgspec import json

from services.blackjack.domain.commands import Command
from services.blackjack.domain.rulesets import A2G
from shared.kernel.chips import MOST_CHIPS

COMMANDS: Final[dict[str, Any]] = {cls.example["type"]: cls.example for cls in get_args(Command)}
OPEN: Final[dict[str, Any]] = {
    "a table of A2G": {"ruleset": "a2g", "host": "ada"},
    "with limits of its own": {
        "ruleset": "coinlounge",
        "host": "ada",
        "bet": {"min": 10, "max": 200, "step": 10},
        "clock": {"betting_seconds": 30, "insurance_seconds": 15, "action_seconds": 15},
        "seats": 3,
    },
    "with an environment and a shop of its own": {
        "ruleset": "classic",
        "environment": [{"type": "bust_limit", "limit": 25}, {"type": "fixed_ace", "value": 5}],
        "items": [
            {"name": "again", "price": 8, "effect": {"type": "redraw"}},
            {
                "name": "sevens",
                "price": 20,
                "effect": {
                    "type": "modify",
                    "modifier": {"type": "rank_value", "rank": "7", "value": 1},
                },
            },
        ],
    },
}
TABLE: Final[dict[str, Any]] = {
    "id": "table-3",
    "ruleset": "a2g",
    "version": 17,
    "position": 241,
    "phase": "player_turn",
    "host": "ada",
    "round": {
        "id": "table-3.5",
        "number": 5,
        "commitment": "c12b7a4f0a9e0c4f5b1f3b6f8f0e6f2d1c9a7b5e3d1f9c7a5b3e1d0f8c6a4b2e",
        "seed": None,
    },
    "next_commitment": None,
    "modifiers": [],
    "dealer": {"cards": ["6c"], "hole": "face_down", "total": 6, "soft": False},
    "seats": [
        {
            "seat": 1,
            "player": "ada",
            "stack": 180,
            "bet": 20,
            "insurance": 0,
            "sits_out": False,
            "leaving": False,
            "hands": [
                {
                    "hand": 0,
                    "cards": ["8h", "8c"],
                    "total": 16,
                    "soft": False,
                    "stake": 20,
                    "status": "playing",
                }
            ],
        }
    ],
    "turn": {"seat": 1, "hand": 0},
    "clock": {"kind": "action", "due": "2026-01-31T12:00:20.123000Z"},
    "legal_moves": [
        {"type": "hit", "seat": 1, "hand": 0},
        {"type": "stand", "seat": 1, "hand": 0},
        {"type": "double_down", "seat": 1, "hand": 0, "cost": 20},
        {"type": "split", "seat": 1, "hand": 0, "cost": 20},
        {"type": "leave", "seat": 1},
        {"type": "sit", "seat": 2, "min": 1, "max": MOST_CHIPS, "step": 1},
    ],
}
TABLES: Final[dict[str, Any]] = {
    "data": [
        {
            "id": "table-3",
            "ruleset": "a2g",
            "phase": "player_turn",
            "host": "ada",
            "seats": 2,
            "players": ["ada"],
            "rounds": 5,
            "version": 17,
            "position": 241,
        }
    ],
    "next": None,
    "position": 241,
}
ROUNDS: Final[dict[str, Any]] = {
    "data": [
        {
            "id": "table-3.4",
            "number": 4,
            "opened_at": "2026-01-31T12:00:00.000000Z",
            "ended_at": "2026-01-31T12:00:41.500000Z",
            "hands": 1,
            "stake": 20,
            "payout": 40,
        }
    ],
    "next": 4,
    "position": 241,
}
HANDS: Final[dict[str, Any]] = {
    "data": [
        {
            "position": 230,
            "round": "table-3.4",
            "ruleset": "a2g",
            "seat": 1,
            "hand": 0,
            "cards": ["9h", "Ts"],
            "outcome": "win",
            "stake": 20,
            "payout": 40,
            "settled_at": "2026-01-31T12:00:41.500000Z",
        }
    ],
    "next": 230,
    "position": 241,
}
WINS: Final[dict[str, Any]] = {
    "first_day": "2026-01-01",
    "last_day": "2026-01-31",
    "data": [
        {
            "position": 243,
            "time": "2026-01-31T12:00:00Z",
            "text": "ada won 30 on a stake of 20 in round table-3.5, with As Kd.",
            "table": "table-3",
            "round": "table-3.5",
            "ruleset": "a2g",
            "player": "ada",
            "cards": ["As", "Kd"],
            "outcome": "natural",
            "stake": 20,
            "amount": 30,
        }
    ],
    "position": 250,
}
RUNS: Final[dict[str, Any]] = {
    "data": [
        {
            "position": 198,
            "table": "table-8",
            "number": 2,
            "ruleset": "classic",
            "source": "vault",
            "stake": 60,
            "goal": 240,
            "rounds": 14,
            "outcome": "won",
            "bankroll": 255,
            "started_at": "2026-01-31T12:00:00.000000Z",
            "ended_at": "2026-01-31T12:09:03.250000Z",
        }
    ],
    "next": None,
    "position": 241,
}
RETURNS: Final[dict[str, Any]] = {
    "data": [
        {
            "day": "2026-01-31",
            "ruleset": "a2g",
            "rounds": 4,
            "hands": 5,
            "stake": 110,
            "payout": 100,
            "insurance_stake": 10,
            "insurance_payout": 0,
        }
    ],
    "next": None,
    "position": 241,
}
EVENT: Final[dict[str, Any]] = {
    "position": 241,
    "version": 17,
    "type": "blackjack.hands_dealt",
    "data": {"hands": [[1, "8h", "8c"]], "upcard": "6c"},
}
COMPUTERS: Final[dict[str, Any]] = {
    "one that plays the exact best table": {"seat": 2, "level": "hard", "buy_in": 200},
    "for a few rounds": {"seat": 3, "level": "easy", "buy_in": 50, "rounds": 10},
}
COMPUTER_SEATED: Final[dict[str, Any]] = {
    "position": 242,
    "version": 18,
    "type": "blackjack.computer_seated",
    "data": {"seat": 2, "level": "hard", "buy_in": 200, "last_round": 105},
}
ANSWER: Final[dict[str, Any]] = {"table": TABLE, "events": [EVENT]}
RULESET: Final[dict[str, Any]] = json.decode(json.encode(A2G))
OWN_RULESET: Final[dict[str, Any]] = {
    **RULESET,
    "name": "high-rollers",
    "title": "A2G for high rollers",
    "bet": {"min": 100, "step": 100, "max": 10_000, "half_of_stack": False},
    "surrender": True,
    "house_edge": "about 0.4 %",
}
OTHER_RULESETS: Final[dict[str, Any]] = {
    "A2G with larger bets and surrender": OWN_RULESET,
    "two decks without any hurry": {
        **OWN_RULESET,
        "name": "double-deck",
        "title": "Double deck",
        "seats": 3,
        "decks": 2,
        "clock": {"betting_seconds": None, "insurance_seconds": None, "action_seconds": None},
        "hands_per_seat": 2,
        "house_edge": "not published",
    },
}
REALISED: Final[dict[str, Any]] = {
    "ruleset": "a2g",
    "version": "1.0.0",
    "table": None,
    "verdict": "as_expected",
    "alarm": False,
    "confidence": 0.999,
    "rounds": 2,
    "bet": 60,
    "stake": 80,
    "payout": 90,
    "realised": 1.166667,
    "exact": 0.994859,
    "careless": 0.943244,
    "rounding": 0.0,
    "band": {"low": -18.8, "high": 21.3},
    "curve": [
        {"rounds": 1, "realised": 0.0, "low": -37.8, "high": 39.9},
        {"rounds": 2, "realised": 1.166667, "low": -18.8, "high": 21.3},
    ],
    "position": 241,
}
