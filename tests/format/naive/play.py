"""Sections 7 to 9 of FORMAT.md: cards and chips."""

import hmac
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from tests.format.naive.log import CARDS, CHIPS, Event, Fault, Log, canonical, held, sha

# 7. The shoe


def block(seed: bytes, message: bytes, number: int) -> list[int]:
    stream = hmac.digest(seed, message + b"\n" + number.to_bytes(4, "big"), "sha256")
    return [int.from_bytes(stream[at : at + 2], "big") for at in range(0, 32, 2)]


def below(size: int, words: Iterator[int]) -> int:
    if size == 1:
        return 0
    mask = next(2**bits - 1 for bits in count(1) if 2**bits - 1 >= size - 1)
    return next(word & mask for word in words if word & mask < size)


def order(seed: bytes, round: str, client_seeds: list[str], decks: int) -> list[str]:
    cards = [rank + suit for _ in range(decks) for suit in "cdhs" for rank in "A23456789TJQK"]
    message = "\n".join(["croupier.shoe.v1", round, *client_seeds]).encode()
    words = (word for number in count() for word in block(seed, message, number))
    for place in range(len(cards)):
        chosen = place + below(len(cards) - place, words)
        cards[place], cards[chosen] = cards[chosen], cards[place]
    return cards


# 8 and 9. Rounds and chips

