"""A log taken out for others to judge: a directory of files that need neither us nor a database.

`manifest.json` says what there is: parts in the order of the log, each with its positions, the
hash chain before and after, and a SHA-256 of each file. It is written anew after every part, so
that an export which was interrupted says so, and can be gone on with. A row has what is sealed, or
follows from it, and nothing else.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from shared.eventstore.files import FilePath, Hash, settle
from shared.eventstore.store import Recorded

FORMAT: Final = "croupier.export.v1"
MANIFEST: Final = "manifest.json"
EVENTS_A_PART: Final = 100_000
SHARDS: Final = 16

Form: TypeAlias = Literal["jsonl", "jsonl.gz", "jsonl.zst", "parquet"]


class CannotExport(Exception):
    """An export cannot be begun, or gone on with. The message says why."""


class CannotRead(Exception):
    """There is no export, or none that this program knows. The message says why."""


class Row(Struct, frozen=True, gc=False):
    """An event of an export: its envelope, its place, and its hashes (32 bytes each)."""

    position: int
    stream: str
    version: int
    type: str
    schema_version: int
    command_id: str
    envelope: bytes
    leaf: bytes
    chain: bytes


class Unread(Struct, frozen=True):
    """A line of an export that cannot be taken up, and why."""

    position: int
    why: str


class File(Struct, frozen=True):
    """A file of a part, by its path within the export; its SHA-256 in hex."""

    path: FilePath
    events: int
    bytes: int
    sha256: Hash


class Part(Struct, frozen=True):
    """A stretch of the log; both ends count. The hash chain, before and after, is in hex."""

    first_position: int
    last_position: int
    events: int
    chain_before: Hash
    chain: Hash
    files: tuple[File, ...]


class Scope(Struct, frozen=True, omit_defaults=True):
    """What of the log was asked for: all of it, or the commands of some streams or positions.

    `last_position` is 0 when the end of the log was meant. Of `streams` the export has every
    event; what it has of others are legs of the same commands.
    """

    first_position: int = 1
    last_position: int = 0
    table: str | None = None
    player: str | None = None
    streams: tuple[str, ...] | None = None

    @property
    def gaps(self) -> bool:
        """Whether positions are left out."""
        return self.streams is not None

    def complete(self, stream: str) -> bool:
        """Whether a stream is there from its first event on."""
        return self.every(stream) and (self.gaps or self.first_position == 1)

    def every(self, stream: str) -> bool:
        """Whether all of a stream is there that comes after the first of its events that is."""
        return self.streams is None or stream in self.streams


class Manifest(Struct, frozen=True):
    """What an export holds; `head` is where the house's log ended when it was begun."""

    format: str
    house: str
    form: Form
    scope: Scope
    head: int
    finished: bool = False
    parts: tuple[Part, ...] = ()

    @property
    def events(self) -> int:
        return sum(part.events for part in self.parts)

    @property
    def end(self) -> int:
        """The position up to which commands are taken."""
        return min(self.scope.last_position or self.head, self.head)


class Writer(Protocol):
    """Writes the rows of one part into files beside each other."""

    def write(self, row: Recorded) -> None: ...
    def close(self, name: str) -> tuple[File, ...]: ...
    def drop(self) -> None: ...


def read_manifest(directory: Path) -> Manifest:
    """Raises CannotRead."""
    try:
        manifest = msgspec.json.decode((directory / MANIFEST).read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise CannotRead(f"There is no {MANIFEST} in {directory}.") from None
    except (OSError, ValueError) as error:
        raise CannotRead(f"{directory / MANIFEST} cannot be read: {error}") from None
    if manifest.format != FORMAT:
        raise CannotRead(f"The export has the format {manifest.format}, known is {FORMAT}.")
    return manifest


def begun(directory: Path, wanted: Manifest) -> Manifest:
    """The manifest of an export that is begun here, or gone on with. Raises CannotExport."""
    if not (directory / MANIFEST).exists():
        if directory.exists() and any(directory.iterdir()):
            raise CannotExport(f"{directory} is not empty, and has no export to go on with.")
        directory.mkdir(parents=True, exist_ok=True)
        return write_manifest(directory, wanted)
    try:
        found = read_manifest(directory)
    except CannotRead as error:
        raise CannotExport(str(error)) from None
    if not found.parts:
        return write_manifest(directory, wanted)
    if (found.house, found.form, found.scope) != (wanted.house, wanted.form, wanted.scope):
        raise CannotExport(f"{directory} has an export of something else; name another directory.")
    for file in (file for part in found.parts for file in part.files):
        if digest_of(directory / file.path) != file.sha256:
            raise CannotExport(f"{file.path} is not what was written; begin anew elsewhere.")
    return found


def write_manifest(directory: Path, manifest: Manifest) -> Manifest:
    """Puts it in the place of the one before, whole."""
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    unfinished = directory / f"{MANIFEST}.unfinished"
    unfinished.write_bytes(text)
    settle(unfinished, directory / MANIFEST)
    return manifest


class Taking:
    """An export while it is written: commands are taken one by one, a part at a time.

    `before` is the hash chain before the first of them.
    """

    def __init__(
        self, directory: Path, manifest: Manifest, writer: Callable[[], Writer], before: bytes
    ) -> None:
        self.manifest = manifest
        self._directory, self._new_writer = directory, writer
        self._writer: Writer | None = None
        self._before = bytes.fromhex(manifest.parts[-1].chain) if manifest.parts else before
        self._first = self._last = self._events = 0
        self._chain = self._before

    def take(self, command: Sequence[Recorded]) -> None:
        """All events of the next command."""
        if self._writer is None:
            self._writer, self._first = self._new_writer(), command[0].position
        for row in command:
            self._writer.write(row)
        self._events += len(command)
        self._last, self._chain = command[-1].position, command[-1].chain
        if self._events >= EVENTS_A_PART:
            self._settle()

    def finish(self) -> Manifest:
        """Nothing more comes: the export is whole."""
        self._settle()
        self.manifest = replace(self.manifest, finished=True)
        return write_manifest(self._directory, self.manifest)

    def drop(self) -> None:
        """Gives up the part that was begun; those before it stay."""
        if self._writer is not None:
            self._writer.drop()
            self._writer = None

    def _settle(self) -> None:
        if self._writer is None:
            return
        files = self._writer.close(f"{self._first:012}-{self._last:012}")
        part = Part(
            *(self._first, self._last, self._events),
            *(self._before.hex(), self._chain.hex(), files),
        )
        self.manifest = replace(self.manifest, parts=(*self.manifest.parts, part))
        write_manifest(self._directory, self.manifest)
        self._writer, self._events, self._before = None, 0, self._chain


def described(root: Path, file: Path, events: int) -> File:
    """A file of an export as its manifest lists it."""
    return File(str(file.relative_to(root)), events, file.stat().st_size, digest_of(file) or "")


def digest_of(file: Path) -> str | None:
    """The SHA-256 of a file in hex, None when it cannot be read."""
    try:
        with file.open("rb") as kept:
            return file_digest(kept, "sha256").hexdigest()
    except OSError:
        return None


@lru_cache(maxsize=100_000)
def shard_of(stream: str, shards: int) -> int:
    """In which of so many shards a stream is: the first 8 bytes of its SHA-256, modulo."""
    return int.from_bytes(sha256(stream.encode()).digest()[:8]) % shards


Rows: TypeAlias = Iterator[Row | Unread]
