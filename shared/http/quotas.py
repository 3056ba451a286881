"""How often somebody may ask: a number of requests in a time."""

import re
from typing import Final, NamedTuple

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600}
_QUOTA: Final = re.compile(r"([1-9][0-9]{0,8})/([smh])")


class Quota(NamedTuple):
    """So many requests in so many seconds."""

    requests: int
    seconds: int

    @classmethod
    def read(cls, text: str) -> "Quota":
        """`100/s`, `6000/m` or `10000/h`. Raises `ValueError`."""
        found = _QUOTA.fullmatch(text)
        if not found:
            raise ValueError("a quota is written as 100/s, 6000/m or 10000/h")
        return cls(int(found[1]), _SECONDS[found[2]])

    def __str__(self) -> str:
        unit = next((u for u, seconds in _SECONDS.items() if seconds == self.seconds), None)
        return f"{self.requests}/{unit or f'{self.seconds}s'}"
