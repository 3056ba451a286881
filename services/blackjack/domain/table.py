"""A table as its events have left it."""

from typing import Literal, TypeAlias

from msgspec import Struct

from services.blackjack.domain import events as e
from services.blackjack.domain.cards import Cards, is_natural
from services.blackjack.domain.modifiers import Modifiers
from services.blackjack.domain.rules import Level, Ruleset
from services.blackjack.domain.shoe import SealedSeed


class Hand(Struct, frozen=True, gc=False):
    """Cards with a stake. `playing` may still act; a settled hand has an outcome."""

    cards: Cards
    stake: int
    status: Literal["playing", "stood", "settled"] = "playing"
    from_split: bool = False
    outcome: e.Outcome | None = None
    payout: int = 0
    shielded: bool = False
    """Whether a bust is a push."""

    @property
    def is_natural(self) -> bool:
        return not self.from_split and is_natural(self.cards)


class Run(Struct, frozen=True, gc=False):
    """A bankroll on its way from `stake` to `goal`. Once over it has an outcome."""

    number: int
    source: e.Source
    stake: int
    goal: int
    outcome: e.RunOutcome | None = None
    bankroll: int = 0
    """What it came to, once it is over."""


class Computer(Struct, frozen=True, gc=False):
    """A player that is none of flesh and blood: see ComputerSeated."""

    level: Level
    buy_in: int
    last_round: int


class Seat(Struct, frozen=True, gc=False):
    """A player with a stack. After a round the hands lie open until the next one is dealt."""

    player: str
    stack: int
    since: int
    """Grows with each arrival: the smallest of a table has sat the longest."""
    bet: int = 0
    client_seed: str | None = None
    sits_out: bool = False
    leaving: bool = False
    insurance: int = 0
    hands: tuple[Hand, ...] = ()
    run: Run | None = None
    items: tuple[str, ...] = ()
    """The names of those bought and not used yet."""
    computer: Computer | None = None

    @property
    def staked(self) -> int:
        """The chips of the seat that a running round has yet to settle."""
        stakes = sum(hand.stake for hand in self.hands if hand.status != "settled")
        return self.insurance + stakes

    @property
    def is_live(self) -> bool:
        """Whether the round still owes this seat a settlement."""
        return self.insurance > 0 or any(hand.status != "settled" for hand in self.hands)


class Round(Struct, frozen=True, gc=False, tag="round"):
    """Cards are on the table. `offers` are the seats that have yet to answer on insurance."""

    number: int
    sealed: SealedSeed
    client_seeds: tuple[str, ...]
    since: int = 0
    """When the last decision was made, in milliseconds since the epoch."""
    drawn: int = 0
    dealer: Cards = ()
    """The dealer's open cards: the upcard, then the hole card once revealed, then the draws."""
    hole_at: int = 0
    """The place in the shoe of the card that lies face down."""
    offers: tuple[int, ...] = ()
    seed: str | None = None
    """In hex, once revealed."""
    modified: bool = False
    """Whether the platform has applied its modifier."""
    decided: bool = False
    """Whether a player has made a decision, insurance before play aside: then the platform's
    modifier is too late. Hands that are stood on are only looked at where it has one."""


class Betting(Struct, frozen=True, gc=False, tag="betting"):
    """Between rounds. `last` is the round before, open to the eye until the next deal."""

    next: SealedSeed
    """What the order of the next shoe will follow from."""
    last: Round | None = None
    since: int | None = None
    """When the first bet lay on the table, in milliseconds since the epoch."""


class Closed(Struct, frozen=True, gc=False, tag="closed"):
    """For good."""


Stage: TypeAlias = Betting | Round | Closed
Seats: TypeAlias = tuple[Seat | None, ...]


class Table(Struct, frozen=True, gc=False):
    """`seats[n]` is seat n + 1; None is a free seat."""

    id: str
    rules: Ruleset
    host: str | None
    seats: Seats
    stage: Stage
    rounds: int = 0
    """How many rounds have been opened."""
    runs: int = 0
    """How many runs have been started."""
    modifiers: Modifiers = ()
    """By which hands are counted: the environment, then those of the running round, or the last,
    as they came."""

    @property
    def round(self) -> Round:
        """The running round. Ask only while there is one."""
        assert isinstance(self.stage, Round)
        return self.stage

    def seat(self, number: int) -> Seat:
        """An occupied seat. Ask only for one that is."""
        seat = self.seats[number - 1]
        assert seat is not None
        return seat

    def seated(self) -> list[tuple[int, Seat]]:
        """The occupied seats with their numbers, in seat order."""
        return [(n, seat) for n, seat in enumerate(self.seats, 1) if seat is not None]

    def turn(self) -> tuple[int, int] | None:
        """The seat and hand to act, or to be given its second card."""
        for number, seat in enumerate(self.seats, 1):
            if seat is not None:
                for index, hand in enumerate(seat.hands):
                    if hand.status == "playing":
                        return number, index
        return None

    def round_id(self) -> str:
        """The round that is running, or was last."""
        return f"{self.id}.{self.rounds}"
