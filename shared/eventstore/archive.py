"""Sealed parts of the log, taken out into files that can be checked without the database.

An export is a house's part of one partition: a gzipped file of JSON lines, as the feed has them,
and a manifest beside it with its positions, the hash chain before and after, and its SHA-256.
"""

import gzip
from collections.abc import Iterable, Iterator
from hashlib import file_digest
from itertools import starmap
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Raw, Struct
from psycopg import sql

from shared.eventstore import partitions
from shared.eventstore.chain import GENESIS, verify_chain
from shared.eventstore.envelope import Envelope
from shared.eventstore.files import FilePath, Hash, settle
from shared.eventstore.jsonlines import FeedLine
from shared.eventstore.partitions import Owner, Partition
from shared.eventstore.store import Recorded

FORMAT: Final = "croupier.archive.v1"
_ROWS_A_READ: Final = 5000


class ArchiveBroken(Exception):
    """A file is not what its manifest says, or not what the log says. The message names it."""


class Manifest(Struct, frozen=True):
    """What an export holds. Hashes are in hex, `file` is beside the manifest, both ends count."""

    format: str
    house: str
    first_position: int
    last_position: int
    chain_before: Hash
    chain: Hash
    file: FilePath
    bytes: int
    sha256: Hash


def export(owner: Owner, house: str, partition: Partition, directory: Path) -> Path:
    """Writes a house's part of a sealed partition, checking its chain; returns the manifest's path.

    Both files appear whole or not at all. Raises ChainBroken.
    """
    name = f"{house}-{partition.first:012}-{partition.last:012}"
    before = _chain_before(owner, house, partition.first)
    file = directory / f"{name}.jsonl.gz"
    unfinished = file.with_suffix(".unfinished")
    with unfinished.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as out:
        records = _written(_read(owner, partition.name, house, partition.first - 1), out)
        position, chain = verify_chain(records, partition.first - 1, before)
    if position != partition.last:
        raise ArchiveBroken(f"{partition.name} is not sealed: {house} is at position {position}.")
    with unfinished.open("rb") as written:
        digest = file_digest(written, "sha256").hexdigest()
    manifest = Manifest(
        FORMAT,
        house,
        partition.first,
        partition.last,
        before.hex(),
        chain.hex(),
        file.name,
        bytes=unfinished.stat().st_size,
        sha256=digest,
    )
    settle(unfinished, file)
    described = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    unfinished.write_bytes(described + b"\n")
    return settle(unfinished, directory / f"{name}.json")


def manifests(directory: Path) -> list[tuple[Path, Manifest]]:
    """The manifests in a directory, house by house, in the order of the log."""
    found = [(file, read_manifest(file)) for file in directory.glob("*.json")]
    return sorted(found, key=lambda each: (each[1].house, each[1].first_position))


def read_manifest(file: Path) -> Manifest:
    """Raises ArchiveBroken."""
    try:
        manifest = msgspec.json.decode(file.read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError) as error:
        raise ArchiveBroken(f"{file} is no manifest: {error}") from None
    if manifest.format != FORMAT:
        raise ArchiveBroken(f"{file} has the format {manifest.format}, known is {FORMAT}.")
    return manifest


def lines(file: Path) -> Iterator[bytes]:
    """The lines behind a manifest, once its SHA-256 is found right. Raises ArchiveBroken."""
    manifest = read_manifest(file)
    data = file.with_name(manifest.file)
    try:
        with data.open("rb") as kept:
            digest = file_digest(kept, "sha256").hexdigest()
    except OSError as error:
        raise ArchiveBroken(f"{data} cannot be read: {error.strerror}.") from None
    if digest != manifest.sha256:
        raise ArchiveBroken(f"{data} has the SHA-256 {digest}, its manifest says otherwise.")
    with gzip.open(data, "rb") as unpacked:
        yield from unpacked


def records(file: Path) -> Iterator[Recorded]:
    """The records behind a manifest, each checked to continue the chain.

    Raises ArchiveBroken, and ChainBroken at the first record that is wrong.
    """
    manifest = read_manifest(file)
    position, chain = manifest.first_position - 1, bytes.fromhex(manifest.chain_before)
    for line in lines(file):
        record = _record(line)
        position, chain = verify_chain((record,), position, chain)
        yield record
    if (position, chain.hex()) != (manifest.last_position, manifest.chain):
        raise ArchiveBroken(f"{file} ends at {position}, not where its manifest says.")


