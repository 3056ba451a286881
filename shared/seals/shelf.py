"""Where seals are kept outside the database: named bytes, in a directory or an object store."""

from pathlib import Path
from typing import Protocol

from shared.eventstore.files import settle
from shared.seals.notes import MOST_NOTE_BYTES


class Shelf(Protocol):
    """Keeps what is written to it as it is; an object store does so too. Names have slashes."""

    def read(self, name: str) -> bytes | None:
        """What was written under a name, None when nothing was."""

    def write(self, name: str, content: bytes) -> None:
        """Puts something there, whole and for good before this returns, in place of what was."""


class Directory:
    """A shelf of files, best on another disk or machine than the database."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, name: str) -> bytes | None:
        try:
            with (self._root / name).open("rb") as file:
                return file.read(MOST_NOTE_BYTES + 1)
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        file = self._root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_name(f".{file.name}.unfinished")
        unfinished.write_bytes(content)
        settle(unfinished, file)


def seal_name(house: str, size: int) -> str:
    """Under which name a seal is kept, so that they come in order."""
    return f"{house}/{size:015}.seal"


def latest_name(house: str) -> str:
    """Under which name the newest seal is kept once more."""
    return f"{house}/latest.seal"


def keys_name(house: str) -> str:
    """Under which name every public key is kept that has ever sealed, one a line."""
    return f"{house}/public.keys"
