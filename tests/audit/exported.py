"""A log in memory, taken out into files as `croupier export` does it, and tampered with there."""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from services.audit.application.engines import local
from services.audit.application.offline import verify_export
from services.audit.domain.verify import Report
from shared.eventstore.exports import (
    FORMAT,
    Form,
    Manifest,
    Scope,
    Writer,
    begun,
    described,
    read_manifest,
    write_manifest,
)
from shared.eventstore.jsonlines import LinesWriter
from shared.eventstore.parquet import ParquetWriter
from shared.eventstore.store import Recorded
from shared.eventstore.taking import take_out


class Source:
    """Records as a store gives them. It breaks down behind `until`, when that is set."""

    def __init__(self, records: list[Recorded], until: int | None = None) -> None:
        self._records, self._until = records, until

    async def read_log(self, house: str, after: int = 0, limit: int = 1000) -> list[Recorded]:
        if self._until is not None and after >= self._until:
            raise ConnectionError("the line is dead")
        end = min(after + limit, self._until or after + limit)
        return [record for record in self._records if after < record.position <= end]


def writer(directory: Path, form: Form) -> Callable[[], Writer]:
    if form == "parquet":
        return partial(ParquetWriter, directory)
    return partial(LinesWriter, directory, form)


def take(
    records: list[Recorded],
    directory: Path,
    form: Form = "jsonl",
    scope: Scope = Scope(),  # noqa: B008
    until: int | None = None,
) -> Manifest:
    """An export of some records, which are the log of a house."""
    head = max((record.position for record in records), default=0)
    manifest = begun(directory, Manifest(FORMAT, "local", form, scope, head))
    source = Source(records, until)
    return asyncio.run(take_out(source, manifest, directory, writer(directory, form), page=10))


def judged(directory: Path, processes: int = 1) -> Report:
    return verify_export(directory, engine=local(processes))


def made_to_fit(directory: Path) -> None:
    """The manifest as a thorough insider would leave it: with the hashes of the files as they are,
    but not with counts."""
    manifest = read_manifest(directory)
    parts = tuple(
        replace(
            part,
            files=tuple(described(directory, directory / f.path, f.events) for f in part.files),
        )
        for part in manifest.parts
    )
    write_manifest(directory, replace(manifest, parts=parts))


def rewritten(directory: Path, change: Callable[[list[bytes]], Iterable[bytes]]) -> None:
    """The lines of the first file changed, and the manifest made to fit."""
    file = directory / read_manifest(directory).parts[0].files[0].path
    file.write_bytes(b"".join(change(file.read_bytes().splitlines(keepends=True))))
    made_to_fit(directory)
