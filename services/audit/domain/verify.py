"""Checks a whole log, event by event, trusting nothing but the rules of the game.

Memory grows with the streams and accounts there are, not with the length of the log.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final

from msgspec import Struct

from services.audit.domain.books import Books
from services.audit.domain.differences import differences, misfiled
from services.audit.domain.faults import Fault, most_serious_first
from services.audit.domain.lines import (
    Line,
    Unreadable,
    envelope_of,
    head_of,
    told,
)
from services.audit.domain.retrial import Retrial
from services.audit.domain.rulebook import RULESETS, Rulebook
from services.ledger.domain.vault import Grant, grant
from shared.eventstore.chain import GENESIS
from shared.eventstore.envelope import canonical_json

MOST_FAULTS: Final = 10_000
"""How many faults a report names; beyond them it only counts."""

_TABLES, _VAULTS = "table-", "vault-"


class Report(Struct, frozen=True):
    """What was read and what was found. `chain` is the head of the hash chain, in hex.

    The faults come most serious first, at most 10,000 of them; `fault_count` counts all.
    `balances` are those of the ledger, by account, as the postings give them.
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


def verify(lines: Iterable[Line | Unreadable]) -> Report:
    """Checks a log from its first event on."""
    verifier = Verifier()
    for line in lines:
        verifier.read(line)
    return verifier.report()


class Verifier:
    """Reads a log from its first event on, in order, and collects what is wrong with it."""

    def __init__(self) -> None:
        self._spine, self._court, self._found = Spine(), Court(), Faults()
        self._command: list[Line] = []
        self._events = 0

    def read(self, line: Line | Unreadable) -> None:
        """The next event of the log."""
        self._events += 1
        if isinstance(line, Unreadable):
            self._found.add([self._spine.unreadable(line.position, line.why)])
            return
        self._found.add(self._spine.faults(line))
        if self._command and line.command_id != self._command[0].command_id:
            self._found.add(self._court.read(self._command))
            self._command = []
        self._command.append(line)

    def report(self, *, cut: bool = False) -> Report:
        """What was found, once the last event was read.

        `cut`: it was read up to some place in the log, so the last command may go on behind it, and
        is not judged.
        """
        if self._command and not cut:
            self._found.add(self._court.read(self._command))
            self._command = []
        self._found.add(self._court.close())
        court = self._court
        return Report(
            position=self._spine.position,
            chain=self._spine.chain.hex(),
            events=self._events,
            commands=court.commands,
            streams=court.streams,
            rounds=court.rounds,
            cards=court.cards,
            postings=court.books.postings,
            balances=dict(court.books.balances),
            faults=tuple(most_serious_first(self._found.named)),
            fault_count=self._found.count,
        )


class Faults:
    """Faults as they are found: the first of them by name, all of them by number."""

    def __init__(self) -> None:
        self.named: list[Fault] = []
        self.count = 0

    def add(self, faults: Iterable[Fault]) -> None:
        """Some more."""
        for fault in faults:
            self.count += 1
            if len(self.named) < MOST_FAULTS:
                self.named.append(fault)


class Spine:
    """What holds a log together: places without a gap, each event's hash, and the chain of them.

    Begins after a position, where the chain was `chain`. With `gaps`, lines may be left out: the
    log was exported in part.
    """

    def __init__(self, position: int = 0, chain: bytes = GENESIS, *, gaps: bool = False) -> None:
        self.position = position
        self.chain = chain
        self._gaps = gaps

    def faults(self, line: Line) -> list[Fault]:
        """What is wrong with the next line: nothing, most of the time."""
        found = list[Fault]()
        # The hashes of `chain` written out: this is done for every event there is.
        follows = line.position == self.position + 1
        if not follows and not (self._gaps and line.position > self.position):
            what = f"After position {self.position} comes {line.position}."
            found.append(Fault(line.position, what, "order", line.stream, field="position"))
        if line.leaf != sha256(b"\x00" + line.envelope).digest():
            what = "The envelope does not have the recorded hash."
            found.append(Fault(line.position, what, "hash", line.stream, field="leaf"))
        if (follows or not self._gaps) and line.chain != sha256(self.chain + line.leaf).digest():
            what = "The hash chain does not follow from the event before."
            found.append(Fault(line.position, what, "hash", line.stream, field="chain"))
        self.position, self.chain = line.position, line.chain
        return found

    def unreadable(self, position: int, why: str) -> Fault:
        """A line that cannot be taken up; the chain shows at the next whether it was one."""
        self.position += 1
        return Fault(position, f"The line cannot be read: {why}.", field="envelope")


