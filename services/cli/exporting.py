"""`croupier export`: a house's log in files, for whoever does not want to take our word."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal, LiteralString

import uvloop
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from typer import Argument, BadParameter, Option

from services.audit.domain.words import counted
from services.blackjack.application.reading import table_stream
from services.cli.embedded import a_database
from services.cli.refused import Refused
from services.ledger.application import vault_stream
from services.settings import Settings
from shared.eventstore.archive import ArchiveBroken
from shared.eventstore.chain import ChainBroken
from shared.eventstore.exports import (
    FORMAT,
    CannotExport,
    Form,
    Manifest,
    Scope,
    Writer,
    begun,
)
from shared.eventstore.jsonlines import LinesWriter
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.replica import ReplicaStore
from shared.eventstore.store import HouseNotOpen
from shared.eventstore.taking import take_out

_Format = Literal["jsonl", "parquet"]


def export(
    directory: Annotated[Path, Argument(help="Where to; one that was begun is gone on with.")],
    house: Annotated[str, Option(help="Of this house; without it CROUPIER_HOUSE.")] = "",
    first: Annotated[int, Option("--from", min=1, help="From the command at this position.")] = 1,
    last: Annotated[int, Option("--to", min=0, help="To this position; 0: to the end.")] = 0,
    table: Annotated[str, Option(help="Only the commands at this table.")] = "",
    player: Annotated[str, Option(help="Only this player's vault, and the tables sat at.")] = "",
    format: Annotated[_Format, Option(help="JSON Lines, or Parquet by table.")] = "jsonl",
    zstd: Annotated[bool, Option("--zstd", help="Pack JSON Lines with zstd.")] = False,
    archived: Annotated[
        Path | None, Option(help="The exports of partitions that left the database.")
    ] = None,
) -> None:
    """Take the log out, to be checked by `croupier verify` or read by DuckDB, polars or Spark.

    Interrupted, the same command goes on where it stopped. Reads from CROUPIER_REPLICA_URL, when
    that is set. Whole commands are taken: a range may have a few events more than was asked for.
    """
    if table and player:
        raise BadParameter("Name a table or a player, not both.", param_hint="--table")
    if (table or player) and (first > 1 or last):
        raise BadParameter("A table or a player is taken whole.", param_hint="--from")
    if 0 < last < first:
        raise BadParameter(f"0, or a position from {first} on.", param_hint="--to")
    form: Form = "parquet" if format == "parquet" else "jsonl.zst" if zstd else "jsonl"
    scope = Scope(first, last, table or None, player or None)
    with a_database(Settings.from_environment()) as settings:
        wanted = Manifest(FORMAT, house or settings.house, form, scope, head=0)
        try:
            done = uvloop.run(_export(settings, directory, wanted, archived))
        except (CannotExport, ArchiveBroken, ChainBroken, HouseNotOpen) as why:
            raise Refused(str(why)) from None
    print(
        f"{directory} has {counted(done.events, 'event')} now. Check it with: "
        f"croupier verify {directory}"
    )


async def _export(
    settings: Settings, directory: Path, wanted: Manifest, archived: Path | None
) -> Manifest:
    async with (
        PostgresStore(settings.database_url) as store,
        ReplicaStore(store, settings.replica_url) as reads,
    ):
        scope = await _with_streams(store, wanted.house, wanted.scope)
        head = (await store.head(wanted.house)).position
        await _insist_on_events(store, wanted.house, scope, head)
        manifest = begun(directory, Manifest(FORMAT, wanted.house, wanted.form, scope, head))
        if manifest.finished:
            raise CannotExport(
                f"{directory} has a finished export, of the log up to {manifest.head:,}. Name "
                "another directory to take out what the log has now."
            )
        columns = TextColumn("export"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task("", total=manifest.head)

            def shown(position: int) -> None:
                bar.update(task, completed=position)

            writer = _writer(directory, manifest.form)
            return await take_out(reads, manifest, directory, writer, archived, shown)


def _writer(directory: Path, form: Form) -> Callable[[], Writer]:
    if form != "parquet":
        return partial(LinesWriter, directory, form)
    try:
        from shared.eventstore.parquet import ParquetWriter
    except ImportError:
        raise CannotExport("To write Parquet, install pyarrow: croupier[parquet].") from None
    return partial(ParquetWriter, directory)


async def _insist_on_events(store: PostgresStore, house: str, scope: Scope, head: int) -> None:
    """Raises CannotExport, before anything is written, where a part is asked for that is empty."""
    if scope.streams is not None:
        if not any([stream in await store.streams(house, stream, 1) for stream in scope.streams]):
            kind = "table" if scope.table is not None else "player"
            raise CannotExport(f"The house {house} has no {kind} {scope.table or scope.player}.")
        return
    first, last = scope.first_position, min(scope.last_position or head, head)
    if first > max(head, 1):
        raise CannotExport(f"The log of {house} ends at position {head:,}; begin there or before.")
    begins, ends = await store.command_at(house, first)
    if begins < first and ends >= last:
        raise CannotExport(
            f"No command begins there: what is at {first:,} belongs to the one from {begins:,} to "
            f"{ends:,}, and commands are taken whole."
        )


async def _with_streams(store: PostgresStore, house: str, scope: Scope) -> Scope:
    """The streams that a table or a player has events in."""
    if scope.table is not None:
        return Scope(table=scope.table, streams=(table_stream(scope.table),))
    if scope.player is None:
        return scope
    words = {"house": house, "account": f"/player/{scope.player}/stack"}
    tables = [table for (table,) in await store.rows(_TABLES_OF, words)]
    streams = vault_stream(scope.player), *map(table_stream, sorted(tables))
    return Scope(player=scope.player, streams=streams)


_TABLES_OF: Final[LiteralString] = """
    SELECT split_part(account, '/', 2) FROM account
     WHERE house = %(house)b AND starts_with(account, 'table/')
       AND right(account, length(%(account)b::text)) = %(account)b::text"""
