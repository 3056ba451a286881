"""Exports as JSON Lines: the lines of the feed, plain or packed with zstd; gzip is read too."""

import gzip
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

import msgspec
from msgspec import Raw, Struct

from shared.eventstore.exports import File, Form, Part, Row, Rows, Unread, described
from shared.eventstore.files import settle
from shared.eventstore.store import Recorded

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL: Final = 3
BROKEN: Final = (OSError, EOFError, zstd.ZstdError)
"""What reading a packed file raises that was cut or changed."""


class FeedLine(Struct, frozen=True):
    """A record of the feed `/v1/events`, and a line of an export. Hashes are in hex."""

    position: int
    stream: str
    version: int
    leaf: str
    chain: str
    event: Raw


class Columns(Struct, frozen=True, gc=False):
    """What of an envelope the log also keeps in columns."""

    id: str
    type: str
    schemaversion: int


_line: Final = msgspec.json.Decoder(FeedLine)
_columns: Final = msgspec.json.Decoder(Columns)
_encode: Final = msgspec.json.Encoder().encode


class LinesWriter:
    """Writes a part as one file. See `shared.eventstore.exports.Writer`."""

    def __init__(self, directory: Path, form: Form) -> None:
        self._directory, self._form = directory, form
        self._unfinished = directory / f"part.{form}.unfinished"
        self._out: IO[bytes] = _create(self._unfinished, form)
        self._events = 0

    def write(self, row: Recorded) -> None:
        line = FeedLine(
            *(row.position, row.stream, row.version, row.leaf.hex(), row.chain.hex()),
            event=Raw(row.envelope),
        )
        self._out.write(_encode(line) + b"\n")
        self._events += 1

    def close(self, name: str) -> tuple[File, ...]:
        self._out.close()
        file = settle(self._unfinished, self._directory / f"{name}.{self._form}")
        return (described(self._directory, file, self._events),)

    def drop(self) -> None:
        self._out.close()
        self._unfinished.unlink(missing_ok=True)


def read(directory: Path, part: Part) -> Rows:
    """The rows of a part, in order; where its file breaks off, that is the last."""
    position = part.first_position - 1
    for file in part.files:
        try:
            with opened(directory / file.path) as lines:
                for text in lines:
                    row = row_of(text, position + 1)
                    position = row.position
                    yield row
        except BROKEN as error:
            yield Unread(position + 1, f"{file.path} breaks off: {error}")


def row_of(text: bytes, due: int) -> Row | Unread:
    """A line taken up; `due` is the position it should have, if that cannot be read."""
    try:
        line = _line.decode(text)
        envelope = bytes(line.event)
        columns = _columns.decode(envelope)
        return Row(
            line.position,
            line.stream,
            line.version,
            columns.type,
            columns.schemaversion,
            columns.id.rpartition(".")[0],
            envelope,
            _from_hex(line.leaf),
            _from_hex(line.chain),
        )
    except ValueError as error:
        return Unread(due, str(error))


_UNPACK: Final[dict[str, Callable[..., Any]]] = {".gz": gzip.open, ".zst": zstd.open}


@contextmanager
def opened(file: Path) -> Iterator[IO[bytes]]:
    """The lines of a file, however it is packed."""
    with _UNPACK.get(file.suffix, open)(file, "rb") as lines:
        yield lines


def _create(file: Path, form: Form) -> IO[bytes]:
    packed: Any = zstd.open(file, "wb", level=LEVEL) if form == "jsonl.zst" else file.open("wb")
    return cast(IO[bytes], packed)


def _from_hex(digest: str) -> bytes:
    found = bytes.fromhex(digest)
    if found.hex() != digest:
        raise ValueError(f"{digest!r} is not in lower-case hexadecimal")
    return found
