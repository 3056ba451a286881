"""Level 3, cards: sections 7 and 8 of FORMAT.md."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from tests.format.naive import proofs
from tests.format.naive.events import Event, schema_of
from tests.format.naive.export import Fault


def name_of(stream: str) -> str:
    """The name of the table, player or game that a stream is of."""
    return stream.partition("-")[2]


@dataclass
class Round:
    """A round whose seed is not there yet (section 8)."""

    number: int
    commitment: str
    client_seeds: list[str]
    seats: list[int]
    dealt: bool = False
    drawn: int = 0
    cards: list[tuple[int, int, str]] = field(default_factory=list)  # position, place, card
    peeks: list[tuple[int, bool]] = field(default_factory=list)
    insured: list[int] = field(default_factory=list)


@dataclass
class Table:
    """A table between and in rounds (section 8)."""

    name: str
    decks: int
    commitment: str
    number: int = 0
    bets: dict[int, str | None] = field(default_factory=dict)
    round: Round | None = None
    closed: bool = False


def is_natural(cards: Sequence[str]) -> bool:
    """An ace and one of T J Q K (section 8)."""
    one, other = (card[0] for card in cards)
    return (one == "A" and other in "TJQK") or (other == "A" and one in "TJQK")


@dataclass
class Cards:
    """Level 3. `naturals`: at the position of an insurance_settled, whether the dealer has one."""

    faults: list[Fault] = field(default_factory=list)
    tables: dict[str, Table] = field(default_factory=dict)
    naturals: dict[int, bool] = field(default_factory=dict)

    def check(self, events: Sequence[Event]) -> None:
        for event in events:
            if schema_of(event.type, event.schema) is None:
                what = f"{event.type} {event.schema} is not known: from here on nothing is checked"
                return self.fault(event.position, what)
            if event.whole:
                self.event(event)

    def fault(self, position: int, what: str) -> None:
        self.faults.append(Fault(position, 3, what))

    def event(self, event: Event) -> None:
        kind, data = event.type.partition(".")[2], event.data
        if "ruleset" in data:
            game = sha256(proofs.write(data["ruleset"])).hexdigest()
            if game != data["ruleset_sha256"]:
                self.fault(event.position, "ruleset_sha256 is not that of the ruleset")
        if event.stream.startswith("ruleset-"):
            named = kind == "ruleset_registered" and data["ruleset"]["name"]
            if named != name_of(event.stream):
                self.fault(event.position, "not an event of this stream")
        elif event.stream.startswith("table-"):
            self.at_table(event, kind, data)

    def at_table(self, event: Event, kind: str, data: dict[str, Any]) -> None:
        """What stands in the stream of a table (section 8)."""
        if not event.type.startswith("blackjack.") or kind == "ruleset_registered":
            self.fault(event.position, "not an event of a table")
        elif (kind == "table_opened") != (event.version == 1):
            self.fault(event.position, "a table is opened by the first event of its stream")
        elif kind == "table_opened":
            table = Table(data["table"], data["ruleset"]["decks"], data["next"]["commitment"])
            self.tables[event.stream] = table
            if table.name != name_of(event.stream):
                self.fault(event.position, "the stream is that of another table")
        elif event.stream in self.tables:
            table = self.tables[event.stream]
            if table.closed:
                self.fault(event.position, "the table was closed for good")
            self.between(table, event, kind, data)

    def between(self, table: Table, event: Event, kind: str, data: dict[str, Any]) -> None:
        match kind:
            case "table_closed":
                table.closed = True
            case "bet_placed":
                table.bets[data["seat"]] = data["client_seed"]
            case "bet_withdrawn":
                table.bets.pop(data["seat"], None)
            case "round_opened":
                self.opened(table, event.position, data)
            case (
                "hands_dealt"
                | "card_dealt"
                | "card_redrawn"
                | "dealer_peeked"
                | ("hole_card_revealed" | "dealer_drew" | "insurance_settled" | "seed_revealed")
            ):
                if table.round is None or (kind != "hands_dealt") != table.round.dealt:
                    self.fault(event.position, f"{kind} is out of place")
                else:
                    self.inside(table, table.round, event, kind)

    def opened(self, table: Table, position: int, data: dict[str, Any]) -> None:
        """The line of round_opened (section 8)."""
        if table.round is not None:
            self.fault(position, "the round before is not over")
        if data["number"] != table.number + 1:
            self.fault(position, f"round {data['number']} comes after {table.number}")
        if data["commitment"] != table.commitment:
            self.fault(position, "not the commitment that was made before the bets")
        seats = sorted(table.bets)
        seeds = [seed for seat in seats if (seed := table.bets[seat]) is not None]
        if data["client_seeds"] != seeds:
            self.fault(position, "not the client seeds of the bets")
        table.number = data["number"]
        table.round = Round(table.number, data["commitment"], data["client_seeds"], seats)

    def inside(self, table: Table, round: Round, event: Event, kind: str) -> None:
        """The lines of a round, from hands_dealt on (section 8)."""
        position, data, betting = event.position, event.data, len(round.seats)
        match kind:
            case "hands_dealt":
                if [seat for seat, _, _ in data["hands"]] != round.seats:
                    self.fault(position, "not the seats that bet")
                hands = data["hands"]
                cards = [one for _, one, _ in hands] + [data["upcard"]]
                cards += [other for _, _, other in hands]
                round.cards += [(position, place, card) for place, card in enumerate(cards)]
                round.dealt, round.drawn = True, 2 * betting + 2
            case "card_dealt" | "card_redrawn" | "dealer_drew":
                for card in data["cards"] if kind == "dealer_drew" else [data["card"]]:
                    round.cards.append((position, round.drawn, card))
                    round.drawn += 1
            case "hole_card_revealed":
                round.cards.append((position, 2 * betting + 1, data["card"]))
            case "dealer_peeked":
                round.peeks.append((position, data["natural"]))
            case "insurance_settled":
                round.insured.append(position)
            case "seed_revealed":
                self.revealed(table, round, position, data)

    def revealed(self, table: Table, round: Round, position: int, data: dict[str, Any]) -> None:
        """The line of seed_revealed, and with it all cards of the round (section 8)."""
        seed = bytes.fromhex(data["seed"])
        if data["number"] != round.number:
            self.fault(position, "the seed is that of another round")
        if data["drawn"] != round.drawn:
            self.fault(position, f"{round.drawn} cards left the shoe, not {data['drawn']}")
        table.round, table.commitment = None, data["next"]["commitment"]
        table.bets.clear()
        if sha256(seed).hexdigest() != round.commitment:
            return self.fault(position, "the seed does not open the commitment")
        name = f"{table.name}.{round.number}"
        order = proofs.shoe(seed, name, round.client_seeds, table.decks)
        for where, place, card in round.cards:
            if place >= len(order) or order[place] != card:
                self.fault(where, f"{card} is not at place {place} of the shoe")
        betting = len(round.seats)
        natural = is_natural([order[betting], order[2 * betting + 1]])
        for where, said in round.peeks:
            if said != natural:
                self.fault(where, "the dealer saw another card")
        self.naturals.update(dict.fromkeys(round.insured, natural))
