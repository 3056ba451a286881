"""Tables and ledger once more, deliberately naive: plain dicts, told by the event feed alone.

Each event is checked against the published rules before it is believed. `view` is what a caller
must have been shown.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256

from tests.format import naive
from tests.simulation.counting import best, limit, natural, soft
from tests.simulation.rules import fate, insures, legal, peeks, splits
from tests.simulation.seats import Lines
from tests.simulation.shop import Shop
from tests.simulation.world import Json

CHANGES = (
    "hands_dealt", "dealer_peeked", "card_dealt", "hand_stood", "hand_settled", "modifier_applied",
)  # fmt: skip
"""What gives the next decision its time."""


class Model:
    """All tables and all accounts of a house."""

    def __init__(self) -> None:
        self.tables: defaultdict[str, Table] = defaultdict(Table)
        """By their streams."""
        self.balances: Counter[str] = Counter()

    def read(self, entry: Json) -> None:
        """The next event of the log. Raises AssertionError when it breaks a rule."""
        context, _, kind = entry["event"]["type"].partition(".")
        data, time = entry["event"]["data"], milliseconds(entry["event"]["time"])
        due = (
            _vault(kind, data)
            if context == "ledger"
            else self.tables[entry["stream"]].read(kind, data, time)
        )
        sealed = [(account, amount) for account, amount in entry["event"]["postings"]]
        assert sealed == due, f"the lines should be {due}"
        for account, amount in sealed:
            self.balances[account] += amount

    def end_command(self) -> None:
        """After the last event of a command. Raises AssertionError when chips are not right."""
        assert sum(self.balances.values()) == 0, "chips were created"
        for account, balance in self.balances.items():
            assert balance >= 0 or account == "issuance" or account.endswith("/bank"), account
        for table in self.tables.values():
            assert self.balances[table.account("in_play")] == sum(table.at_risk())
            for number, seat in table.state["seats"].items():
                assert self.balances[table.stack(number)] == seat["stack"]


def milliseconds(time: str) -> int:
    """Since the epoch."""
    return int(datetime.fromisoformat(time).timestamp() * 1_000_000) // 1000


def _vault(kind: str, data: Json) -> Lines:
    account, amount = f"player/{data['player']}/vault", data["amount"]
    match kind:
        case "chips_granted":
            return [("issuance", -amount), (account, amount)]
        case "chips_taken_to_table":
            return [(account, -amount)]
        case "chips_brought_from_table":
            return [(account, amount)]
    raise AssertionError(f"nothing is known of {kind}")


class Table(Shop):
    """A table with its rounds."""

    rounds = 0
    """How many have ended."""

    def read(self, kind: str, data: Json, time: int) -> Lines:
        """The next event, and the lines it needs in the ledger. Raises AssertionError."""
        lines: Lines = getattr(self, f"_{kind}")(data) or []
        self._look_whose_turn()
        self._look_at_the_clock(kind, time)
        return [(account, amount) for account, amount in lines if amount]

    def is_due(self, time: int) -> None:
        """A clock is never fired before its time, as whoever fires it reads the time."""
        assert self.state["clock"]
        assert self.state["clock"]["due"] <= time

    def at_risk(self) -> Iterator[int]:
        """Every stake that has neither been returned nor lost."""
        for seat in self.state["seats"].values():
            yield from self._stakes_of(seat)

    def _stakes_of(self, seat: Json) -> Iterator[int]:
        yield seat["insurance"]
        if self.state["phase"] == "betting":
            yield seat["bet"]
        else:
            yield from (hand["stake"] for hand in seat["hands"] if hand["status"] != "settled")

    def view(self, version: int, position: int) -> Json:
        """What a caller sees at this version."""
        state, shown = self.state, self.state["round"]
        dealer = [shown["upcard"], *shown["others"]] if shown else []
        closed = state["phase"] == "closed"
        turn = dict(zip(("seat", "hand"), state["turn"], strict=True)) if state["turn"] else None
        return {
            "id": state["id"],
            "ruleset": state["name"],
            "version": version,
            "position": position,
            "phase": state["phase"],
            "host": state["host"],
            "round": None if closed or not shown else self._round_view(shown),
            "next_commitment": state["next"] if state["phase"] == "betting" else None,
            "clock": state["clock"],
            "modifiers": state["changes"],
            "dealer": None if closed or not shown else self._dealer_view(dealer),
            "seats": [self._seat_view(n, seat) for n, seat in sorted(state["seats"].items())],
            "turn": turn,
            "legal_moves": sorted(legal(state), key=str),
        }

    def _round_view(self, shown: Json) -> Json:
        number = shown["number"]
        identity = f"{self.state['id']}.{number}"
        commitment, seed = shown["commitment"], shown["seed"]
        return {"id": identity, "number": number, "commitment": commitment, "seed": seed}

    def _dealer_view(self, cards: list[str]) -> Json:
        hole = "revealed" if len(cards) > 1 else "face_down"
        return {"cards": cards, "hole": hole, **self._counted(cards)}

    def _counted(self, cards: list[str]) -> Json:
        changes = self.state["changes"]
        return {"total": best(cards, changes), "soft": soft(cards, changes)}

    def _seat_view(self, number: int, seat: Json) -> Json:
        hands = []
        for index, hand in enumerate(seat["hands"]):
            cards = hand["cards"]
            seen = {"hand": index, "cards": cards, **self._counted(cards)}
            seen |= {"shielded": True} if hand["shielded"] else {}
            seen |= {"stake": hand["stake"], "status": hand["status"]}
            if hand["status"] == "settled":
                seen |= {"outcome": hand["outcome"], "payout": hand["payout"]}
            hands.append(seen)
        names = ("player", "stack", "bet", "insurance", "sits_out", "leaving")
        view = {"seat": number, **{name: seat[name] for name in names}, "hands": hands}
        if run := seat["run"]:
            bankroll = (
                run["bankroll"] if run["outcome"] else seat["stack"] + sum(self._stakes_of(seat))
            )
            view["run"] = {**run, "bankroll": bankroll}
        if self.state["rules"].get("items"):
            view["items"] = seat["items"]
        return view

    def _look_whose_turn(self) -> None:
        state = self.state
        state["turn"] = None
        if state["phase"] in ("betting", "closed"):
            return
        state["phase"] = "insurance" if state["offers"] else "player_turn"
        playing = [
            (number, index)
            for number, seat in sorted(state["seats"].items())
            for index, hand in enumerate(seat["hands"])
            if hand["status"] == "playing"
        ]
        if playing and not state["offers"]:
            state["turn"] = playing[0]

    def _look_at_the_clock(self, kind: str, time: int) -> None:
        """Betting runs from the first bet; a decision from whatever led to it."""
        state = self.state
        if state["phase"] == "betting":
            somebody_has_bet = any(seat["bet"] for seat in state["seats"].values())
            state["since"] = (state["since"] or time) if somebody_has_bet else None
        elif kind in CHANGES:
            state["since"] = time
        wait = {"player_turn": "action"}.get(state["phase"], state["phase"])
        seconds = state["rules"]["clock"].get(f"{wait}_seconds")
        state["clock"] = None
        if seconds and state["since"] is not None:
            state["clock"] = {"kind": wait, "due": state["since"] + 1000 * seconds}

    def _round_opened(self, data: Json) -> None:
        state = self.state
        seats = [seat for _, seat in sorted(state["seats"].items())]
        assert state["phase"] == "betting"
        assert any(seat["bet"] for seat in seats)
        assert data["number"] == self.rounds + 1
        assert data["commitment"] == state["next"]
        assert data["client_seeds"] == [s["client_seed"] for s in seats if s["client_seed"]]
        state["phase"], state["upcard"] = "player_turn", None
        state["round"] = {
            "number": data["number"], "commitment": data["commitment"], "seed": None,
            "client_seeds": data["client_seeds"], "upcard": None, "others": [], "drawn": [],
            "peeked": None, "dealer_plays": False, "modified": False,
        }  # fmt: skip
        state["changes"] = state["rules"].get("environment", [])
        for seat in seats:
            seat["hands"] = []

    def _hands_dealt(self, data: Json) -> None:
        state = self.state
        bettors = [(n, seat) for n, seat in sorted(state["seats"].items()) if seat["bet"]]
        assert [number for number, _, _ in data["hands"]] == [number for number, _ in bettors]
        for (_, first, second), (_, seat) in zip(data["hands"], bettors, strict=True):
            seat["hands"] = [_hand([first, second], seat["bet"], split=False)]
        firsts, seconds = ([hand[at] for hand in data["hands"]] for at in (1, 2))
        round = state["round"]
        round["upcard"] = state["upcard"] = data["upcard"]
        round["drawn"] = [*firsts, data["upcard"], *seconds, "the hole card"]

    def _insurance_offered(self, data: Json) -> None:
        state = self.state
        assert state["rules"]["insurance"] == "before_play"
        assert data["seats"] == [
            number
            for number, seat in sorted(state["seats"].items())
            if seat["bet"] and insures(state["rules"], state["upcard"], seat)
        ]
        state["offers"] = list(data["seats"])

    def _insurance_bought(self, data: Json) -> Lines:
        number, seat = data["seat"], self.state["seats"][data["seat"]]
        assert insures(self.state["rules"], self.state["upcard"], seat)
        assert data["stake"] == seat["bet"] // 2
        assert seat["insurance"] == 0
        if self.state["rules"]["insurance"] == "before_play":
            self.state["offers"].remove(number)
        else:
            assert self.state["turn"] == (number, 0)
            assert [len(hand["cards"]) for hand in seat["hands"]] == [2]
        seat["insurance"] = data["stake"]
        return self._stakes(number, data["stake"])

    def _insurance_declined(self, data: Json) -> None:
        self.state["offers"].remove(data["seat"])

    def _dealer_peeked(self, data: Json) -> None:
        assert peeks(self.state["rules"], self.state["upcard"])
        assert not self.state["offers"]
        self.state["round"]["peeked"] = data["natural"]

    def _insurance_settled(self, data: Json) -> Lines:
        seat, round = self.state["seats"][data["seat"]], self.state["round"]
        dealer_natural = round["peeked"] if round["peeked"] is not None else self._dealer_natural()
        assert data["stake"] == seat["insurance"] > 0
        assert data["payout"] == (3 * data["stake"] if dealer_natural else 0)
        seat["insurance"] = 0
        return self._returns(data["seat"], data["stake"], data["payout"])

    def _card_dealt(self, data: Json) -> None:
        hand = self._in_turn(data["seat"], data["hand"])
        total, most = self._best(hand["cards"]), limit(self.state["changes"])
        cards, ace = hand["cards"], hand["split"] and hand["cards"][0][0] == "A"
        assert len(cards) == 1 or (not self._is_bust(hand) and not ace)
        assert total < most or self.state["rules"]["hit_on_21"] or hand["doubled"]
        assert not hand["doubled"] or len(cards) == 2
        hand["cards"] = [*cards, data["card"]]
        self.state["round"]["drawn"].append(data["card"])

    def _hand_stood(self, data: Json) -> None:
        hand = self.state["seats"][data["seat"]]["hands"][data["hand"]]
        assert hand["status"] == "playing"
        assert not self._is_bust(hand)
        hand["status"] = "stood"

    def _hand_doubled(self, data: Json) -> Lines:
        hand, rules = self._in_turn(data["seat"], data["hand"]), self.state["rules"]
        assert len(hand["cards"]) == 2
        assert rules["double_after_split"] or not hand["split"]
        assert data["stake"] == hand["stake"]
        hand |= {"stake": 2 * hand["stake"], "doubled": True}
        return self._stakes(data["seat"], data["stake"])

    def _hand_split(self, data: Json) -> Lines:
        hands = self.state["seats"][data["seat"]]["hands"]
        hand = self._in_turn(data["seat"], data["hand"])
        assert splits(self.state["rules"], hand["cards"])
        assert len(hands) < self.state["rules"]["hands_per_seat"]
        assert data["stake"] == hand["stake"]
        first, second = hand["cards"]
        at = data["hand"]
        hands[at : at + 1] = [_hand([card], hand["stake"], split=True) for card in (first, second)]
        return self._stakes(data["seat"], data["stake"])

    def _hole_card_revealed(self, data: Json) -> None:
        round = self.state["round"]
        hands = [hand for seat in self.state["seats"].values() for hand in seat["hands"]]
        round["others"] = [data["card"]]
        round["drawn"][round["drawn"].index("the hole card")] = data["card"]
        assert round["peeked"] in (None, self._dealer_natural())
        if not self._dealer_natural():
            assert all(hand["status"] != "playing" for hand in hands)
            round["dealer_plays"] = any(
                hand["status"] == "stood" and not _is_natural(hand) for hand in hands
            )

    def _dealer_drew(self, data: Json) -> None:
        round = self.state["round"]
        assert round["dealer_plays"]
        for card in data["cards"]:
            assert self._best(self._dealer()) < 17
            round["others"].append(card)
            round["drawn"].append(card)

    def _hand_settled(self, data: Json) -> Lines:
        hand = self.state["seats"][data["seat"]]["hands"][data["hand"]]
        assert hand["status"] != "settled"
        assert data["stake"] == hand["stake"]
        assert data["outcome"] == self._outcome(data["outcome"], hand)
        assert data["payout"] == _payout(data["outcome"], data["stake"])
        hand |= {"status": "settled", "outcome": data["outcome"], "payout": data["payout"]}
        return self._returns(data["seat"], data["stake"], data["payout"])

    def _outcome(self, claimed: str, hand: Json) -> str:
        """What a hand comes to now. Surrender is the player's choice, where there is one."""
        if not self._dealer_natural() and self._is_bust(hand):
            return self._bust(hand)
        if not self.state["round"]["others"]:
            rules, first = self.state["rules"], len(hand["cards"]) == 2 and not hand["split"]
            if rules["naturals_settle"] == "before_play" and _is_natural(hand):
                return "natural"
            assert claimed == "surrender"
            assert rules["surrender"]
            assert first
            return "surrender"
        if self._dealer_natural():
            return "push" if _is_natural(hand) else "loss"
        if _is_natural(hand):
            return "natural"
        ours, theirs = self._best(hand["cards"]), self._best(self._dealer())
        assert theirs >= 17
        if theirs > limit(self.state["changes"]) or ours > theirs:
            return "win"
        return "push" if ours == theirs else "loss"

    def _seed_revealed(self, data: Json) -> None:
        state, round = self.state, self.state["round"]
        identity = f"{state['id']}.{round['number']}"
        seed = bytes.fromhex(data["seed"])
        assert sha256(seed).hexdigest() == round["commitment"]
        shoe = naive.shoe(seed, identity, round["client_seeds"], state["rules"]["decks"])
        assert shoe[: len(round["drawn"])] == round["drawn"]
        assert data["drawn"] == len(round["drawn"])
        assert not sum(self.at_risk())
        round["seed"], state["phase"] = data["seed"], "betting"
        state["next"], state["since"] = data["next"]["commitment"], None
        for seat in state["seats"].values():
            assert all(hand["status"] == "settled" for hand in seat["hands"])
            run = seat["run"]
            assert not run or run["outcome"] or not fate(state["rules"], seat)
            seat |= {"bet": 0, "client_seed": None, "sits_out": False}
        self.rounds += 1

    def _best(self, cards: list[str]) -> int:
        return best(cards, self.state["changes"])

    def _dealer(self) -> list[str]:
        return [self.state["upcard"], *self.state["round"]["others"]]

    def _dealer_natural(self) -> bool:
        return natural(self._dealer()[:2])


def _hand(cards: list[str], stake: int, split: bool) -> Json:
    return {
        "cards": cards, "stake": stake, "split": split, "doubled": False, "status": "playing",
        "outcome": None, "payout": 0, "shielded": False,
    }  # fmt: skip


def _is_natural(hand: Json) -> bool:
    return natural(hand["cards"]) and not hand["split"]


def _payout(outcome: str, stake: int) -> int:
    """All chips that come back."""
    return {
        "natural": stake + 3 * stake // 2,
        "win": 2 * stake,
        "push": stake,
        "surrender": stake // 2,
        "loss": 0,
        "bust": 0,
    }[outcome]
