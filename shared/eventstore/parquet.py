"""Exports as Parquet, for whoever asks questions of a whole log: DuckDB, polars, Spark, Dask.

A directory for each shard (`shard=3/`), which has all events of its streams' commands: who reads
one shard has whole tables. Needs pyarrow (`pip install croupier[parquet]`).
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from heapq import merge
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from shared.eventstore.exports import (
    SHARDS,
    CannotExport,
    File,
    Part,
    Row,
    Rows,
    Unread,
    described,
    shard_of,
)
from shared.eventstore.files import settle
from shared.eventstore.store import Recorded

_ROWS_A_GROUP: Final = 10_000
_ROWS_HELD: Final = 1_000

SCHEMA: Final = pa.schema(
    [
        ("position", pa.int64()),
        ("stream", pa.string()),
        ("version", pa.int64()),
        ("type", pa.string()),
        ("schema_version", pa.int32()),
        ("command_id", pa.string()),
        ("time", pa.timestamp("us", "UTC")),
        ("envelope", pa.string()),
        ("leaf", pa.binary(32)),
        ("chain", pa.binary(32)),
    ]
)


class _Time(Struct):
    time: datetime


_time: Final = msgspec.json.Decoder(_Time)


class ParquetWriter:
    """Writes a part as a file a shard. See `shared.eventstore.exports.Writer`.

    A command is where its first event is, so that a shard has whole commands.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files: dict[int, pq.ParquetWriter] = {}
        self._held: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
        self._events: defaultdict[int, int] = defaultdict(int)
        self._command, self._shard = "", 0

    def write(self, row: Recorded) -> None:
        if row.command_id != self._command:
            self._command, self._shard = row.command_id, shard_of(row.stream, SHARDS)
        held = self._held[self._shard]
        try:
            time, envelope = _time.decode(row.envelope).time, row.envelope.decode()
        except ValueError as error:
            raise CannotExport(
                f"The envelope at position {row.position:,} is none ({error}), and has no place in "
                "Parquet. Take the log out as JSON Lines, and let `croupier verify` judge it."
            ) from None
        held.append(
            (
                *(row.position, row.stream, row.version, row.type, row.schema_version),
                *(row.command_id, time, envelope, row.leaf, row.chain),
            )
        )
        self._events[self._shard] += 1
        if len(held) >= _ROWS_HELD:
            self._flush(self._shard)

    def close(self, name: str) -> tuple[File, ...]:
        for shard in list(self._held):
            self._flush(shard)
        files = []
        for shard, writer in sorted(self._files.items()):
            writer.close()
            file = settle(self._unfinished(shard), self._place(shard) / f"{name}.parquet")
            files.append(described(self._directory, file, self._events[shard]))
        return tuple(files)

    def drop(self) -> None:
        for shard, writer in self._files.items():
            writer.close()
            self._unfinished(shard).unlink(missing_ok=True)

    def _flush(self, shard: int) -> None:
        if not (held := self._held.pop(shard, [])):
            return
        if shard not in self._files:
            self._place(shard).mkdir(exist_ok=True)
            self._files[shard] = pq.ParquetWriter(
                self._unfinished(shard), SCHEMA, compression="zstd"
            )
        columns = map(pa.array, zip(*held, strict=True), SCHEMA.types)
        batch = pa.record_batch(list(columns), schema=SCHEMA)
        self._files[shard].write_batch(batch, row_group_size=_ROWS_A_GROUP)

    def _place(self, shard: int) -> Path:
        return self._directory / f"shard={shard}"

    def _unfinished(self, shard: int) -> Path:
        return self._place(shard) / "part.unfinished"


def read(directory: Path, part: Part) -> Rows:
    """The rows of a part, in order, from all of its shards."""
    shards = [_rows(directory, file, part.first_position) for file in part.files]
    yield from merge(*shards, key=lambda row: row.position)


def _rows(directory: Path, file: File, first: int) -> Iterator[Row | Unread]:
    position = first - 1
    try:
        with pq.ParquetFile(directory / file.path) as rows:
            if not rows.schema_arrow.equals(SCHEMA):
                yield Unread(first, f"{file.path} has other columns than an export has.")
                return
            for batch in rows.iter_batches(_ROWS_HELD):
                columns = [column.to_pylist() for column in batch.columns]
                for values in zip(*columns, strict=True):
                    row = _row(*values) if None not in values else Unread(position + 1, "a null")
                    position = row.position
                    yield row
    except (pa.ArrowException, OSError, ValueError) as error:
        yield Unread(position + 1, f"{file.path} breaks off: {error}")


def _row(
    position: int,
    stream: str,
    version: int,
    type: str,
    schema_version: int,
    command_id: str,
    time: datetime,
    envelope: str,
    leaf: bytes,
    chain: bytes,
) -> Row | Unread:
    text = envelope.encode()
    try:
        if _time.decode(text).time != time:
            return Unread(position, f"the row has the time {time}, its envelope another")
        return Row(
            *(position, stream, version, type, schema_version, command_id, text, leaf, chain)
        )
    except ValueError as error:
        return Unread(position, str(error))
