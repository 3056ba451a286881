"""Ranges of the log as requests name them: by positions, or by times."""

from datetime import UTC, date, datetime
from typing import Annotated, Final

from fastapi import Query

from shared.http.paging import MOST_POSITION
from shared.http.problems import Malformed
from shared.kernel.moments import is_day

_WHEN: Final = "A position of the log (`241`), a time (`2026-01-31T12:00:00Z`) or a day (UTC)."
_MOST_CHARACTERS: Final = 40

From = Annotated[
    str | None,
    Query(
        alias="from",
        max_length=_MOST_CHARACTERS,
        description=f"The first of it; else the beginning. {_WHEN}",
        examples=["2026-01-01"],
    ),
]
To = Annotated[
    str | None,
    Query(
        max_length=_MOST_CHARACTERS,
        description=f"The last position, or the moment after the last; else the end. {_WHEN}",
        examples=["241"],
    ),
]


def moment(name: str, said: str | None) -> int | datetime | None:
    """A position, a time, or the beginning of a day. Raises Malformed."""
    if said is None:
        return None
    try:
        if said.isascii() and said.isdigit():
            position = int(said)
            if position > MOST_POSITION:
                raise ValueError("no log is that long")
            return max(position, 1) if name == "from" else position
        if is_day(said):
            return datetime.combine(date.fromisoformat(said), datetime.min.time(), UTC)
        time = datetime.fromisoformat(said)
        if time.tzinfo is None:
            raise ValueError("a time without a zone could be any")
        return time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Malformed.at(f"query.{name}", f"{_WHEN} A time has a zone.") from None
