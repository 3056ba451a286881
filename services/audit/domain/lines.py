"""The log as an auditor takes it up: lines, and the commands that they are the events of."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from services.blackjack.domain import commands as c
from services.blackjack.domain import events as e
from services.blackjack.domain.register import Proposal
from services.ledger.domain import events as ledger
from services.ledger.domain.vault import Grant
from shared.eventstore.codec import Codec, UnknownEvent
from shared.eventstore.envelope import Envelope, canonical
from shared.eventstore.store import Fact
from shared.kernel.chips import Posting


class Line(Protocol):
    """An event as it was recorded. `leaf` and `chain` are 32 bytes, `envelope` is JSON."""

    @property
    def position(self) -> int: ...
    @property
    def stream(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def type(self) -> str: ...
    @property
    def schema_version(self) -> int: ...
    @property
    def command_id(self) -> str: ...
    @property
    def envelope(self) -> bytes: ...
    @property
    def leaf(self) -> bytes: ...
    @property
    def chain(self) -> bytes: ...


class Unreadable(Struct, frozen=True):
    """A line that cannot even be taken up, and why."""

    position: int
    why: str


class Head(Struct, frozen=True, gc=False):
    """What the first envelope of a command says of all of it. `time` is in RFC 3339."""

    actor: str
    id: str
    source: str
    subject: str
    time: str
    command: Raw | UnsetType = UNSET
    traceparent: str | UnsetType = UNSET

    @property
    def command_id(self) -> str:
        """The id of the command, without the number of its event."""
        return self.id.rpartition(".")[0]


Told: TypeAlias = c.AnyCommand | c.Open | Grant


_head: Final = msgspec.json.Decoder(Head)
_told: Final = msgspec.json.Decoder[Any](Told)
_proposed: Final = msgspec.json.Decoder(Proposal)
_envelope: Final = msgspec.json.Decoder(Envelope)
CODEC: Final = Codec.of(Codec(e.REGISTRY), Codec(ledger.REGISTRY))
"""Opens every event that there is."""

NAMES: Final = {cls: (name, version) for name, (version, cls) in CODEC.registry.items()}
"""Each event's class → its wire name and current schema version."""

_REVEALS: Final = b'"type":"%b"}' % NAMES[e.SeedRevealed][0].encode()
"""How the envelope of the end of a round ends."""


def head_of(line: Line) -> Head:
    """Raises ValueError for an envelope that cannot be read."""
    return _head.decode(line.envelope)


def told(head: Head) -> Told:
    """The command that was recorded. Raises ValueError."""
    command: Told = _told.decode(_command(head))
    return command


def time_outs_of(lines: Iterable[Line], first_version: int) -> frozenset[int]:
    """The versions of those events of a table with which the clock acted, where the first of these
    has `first_version`. Raises ValueError."""
    heads = enumerate(map(head_of, lines), first_version)
    return frozenset(
        version
        for version, head in heads
        if head.command is not UNSET and isinstance(told(head), c.TimeOut)
    )


def proposed(head: Head) -> Proposal:
    """The command at a ruleset, of which there is one kind. Raises ValueError."""
    return _proposed.decode(_command(head))


def _command(head: Head) -> Raw:
    if head.command is UNSET:
        raise ValueError("the command that caused it was not recorded with it")
    return head.command


def envelope_of(line: Line) -> Envelope:
    """Raises ValueError."""
    return _envelope.decode(line.envelope)


def is_readable(line: Line) -> bool:
    """Whether an envelope is one, of an event that is known."""
    try:
        event_of(line)
    except ValueError:
        return False
    return True


def event_of(line: Line) -> Any:
    """The event of a line, in its current class. Raises ValueError."""
    try:
        return CODEC.open(_fact(line))
    except UnknownEvent as error:
        raise ValueError(str(error)) from None


def data_of(line: Line) -> dict[str, Any]:
    """All that the data of a line says, as `Codec.data` gives it. Raises ValueError."""
    try:
        return CODEC.data(_fact(line))
    except UnknownEvent as error:
        raise ValueError(str(error)) from None


def _fact(line: Line) -> Fact:
    """A line by what its envelope says, whatever its row says."""
    said = envelope_of(line)
    return Fact(
        *(line.position, line.stream, line.version),
        *(said.type, said.schemaversion, line.envelope),
    )


def revealed_in(lines: Sequence[Line]) -> tuple[Line, e.SeedRevealed] | None:
    """The end of a round among the events of a command, with its line. Raises ValueError."""
    for line in lines:
        if line.envelope.endswith(_REVEALS):
            return line, event_of(line)
    return None


def sealed(head: Head, id: str, stream: str, event: Struct, postings: tuple[Posting, ...]) -> bytes:
    """The envelope that an event of a command has to have, byte for byte; `id` is the event's."""
    name, version = NAMES[type(event)]
    envelope = Envelope(
        actor=head.actor,
        command=head.command if id.endswith(".0") else UNSET,
        data=Raw(canonical(event)),
        id=id,
        postings=postings,
        schemaversion=version,
        source=head.source,
        specversion="1.0",
        subject=stream,
        time=head.time,
        traceparent=head.traceparent,
        type=name,
    )
    return canonical(envelope)
