"""`croupier check`: the log in the database, and everything that is kept beside it."""

from pathlib import Path
from typing import Annotated

import psycopg
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from typer import Exit, Option

from services.audit.application.database import check as judge
from services.audit.domain.verify import Report
from services.audit.domain.words import counted
from services.cli.embedded import a_database
from services.cli.refused import Refused
from services.cli.verifying import CANNOT_READ, TAMPERED
from services.settings import Settings
from shared.eventstore.archive import ArchiveBroken
from shared.eventstore.chain import ChainBroken
from shared.eventstore.exports import CannotRead


def check(
    house: Annotated[str, Option(help="This house; without it CROUPIER_HOUSE.")] = "",
    archived: Annotated[
        Path | None, Option(help="The exports of partitions that left the database.")
    ] = None,
) -> None:
    """Check a house in the database: its log as `verify` does, and all that is kept beside it.

    Entries, balances, versions of streams, outcomes of commands, deadlines and snapshots have to be
    what the log gives, at one moment, while everybody plays on. Ends with 0 when all of it holds,
    with 1 when not (every fault is listed, with its position, table and column), with 2 when there
    is nothing whole to read.
    """
    settings = Settings.from_environment()
    house = house or settings.house
    try:
        report = _report(settings, house, archived)
    except (Refused, CannotRead, ArchiveBroken, ChainBroken) as why:
        Console(stderr=True, soft_wrap=True, highlight=False).print(str(why), markup=False)
        raise Exit(CANNOT_READ) from None
    for fault in report.faults:
        print(fault)
    if more := report.fault_count - len(report.faults):
        print(f"There are {more:,} more.")
    accounts = len(report.balances)
    counts = (report.events, "event"), (report.rounds, "round"), (accounts, "account")
    about = ", ".join(counted(*each) for each in counts)
    print(f"{house}: {about}, up to position {report.position:,}.")
    print("All of it holds." if report.holds else f"{counted(report.fault_count, 'fault')}.")
    if not report.holds:
        raise Exit(TAMPERED)


def _report(settings: Settings, house: str, archived: Path | None) -> Report:
    """Judges a house, and shows how far it is. Raises Refused, or what else `check` tells of."""
    columns = TextColumn("check"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with (
        a_database(settings) as found,
        psycopg.connect(found.database_url, autocommit=True) as reader,
        Progress(*columns, console=Console(stderr=True)) as bar,
    ):
        task = bar.add_task("", total=None)

        def shown(position: int, end: int) -> None:
            bar.update(task, completed=position, total=end)

        return judge(reader, house, archived, shown)
