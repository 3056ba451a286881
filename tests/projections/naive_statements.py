"""Statements again, from the entries that are sealed in the events, and what is significant."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from msgspec import convert

from services.audit.domain.words import spoken_modifier
from services.blackjack.domain.modifiers import Modifier

Row = tuple[Any, ...]
KINDS = {
    "chips_granted": "grant",
    "chips_taken_to_table": "to_table",
    "chips_brought_from_table": "from_table",
    "player_sat": "sit",
    "chips_bought_in": "buy_in",
    "chips_cashed_out": "cash_out",
    "player_left": "leave",
    "run_started": "run_start",
    "run_ended": "run_end",
    "bet_placed": "bet",
    "bet_withdrawn": "bet_withdrawn",
    "hand_doubled": "double_down",
    "hand_split": "split",
    "insurance_bought": "insurance",
    "hand_settled": "hand",
    "insurance_settled": "insurance_settled",
    "item_bought": "item",
}
BEFORE_THE_DEAL = {"bet_placed", "bet_withdrawn"}
IN_A_ROUND = {"hand_doubled", "hand_split", "insurance_bought", "hand_settled", "insurance_settled"}
BROUGHT = {"player_sat", "chips_bought_in", "chips_cashed_out", "player_left"}


class NaiveStatements:
    """`rows` are those of the view; `balances` has every account of the ledger as it is now."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.balances: Counter[str] = Counter()
        self.significant: list[Row] = []
        self._at_risk: Counter[str] = Counter()
        self._at_risk_there: Counter[tuple[str, str]] = Counter()
        self._seats: dict[tuple[str, int], str] = {}
        self._hands: Counter[tuple[str, int]] = Counter()
        self._rounds: Counter[str] = Counter()
        self._sessions: dict[str, bool] = {}

    def enter(self, position: int, envelope: Any) -> None:
        kind, data = envelope["type"].partition(".")[2], envelope["data"]
        table = envelope["subject"].removeprefix("table-")
        if kind == "table_opened":
            self._sessions[table] = data["ruleset"]["bankroll"] == "session"
        if kind in ("player_sat", "run_started"):
            self._seats[table, data["seat"]] = data["player"]
        if kind == "hands_dealt":
            self._hands.update({(table, seat): 1 for seat, *_ in data["hands"]})
        if kind == "hand_split":
            self._hands[table, data["seat"]] += 1
        if kind == "round_opened":
            self._rounds[table] += 1
        moved = Counter(dict(envelope["postings"]))
        self.balances.update(moved)
        if moved:
            self._line(position, envelope, kind, moved)
        self._look_at(position, envelope, kind, table, data)
        if kind == "seed_revealed":
            self._hands = Counter({k: n for k, n in self._hands.items() if k[0] != table})

    def _look_at(self, position: int, envelope: Any, kind: str, table: str, data: Any) -> None:
        """What is out of the ordinary."""
        player = self._seats.get((table, data.get("seat", 0)), "")
        match kind, data:
            case "chips_granted", {"player": name, "amount": amount}:
                if "command" not in envelope:
                    return  # it follows from another one
                row = ("adjustment", "", 0, name, amount, envelope["actor"], "")
            case "run_ended", {"outcome": "won", "bankroll": bankroll}:
                row = ("run_won", table, 0, player, bankroll, "", "")
            case "player_leaving", _:
                at_risk = self._at_risk_there[table, player]
                row = ("left_in_round", table, self._rounds[table], player, at_risk, "", "")
            case "modifier_applied", {"seat": None, "modifier": modifier}:
                told = spoken_modifier(convert(modifier, Modifier))
                row = ("rules_changed", table, self._rounds[table], "", 0, "", told)
            case _:
                return
        self.significant.append((position, _time(envelope), *row))

    def _line(self, position: int, envelope: Any, kind: str, moved: Counter[str]) -> None:
        data, subject = envelope["data"], envelope["subject"]
        player = data.get("player") or self._seats[subject.removeprefix("table-"), data["seat"]]
        table = data.get("table", "") if subject.startswith("vault-") else subject[6:]
        bank, in_play = f"table/{table}/bank", moved[f"table/{table}/in_play"]
        theirs = {f"player/{player}/vault", f"table/{table}/player/{player}/stack"}
        self._at_risk[player] += in_play
        self._at_risk_there[table, player] += in_play
        round = self._rounds[table] if kind in IN_A_ROUND else 0
        if kind in BEFORE_THE_DEAL:
            round = self._rounds[table] + 1
        hand = data.get("hand", -1) if self._hands[table, data.get("seat", 0)] > 1 else -1
        vault = self.balances[f"player/{player}/vault"]
        stacks = sum(
            balance
            for account, balance in self.balances.items()
            if account.endswith(f"/player/{player}/stack")
        )
        self.rows.append(
            (
                *(player, position, _time(envelope)),
                *(KINDS[kind], table, round, hand, self._detail(table, kind, data)),
                *(sum(moved[account] for account in theirs), in_play, moved[bank]),
                *(vault, stacks, self._at_risk[player]),
                self.balances[bank] if moved[bank] else 0,
            )
        )

    def _detail(self, table: str, kind: str, data: Any) -> str:
        if kind in BROUGHT:
            return "grant" if self._sessions[table] else "vault"
        return str(data.get("outcome") or data.get("item") or data.get("source") or "")


def _time(envelope: Any) -> datetime:
    at = datetime.fromisoformat(envelope["time"]).astimezone(UTC)
    return at.replace(microsecond=at.microsecond // 1000 * 1000)
