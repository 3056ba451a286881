"""Modifiers and items once more, deliberately naive: plain dicts."""

from tests.simulation.counting import falls
from tests.simulation.rules import useless
from tests.simulation.seats import Lines, Seats
from tests.simulation.world import Json


class Shop(Seats):
    """What is bought, what is used, and what it changes."""

    def _item_bought(self, data: Json) -> Lines:
        seat, item = self.state["seats"][data["seat"]], self._item(data["item"])
        assert self.state["phase"] == "betting"
        assert seat["bet"] == 0
        assert len(seat["items"]) < 5
        assert data["price"] == item["price"] <= seat["stack"]
        seat |= {"items": [*seat["items"], item["name"]], "stack": seat["stack"] - item["price"]}
        bank = self.account("bank"), data["price"]
        return [(self.stack(data["seat"]), -data["price"]), bank]

    def _item_used(self, data: Json) -> None:
        assert self.state["turn"] == (data["seat"], data["hand"])
        seat = self.state["seats"][data["seat"]]
        assert not useless(self._item(data["item"])["effect"], seat["hands"][data["hand"]])
        used = seat["items"].index(data["item"])
        seat["items"] = seat["items"][:used] + seat["items"][used + 1 :]
        self.state["round"]["effect"] = self._item(data["item"])["effect"]

    def _modifier_applied(self, data: Json) -> None:
        round = self.state["round"]
        if data["seat"] is None:
            assert self.state["rules"]["modifiers"]
            assert not round["modified"]
            assert len(self._in_turn(*self.state["turn"])["cards"]) == 2
            round["modified"] = True
        else:
            assert round.pop("effect") == {"type": "modify", "modifier": data["modifier"]}
        self.state["changes"] = [*self.state["changes"], data["modifier"]]

    def _card_redrawn(self, data: Json) -> None:
        hand = self._in_turn(data["seat"], data["hand"])
        assert self.state["round"].pop("effect") == {"type": "redraw"}
        assert len(hand["cards"]) > 2
        hand["cards"] = [*hand["cards"][:-1], data["card"]]
        self.state["round"]["drawn"].append(data["card"])

    def _hand_shielded(self, data: Json) -> None:
        assert self.state["round"].pop("effect") == {"type": "shield"}
        self._in_turn(data["seat"], data["hand"])["shielded"] = True

    def _item(self, name: str) -> Json:
        return next(item for item in self.state["rules"]["items"] if item["name"] == name)

    def _in_turn(self, number: int, index: int) -> Json:
        assert self.state["turn"] == (number, index)
        return self.state["seats"][number]["hands"][index]

    def _is_bust(self, hand: Json) -> bool:
        return falls(hand, self.state["changes"])

    def _bust(self, hand: Json) -> str:
        """What a bust comes to."""
        reverse = {"type": "reverse_bust"} in self.state["changes"]
        return "push" if reverse or hand["shielded"] else "bust"
