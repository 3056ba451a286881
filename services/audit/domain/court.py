"""Tries every command again: those of tables by the rules of the game, those of vaults by the
ledger's, those of rulesets by the register's."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from services.audit.domain.books import Books
from services.audit.domain.differences import differences, misfiled
from services.audit.domain.faults import Fault
from services.audit.domain.lines import Line, envelope_of, head_of, told
from services.audit.domain.retrial import Retrial
from services.audit.domain.rulebook import RULESETS, Rulebook
from services.audit.domain.stretches import VAULTS, Complete
from services.ledger.domain.vault import Grant, grant
from shared.eventstore.envelope import canonical_json

_TABLES: Final = "table-"


class Court:
    """Reads whole commands, in order: all of those at the streams that it answers for.

    `house` is whose log it is, when that is known. `complete` says of a stream whether all of it
    is there, from its first event on; what is there in part is tried in part. `registered` are the
    lines of all games of the house, in order, where the court is for some of the streams alone.
    """

    def __init__(
        self,
        complete: Complete = lambda stream: True,
        house: str = "",
        registered: Sequence[Line] = (),
    ) -> None:
        self.books = Books()
        self.commands = 0
        self._source = f'"source":"/houses/{house}"'.encode() if house else b""
        self._complete = complete
        self._tables: dict[str, Retrial] = {}
        self._rulebook = Rulebook(complete)
        self._registered = deque(registered)

    @property
    def rounds(self) -> int:
        return sum(table.rounds for table in self._tables.values())

    @property
    def cards(self) -> int:
        return sum(table.cards for table in self._tables.values())

    def read(self, lines: Sequence[Line]) -> Iterator[Fault]:
        """The events of the next command."""
        self.commands += 1
        stream = lines[0].stream
        self._learn_before(lines)
        if stream.startswith(RULESETS):
            yield from self._learn(lines)
        if self._source not in lines[0].envelope:
            what = "The command is of another house, or of none."
            yield Fault(lines[0].position, what, "order", stream, field="source")
        if stream.startswith(_TABLES) and self._complete(stream):
            table = self._table(stream)
            yield from _as_written(lines) if table.lost else table.read(lines)
        elif stream.startswith(VAULTS):
            try:
                yield from _granted(lines)
            except ValueError as error:
                yield _illegible(lines[0], error)
        elif not (stream.startswith(RULESETS) and self._complete(stream)):
            yield from _as_written(lines)

    def close(self) -> Iterator[Fault]:
        """The log ends here."""
        for table in self._tables.values():
            yield from table.close()

    def _table(self, stream: str) -> Retrial:
        table = self._tables.get(stream)
        if table is None:
            table = self._tables[stream] = Retrial(stream, self.books, self._rulebook)
        return table

    def _learn_before(self, lines: Sequence[Line]) -> None:
        """Takes up what was registered meanwhile; what is wrong with it, its own court says."""
        while self._registered and self._registered[0].position < lines[0].position:
            for _ in self._learn([self._registered.popleft()]):
                pass
        while self._registered and self._registered[0].position <= lines[-1].position:
            self._registered.popleft()  # it is among these lines, and read with them

    def _learn(self, lines: Sequence[Line]) -> Iterator[Fault]:
        try:
            yield from self._rulebook.read(lines)
        except ValueError as error:
            yield _illegible(lines[0], error)


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
    player = line.stream.removeprefix(VAULTS)
    yield from differences(head, lines, [grant(player, command.amount)], "")
