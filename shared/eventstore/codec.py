"""Between events of the domain and the envelopes of the log."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from shared.eventstore.envelope import Envelope, canonical, canonical_json, rfc3339
from shared.eventstore.store import Fact, NewEvent
from shared.kernel.chips import Posting
from shared.kernel.moments import milliseconds

Registry = Mapping[str, tuple[int, type[Struct]]]
"""Wire name → (current schema version, its class): `"blackjack.bet_placed": (1, BetPlaced)`."""

Upcasters = Mapping[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]]
"""(wire name, schema version) → data of that version to data of the next version."""


class UnknownEvent(Exception):
    """An event that this program does not know: it was written by a newer one, or by none."""


class Codec:
    """Seals events into envelopes and opens them again, whatever version they were written in."""

    def __init__(self, registry: Registry, upcasters: Upcasters | None = None) -> None:
        """Raises ValueError when an old version of an event has no way to the current one."""
        self.registry = dict(registry)
        self.upcasters = dict(upcasters or {})
        self._names = {cls: (name, version) for name, (version, cls) in self.registry.items()}
        self._current = {
            (name, version): _decoder(cls) for name, (version, cls) in self.registry.items()
        }
        for name, (version, _) in self.registry.items():
            for old in range(1, version):
                if (name, old) not in self.upcasters:
                    raise ValueError(f"{name} version {old} has no upcaster to {old + 1}.")

    @classmethod
    def of(cls, *codecs: "Codec") -> "Codec":
        """One codec for several contexts, whose events meet in one log."""
        registry: dict[str, tuple[int, type[Struct]]] = {}
        upcasters: dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {}
        for codec in codecs:
            if twice := registry.keys() & codec.registry.keys():
                raise ValueError(f"Two contexts name the same events: {sorted(twice)}.")
            registry |= codec.registry
            upcasters |= codec.upcasters
        return cls(registry, upcasters)

    def seal(
        self,
        events: Sequence[tuple[str, Struct, tuple[Posting, ...]]],
        *,
        house: str,
        command_id: str,
        command: bytes | None,
        actor: str,
        time: datetime,
        traceparent: str | None = None,
    ) -> tuple[NewEvent, ...]:
        """The events of one command, each with its stream and postings, ready to append.

        `command` is the JSON of the command that caused them, kept with the first. Raises
        UnknownEvent for a class outside the registry, ValueError for a number with a fraction.
        """
        source, moment = f"/houses/{house}", rfc3339(time)
        trace = UNSET if traceparent is None else traceparent
        cause = UNSET if command is None else Raw(canonical_json(command))
        sealed = []
        for line, (stream, event, postings) in enumerate(events):
            name, version = self._name(event)
            envelope = Envelope(
                actor=actor,
                command=UNSET if line else cause,
                data=Raw(canonical(event)),
                id=f"{command_id}.{line}",
                postings=postings,
                schemaversion=version,
                source=source,
                specversion="1.0",
                subject=stream,
                time=moment,
                traceparent=trace,
                type=name,
            )
            sealed.append(NewEvent(stream, name, version, canonical(envelope), postings))
        return tuple(sealed)

    def open(self, recorded: Fact) -> Any:
        """The event of a record, in its current class. Raises UnknownEvent."""
        return self.told(recorded)[0]

    def told(self, recorded: Fact) -> tuple[Any, int]:
        """The event of a record, and when it happened, in milliseconds since the epoch.

        Raises UnknownEvent.
        """
        decoder = self._current.get((recorded.type, recorded.schema_version))
        if decoder is not None:
            opened = decoder.decode(recorded.envelope)
            return opened.data, milliseconds(opened.time)
        data = self.data(recorded)
        _, cls = self.registry[recorded.type]
        time = datetime.fromisoformat(_envelope.decode(recorded.envelope).time)
        return msgspec.convert(data, cls), milliseconds(time)

    def data(self, recorded: Fact) -> dict[str, Any]:
        """All that the data of a record says, in the words of the current version.

        What its class does not know is there too, what an upcaster leaves to a default is not.
        Raises UnknownEvent.
        """
        data: dict[str, Any] = msgspec.json.decode(_envelope.decode(recorded.envelope).data)
        name, version = recorded.type, recorded.schema_version
        current, _ = self.registry.get(name, (0, Struct))
        if not 1 <= version <= current:
            raise UnknownEvent(
                f"{name} version {version} at position {recorded.position} is unknown here; "
                f"the newest known version is {current}."
            )
        for old in range(version, current):
            data = self.upcasters[name, old](data)
        return data

    def envelope(self, recorded: Fact) -> Envelope:
        """Everything the envelope of a record says, its data and command as raw JSON."""
        return _envelope.decode(recorded.envelope)

    def _name(self, event: Struct) -> tuple[str, int]:
        try:
            return self._names[type(event)]
        except KeyError:
            raise UnknownEvent(f"{type(event).__name__} has no wire name.") from None


def _decoder(cls: type[Struct]) -> "msgspec.json.Decoder[Any]":
    """Reads only the data and the time of an envelope, straight into their classes."""
    fields = [("data", cls), ("time", datetime)]
    return msgspec.json.Decoder(msgspec.defstruct("Opened", fields, gc=False))


_envelope = msgspec.json.Decoder(Envelope)
