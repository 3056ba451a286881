"""Level 4, chips: section 9 of FORMAT.md."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.format.naive.cards import name_of
from tests.format.naive.events import Event
from tests.format.naive.export import Fault


@dataclass
class Seat:
    """Who has a seat, and whether the chips there were granted (section 9)."""

    player: str
    granted: bool


@dataclass
class Stakes:
    """Whose stakes are at risk at a table, each until it is settled (section 9)."""

    bets: dict[int, int] = field(default_factory=dict)
    hands: dict[int, list[int]] = field(default_factory=dict)  # of a seat; 0 when it is settled
    insured: dict[int, int] = field(default_factory=dict)

    def event(self, kind: str, data: dict[str, Any]) -> str | None:
        """What is wrong with it, if anything is."""
        seat, hand, stake = data.get("seat", 0), data.get("hand", 0), data.get("stake", 0)
        hands = self.hands.get(seat, [])
        if "hand" in data and not (hand < len(hands) and hands[hand]):
            return "there is no such hand"
        match kind:
            case "bet_placed":
                self.bets[seat] = data["amount"]
            case "bet_withdrawn" if self.bets.pop(seat, 0) != data["amount"]:
                return "that is not the bet"
            case "round_opened":
                self.hands = {seat: [bet] for seat, bet in self.bets.items()}
            case "hand_doubled":
                hands[hand] += stake
            case "hand_split":
                hands.insert(hand + 1, stake)
            case "hand_settled":
                stake, hands[hand] = stake - hands[hand], 0
                return f"the stake is {stake} too much" if stake else None
            case "insurance_bought":
                self.insured[seat] = stake
                return "not half of the bet" if stake != self.bets.get(seat, 0) // 2 else None
            case "insurance_settled" if self.insured.pop(seat, 0) != stake:
                return "that is not the insurance"
            case "seed_revealed":
                return self.over()
        return None

    def over(self) -> str | None:
        """The round is over."""
        left = self.insured or any(map(any, self.hands.values()))
        self.bets, self.hands, self.insured = {}, {}, {}
        return "not all was settled" if left else None


BROUGHT = {
    "player_sat": ("buy_in", 1),
    "chips_bought_in": ("amount", 1),
    "chips_cashed_out": ("amount", -1),
    "player_left": ("cash_out", -1),
    "run_started": ("stake", 1),
    "run_ended": ("bankroll", -1),
}


def columns(kind: str, data: dict[str, Any]) -> tuple[int, int, int, int]:
    """What goes to stack, in_play, bank, and what of it came from outside (section 9)."""
    match kind:
        case "bet_placed":
            return -data["amount"], data["amount"], 0, 0
        case "bet_withdrawn":
            return data["amount"], -data["amount"], 0, 0
        case "hand_doubled" | "hand_split" | "insurance_bought":
            return -data["stake"], data["stake"], 0, 0
        case "hand_settled" | "insurance_settled":
            stake, payout = data["stake"], data["payout"]
            return payout, -stake, stake - payout, 0
        case "item_bought":
            return -data["price"], 0, data["price"], 0
    if kind in BROUGHT:
        member, sign = BROUGHT[kind]
        return sign * data[member], 0, 0, sign * data[member]
    return 0, 0, 0, 0


def payout(outcome: str, stake: int) -> int:
    """What a hand is paid (section 9)."""
    return {
        "win": 2 * stake,
        "push": stake,
        "natural": stake + 3 * stake // 2,
        "surrender": stake // 2,
        "loss": 0,
        "bust": 0,
    }[outcome]


@dataclass
class Chips:
    """Level 4."""

    naturals: dict[int, bool]
    faults: list[Fault] = field(default_factory=list)
    balances: Counter[str] = field(default_factory=Counter)
    session: dict[str, bool] = field(default_factory=dict)
    seats: dict[tuple[str, int], Seat] = field(default_factory=dict)
    stakes: defaultdict[str, Stakes] = field(default_factory=lambda: defaultdict(Stakes))
    due: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    sum: int = 0
    unseen: bool = False  # of an export of a part: a table's event that cannot be judged
    last: Event | None = None
    known: set[str] = field(default_factory=set)

    def check(self, events: Sequence[Event]) -> None:
        for event in events:
            if self.last is None or event.command != self.last.command:
                self.end_of_command()
            self.event(event)
            self.last = event
        self.end_of_command()

    def fault(self, event: Event, what: str) -> None:
        self.faults.append(Fault(event.position, 4, what))

    def end_of_command(self) -> None:
        """Nothing is missing, and no chip came from nowhere (section 9)."""
        if self.last is not None and self.due:
            self.fault(self.last, f"{self.due[0][0]} is missing behind it")
        if self.last is not None and self.sum:
            self.fault(self.last, f"the postings of the command sum to {self.sum}")
        self.due, self.sum, self.unseen = [], 0, False

    def event(self, event: Event) -> None:
        kind = event.type.partition(".")[2]
        if event.whole:
            self.known.add(event.stream)
        else:
            self.known.discard(event.stream)
        if event.type.startswith("ledger."):
            self.of_vault(event, kind)
        elif event.whole:
            self.of_table(event, kind)
        else:
            self.unseen = True
        for account, amount in event.postings:
            self.post(event, account, amount)
        if event.whole and event.stream.startswith("table-"):
            self.after(event, kind)

    def post(self, event: Event, account: str, amount: int) -> None:
        """No account below 0 that may not be negative (section 9)."""
        self.sum += amount
        self.balances[account] += amount
        names = account.split("/")
        if names[0] != "issuance":
            stream = ("vault-" if names[0] == "player" else "table-") + names[1]
            below = self.balances[account] < 0 and stream in self.known
            if below and names[-1] != "bank":
                self.fault(event, f"{account} has {self.balances[account]}")

    def expect(self, event: Event, postings: list[tuple[str, int]]) -> None:
        """Exactly these postings; one of 0 chips is left out (section 9)."""
        wanted = [(account, amount) for account, amount in postings if amount]
        if event.postings != wanted:
            self.fault(event, f"postings should be {wanted}")

    def of_vault(self, event: Event, kind: str) -> None:
        """The events of a vault, and whether a table sent them (section 9)."""
        data, vault = event.data, f"player/{event.data['player']}/vault"
        if event.stream != f"vault-{data['player']}":
            self.fault(event, "the vault is that of somebody else")
        amount = -data["amount"] if kind == "chips_taken_to_table" else data["amount"]
        granted = kind == "chips_granted"
        self.expect(event, [("issuance", -amount if granted else 0), (vault, amount)])
        if self.unseen:
            return
        if self.due:
            if self.due.pop(0) != (kind, data):
                self.fault(event, "not what the event of the table says")
        elif not granted:
            self.fault(event, "no event of a table stands before it")

    def of_table(self, event: Event, kind: str) -> None:
        """An event of a table, or of a game: who has the seat, and the postings (section 9)."""
        data, name = event.data, name_of(event.stream)
        if self.due:
            self.fault(event, f"{self.due[0][0]} is missing before it")
            self.due = []
        if kind == "table_opened":
            self.session[name] = data["ruleset"]["bankroll"] == "session"
        if kind in ("player_sat", "run_started"):
            self.sit(event, kind, name)
        stack, in_play, bank, brought = columns(kind, data)
        if not (stack or in_play or bank):
            return self.expect(event, [])
        seat = self.seats.get((name, data["seat"]))
        if seat is None or data.get("player", seat.player) != seat.player:
            return self.fault(event, "the seat is not this player's")
        self.expect(
            event,
            [
                (f"table/{name}/player/{seat.player}/stack", stack),
                (f"table/{name}/in_play", in_play),
                (f"table/{name}/bank", bank),
                ("issuance", -brought if seat.granted else 0),
            ],
        )
        if brought and not seat.granted:
            self.due = list(self.legs(seat.player, name, brought))

    def sit(self, event: Event, kind: str, table: str) -> None:
        """Who has the seat from now on (section 9)."""
        key, player = (table, event.data["seat"]), event.data["player"]
        if key in self.seats and (kind == "player_sat" or self.seats[key].player != player):
            self.fault(event, f"the seat is that of {self.seats[key].player}")
        granted = self.session.get(table, False) or event.data.get("source") == "grant"
        self.seats[key] = Seat(player, granted)

    def legs(self, player: str, table: str, brought: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """The events of the vault right behind that of the table (section 9)."""
        moved = {"player": player, "table": table, "amount": abs(brought)}
        if brought < 0:
            yield "chips_brought_from_table", moved
            return
        if player.startswith("computer-"):
            yield "chips_granted", {"player": player, "amount": brought}
        yield "chips_taken_to_table", moved

    def after(self, event: Event, kind: str) -> None:
        """What has to be so once the event is posted (section 9)."""
        data, name = event.data, name_of(event.stream)
        if wrong := self.stakes[name].event(kind, data):
            self.fault(event, wrong)
        if kind in ("player_left", "run_ended"):
            seat = self.seats.get((name, data["seat"]))
            stack = seat and self.balances[f"table/{name}/player/{seat.player}/stack"]
            if stack:
                self.fault(event, f"{stack} chips are left in the stack")
        if kind == "player_left":
            self.seats.pop((name, data["seat"]), None)
        if kind == "seed_revealed" and self.balances[f"table/{name}/in_play"]:
            self.fault(event, "chips are in play after the round")
        if kind == "hand_settled" and data["payout"] != payout(data["outcome"], data["stake"]):
            self.fault(event, f"{data['outcome']} pays something else")
        if kind == "insurance_settled" and event.position in self.naturals:
            times = 3 if self.naturals[event.position] else 0
            if data["payout"] != times * data["stake"]:
                self.fault(event, "insurance pays something else")
