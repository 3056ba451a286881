"""The envelope: everything known about an event, as the bytes that are stored and hashed.

Canonical JSON (RFC 8785, whole numbers only), so that anybody can write the same bytes from the
same facts, with the names of CloudEvents 1.0.
"""

from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from shared.kernel.chips import Posting
from shared.kernel.described import means
from shared.kernel.ids import AN_ID

_canonical = msgspec.json.Encoder(order="sorted")


class Envelope(Struct, frozen=True, kw_only=True):
    """Everything that is known about an event, as it is stored and hashed."""

    actor: Annotated[
        str, means("Who sent the command: an API key, `clock`, or a computer player.", minLength=1)
    ]
    command: Annotated[
        Raw | UnsetType,
        means(
            "What was asked for, as the API's description has it. Only on the first event of a "
            "command.",
            type="object",
        ),
    ] = UNSET
    data: Annotated[
        Raw, means("What happened: see the schema of this `type` and version.", type="object")
    ]
    id: Annotated[
        str,
        means(
            "The id of the command, a full stop, and which of its events this is, from 0.",
            pattern=r"^.+\.(0|[1-9][0-9]*)$",
        ),
    ]
    postings: Annotated[tuple[Posting, ...], means("The chips that this event moves; mostly none.")]
    schemaversion: Annotated[int, means("The version of the schema of `data`.", minimum=1)]
    source: Annotated[str, means("Whose log it is.", pattern=f"^/houses/{AN_ID}$")]
    specversion: Annotated[str, means("The version of CloudEvents.", const="1.0")]
    subject: Annotated[
        str,
        means("The stream.", pattern=f"^(table|vault|ruleset)-{AN_ID}$"),
    ]
    time: Annotated[
        str,
        means(
            "When the command was decided, in UTC with microseconds.",
            pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$",
        ),
    ]
    traceparent: Annotated[
        str | UnsetType,
        means(
            "The trace of the command (W3C): its caller's, or one made for it; absent in older "
            "logs.",
            pattern="^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$",
        ),
    ] = UNSET
    type: Annotated[str, means("What kind of event it is.", pattern=r"^[a-z]+\.[a-z_]+$")]


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


def decided_at(envelope: bytes) -> datetime | None:
    """When the command of an event was decided; None where nothing says so that can be read."""
    try:
        return _moment.decode(envelope).time
    except ValueError:
        return None


class _Moment(Struct, frozen=True):
    time: Annotated[datetime, Meta(tz=True)]


_moment = msgspec.json.Decoder(_Moment)


def _refuse_fraction(number: str) -> float:
    raise ValueError(f"{number} is not a whole number: events and commands have no other.")


_whole_numbers = msgspec.json.Decoder(float_hook=_refuse_fraction)
