"""The envelope: everything known about an event, as the bytes that are stored and hashed.

Canonical JSON (RFC 8785, whole numbers only), so that anybody can write the same bytes from the
same facts, with the names of CloudEvents 1.0.
"""

from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from shared.kernel.chips import Posting

_canonical = msgspec.json.Encoder(order="sorted")


class Envelope(Struct, frozen=True, kw_only=True):
    """An envelope as stored. `command` is there on the first event of a command only."""

    actor: str
    command: Raw | UnsetType = UNSET
    data: Raw
    id: str
    postings: tuple[Posting, ...]
    schemaversion: int
    source: str
    specversion: str
    subject: str
    time: str
    traceparent: str | UnsetType = UNSET
    type: str


def canonical(value: Any) -> bytes:
    """A value as canonical JSON: sorted ASCII keys, no spaces, whole numbers.

    Structs, dicts, lists, strings, integers, booleans and None have one canonical form. Floats
    have none here: keep them out of events and commands.
    """
    return _canonical.encode(value)


def canonical_json(document: bytes) -> bytes:
    """Any JSON document in its canonical form. Raises ValueError for a number with a fraction."""
    return _canonical.encode(_whole_numbers.decode(document))


def rfc3339(time: datetime) -> str:
    """`2025-01-31T12:00:00.000000Z`: UTC, always with microseconds. Wants an aware time."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def _refuse_fraction(number: str) -> float:
    raise ValueError(f"{number} is not a whole number: events and commands have no other.")


_whole_numbers = msgspec.json.Decoder(float_hook=_refuse_fraction)