STAKED = {
    **{"bet_placed": ("amount", 1), "bet_withdrawn": ("amount", -1), "hand_doubled": ("stake", 1)},
    **{"hand_split": ("stake", 1), "insurance_bought": ("stake", 1)},
}
BROUGHT = {
    **{"player_sat": ("buy_in", 1), "chips_bought_in": ("amount", 1), "run_started": ("stake", 1)},
    **{"chips_cashed_out": ("amount", -1), "player_left": ("cash_out", -1)},
    **{"run_ended": ("bankroll", -1)},
}
VAULTS = {
    "ledger.chips_granted": [("issuance", -1), ("vault", 1)],
    "ledger.chips_taken_to_table": [("vault", -1)],
    "ledger.chips_brought_from_table": [("vault", 1)],
}
PAID = {
    **{"win": lambda s: 2 * s, "push": lambda s: s, "natural": lambda s: s + 3 * s // 2},
    **{"surrender": lambda s: s // 2, "loss": lambda s: 0, "bust": lambda s: 0},
}


class Table:
    """What a table has told so far."""

    def __init__(self, name: str, opened: Any) -> None:
        self.name, self.rules, self.next = name, opened["ruleset"], opened["next"]["commitment"]
        self.players: dict[int, str] = {}
        self.granted: dict[int, bool] = {}
        self.bets: dict[int, str | None] = {}
        self.rounds, self.drawn, self.hole, self.upcard = 0, 0, 0, ""
        self.opened: Any = {}
        self.cards: list[tuple[int, int, str]] = []
        self.peeks: list[tuple[int, bool]] = []
        self.insured: list[tuple[int, Any]] = []

    def tell(self, at: int, kind: str, data: Any) -> Iterator[Fault]:
        match kind:
            case "player_sat" | "run_started":
                self.players[data["seat"]] = data["player"]
                session = self.rules["bankroll"] == "session"
                self.granted[data["seat"]] = data.get("source") == "grant" or session
            case "bet_placed":
                self.bets[data["seat"]] = data["client_seed"]
            case "bet_withdrawn":
                del self.bets[data["seat"]]
            case "round_opened":
                self.rounds, self.opened = self.rounds + 1, data
                self.cards, self.peeks, self.insured = [], [], []
                seeds = [seed for _, seed in sorted(self.bets.items()) if seed is not None]
                due = [self.rounds, "croupier.shoe.v1", self.next, seeds]
                if due != [data[n] for n in ("number", "shoe", "commitment", "client_seeds")]:
                    yield Fault(CARDS, at, "the round was not opened as it was bet on")
            case "hands_dealt":
                hands = data["hands"]
                if [seat for seat, *_ in hands] != sorted(self.bets):
                    yield Fault(CARDS, at, "the hands are not those of the seats that bet")
                firsts, seconds = [first for _, first, _ in hands], [last for *_, last in hands]
                self.drawn, self.upcard = 0, data["upcard"]
                self.draw(at, [*firsts, self.upcard, *seconds])
                self.hole, self.drawn = self.drawn, self.drawn + 1
            case "card_dealt" | "card_redrawn" | "dealer_drew":
                self.draw(at, data["cards"] if "cards" in data else [data["card"]])
            case "hole_card_revealed":
                self.cards.append((at, self.hole, data["card"]))
            case "dealer_peeked":
                self.peeks.append((at, data["natural"]))
            case "insurance_settled":
                self.insured.append((at, data))
            case "seed_revealed":
                yield from self.revealed(at, data)
                self.bets, self.next = {}, data["next"]["commitment"]

    def draw(self, at: int, cards: list[str]) -> None:
        self.cards += [(at, place, card) for place, card in enumerate(cards, self.drawn)]
        self.drawn += len(cards)

    def revealed(self, at: int, data: Any) -> Iterator[Fault]:
        seed = bytes.fromhex(data["seed"])
        if (sha(seed).hex(), len(seed)) != (self.opened["commitment"], 32):
            yield Fault(CARDS, at, "the seed is not the one that was committed to")
            return
        if (data["number"], data["drawn"]) != (self.rounds, self.drawn):
            yield Fault(CARDS, at, "another round has ended, or other cards have left the shoe")
        seeds, decks = self.opened["client_seeds"], self.rules["decks"]
        shoe = order(seed, f"{self.name}.{self.rounds}", seeds, decks)
        for place_at, place, card in self.cards:
            if shoe[place] != card:
                yield Fault(CARDS, place_at, f"place {place} has {shoe[place]}, not {card}")
        ranks = {self.upcard[0], shoe[self.hole][0]}
        natural = "A" in ranks and bool(ranks & set("TJQK"))
        for peeked_at, said in self.peeks:
            if said != natural:
                yield Fault(CARDS, peeked_at, f"the hole card is {shoe[self.hole]}")
        for paid_at, paid in self.insured:
            if paid["payout"] != (3 * paid["stake"] if natural else 0):
                yield Fault(CHIPS, paid_at, "insurance was paid wrongly")

    def postings(self, kind: str, data: Any) -> list[list[Any]]:
        """Those that an event has to have."""
        if data.get("seat") is None:
            return []
        table, player = f"table/{self.name}", self.players[data["seat"]]
        stack, in_play, bank = f"{table}/player/{player}/stack", f"{table}/in_play", f"{table}/bank"
        lines: list[list[Any]] = []
        if kind in STAKED:
            name, sign = STAKED[kind]
            lines = [[stack, -sign * data[name]], [in_play, sign * data[name]]]
        elif kind in ("hand_settled", "insurance_settled"):
            stake, payout = data["stake"], data["payout"]
            lines = [[stack, payout], [in_play, -stake], [bank, stake - payout]]
        elif kind == "item_bought":
            lines = [[stack, -data["price"]], [bank, data["price"]]]
        elif kind in BROUGHT:
            name, sign = BROUGHT[kind]
            granted = self.granted[data["seat"]]
            lines = [[stack, sign * data[name]], ["issuance", -sign * data[name] * granted]]
        return [line for line in lines if line[1]]


class Books:
    """All tables of a house, and where its chips are."""

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self.balances: Counter[str] = Counter()
        self.first, self.off = 0, 0
        self.leg: Any = None

    def tell(self, event: Event) -> Iterator[Fault]:
        at, envelope = event.position, event.envelope
        if envelope["id"].endswith(".0"):
            yield from self.close()
            self.first = at
        what, _, name = event.stream.partition("-")
        kind, data, due = envelope["type"], envelope["data"], list[list[Any]]()
        if what == "table":
            kind = kind.removeprefix("blackjack.")
            if kind == "table_opened":
                self.tables[name] = Table(name, data)
                if sha(canonical(data["ruleset"])).hex() != data["ruleset_sha256"]:
                    yield Fault(CARDS, at, "the ruleset has another hash")
            table = self.tables[name]
            yield from table.tell(at, kind, data)
            due = table.postings(kind, data)
            yield from self.whole(at, table, kind, data)
        elif what == "vault":
            accounts = {"issuance": "issuance", "vault": f"player/{name}/vault"}
            due = [[accounts[which], sign * data["amount"]] for which, sign in VAULTS[kind]]
        yield from self.legs(at, what, kind, data)
        yield from self.enter(at, envelope["postings"], due)
        if kind in BROUGHT and due and not table.granted[data["seat"]]:
            player, chips = table.players[data["seat"]], due[0][1]
            way = "taken_to" if chips > 0 else "brought_from"
            leg = {"amount": abs(chips), "player": player, "table": name}
            self.leg = f"ledger.chips_{way}_table", leg

    def legs(self, at: int, what: str, kind: str, data: Any) -> Iterator[Fault]:
        """The vault's leg comes right behind that of the table, and never else."""
        if self.leg and kind == "ledger.chips_granted":
            if (
                not data["player"].startswith("computer-")
                or data["player"] != self.leg[1]["player"]
            ):
                yield Fault(CHIPS, at, "only a computer player is granted what it brings")
        elif self.leg or kind in ("ledger.chips_taken_to_table", "ledger.chips_brought_from_table"):
            if self.leg != (kind, data):
                yield Fault(CHIPS, at, "the vault and the table do not say the same")
            self.leg = None

    def whole(self, at: int, table: Table, kind: str, data: Any) -> Iterator[Fault]:
        """What has to be so before the postings of an event are entered."""
        if kind in ("player_left", "run_ended"):
            stack = f"table/{table.name}/player/{table.players[data['seat']]}/stack"
            if self.balances[stack] != data[BROUGHT[kind][0]]:
                yield Fault(CHIPS, at, "this is not the whole stack")
        elif kind == "hand_settled":
            if data["payout"] != PAID[data["outcome"]](data["stake"]):
                yield Fault(CHIPS, at, f"a {data['outcome']} does not pay that")
        elif kind == "seed_revealed" and self.balances[f"table/{table.name}/in_play"]:
            yield Fault(CHIPS, at, "chips are still in play")

    def enter(self, at: int, postings: list[list[Any]], due: list[list[Any]]) -> Iterator[Fault]:
        if postings != due:
            yield Fault(CHIPS, at, f"the postings should be {due}")
        for account, amount in postings:
            self.balances[account] += amount
            self.off += amount
            is_floored = account.endswith(("/vault", "/stack", "/in_play"))
            if is_floored and amount < 0 and self.balances[account] < 0:
                yield Fault(CHIPS, at, f"{account} fell to {self.balances[account]}")

    def close(self) -> Iterator[Fault]:
        """A command is over."""
        if self.off or self.leg:
            yield Fault(CHIPS, self.first, "the postings of the command do not sum to 0")
        self.off, self.leg = 0, None


def verify(
    directory: Path, note: bytes | None = None, keys: list[str] | None = None
) -> list[Fault]:
    """Everything that is wrong with an export. Raises ValueError for a seal not to be believed."""
    log, books = Log(directory), Books()
    faults = log.faults + (list(held(log, note, keys or [])) if note else [])
    for event in log.events:
        try:
            faults += books.tell(event)
        except (LookupError, TypeError, ValueError) as error:
            return [*faults, Fault(CARDS, event.position, f"this does not follow: {error!r}")]
    return [*faults, *books.close()]
