"""What happens at a table between rounds, once more and deliberately naive: plain dicts.

Each event is checked against the published rules before it is believed, and says which chips have
to move.
"""

from typing import Any

from tests.simulation.rules import RULES, bets, fate, live
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
            "arrivals": 0, "runs": 0, "next": data["next"]["commitment"], "since": None,
            "clock": None, "changes": rules.get("environment", []),
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
        assert "run" not in self.state["rules"]
        self._takes(data["seat"], data["player"], data["buy_in"])
        return self._brings(data["seat"], data["buy_in"])

    def _takes(self, number: int, player: str, chips: int) -> None:
        state = self.state
        assert 1 <= number <= state["rules"]["seats"]
        assert number not in state["seats"]
        assert player not in [seat["player"] for seat in state["seats"].values()]
        state["arrivals"] += 1
        state["seats"][number] = {
            "player": player, "stack": chips, "bet": 0, "insurance": 0,
            "sits_out": False, "leaving": False, "hands": [], "client_seed": None,
            "since": state["arrivals"], "run": None, "items": [],
        }  # fmt: skip

    def _run_started(self, data: Json) -> Lines:
        state, runs, number = self.state, self.state["rules"]["run"], data["seat"]
        state["runs"] += 1
        assert data["number"] == state["runs"]
        if data["source"] == "grant":
            assert (data["stake"], data["goal"]) == (runs["granted_stake"], runs["granted_goal"])
        else:
            assert runs["min_stake"] <= data["stake"] <= runs["max_stake"]
            assert data["goal"] == data["stake"] * runs["goal_multiple"]
        if seat := state["seats"].get(number):
            assert seat["player"] == data["player"]
            assert seat["run"]["outcome"]
            seat["stack"] = data["stake"]
        else:
            self._takes(number, data["player"], data["stake"])
        told = {name: data[name] for name in ("number", "source", "stake", "goal")}
        state["seats"][number]["run"] = {**told, "bankroll": None, "outcome": None}
        return self._stakes_on_a_run(number, data["stake"])

    def _run_ended(self, data: Json) -> Lines:
        seat = self.state["seats"][data["seat"]]
        assert not seat["run"]["outcome"]
        assert data["outcome"] == (fate(self.state["rules"], seat) or "left")
        assert data["bankroll"] == seat["stack"]
        seat["run"] |= {"outcome": data["outcome"], "bankroll": data["bankroll"]}
        seat["stack"], seat["items"] = 0, []
        return self._stakes_on_a_run(data["seat"], -data["bankroll"])

    def _stakes_on_a_run(self, number: int, chips: int) -> Lines:
        """From the vault or, when it is granted, from the issuance; and back."""
        granted = self.state["seats"][number]["run"]["source"] == "grant"
        return [(self.stack(number), chips), ("issuance", -chips * granted)]

    def _chips_bought_in(self, data: Json) -> Lines:
        seat = self.state["seats"][data["seat"]]
        assert not seat["run"]
        assert self.state["phase"] == "betting" or not live(seat)
        seat["stack"] += data["amount"]
        return self._brings(data["seat"], data["amount"])

    def _chips_cashed_out(self, data: Json) -> Lines:
        seat = self.state["seats"][data["seat"]]
        assert not seat["run"]
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
        assert not seat["run"] or seat["run"]["outcome"]
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
