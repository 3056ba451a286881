"""Taking a log out: from archived partitions, then from the database, command by command."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol

from shared.eventstore import archive
from shared.eventstore.chain import GENESIS
from shared.eventstore.exports import CannotExport, Manifest, Taking, Writer
from shared.eventstore.rejections import Archived
from shared.eventstore.store import Recorded
from shared.eventstore.subscription import pages


class Source(Protocol):
    """What a log is read from: a store, or a replica of one."""

    async def read_log(self, house: str, after: int = 0, limit: int = 1000) -> list[Recorded]: ...


async def take_out(
    source: Source,
    manifest: Manifest,
    directory: Path,
    writer: Callable[[], Writer],
    archived: Path | None = None,
    progress: Callable[[int], None] = lambda position: None,
    page: int = 1000,
) -> Manifest:
    """Writes what the manifest asks for, or what is left of it; returns the finished manifest.

    Memory stays the same however long the log is. Raises CannotExport; ArchiveBroken and
    ChainBroken for what is archived.
    """
    scope = manifest.scope
    after = manifest.parts[-1].last_position if manifest.parts else scope.first_position - 1
    recorded = _pages(source, manifest.house, max(after - 1, 0), archived, page)
    streams = frozenset(scope.streams) if scope.streams is not None else None
    taking: Taking | None = None
    try:
        async for command in _commands(recorded, after):
            if taking is None:
                taking = Taking(directory, manifest, writer, command.before)
            if command.rows[0].position > manifest.end:
                break
            if streams is None or any(row.stream in streams for row in command.rows):
                taking.take(command.rows)
            progress(command.rows[-1].position)
        return (taking or Taking(directory, manifest, writer, GENESIS)).finish()
    except BaseException:
        if taking:
            taking.drop()
        raise


class _Command:
    """A command on its way, and the hash chain before it."""

    def __init__(self, row: Recorded, before: bytes) -> None:
        self.rows, self.before = [row], before


async def _commands(recorded: AsyncIterator[list[Recorded]], after: int) -> AsyncIterator[_Command]:
    """Whole commands that begin behind a position; the row at it, if any, was recorded first.

    Nothing is checked: what is wrong with a log has to be seen by whoever gets it.
    """
    command: _Command | None = None
    chain = GENESIS
    async for page in recorded:
        for row in page:
            if command is None or row.command_id != command.rows[0].command_id:
                if command is not None and command.rows[0].position > after:
                    yield command
                command = _Command(row, chain)
            else:
                command.rows.append(row)
            chain = row.chain
    if command is not None and command.rows[0].position > after:
        yield command


async def _pages(
    source: Source, house: str, after: int, archived: Path | None, size: int
) -> AsyncIterator[list[Recorded]]:
    for page in _archived(house, after, archived, size) if archived else ():
        yield page
        after = page[-1].position
    try:
        async with aclosing(pages(partial(source.read_log, house), after, size=size)) as present:
            async for page in present:
                yield page
    except Archived as gone:
        raise CannotExport(
            f"{gone.detail} Fetch those files with their manifests, and name their directory "
            "with --archived."
        ) from None


def _archived(house: str, after: int, directory: Path, size: int) -> Iterator[list[Recorded]]:
    for file, manifest in archive.manifests(directory):
        if manifest.house != house or manifest.last_position <= after:
            continue
        if manifest.first_position > after + 1:
            raise CannotExport(f"{directory} has nothing of {house} after position {after:,}.")
        records = (row for row in archive.records(file) if row.position > after)
        while page := list(islice(records, size)):
            yield page
        after = manifest.last_position
