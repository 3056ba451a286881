"""Whether an id names one command of a log alone, however many it has."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import IO, Final, Self

from services.audit.domain.faults import Fault
from services.audit.domain.stretches import DIGEST, NAMED
from shared.eventstore.exports import CannotRead

_EVENTS_A_FILE: Final = 100_000
_MOST_FILES: Final = 512
_HELD: Final = 1024 * 1024
"""How many bytes all files have in memory, before they become files."""


class Once:
    """Takes up what stretches tell of their commands, and sorts it, one file of some at a time.

    What has the same digest is in the same file. So memory does not grow with the log, up to some
    fifty million events, and very slowly after that.
    """

    def __init__(self, events: int) -> None:
        self._count = min(_MOST_FILES, 1 + events // _EVENTS_A_FILE)
        self._open = ExitStack()
        self._files = list[IO[bytes]]()

    def __enter__(self) -> Self:
        """Raises CannotRead where there is no room for temporary files."""
        try:
            for _ in range(self._count):
                file = SpooledTemporaryFile(max_size=_HELD // self._count)
                self._files.append(self._open.enter_context(file))
        except OSError as error:
            raise _no_room(error) from None
        return self

    def __exit__(self, *raised: object) -> None:
        self._open.close()

    def add(self, commands: bytes) -> None:
        """Those of the next stretch: `NAMED` bytes each. Raises CannotRead as above."""
        parted = defaultdict[int, bytearray](bytearray)
        for command in _each(commands):
            parted[int.from_bytes(command[:2]) % self._count] += command
        try:
            for number, some in parted.items():
                self._files[number].write(some)
        except OSError as error:
            raise _no_room(error) from None

    def faults(self) -> Iterator[Fault]:
        """Commands whose id was there before, after the last stretch."""
        for file in self._files:
            file.seek(0)
            for one, two in pairwise(sorted(_each(file.read()))):
                if one[:DIGEST] == two[:DIGEST]:
                    what = "A command with this id was there before."
                    position = int.from_bytes(two[DIGEST:])
                    yield Fault(position, what, "order", field="command_id")


def _each(commands: bytes) -> Iterator[bytes]:
    return (commands[at : at + NAMED] for at in range(0, len(commands), NAMED))


def _no_room(error: OSError) -> CannotRead:
    return CannotRead(f"The ids of commands are sorted in temporary files (TMPDIR): {error}.")
