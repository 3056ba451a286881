"""The four games once more, by hand, from the published rules; and what a player may do by them.

Nothing here imports the service: a second opinion that shares no mistake with the first.
"""

from collections.abc import Iterator
from typing import Any

from tests.simulation.counting import natural, points
from tests.simulation.world import Json

MOST = 10**12

RULES: dict[str, dict[str, Any]] = {
    "a2g": {
        "seats": 7, "decks": 6, "bet": {"min": 2, "max": 500, "step": 2}, "bankroll": "vault",
        "deals": "server", "peek": "never", "insurance": "on_turn",
        "naturals_settle": "at_resolution", "double_after_split": True, "split": "same_rank",
        "hands_per_seat": 4, "surrender": False, "hit_on_21": False,
        "clock": {"betting_seconds": 25, "action_seconds": 20},
    },
    "coinlounge": {
        "seats": 5, "decks": 6, "bet": {"min": 1, "max": 500, "step": 1}, "bankroll": "vault",
        "deals": "host", "peek": "ace_or_ten", "insurance": "before_play",
        "naturals_settle": "before_play", "double_after_split": False, "split": "same_rank",
        "hands_per_seat": 2, "surrender": False, "hit_on_21": False,
        "clock": {"betting_seconds": 25, "insurance_seconds": 25, "action_seconds": 25},
    },
    "classic": {
        "seats": 1, "decks": 1, "bet": {"min": 5, "step": 1, "half_of_stack": True},
        "bankroll": "vault", "deals": "server", "peek": "always", "insurance": "none",
        "naturals_settle": "before_play", "double_after_split": False, "split": "none",
        "hands_per_seat": 1, "surrender": True, "hit_on_21": False, "clock": {},
        "run": {
            "min_stake": 40, "max_stake": 100, "goal_multiple": 4, "granted_stake": 100,
            "granted_goal": 300,
        },
        "modifiers": True, "items": [
            {"name": "redraw", "price": 10, "effect": {"type": "redraw"}},
            {"name": "shield", "price": 15, "effect": {"type": "shield"}},
            {"name": "limit-22", "price": 10, "effect": {
                "type": "modify", "modifier": {"type": "bust_limit", "limit": 22},
            }},
        ],
    },
    "european": {
        "seats": 7, "decks": 6, "bet": {"min": 2, "max": 500, "step": 2}, "bankroll": "session",
        "deals": "server", "peek": "never", "insurance": "none",
        "naturals_settle": "at_resolution", "double_after_split": True, "split": "same_value",
        "hands_per_seat": 4, "surrender": False, "hit_on_21": True, "clock": {},
    },
}  # fmt: skip


