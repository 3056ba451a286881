"""What a field of an event means, for whoever reads its schema."""

from typing import Any

from msgspec import Meta

HEX_32: dict[str, Any] = {"pattern": "^[0-9a-f]{64}$"}
"""32 bytes in lower-case hexadecimal."""


def means(description: str, **schema: Any) -> Meta:
    """A description for a field's schema, and keywords that narrow the schema further.

    Neither is asked when an event is read: what is in the log is read as it is, and then judged.
    """
    return Meta(description=description, extra_json_schema=schema or None)
