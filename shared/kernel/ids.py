"""Names that callers choose: houses, tables, players."""

from typing import Annotated

from msgspec import Meta

AN_ID = "[a-z0-9][a-z0-9._-]{0,63}"
"""As a part of other patterns."""

ID_PATTERN = f"^{AN_ID}$"


def whole(pattern: str, description: str) -> Meta:
    """Text that matches `pattern`, `^…$`, from its first to its very last character.

    In Python alone `$` also lets a line break pass at the end.
    """
    return Meta(pattern=pattern.removesuffix("$") + r"\Z", description=description)


Id = Annotated[
    str,
    whole(
        ID_PATTERN,
        "1 to 64 of a–z, 0–9, '.', '_' and '-', starting with a letter or a digit.",
    ),
]
