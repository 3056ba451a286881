"""`croupier replay`: a table as it was, folded anew from the log or from an export."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import uvloop
from rich.console import Console
from rich.table import Table as Grid
from typer import Argument, BadParameter, Option

from services.audit.application.pieces import rows
from services.audit.domain.lines import Line, event_of, head_of
from services.blackjack.application.reading import table_stream
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.table import Table
from services.blackjack.domain.view import SeatView, TableView, view
from services.cli.embedded import a_database
from services.cli.refused import Refused
from services.settings import Settings
from shared.eventstore.exports import CannotRead, Unread, read_manifest
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.rejections import Archived
from shared.eventstore.replica import ReplicaStore
from shared.eventstore.subscription import pages
from shared.kernel.moments import instant


def replay(
    table: Annotated[str, Argument(help="The id of the table.")],
    version: Annotated[int, Option(min=0, help="As it was at this version; 0: the last.")] = 0,
    time: Annotated[str, Option(help="As it was then: 2025-01-31T12:00:00Z.")] = "",
    house: Annotated[str, Option(help="Of this house; without it CROUPIER_HOUSE.")] = "",
    export: Annotated[
        Path | None, Option(help="Read this export instead of the database.", file_okay=False)
    ] = None,
    json: Annotated[bool, Option("--json", help="The table as the API shows it.")] = False,
) -> None:
    """Rebuild a table from its events, and show it as it was at any version or time."""
    if version and time:
        raise BadParameter("Name a version or a time, not both.", param_hint="--version")
    try:
        until = instant(time) if time else None
        stream = table_stream(table)
        lines = _exported(export, stream) if export else _recorded(house, stream)
        seen = uvloop.run(_folded(lines, version or None, until))
    except ValueError as error:
        raise BadParameter(str(error), param_hint="--time") from None
    except (CannotRead, Archived) as why:
        raise Refused(f"{why} Name an export that has it with --export.") from None
    if seen is None:
        raise Refused(f"There is no table {table} then.")
    if json:
        print(msgspec.json.encode(seen).decode())
    else:
        _show(seen)


async def _folded(
    lines: AsyncGenerator[Line, None], version: int | None, until: int | None
) -> TableView | None:
    """Raises Refused when the table never had that version."""
    state: Table | None = None
    last: Line | None = None
    async with aclosing(lines):
        async for line in lines:
            at = instant(head_of(line).time)
            beyond = version is not None and line.version > version
            if beyond or (until is not None and at > until):
                break
            state, last = evolve(state, event_of(line), at), line
    if state is None or last is None:
        return None
    if version is not None and last.version != version:
        raise Refused(f"The table {state.id} has versions 1 to {last.version}.")
    return view(state, last.version, last.position)


async def _recorded(house: str, stream: str) -> AsyncGenerator[Line, None]:
    with a_database(Settings.from_environment()) as settings:
        async with (
            PostgresStore(settings.database_url) as store,
            ReplicaStore(store, settings.replica_url) as reads,
        ):
            read = partial(reads.read_stream, house or settings.house, stream)
            async with aclosing(pages(read, 0)) as recorded:
                async for page in recorded:
                    for line in page:
                        yield line


async def _exported(directory: Path, stream: str) -> AsyncGenerator[Line, None]:
    manifest, begun = read_manifest(directory), False
    for part in manifest.parts:
        for row in rows(directory, manifest.form, part):
            if isinstance(row, Unread):
                raise CannotRead(f"The export is broken at position {row.position}: {row.why}.")
            if row.stream == stream:
                if not begun and row.version != 1:
                    raise CannotRead("The export does not have the table from its first event on.")
                begun = True
                yield row


def _show(seen: TableView) -> None:
    console = Console(highlight=False, soft_wrap=True)
    round = f", round {seen.round.number}" if seen.round else ""
    console.print(
        f"[bold]{seen.id}[/bold] at version {seen.version}, position {seen.position}: "
        f"{seen.phase.replace('_', ' ')}{round}"
    )
    if seen.dealer:
        hole = " and a card face down" if seen.dealer.hole == "face_down" else ""
        console.print(f"The dealer has {' '.join(seen.dealer.cards)}{hole}.")
    grid = Grid("seat", "player", "stack", "bet", "hands")
    for seat in seen.seats:
        grid.add_row(str(seat.seat), seat.player, f"{seat.stack:,}", f"{seat.bet:,}", _hands(seat))
    console.print(grid)
    if seen.turn:
        console.print(f"Seat {seen.turn.seat} acts, with hand {seen.turn.hand}.")


def _hands(seat: SeatView) -> str:
    return "\n".join(
        f"{' '.join(hand.cards)} ({hand.total}), {hand.stake:,} at stake: "
        + (f"{hand.outcome}, {hand.payout:,} back" if hand.outcome else hand.status)
        for hand in seat.hands
    )
