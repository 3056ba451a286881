"""The views again, from the JSON of the log alone: event by event, without any code of the game."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from msgspec import json

from shared.eventstore.store import Recorded
from tests.projections.naive_statements import NaiveStatements

Row = tuple[Any, ...]


class NaiveViews:
    """Folds one record after the other. Each view is a list of rows in the order of its key."""

    def __init__(self, records: Iterable[Recorded]) -> None:
        self._tables: dict[str, dict[str, Any]] = {}
        self._rounds: dict[tuple[str, int], dict[str, Any]] = {}
        self._hands: list[Row] = []
        self._statements = NaiveStatements()
        self._runs: dict[tuple[str, int], dict[str, Any]] = {}
        self._returns: defaultdict[tuple[Any, str], list[int]] = defaultdict(lambda: [0] * 6)
        self._played: dict[tuple[str, int], list[int]] = {}
        self._ended: list[tuple[str, int]] = []
        self._changed: set[tuple[str, int]] = set()
        for record in records:
            envelope = json.decode(record.envelope)
            if envelope["type"].startswith("blackjack."):
                self._happened(record, envelope)
            self._statements.enter(record.position, envelope)

    def view(self, name: str) -> list[Row]:
        match name:
            case "tables":
                rows = [
                    (
                        *(name, t["ruleset"], t["phase"], t["host"], t["seats"]),
                        [t["players"][seat] for seat in sorted(t["players"])],
                        *(t["rounds"], t["version"], t["position"], t["seed_key"]),
                    )
                    for name, t in self._tables.items()
                ]
            case "rounds":
                rows = [(*key, *each.values()) for key, each in self._rounds.items()]
            case "hands":
                rows = self._hands
            case "runs":
                rows = [(*key, *each.values()) for key, each in self._runs.items()]
            case "statements":
                rows = self._statements.rows
            case "significant":
                rows = self._statements.significant
            case "returns":
                rows = [(*key, *figures) for key, figures in self._returns.items()]
            case _:
                rows = [*self._curves()]
        return sorted(rows, key=lambda row: row[:4])

    def _curves(self) -> Iterator[Row]:
        """Every sum from the first round on; of each step the one of its last round."""
        sums: dict[Row, list[int]] = {}
        steps: dict[Row, Row] = {}
        for name, number in self._ended:
            if (name, number) in self._changed:
                continue
            table, figures = self._tables[name], self._played[name, number]
            bet, stake, payout, rounded = figures
            more = (1, bet, stake, payout, rounded, (payout - stake) ** 2)
            for scope in ("", name):
                key = scope, table["ruleset"], table["rules_version"]
                sums[key] = [*map(int.__add__, sums.get(key, [0] * 6), more)]
                rounds = sums[key][0]
                begins = max(n for n in steps_up_to(rounds) if n <= rounds)
                steps[*key, begins] = tuple(sums[key])
        yield from ((*key, *figures, False) for key, figures in steps.items())
        for name, number in dict(self._played.keys()).items():  # the last of each table
            table = self._tables[name]
            goes_on = (name, number) not in self._ended
            figures = self._played[name, number] if goes_on else [0] * 4
            changed = goes_on and (name, number) in self._changed
            yield name, table["ruleset"], table["rules_version"], 0, 0, *figures, 0, changed

    def _happened(self, record: Recorded, envelope: Any) -> None:
        kind, data = envelope["type"].removeprefix("blackjack."), envelope["data"]
        at = datetime.fromisoformat(envelope["time"]).astimezone(UTC)
        at = at.replace(microsecond=at.microsecond // 1000 * 1000)
        name = record.stream.removeprefix("table-")
        if kind == "table_opened":
            rules = data["ruleset"]
            self._tables[name] = {
                **{"ruleset": rules["name"], "phase": "betting", "host": data["host"]},
                **{"rules_version": rules["version"], "bets": {}},
                **{"seats": rules["seats"], "players": {}, "rounds": 0, "offers": set()},
                **{"runs": {}, "seed_key": data["next"]["key_id"]},
            }
        table = self._tables[name]
        table |= {"version": record.version, "position": record.position}
        if tell := getattr(self, f"_{kind}", None):
            tell(name, table, data, at)

    def _table_closed(self, name: str, table: Any, data: Any, at: datetime) -> None:
        table |= {"phase": "closed", "seed_key": None}

    def _host_moved(self, name: str, table: Any, data: Any, at: datetime) -> None:
        table["host"] = data["host"]

    def _player_sat(self, name: str, table: Any, data: Any, at: datetime) -> None:
        table["players"][data["seat"]] = data["player"]

    def _run_started(self, name: str, table: Any, data: Any, at: datetime) -> None:
        table["players"][data["seat"]] = data["player"]
        run = table["runs"][data["seat"]] = self._runs[name, data["number"]] = {
            **{"player": data["player"], "position": table["position"]},
            **{"ruleset": table["ruleset"], "source": data["source"]},
            **{"stake": data["stake"], "goal": data["goal"], "rounds": 0},
        }
        run |= {"outcome": None, "bankroll": None, "started_at": at, "ended_at": None}

    def _run_ended(self, name: str, table: Any, data: Any, at: datetime) -> None:
        ended = {"outcome": data["outcome"], "bankroll": data["bankroll"], "ended_at": at}
        table["runs"].pop(data["seat"]).update(ended)

    def _player_left(self, name: str, table: Any, data: Any, at: datetime) -> None:
        del table["players"][data["seat"]]

    def _bet_placed(self, name: str, table: Any, data: Any, at: datetime) -> None:
        table["bets"][data["seat"]] = data["amount"]

    def _bet_withdrawn(self, name: str, table: Any, data: Any, at: datetime) -> None:
        del table["bets"][data["seat"]]

    def _round_opened(self, name: str, table: Any, data: Any, at: datetime) -> None:
        self._played[name, data["number"]] = [sum(table["bets"].values()), 0, 0, 0]
        table["bets"] = {}
        table |= {"phase": "player_turn", "rounds": data["number"]}
        self._rounds[name, data["number"]] = {
            **{"opened_at": at, "ended_at": None, "last_version": None},
            **{"hands": 0, "stake": 0, "payout": 0},
        }

    def _hands_dealt(self, name: str, table: Any, data: Any, at: datetime) -> None:
        table["hands"] = {seat: [[one, two]] for seat, one, two in data["hands"]}
        for seat in table["runs"].keys() & table["hands"].keys():
            table["runs"][seat]["rounds"] += 1

    def _insurance_offered(self, name: str, table: Any, data: Any, at: datetime) -> None:
        table |= {"phase": "insurance", "offers": {*data["seats"]}}

    def _insurance_bought(self, name: str, table: Any, data: Any, at: datetime) -> None:
        table["offers"].discard(data["seat"])
        table["phase"] = "insurance" if table["offers"] else "player_turn"

    _insurance_declined = _insurance_bought

    def _card_dealt(self, name: str, table: Any, data: Any, at: datetime) -> None:
        table["hands"][data["seat"]][data["hand"]].append(data["card"])

    def _card_redrawn(self, name: str, table: Any, data: Any, at: datetime) -> None:
        table["hands"][data["seat"]][data["hand"]][-1] = data["card"]
        self._changed.add((name, table["rounds"]))

    def _modifier_applied(self, name: str, table: Any, data: Any, at: datetime) -> None:
        self._changed.add((name, table["rounds"]))

    _hand_shielded = _modifier_applied

    def _hand_split(self, name: str, table: Any, data: Any, at: datetime) -> None:
        hands = table["hands"][data["seat"]]
        one, two = hands[data["hand"]]
        hands[data["hand"] : data["hand"] + 1] = [[one], [two]]

    def _hand_settled(self, name: str, table: Any, data: Any, at: datetime) -> None:
        seat, hand, stake, payout = (data[n] for n in ("seat", "hand", "stake", "payout"))
        round = self._rounds[name, table["rounds"]]
        round["hands"] += 1
        self._settled(round, table, at, (0, 1, stake, payout, 0, 0))
        share = {"natural": 1.5, "surrender": 0.5}.get(data["outcome"])
        paid = payout - stake if data["outcome"] == "natural" else payout
        half_chips = 0 if share is None else round_to_half_chips(share * stake - paid)
        self._play(name, table, stake, payout, half_chips)
        self._hands.append(
            (
                *(table["players"][seat], table["position"], f"{name}.{table['rounds']}"),
                *(table["ruleset"], seat, hand, " ".join(table["hands"][seat][hand])),
                *(data["outcome"], stake, payout, at),
            )
        )

    def _insurance_settled(self, name: str, table: Any, data: Any, at: datetime) -> None:
        round = self._rounds[name, table["rounds"]]
        self._settled(round, table, at, (0, 0, 0, 0, data["stake"], data["payout"]))
        self._play(name, table, data["stake"], data["payout"], 0)

    def _play(self, name: str, table: Any, stake: int, payout: int, rounded: int) -> None:
        figures = self._played[name, table["rounds"]]
        figures[1:] = map(int.__add__, figures[1:], (stake, payout, rounded))

    def _settled(self, round: Any, table: Any, at: datetime, more: tuple[int, ...]) -> None:
        round["stake"] += more[2] + more[4]
        round["payout"] += more[3] + more[5]
        figures = self._returns[at.date(), table["ruleset"]]
        figures[:] = map(int.__add__, figures, more)

    def _seed_revealed(self, name: str, table: Any, data: Any, at: datetime) -> None:
        table |= {"phase": "betting", "seed_key": data["next"]["key_id"]}
        self._rounds[name, table["rounds"]] |= {"ended_at": at, "last_version": table["version"]}
        self._returns[at.date(), table["ruleset"]][0] += 1
        self._ended.append((name, table["rounds"]))


def steps_up_to(rounds: int) -> list[int]:
    """1 to 31, then sixteen in every doubling: 32, 34, … 62, 64, 68, …"""
    steps, apart = [*range(1, 32)], 2
    while steps[-1] <= rounds:
        first = 16 * apart
        steps += range(first, 2 * first, apart)
        apart *= 2
    return steps


def round_to_half_chips(chips: float) -> int:
    assert chips in (0, 0.5), chips
    return int(2 * chips)
