"""Moments as the domain knows them: whole milliseconds since the epoch. No clock is read here."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def milliseconds(time: datetime) -> int:
    """The whole milliseconds from the epoch to a time, which has a time zone."""
    return (time - _EPOCH) // _MILLISECOND


def moment(milliseconds: int) -> datetime:
    """The time so many milliseconds after the epoch, in UTC."""
    return _EPOCH + milliseconds * _MILLISECOND


def instant(text: str) -> int:
    """The milliseconds of a time in RFC 3339. Raises ValueError."""
    return milliseconds(datetime.fromisoformat(text))


def is_day(text: str) -> bool:
    """Whether it is written as a day, `2026-01-31`, there being one or not."""
    return re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is not None
