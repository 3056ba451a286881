"""Use cases of the auditor: recall a round, prove it, and read a log line by line."""

from datetime import datetime
from typing import Final

from msgspec import Raw, Struct, json
from msgspec.structs import replace

from services.audit.domain.verify import Line, Unreadable
from services.blackjack.domain import events as blackjack
from services.ledger import application as ledger
from shared.eventstore.codec import Codec, UnknownEvent
from shared.eventstore.envelope import Envelope, canonical_json
from shared.eventstore.store import Recorded

CODEC: Final = Codec.of(Codec(blackjack.REGISTRY), Codec(ledger.REGISTRY))
"""Opens every event that there is."""


class FeedRecord(Struct, frozen=True):
    """An event as the feed `/v1/events` gives it, with `leaf` and `chain` in hex."""

    position: int
    stream: str
    version: int
    leaf: str
    chain: str
    event: Raw


def from_feed(record: FeedRecord) -> Line:
    """A line for the verifier, from the feed; its bytes are made again from what they say."""
    try:
        envelope = canonical_json(bytes(record.event))
        sealed = json.decode(envelope, type=Envelope)
        recorded = Recorded(
            position=record.position,
            stream=record.stream,
            version=record.version,
            type=sealed.type,
            schema_version=sealed.schemaversion,
            command_id=sealed.id.rpartition(".")[0],
            envelope=envelope,
            leaf=bytes.fromhex(record.leaf),
            chain=bytes.fromhex(record.chain),
            recorded_at=datetime.fromisoformat(sealed.time),
        )
    except ValueError as error:
        why = Unreadable(str(error))
        return Line(record.position, record.stream, record.version, event=why)
    return from_store(recorded)


def from_store(record: Recorded) -> Line:
    """A line for the verifier, from the store. What cannot be read is a fault, not an error."""
    line = Line(
        position=record.position,
        stream=record.stream,
        version=record.version,
        leaf=record.leaf,
        chain=record.chain,
        envelope=record.envelope,
    )
    try:
        sealed = CODEC.envelope(record)
        line = replace(line, id=sealed.id, subject=sealed.subject, postings=sealed.postings)
        return replace(line, event=_event(record, sealed))
    except (ValueError, UnknownEvent) as error:
        return replace(line, event=Unreadable(str(error)))


def _event(record: Recorded, sealed: Envelope) -> Struct:
    columns = record.type, record.schema_version, record.command_id
    if columns != (sealed.type, sealed.schemaversion, sealed.id.rpartition(".")[0]):
        return Unreadable(f"the log calls it {columns}, which is not what its envelope says")
    event: Struct = CODEC.open(record)
    return event