def bets(rules: Json, stack: int) -> list[int]:
    """The smallest and the largest opening bet of a stack; nothing when there is none."""
    limits = rules["bet"]
    most = min(stack, limits.get("max") or MOST)
    if limits.get("half_of_stack"):
        most = min(most, stack // 2)
    step = limits.get("step", 1)
    most -= (most - limits["min"]) % step
    return [limits["min"], most] if most >= limits["min"] else []


def peeks(rules: Json, upcard: str) -> bool:
    return rules["peek"] == "always" or (rules["peek"] == "ace_or_ten" and points(upcard)[-1] >= 10)


def insures(rules: Json, upcard: str, seat: Json) -> bool:
    """Whether a seat can buy insurance before its first action: an ace, a price, the chips."""
    price = seat["bet"] // 2
    return rules["insurance"] != "none" and upcard[0] == "A" and 0 < price <= seat["stack"]


def splits(rules: Json, cards: list[str]) -> bool:
    if rules["split"] == "none" or len(cards) != 2:
        return False
    if rules["split"] == "same_rank":
        return cards[0][0] == cards[1][0]
    return points(cards[0]) == points(cards[1])


def legal(table: Json) -> list[Json]:
    """Everything that may be done at a table of the model."""
    if table["phase"] == "closed":
        return []
    betting = table["phase"] == "betting"
    moves = [*_between_rounds(table)] if betting else [*_in_the_round(table)]
    for number in range(1, table["rules"]["seats"] + 1):
        seat = table["seats"].get(number)
        if seat is None:
            moves += _arrivals(table["rules"], {"seat": number})
            continue
        if seat["run"]:
            if seat["run"]["outcome"]:
                moves += _arrivals(table["rules"], {"seat": number, "player": seat["player"]})
        elif betting or not live(seat):
            moves.append({"type": "buy_in", "seat": number, "min": 1, "max": MOST, "step": 1})
            if seat["stack"] and table["rules"]["bankroll"] == "vault":
                most = min(seat["stack"], MOST)
                moves.append({"type": "cash_out", "seat": number, "min": 1, "max": most, "step": 1})
        if not seat["leaving"]:
            moves.append({"type": "leave", "seat": number})
    return moves


def _arrivals(rules: Json, place: Json) -> Iterator[Json]:
    """With any chips; or with a run, of chips within limits or of granted ones."""
    if runs := rules.get("run"):
        least, most = runs["min_stake"], runs["max_stake"]
        yield {"type": "start_run", **place, "min": least, "max": most, "step": 1}
        yield {"type": "start_run", **place}
    else:
        yield {"type": "sit", **place, "min": 1, "max": MOST, "step": 1}


def fate(rules: Json, seat: Json) -> str | None:
    """What a run has come to after a round; nothing while it goes on."""
    if seat["stack"] >= seat["run"]["goal"]:
        return "won"
    return None if bets(rules, seat["stack"]) else "lost"


def live(seat: Json) -> bool:
    """Whether a round still owes the seat something."""
    return seat["insurance"] > 0 or any(hand["status"] != "settled" for hand in seat["hands"])


def _between_rounds(table: Json) -> Iterator[Json]:
    yield {"type": "close"}
    somebody_has_bet = any(seat["bet"] for seat in table["seats"].values())
    if table["rules"]["deals"] == "host" and table["host"] and somebody_has_bet:
        yield {"type": "deal", "player": table["host"]}
    for number, seat in table["seats"].items():
        if seat["bet"]:
            yield {"type": "withdraw_bet", "seat": number}
            continue
        if ends := bets(table["rules"], seat["stack"]):
            step = table["rules"]["bet"].get("step", 1)
            yield {"type": "bet", "seat": number, "min": ends[0], "max": ends[1], "step": step}
        if not seat["sits_out"]:
            yield {"type": "sit_out", "seat": number}
        for item in table["rules"].get("items", []):
            left = seat["stack"] - item["price"]
            goes_on = not table["rules"].get("run") or bets(table["rules"], left)
            if left >= 0 and goes_on and len(seat["items"]) < 5:
                place = {"seat": number, "item": item["name"]}
                yield {"type": "buy_item", **place, "cost": item["price"]}


def _in_the_round(table: Json) -> Iterator[Json]:
    rules = table["rules"]
    for number in table["offers"]:
        yield {"type": "insure", "seat": number, "cost": table["seats"][number]["bet"] // 2}
        yield {"type": "decline_insurance", "seat": number}
    if table["offers"] or not table["turn"]:
        return
    number, index = table["turn"]
    seat = table["seats"][number]
    hand = seat["hands"][index]
    cards, place = hand["cards"], {"seat": number, "hand": index}
    yield {"type": "stand", **place}
    first = len(cards) == 2 and not hand["split"]
    alone = len(seat["hands"]) == 1 and not seat["insurance"]
    if (
        first
        and alone
        and rules["insurance"] == "on_turn"
        and insures(rules, table["upcard"], seat)
    ):
        yield {"type": "insure", "seat": number, "cost": seat["bet"] // 2}
    if first and natural(cards):
        return  # it can be insured, and takes no card
    yield {"type": "hit", **place}
    yield from _changes(table, seat, hand, place)
    if first and rules["surrender"]:
        yield {"type": "surrender", **place}
    if seat["stack"] < hand["stake"]:
        return
    if len(cards) == 2 and (rules["double_after_split"] or not hand["split"]):
        yield {"type": "double_down", **place, "cost": hand["stake"]}
    if splits(rules, cards) and len(seat["hands"]) < rules["hands_per_seat"]:
        yield {"type": "split", **place, "cost": hand["stake"]}


def useless(effect: Json, hand: Json) -> bool:
    """Whether an item would do nothing for a hand."""
    if effect["type"] == "redraw":
        return len(hand["cards"]) == 2
    return effect["type"] == "shield" and bool(hand["shielded"])


def _changes(table: Json, seat: Json, hand: Json, place: Json) -> Iterator[Json]:
    """Items, and the platform's modifier: only games of one seat have it here."""
    for item in table["rules"].get("items", []):
        if item["name"] in seat["items"] and not useless(item["effect"], hand):
            yield {"type": "use_item", **place, "item": item["name"]}
    undecided = len(hand["cards"]) == 2 and not table["round"]["modified"]
    if table["rules"].get("modifiers") and undecided:
        yield {"type": "apply_modifier"}