def remaining(owner: Owner, house: str, position: int, chain: str) -> Iterator[Recorded]:
    """What the log has after a position, each checked to continue the chain there (in hex).

    Raises ChainBroken.
    """
    at, end = position, bytes.fromhex(chain)
    for record in present(owner, house, position):
        at, end = verify_chain((record,), at, end)
        yield record


def present(owner: Owner, house: str, after: int) -> Iterator[Recorded]:
    """What the log has after a position, as it is."""
    return _read(owner, "event_log", house, after)


def stateless(owner: Owner, partition: Partition, house: str, prefix: str) -> list[tuple[str, int]]:
    """Streams of a house, by the prefix of their names, with their last version in a partition,
    that have no snapshot from there on: without one, their state is lost with the partition."""
    found = owner.execute(
        sql.SQL("""
            SELECT e.stream, max(e.version) FROM {} e
             WHERE e.house = %(house)s AND starts_with(e.stream, %(prefix)s)
             GROUP BY e.stream
            HAVING NOT EXISTS (SELECT FROM snapshot s
                                WHERE s.house = %(house)s AND s.stream = e.stream
                                  AND s.version >= max(e.version))
             ORDER BY 1""").format(sql.Identifier(partition.name)),
        {"house": house, "prefix": prefix},
    )
    return found.fetchall()


def detach(owner: Owner, partition: Partition, leaving: Iterable[tuple[Manifest, str]]) -> int:
    """Takes the events of some houses, each with its manifest and where callers are told that the
    export is, out of the log: all of it or nothing.

    The partition itself waits in the schema `detached` to be dropped. Returns how many events of
    other houses stayed. Raises ArchiveBroken when a manifest is not of this partition, when older
    events of its house are still there, and when a view has not read it yet.
    """
    by_house = {manifest.house: (manifest, place) for manifest, place in leaving}
    name, houses = sql.Identifier(partition.name), list(by_house)
    with owner.transaction():
        for manifest, _ in by_house.values():
            _must_match(owner, partition, manifest)
            _must_be_read(owner, partition, manifest.house)
        owner.execute(sql.SQL(_NOTE_STREAMS).format(name), (houses,))
        for manifest, place in by_house.values():
            owner.execute(
                "INSERT INTO archive (house, first_position, last_position, chain_before, chain, "
                "sha256, place) VALUES (%s, %s, %s, %s, %s, %s, %s)",
                (
                    manifest.house,
                    manifest.first_position,
                    manifest.last_position,
                    bytes.fromhex(manifest.chain_before),
                    bytes.fromhex(manifest.chain),
                    bytes.fromhex(manifest.sha256),
                    place,
                ),
            )
        return partitions.replace(owner, partition, houses)


def restore(owner: Owner, file: Path) -> int:
    """Puts an export back into the log, checking every event. Returns how many they are.

    What was taken out last comes back first. Raises ArchiveBroken, ChainBroken.
    """
    manifest = read_manifest(file)
    house, span = manifest.house, (manifest.first_position, manifest.last_position)
    with owner.transaction():
        newest = owner.execute(
            "SELECT first_position, last_position, chain, sha256 FROM archive WHERE house = %s "
            "ORDER BY last_position DESC LIMIT 1",
            (house,),
        ).fetchone()
        if newest != (*span, bytes.fromhex(manifest.chain), bytes.fromhex(manifest.sha256)):
            raise ArchiveBroken(f"{file} is not what was taken out of {house} last.")
        with owner.cursor() as cursor, cursor.copy(_COPY) as copy:
            for record in records(file):
                copy.write_row((house, *(getattr(record, name) for name in _COLUMNS)))
        gone = "DELETE FROM archive WHERE house = %s AND last_position = %s"
        owner.execute(gone, (house, span[1]))
        owner.execute(_RESTORED_STREAMS, (house, *span))
    return span[1] - span[0] + 1


def _chain_before(owner: Owner, house: str, first: int) -> bytes:
    if first == 1:
        return GENESIS
    row = owner.execute(
        "SELECT chain FROM event_log WHERE house = %(house)s AND position = %(last)s UNION ALL "
        "SELECT chain FROM archive WHERE house = %(house)s AND last_position = %(last)s",
        {"house": house, "last": first - 1},
    ).fetchone()
    if row is None:
        raise ArchiveBroken(f"{house} has no event at {first - 1}, before the partition.")
    return bytes(row[0])


