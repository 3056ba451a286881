"""Reading an export, in each of its forms: section 1 of FORMAT.md."""

import gzip
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FORMS = ("jsonl", "jsonl.zst", "jsonl.gz", "parquet")
LINE = re.compile(
    rb'\{"position":([1-9][0-9]*),"stream":"([a-z0-9._-]+)","version":([1-9][0-9]*),'
    rb'"leaf":"([0-9a-f]{64})","chain":"([0-9a-f]{64})","event":(.*)\}',
    re.DOTALL,
)


@dataclass(frozen=True)
class Fault:
    """What is wrong, at which level, and where; position 0 is the export as a whole."""

    position: int
    level: int
    what: str


@dataclass
class Row:
    """A line of the log."""

    position: int
    stream: str
    version: int
    leaf: bytes
    chain: bytes
    envelope: bytes
    columns: dict[str, Any] | None = None  # those of Parquet that repeat the envelope
    shard: int | None = None


@dataclass
class Part:
    """A stretch of the log, as the manifest has it, and its rows."""

    first: int
    last: int
    before: bytes
    after: bytes
    rows: list[Row]
    faults: list[Fault]


def read_manifest(export: Path) -> dict[str, Any]:
    """The manifest; ValueError when it is none (section 1)."""
    manifest = json.loads((export / "manifest.json").read_bytes())
    if not isinstance(manifest, dict) or manifest.get("format") != "croupier.export.v1":
        raise ValueError("not the format croupier.export.v1")
    for name, kind in (
        ("house", str),
        ("scope", dict),
        ("head", int),
        ("finished", bool),
        ("parts", list),
    ):
        if not isinstance(manifest.get(name), kind):
            raise ValueError(f"the manifest has no {name}")
    if manifest.get("form") not in FORMS:
        raise ValueError("no known form")
    return manifest


def read_parts(export: Path, manifest: dict[str, Any]) -> Iterator[Part]:
    """Each part with all rows that can be read (section 1)."""
    for part in manifest["parts"]:
        result = Part(
            int(part["first_position"]),
            int(part["last_position"]),
            bytes.fromhex(part["chain_before"]),
            bytes.fromhex(part["chain"]),
            [],
            [],
        )
        if manifest["form"] != "parquet" and len(part["files"]) != 1:
            result.faults.append(Fault(result.first, 1, "a part is one file"))
        for file in part["files"]:
            _read_file(export, manifest["form"], file, result)
        result.rows.sort(key=lambda row: row.position if row.columns is not None else 0)
        if len(result.rows) != part["events"]:
            what = f"the part has {len(result.rows)} events, not {part['events']}"
            result.faults.append(Fault(result.first, 1, what))
        yield result


def _read_file(export: Path, form: str, file: dict[str, Any], part: Part) -> None:
    """One file: its length, its hash, its rows (section 1)."""
    path = (export / file["path"]).resolve()
    try:
        if not path.is_relative_to(export.resolve()):
            raise ValueError("outside of the directory")
        raw = path.read_bytes()
        if len(raw) != file["bytes"] or sha256(raw).hexdigest() != file["sha256"]:
            part.faults.append(Fault(part.first, 1, f"{file['path']} was changed"))
        count = len(part.rows)
        if form == "parquet":
            part.rows += _read_parquet(path)
        else:
            part.rows += _read_lines(_unpack(raw, form), part)
        if len(part.rows) - count != file["events"]:
            part.faults.append(Fault(part.first, 1, f"{file['path']}: wrong number of events"))
    except (OSError, EOFError, ValueError, zstd.ZstdError) as error:
        part.faults.append(Fault(part.first, 1, f"{file['path']}: {error}"))


def _unpack(raw: bytes, form: str) -> bytes:
    if form == "jsonl.zst":
        return zstd.decompress(raw)
    return gzip.decompress(raw) if form == "jsonl.gz" else raw


def _read_lines(text: bytes, part: Part) -> Iterator[Row]:
    """JSON Lines (section 1). A line that is none is a fault, and left out."""
    lines = text.split(b"\n")
    if lines.pop() != b"":
        part.faults.append(Fault(part.last, 1, "the last line is not ended"))
    position = part.first
    for line in lines:
        found = LINE.fullmatch(line)
        if found is None:
            part.faults.append(Fault(position, 1, "not a line of a log"))
        else:
            position = int(found[1])
            yield Row(
                position,
                found[2].decode(),
                int(found[3]),
                bytes.fromhex(found[4].decode()),
                bytes.fromhex(found[5].decode()),
                found[6],
            )
        position += 1


def _read_parquet(path: Path) -> Iterator[Row]:
    """The rows of one shard (section 1)."""
    import pyarrow.parquet  # for exports in that form alone

    shard = int(path.parent.name.removeprefix("shard="))
    last = 0
    for row in pyarrow.parquet.ParquetFile(path).read().to_pylist():
        if row["position"] <= last:
            raise ValueError("rows do not come by position")
        last = row["position"]
        names = ("type", "schema_version", "command_id", "time")
        yield Row(
            last,
            row["stream"],
            row["version"],
            row["leaf"],
            row["chain"],
            row["envelope"].encode(),
            {name: row[name] for name in names},
            shard,
        )


def repeated(envelope: dict[str, Any]) -> dict[str, Any]:
    """What Parquet repeats of an envelope (section 1)."""
    time = datetime.strptime(envelope["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
    return {
        "type": envelope["type"],
        "schema_version": envelope["schemaversion"],
        "command_id": envelope["id"].rpartition(".")[0],
        "time": time.replace(tzinfo=UTC),
    }


def shard_of(stream: str) -> int:
    """The shard of a command, by the stream of its first event (section 1)."""
    return int.from_bytes(sha256(stream.encode()).digest()[:8], "big") % 16
