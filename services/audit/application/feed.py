"""The log as the feed gives it, line by line, for a verifier."""

from msgspec import json

from services.audit.domain.lines import Line, Unreadable
from shared.eventstore.envelope import Envelope, canonical_json
from shared.eventstore.jsonlines import FeedLine
from shared.eventstore.store import Recorded


def from_feed(record: FeedLine) -> Line | Unreadable:
    """A line for the verifier, from the feed; its bytes are made again from what they say."""
    try:
        envelope = canonical_json(bytes(record.event))
        sealed = json.decode(envelope, type=Envelope)
        return Recorded(
            position=record.position,
            stream=record.stream,
            version=record.version,
            type=sealed.type,
            schema_version=sealed.schemaversion,
            command_id=sealed.id.rpartition(".")[0],
            envelope=envelope,
            leaf=bytes.fromhex(record.leaf),
            chain=bytes.fromhex(record.chain),
        )
    except ValueError as error:
        return Unreadable(record.position, str(error))