def _read(owner: Owner, table: str, house: str, after: int) -> Iterator[Recorded]:
    """The events of a house in the log or in one partition, some thousands at a time."""
    columns = sql.SQL(", ").join(map(sql.Identifier, _COLUMNS))
    query = "SELECT {} FROM {} WHERE house = %s AND position > %s ORDER BY position"
    with owner.transaction(), owner.cursor("reading", binary=True) as cursor:
        cursor.itersize = _ROWS_A_READ
        cursor.execute(
            sql.SQL(query).format(columns, sql.Identifier(table)),
            (house, after),
        )
        yield from starmap(Recorded, cursor)


def _written(records: Iterable[Recorded], out: gzip.GzipFile) -> Iterator[Recorded]:
    for record in records:
        line = FeedLine(
            record.position,
            record.stream,
            record.version,
            record.leaf.hex(),
            record.chain.hex(),
            Raw(record.envelope),
        )
        out.write(msgspec.json.encode(line) + b"\n")
        yield record


def _record(text: bytes) -> Recorded:
    """Raises ArchiveBroken when it cannot be read, or names another stream than is sealed."""
    try:
        line = msgspec.json.decode(text, type=FeedLine)
        envelope = bytes(line.event)
        sealed = msgspec.json.decode(envelope, type=Envelope)
    except msgspec.DecodeError as error:
        raise ArchiveBroken(f"A line is none of the log: {error}.") from None
    if line.stream != sealed.subject:
        what = f"The event at {line.position} is one of {sealed.subject}, not of {line.stream}."
        raise ArchiveBroken(what)
    return Recorded(
        line.position,
        line.stream,
        line.version,
        sealed.type,
        sealed.schemaversion,
        envelope,
        sealed.id.rpartition(".")[0],
        bytes.fromhex(line.leaf),
        bytes.fromhex(line.chain),
    )


def _must_be_read(owner: Owner, partition: Partition, house: str) -> None:
    """Views read the log from end to end, and what is gone they cannot read."""
    row = owner.execute(
        "SELECT min(position) FROM projection_checkpoint WHERE house = %s", (house,)
    ).fetchone()
    if row is None or row[0] is None or row[0] < partition.last:
        raise ArchiveBroken(
            f"A view of {house} has yet to read {partition.name}: let `croupier work` catch up."
        )


def _must_match(owner: Owner, partition: Partition, manifest: Manifest) -> None:
    row = owner.execute(
        sql.SQL("SELECT chain FROM {} WHERE house = %s AND position = %s").format(
            sql.Identifier(partition.name)
        ),
        (manifest.house, partition.last),
    ).fetchone()
    if (
        partition.first > 1
        and not owner.execute(
            "SELECT FROM archive WHERE house = %s AND last_position = %s",
            (manifest.house, partition.first - 1),
        ).rowcount
    ):
        raise ArchiveBroken(f"Events of {manifest.house} before {partition.name} go first.")
    span = (manifest.first_position, manifest.last_position)
    if span != (partition.first, partition.last) or row != (bytes.fromhex(manifest.chain),):
        raise ArchiveBroken(f"{manifest.file} is not what {partition.name} holds.")


_COLUMNS: Final = Recorded.__struct_fields__
_COPY: Final = sql.SQL("COPY event_log (house, {}) FROM STDIN").format(
    sql.SQL(", ").join(map(sql.Identifier, _COLUMNS))
)

_NOTE_STREAMS: Final = """
    INSERT INTO archived_stream AS a (house, stream, version)
    SELECT house, stream, max(version) FROM {} WHERE house = ANY(%s) GROUP BY house, stream
    ON CONFLICT (house, stream) DO UPDATE SET version = excluded.version
     WHERE a.version < excluded.version"""

_RESTORED_STREAMS: Final = """
    UPDATE archived_stream a SET version = e.first - 1
      FROM (SELECT house, stream, min(version) AS first FROM event_log
             WHERE house = %s AND position BETWEEN %s AND %s GROUP BY house, stream) e
     WHERE a.house = e.house AND a.stream = e.stream"""
