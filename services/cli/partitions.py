"""`croupier partitions`: room for the log ahead, and sealed parts of it taken out and put back."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import psycopg
from psycopg import errors
from rich.console import Console
from rich.table import Table
from typer import Argument, Exit, Option, Typer

from services.audit.domain.lines import CODEC
from services.audit.domain.verify import Verifier
from services.blackjack.application.reading import TABLES, table_stream
from services.blackjack.application.rulesets import RULESETS, ruleset_stream
from services.cli.embedded import a_database
from services.cli.refused import Refused
from services.settings import Settings
from shared.eventstore import archive
from shared.eventstore.archive import ArchiveBroken, Manifest
from shared.eventstore.chain import ChainBroken
from shared.eventstore.loader import Loader
from shared.eventstore.partitions import (
    Owner,
    Partition,
    make_ahead,
    partitions,
    sealed_houses,
)
from shared.eventstore.postgres import PostgresStore

app = Typer(
    no_args_is_help=True,
    help="The partitions of the log: made ahead, exported and taken out when they are sealed.",
)

Name = Annotated[str, Argument(help="The partition, as `croupier partitions list` names it.")]
Directory = Annotated[Path, Argument(help="The directory of the exports.", file_okay=False)]


@app.command(name="list")
def show() -> None:
    """Show every partition, and whose events in it will grow no more."""
    with _owner() as (_, owner):
        table = Table("partition", "first", "last", "sealed for", title="Partitions of the log")
        for each in partitions(owner):
            sealed = ", ".join(sealed_houses(owner, each))
            table.add_row(each.name, f"{each.first:,}", f"{each.last:,}", sealed)
        Console().print(table)


@app.command()
def ahead(
    spare: Annotated[int, Option(min=1, max=100, help="Empty partitions to have in reserve.")] = 1,
) -> None:
    """Make the partitions that will be needed next; nothing when they are there."""
    with _owner() as (_, owner):
        made = make_ahead(owner, spare=spare)
        print("Made " + ", ".join(each.name for each in made) + "." if made else "Enough is there.")


@app.command()
def export(partition: Name, directory: Directory) -> None:
    """Write the events of every house that has passed a partition into files, with manifests."""
    with _owner() as (_, owner), _told():
        found = _partition(owner, partition)
        directory.mkdir(parents=True, exist_ok=True)
        for house in _sealed(owner, found):
            print(archive.export(owner, house, found, directory))


@app.command()
def verify(
    directory: Directory,
    log: Annotated[bool, Option("--log", help="Go on with what is in the database.")] = False,
) -> None:
    """Check exports from their files alone; ends with 1 when something is wrong.

    Every event against its hash, the hash chain from file to file, and the SHA-256 of each file.
    Exports that begin with the first event are also judged by the rules of the game: every card,
    every chip.
    """
    with _told():
        found = archive.manifests(directory)
        houses = dict.fromkeys(manifest.house for _, manifest in found)
        if not houses:
            raise Refused(f"There is no manifest in {directory}.")
        with _owner() if log else nullcontext((None, None)) as (_, owner):
            wrong = [_verified(house, found, owner) for house in houses]
    raise Exit(1 if any(wrong) else 0)


@app.command()
def detach(
    partition: Name,
    directory: Directory,
    place: Annotated[
        str, Option(help="Where callers are told to find the files: what their names come after.")
    ] = "",
) -> None:
    """Take out of the log what was exported of a partition, once the files are found right.

    Callers who ask for it are then answered with 410 and where it is. The tables play on. The rows
    wait in the schema `detached` until you drop that table.
    """
    with _owner() as (settings, owner), _told():
        found = _partition(owner, partition)
        leaving = list(_exported(owner, found, directory))
        if not leaving:
            raise Refused(f"{directory} has no export of {partition}. Make it with: export.")
        asyncio.run(_keep_states(settings, owner, found, leaving))
        try:
            stayed = archive.detach(owner, found, [(m, place + m.file) for m in leaving])
        except errors.DuplicateTable:
            raise Refused(f"detached.{partition} is still there; drop it first.") from None
        houses = ", ".join(manifest.house for manifest in leaving)
        print(f"Took out the events of {houses}; {stayed:,} of other houses stay.")
        print(f"When the files are safe: DROP TABLE detached.{partition}")


@app.command()
def restore(
    manifest: Annotated[Path, Argument(help="The manifest of an export.", dir_okay=False)],
) -> None:
    """Put an export back into the log: what was taken out last comes back first."""
    with _owner() as (_, owner), _told():
        print(f"{archive.restore(owner, manifest):,} events are back.")


def _verified(house: str, found: Iterable[tuple[Path, Manifest]], owner: Owner | None) -> list[str]:
    """Reads the exports of a house in order, then what the database has after them, and says what
    is wrong with them."""
    files = [(file, manifest) for file, manifest in found if manifest.house == house]
    whole, verifier, faults = files[0][1].first_position == 1, Verifier(house), list[str]()
    position, chain = files[0][1].first_position - 1, files[0][1].chain_before
    for file, manifest in files:
        if (position + 1, chain) != (manifest.first_position, manifest.chain_before):
            faults.append(f"{file.name} does not continue the file before it.")
        for record in archive.records(file):
            if whole:
                verifier.read(record)
        position, chain = manifest.last_position, manifest.chain
    for record in archive.remaining(owner, house, position, chain) if owner else ():
        if whole:
            verifier.read(record)
        position, chain = record.position, record.chain.hex()
    report = verifier.report(cut=owner is None)
    faults += [f"At position {each.position}: {each.what}" for each in report.faults if whole]
    judged = (
        f"{report.rounds:,} rounds judged" if whole else "hashes alone: the beginning is absent"
    )
    print(f"{house}: positions up to {position:,}, chain {chain}; {judged}.")
    for fault in faults:
        print(f"{house}: {fault}")
    return faults


def _exported(owner: Owner, partition: Partition, directory: Path) -> Iterator[Manifest]:
    """The exports of a partition whose houses have passed it, each read again from its file."""
    sealed = sealed_houses(owner, partition)
    for file, manifest in archive.manifests(directory):
        span = manifest.first_position, manifest.last_position
        if manifest.house in sealed and span == (partition.first, partition.last):
            for _ in archive.records(file):
                pass
            yield manifest


async def _keep_states(
    settings: Settings, owner: Owner, partition: Partition, leaving: Iterable[Manifest]
) -> None:
    """What has a state, a table or a game of the house's own, gets a snapshot from the end of the
    partition, if it has none from there on."""
    async with PostgresStore(settings.owner_url) as store:
        loaders: dict[str, Loader[Any]] = {
            table_stream(""): Loader(store, CODEC, TABLES),
            ruleset_stream(""): Loader(store, CODEC, RULESETS),
        }
        for house in (manifest.house for manifest in leaving):
            for prefix, loader in loaders.items():
                for stream, version in archive.stateless(owner, partition, house, prefix):
                    await loader.keep(house, stream, version)


def _sealed(owner: Owner, partition: Partition) -> list[str]:
    houses = sealed_houses(owner, partition)
    if not houses:
        raise Refused(f"No house has passed {partition.name} yet: it ends at {partition.last:,}.")
    return houses


def _partition(owner: Owner, name: str) -> Partition:
    for each in partitions(owner):
        if each.name == name:
            return each
    raise Refused(f"There is no partition {name!r}; see `croupier partitions list`.")


@contextmanager
def _owner() -> Iterator[tuple[Settings, Owner]]:
    """A connection of the role that owns the schema."""
    with (
        a_database(Settings.from_environment()) as settings,
        psycopg.connect(settings.owner_url, autocommit=True) as owner,
    ):
        yield settings, owner


@contextmanager
def _told() -> Iterator[None]:
    """What is wrong with an export is told in a sentence."""
    try:
        yield
    except (ArchiveBroken, ChainBroken) as broken:
        raise Refused(str(broken)) from None
