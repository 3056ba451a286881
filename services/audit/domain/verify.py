"""Checks a whole log, event by event, trusting nothing but the rules of the game.

Memory grows with the streams and accounts there are, not with the length of the log.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

from msgspec import Struct

from services.audit.domain.books import Books
from services.audit.domain.following import Followed
from services.audit.domain.rulebook import Rulebook
from services.blackjack.domain.events import RulesetRegistered, TableOpened
from services.ledger.domain import events as ledger
from services.ledger.domain.vault import grant, transfer
from shared.kernel.chips import Posting

MOST_FAULTS: Final = 100
"""How many faults a report names; beyond them it only counts."""


class Unreadable(Struct, frozen=True):
    """An envelope or an event that cannot be read, and why."""

    why: str


class Line(Struct, frozen=True):
    """An event as it was recorded, and what its envelope says, as far as it can be read.

    `leaf` and `chain` are 32 bytes, `envelope` is canonical JSON.
    """

    position: int
    stream: str
    version: int
    leaf: bytes = b""
    chain: bytes = b""
    envelope: bytes = b""
    id: str = ""
    subject: str = ""
    postings: tuple[Posting, ...] = ()
    event: Struct = Unreadable("no envelope")


class Fault(Struct, frozen=True):
    """Something that should not be, and the position in the log where it shows."""

    position: int
    what: str


class Report(Struct, frozen=True):
    """What was read and what was found. `chain` is the head of the hash chain, in hex.

    At most 100 faults are named; `fault_count` counts all. `balances` are those of the ledger,
    by account, as the postings give them.
    """

    position: int
    chain: str
    events: int
    commands: int
    streams: int
    rounds: int
    cards: int
    postings: int
    balances: dict[str, int]
    faults: tuple[Fault, ...]
    fault_count: int

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return self.fault_count == 0


def verify(lines: Iterable[Line]) -> Report:
    """Checks a log from its first event on."""
    verifier = Verifier()
    for line in lines:
        verifier.read(line)
    return verifier.report()


class Verifier:
    """Reads a log from its first event on, in order, and collects what is wrong with it."""

    def __init__(self) -> None:
        self._position = 0
        self._chain = bytes(32)
        self._command, self._line = "", 0
        self._events = self._commands = self._rounds = self._cards = 0
        self._versions: dict[str, int] = {}
        self._tables: dict[str, Followed | None] = {}
        self._books = Books()
        self._rulebook = Rulebook()
        self._faults: list[Fault] = []
        self._fault_count = 0

    def read(self, line: Line) -> None:
        """The next event of the log."""
        faults = [*self._command_faults(line), *self._place_faults(line), *_hash_faults(line)]
        if sha256(self._chain + line.leaf).digest() != line.chain:
            faults.append("The hash chain does not follow from the event before.")
        self._position, self._chain = line.position, line.chain
        self._events += 1
        self._books.enter(line.postings)
        faults += self._event_faults(line)
        self._note(line.position, faults)

    def report(self) -> Report:
        """What was found, once the last event was read."""
        self._note(self._position, self._books.close())
        return Report(
            position=self._position,
            chain=self._chain.hex(),
            events=self._events,
            commands=self._commands,
            streams=len(self._versions),
            rounds=self._rounds,
            cards=self._cards,
            postings=self._books.postings,
            balances=dict(self._books.balances),
            faults=tuple(self._faults),
            fault_count=self._fault_count,
        )

    def _note(self, position: int, faults: Iterable[str]) -> None:
        for what in faults:
            self._fault_count += 1
            if len(self._faults) < MOST_FAULTS:
                self._faults.append(Fault(position, what))

    def _command_faults(self, line: Line) -> Iterator[str]:
        """Events of one command stand together: `<command>.0`, `<command>.1`, …"""
        command, _, number = line.id.rpartition(".")
        if command != self._command:
            self._note(self._position, self._books.close())
            self._commands += 1
            self._command, self._line = command, 0
        if number != str(self._line):
            yield f"Event {self._line} of the command {command!r} is missing, this is {number}."
        self._line = int(number) + 1 if number.isdecimal() else self._line + 1

    def _place_faults(self, line: Line) -> Iterator[str]:
        if line.position != self._position + 1:
            yield f"After position {self._position} comes {line.position}."
        version = self._versions.get(line.stream, 0)
        if line.version != version + 1:
            yield f"After version {version} of {line.stream} comes {line.version}."
        self._versions[line.stream] = line.version

    def _event_faults(self, line: Line) -> list[str]:
        """What the event itself says, and whether its postings are those it calls for."""
        match line.event:
            case Unreadable(why):
                self._tables[line.stream] = None
                self._books.lose_sight()
                return [f"The event cannot be read: {why}"]
            case (
                ledger.ChipsGranted()
                | ledger.ChipsTakenToTable()
                | ledger.ChipsBroughtFromTable() as event
            ):
                return list(self._vault_faults(event, line.postings))
            case RulesetRegistered() as event:
                return list(self._rulebook.registered(event))
            case TableOpened() as event:
                return [*self._rulebook.opened(event), *self._table_faults(line, event)]
            case event:
                return self._table_faults(line, event)

    def _vault_faults(
        self,
        event: ledger.ChipsGranted | ledger.ChipsTakenToTable | ledger.ChipsBroughtFromTable,
        sealed: tuple[Posting, ...],
    ) -> Iterator[str]:
        match event:
            case ledger.ChipsGranted(player, amount):
                _, _, due = grant(player, amount)
            case ledger.ChipsTakenToTable(player, table, amount):
                _, _, due = transfer(player, table, -amount)
                self._books.transfer(player, table, amount)
            case ledger.ChipsBroughtFromTable(player, table, amount):
                _, _, due = transfer(player, table, amount)
                self._books.transfer(player, table, -amount)
        if sealed != due:
            yield "The sealed postings are not those of the event."

    def _table_faults(self, line: Line, event: Struct) -> list[str]:
        followed = self._tables.setdefault(line.stream, Followed())
        if followed is None:
            self._books.lose_sight()
            return []
        faults: list[str] = []
        try:
            for fault in followed.read(event, line.postings, self._books):
                faults.append(fault)
        except Exception as error:  # whatever the fold raises: it never expects such events
            self._tables[line.stream] = None
            self._books.lose_sight()
            return [
                *faults,
                f"The event does not follow from those before it ({error!r}); "
                f"{line.stream} is not followed further.",
            ]
        if followed.proof is not None:
            self._rounds += 1
            self._cards += len(followed.proof.cards)
        return faults


def _hash_faults(line: Line) -> Iterator[str]:
    if line.leaf != sha256(b"\x00" + line.envelope).digest():
        yield "The envelope does not have the recorded hash."
    if line.subject != line.stream:
        yield f"The event is filed under {line.stream}, its envelope says {line.subject}."
