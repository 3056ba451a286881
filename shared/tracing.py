"""Whose doing it is: the W3C trace context that goes from a caller through us into every event."""

import os
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Final

_VALID: Final = re.compile(
    rb"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)
_AT_ONCE: Final = 512
"""How many traces' worth of chance is asked of the system at a time: it takes as long as one."""


def is_trace(value: bytes) -> bool:
    """Whether this is a `traceparent` as its standard has it."""
    return _VALID.fullmatch(value) is not None


def fresh() -> Iterator[bytes]:
    """New traces without end, none sampled by anybody yet. Begin it in the process that uses it."""
    while True:
        chance = os.urandom(24 * _AT_ONCE).hex().encode()
        for at in range(0, len(chance), 48):
            yield b"00-%b-%b-00" % (chance[at : at + 32], chance[at + 32 : at + 48])


def named(*names: str) -> str:
    """The trace of something that nobody asked for, such as a time-out: it has only one. Sampled,
    so that where spans are collected it has one, too."""
    chance = sha256("\n".join(names).encode()).hexdigest()
    return f"00-{chance[:32]}-{chance[32:48]}-01"
