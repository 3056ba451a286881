"""Names that callers choose: houses, tables, players."""

from typing import Annotated

from msgspec import Meta

ID_PATTERN = "^[a-z0-9][a-z0-9._-]{0,63}$"

Id = Annotated[
    str,
    Meta(
        pattern=ID_PATTERN,
        description="1 to 64 of a–z, 0–9, '.', '_' and '-', starting with a letter or a digit.",
    ),
]
