"""`croupier rebuild`: a view made anew from the log, while everybody goes on."""

from collections.abc import Callable
from typing import Annotated

import uvloop
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from typer import Argument, BadParameter, Exit, Option

from services.blackjack.application.plays import Plays
from services.blackjack.domain.events import REGISTRY as BLACKJACK_EVENTS
from services.cli.embedded import a_database
from services.cli.refused import Refused
from services.ledger.application import REGISTRY as LEDGER_EVENTS
from services.settings import Settings
from services.worker import VIEWS
from shared.eventstore.codec import Codec
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.projection import Pages
from shared.eventstore.rebuild import CannotRebuild, Rebuild, Rebuilt

_VIEWS = {view.name: view for view in VIEWS}
_EVERY = "all"


def rebuild(
    name: Annotated[
        str, Argument(help=f"The view: one of {', '.join(_VIEWS)}, or {_EVERY}, one after another.")
    ],
    house: Annotated[str, Option(help="Of this house; without it CROUPIER_HOUSE.")] = "",
    rollback: Annotated[
        bool, Option("--rollback", help="Read the view from before the last rebuild again.")
    ] = False,
    strict: Annotated[bool, Option("--strict", help="End with 1 when one was wrong.")] = False,
) -> None:
    """Make a view anew from the log, compare it with the one that is read, and take its place.

    Readers and workers go on meanwhile. The view from before is kept for --rollback.
    """
    if name not in (*_VIEWS, _EVERY):
        there = ", ".join((*_VIEWS, _EVERY))
        raise BadParameter(f"{name}: there are {there}.", param_hint="NAME")
    right = True
    with a_database(Settings.from_environment()) as settings:
        for each in _VIEWS if name == _EVERY else [name]:
            try:
                right &= uvloop.run(_rebuild(settings, each, house or settings.house, rollback))
            except CannotRebuild as why:
                raise Refused(str(why)) from None
    if strict and not right:
        raise Exit(1)


async def _rebuild(settings: Settings, name: str, house: str, rollback: bool) -> bool:
    """Whether the view was right."""
    async with PostgresStore(settings.database_url, readers=6) as store:
        codec = Codec.of(Codec(BLACKJACK_EVENTS), Codec(LEDGER_EVENTS))
        pages = Pages(store, Plays(store, codec).open)
        rebuild = Rebuild(pages, _VIEWS[name], house)
        if rollback:
            position = await rebuild.roll_back()
            print(f"The view {name!r} of {house!r} is read as it was kept, at {position:,}.")
            return True
        columns = TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        with Progress(*columns, console=Console(stderr=True)) as bar:
            rebuilt = await rebuild.run(_shown_in(bar))
    print(_told(name, house, rebuilt))
    return rebuilt.before == rebuilt.now


def _shown_in(bar: Progress) -> Callable[[int, int], None]:
    task = bar.add_task("", total=None)

    def progress(position: int, target: int) -> None:
        bar.update(task, completed=position, total=target)

    return progress


def _told(name: str, house: str, rebuilt: Rebuilt) -> str:
    before, now = rebuilt.before, rebuilt.now
    if before == now:
        return (
            f"The view {name!r} of {house!r} was right: at position {rebuilt.position:,} both have "
            f"the same {now.rows:,} rows, checksum {now.sum}."
        )
    return (
        f"The view {name!r} of {house!r} was wrong in {rebuilt.differing:,} rows, and is read anew "
        f"from the log now.\nAt position {rebuilt.position:,} it had {before.rows:,} rows with the "
        f"checksum {before.sum}, the log gives {now.rows:,} with {now.sum}.\nWhat was read before "
        f"is kept: croupier rebuild {name} --house {house} --rollback"
    )