class Court:
    """Tries every command again: those of tables by the rules of the game, those of vaults by the
    ledger's, those of rulesets by the register's. It reads whole commands, and answers for the
    streams that it `owns`.

    `house` is whose log it is, when that is known. `complete` says of a stream whether all of it
    is there, from its first event on; what is there in part is tried in part.
    """

    def __init__(
        self,
        owns: Callable[[str], bool] = lambda stream: True,
        complete: Callable[[str], bool] = lambda stream: True,
        house: str = "",
    ) -> None:
        self._source = f'"source":"/houses/{house}"'.encode() if house else b""
        self.books = Books()
        self.commands = 0
        self._owns = owns
        self._complete = complete
        self._versions: dict[str, int] = {}
        self._tables: dict[str, Retrial] = {}
        self._rulebook = Rulebook(complete)

    @property
    def streams(self) -> int:
        return len(self._versions)

    @property
    def rounds(self) -> int:
        return sum(table.rounds for table in self._tables.values())

    @property
    def cards(self) -> int:
        return sum(table.cards for table in self._tables.values())

    @property
    def tables(self) -> dict[str, Retrial]:
        """Every table that was followed, by its stream."""
        return self._tables

    def read(self, lines: Sequence[Line]) -> Iterator[Fault]:
        """The events of the next command."""
        stream = lines[0].stream
        for line in lines:
            if self._owns(line.stream):
                yield from self._place(line)
                if line.stream.startswith(_VAULTS):
                    yield from self._vault(line)
        # Whoever owns a table has to know the games of the house that it may play.
        registered = self._registered(lines) if stream.startswith(RULESETS) else []
        if not self._owns(stream):
            return
        self.commands += 1
        yield from registered
        if self._source not in lines[0].envelope:
            what = "The command is of another house, or of none."
            yield Fault(lines[0].position, what, "order", stream, field="source")
        if stream.startswith(_TABLES) and self._complete(stream):
            table = self._table(stream)
            yield from _as_written(lines) if table.lost else table.read(lines)
        elif stream.startswith(_VAULTS):
            try:
                yield from _granted(lines)
            except ValueError as error:
                yield _illegible(lines[0], error)
        elif not (stream.startswith(RULESETS) and self._complete(stream)):
            yield from _as_written(lines)

    def _registered(self, lines: Sequence[Line]) -> list[Fault]:
        try:
            return [*self._rulebook.read(lines)]
        except ValueError as error:
            return [_illegible(lines[0], error)]

    def close(self) -> Iterator[Fault]:
        """The log ends here."""
        for table in self._tables.values():
            yield from table.close()

    def _table(self, stream: str) -> Retrial:
        table = self._tables.get(stream)
        if table is None:
            table = self._tables[stream] = Retrial(stream, self.books, self._rulebook)
        return table

    def _place(self, line: Line) -> Iterator[Fault]:
        version = self._versions.get(line.stream, 0)
        if line.version != version + 1 and (self._complete(line.stream) or line.version <= version):
            what = f"After version {version} of {line.stream} comes {line.version}."
            yield Fault(line.position, what, "order", line.stream, field="version")
        self._versions[line.stream] = line.version

    def _vault(self, line: Line) -> Iterator[Fault]:
        """Vaults are entered as they come: several tables may move the chips of one."""
        try:
            postings = envelope_of(line).postings
        except ValueError:
            return  # said when the command is tried
        fallen = list(self.books.enter(postings))
        if self._complete(line.stream):
            for what in fallen:
                yield Fault(line.position, what, "chips", line.stream, field="postings")


def _illegible(line: Line, error: ValueError) -> Fault:
    what = f"The event cannot be read: {error}."
    return Fault(line.position, what, "form", line.stream, field="envelope")


def _as_written(lines: Sequence[Line]) -> Iterator[Fault]:
    """Of a command that cannot be tried: whether its envelopes are such, and filed by what they
    say."""
    for number, line in enumerate(lines):
        try:
            found = envelope_of(line)
            if canonical_json(line.envelope) != line.envelope:
                raise ValueError("it is not in canonical form")
        except ValueError as error:
            what = f"The envelope cannot be read: {error}."
            yield Fault(line.position, what, "form", line.stream, field="envelope")
            continue
        yield from misfiled(line, found)
        if found.id != f"{line.command_id}.{number}":
            what = f"Event {number} of {line.command_id!r} is missing; this is {found.id!r}."
            yield Fault(line.position, what, "order", line.stream, field="id")


def _granted(lines: Sequence[Line]) -> Iterator[Fault]:
    """A command at a vault is a grant."""
    line, head = lines[0], head_of(lines[0])
    command = told(head)
    if not isinstance(command, Grant):
        what = f"{type(command).__name__} is no command to a vault."
        yield Fault(line.position, what, "play", line.stream, field="command")
        return
    player = line.stream.removeprefix(_VAULTS)
    yield from differences(head, lines, [grant(player, command.amount)], "")
