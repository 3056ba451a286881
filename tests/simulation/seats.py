"""What happens at a table between rounds, once more and deliberately naive: plain dicts.

Each event is checked against the published rules before it is believed, and says which chips have
to move.
"""

from typing import Any

from tests.simulation.rules import RULES, bets, live
from tests.simulation.world import Json

Lines = list[tuple[str, int]]
"""Accounts and the chips that go into (+) or out of (−) them."""


class Seats:
    """Who sits at a table, with which chips. `state` is all that is known of it."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}

    def stack(self, number: int) -> str:
        return f"table/{self.state['id']}/player/{self.state['seats'][number]['player']}/stack"

    def account(self, name: str) -> str:
        return f"table/{self.state['id']}/{name}"

    def _brings(self, number: int, chips: int) -> Lines:
        """Chips come to a stack: from the issuance in a session, else from the player's vault."""
        lines = [(self.stack(number), chips)]
        if self.state["rules"]["bankroll"] == "session":
            lines.append(("issuance", -chips))
        return lines

    def _stakes(self, number: int, chips: int) -> Lines:
        self.state["seats"][number]["stack"] -= chips
        assert self.state["seats"][number]["stack"] >= 0
        return [(self.stack(number), -chips), (self.account("in_play"), chips)]

    def _returns(self, number: int, stake: int, payout: int) -> Lines:
        self.state["seats"][number]["stack"] += payout
        house = [(self.account("in_play"), -stake), (self.account("bank"), stake - payout)]
        return [(self.stack(number), payout), *house]

    def _table_opened(self, data: Json) -> None:
        assert not self.state
        recorded = data["ruleset"]
        rules = RULES[recorded["name"]] | {n: recorded[n] for n in ("bet", "clock", "seats")}
        rules |= {n: recorded[n] for n in ("environment", "items") if n in recorded}
        assert rules.get("modifiers") or "environment" not in rules
        assert rules["seats"] <= RULES[recorded["name"]]["seats"]
        assert {name: recorded[name] for name in rules} == rules
        self.state = {
            "id": data["table"], "name": recorded["name"], "rules": rules, "host": data["host"],
            "phase": "betting", "seats": {}, "round": None, "offers": [], "turn": None,
            "arrivals": 0, "next": data["next"]["commitment"], "since": None, "clock": None,
            "changes": rules.get("environment", []),
        }  # fmt: skip

    def _table_closed(self, data: Json) -> None:
        assert self.state["phase"] == "betting"
        assert not self.state["seats"]
        self.state["phase"] = "closed"

    def _host_moved(self, data: Json) -> None:
        """To whoever sits the longest; to nobody when the last one goes."""
        others = [
            (seat["since"], seat["player"])
            for seat in self.state["seats"].values()
            if seat["player"] != self.state["host"] and not seat["leaving"]
        ]
        assert data["host"] == (min(others)[1] if others else None)
        self.state["host"] = data["host"]

    def _player_sat(self, data: Json) -> Lines:
        state, number = self.state, data["seat"]
        assert 1 <= number <= state["rules"]["seats"]
        assert number not in state["seats"]
        assert data["player"] not in [seat["player"] for seat in state["seats"].values()]
        state["arrivals"] += 1
        state["seats"][number] = {
            "player": data["player"], "stack": data["buy_in"], "bet": 0, "insurance": 0,
            "sits_out": False, "leaving": False, "hands": [], "client_seed": None,
            "since": state["arrivals"], "items": [],
        }  # fmt: skip
        return self._brings(number, data["buy_in"])

    def _chips_bought_in(self, data: Json) -> Lines:
        seat = self.state["seats"][data["seat"]]
        assert self.state["phase"] == "betting" or not live(seat)
        seat["stack"] += data["amount"]
        return self._brings(data["seat"], data["amount"])

    def _chips_cashed_out(self, data: Json) -> Lines:
        seat = self.state["seats"][data["seat"]]
        assert self.state["phase"] == "betting" or not live(seat)
        assert self.state["rules"]["bankroll"] == "vault"
        assert seat["stack"] >= data["amount"]
        seat["stack"] -= data["amount"]
        return self._brings(data["seat"], -data["amount"])

    def _player_leaving(self, data: Json) -> None:
        seat = self.state["seats"][data["seat"]]
        assert live(seat)
        seat["leaving"] = True

    def _player_left(self, data: Json) -> Lines:
        seat = self.state["seats"][data["seat"]]
        assert (seat["player"], seat["stack"]) == (data["player"], data["cash_out"])
        assert self.state["phase"] == "betting" or not live(seat)
        assert self.state["phase"] != "betting" or not seat["bet"]
        lines = self._brings(data["seat"], -data["cash_out"])
        del self.state["seats"][data["seat"]]
        return lines

    def _bet_placed(self, data: Json) -> Lines:
        seat, amount = self.state["seats"][data["seat"]], data["amount"]
        assert self.state["phase"] == "betting"
        assert seat["bet"] == 0
        least, most = bets(self.state["rules"], seat["stack"])
        assert least <= amount <= most
        assert (amount - least) % self.state["rules"]["bet"].get("step", 1) == 0
        seat |= {"bet": amount, "client_seed": data["client_seed"], "sits_out": False}
        return self._stakes(data["seat"], amount)

    def _bet_withdrawn(self, data: Json) -> Lines:
        seat = self.state["seats"][data["seat"]]
        assert self.state["phase"] == "betting"
        assert seat["bet"] == data["amount"] > 0
        seat |= {"bet": 0, "client_seed": None}
        return self._stakes(data["seat"], -data["amount"])

    def _seat_sat_out(self, data: Json) -> None:
        seat = self.state["seats"][data["seat"]]
        assert seat["bet"] == 0
        assert not seat["sits_out"]
        seat["sits_out"] = True
