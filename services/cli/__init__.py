"""`croupier`: what an operator types. A group of commands is a module beside this one."""

import os
import signal
import sys

import psycopg
from rich.console import Console
from typer import Typer

from services.cli import (
    checking,
    database,
    demo,
    exporting,
    keys,
    odds,
    partitions,
    rebuilding,
    replaying,
    schemas,
    seals,
    seed_keys,
    serving,
    verifying,
    working,
)
from services.cli.refused import Refused
from services.settings import WrongSettings
from shared.local.process import CannotStart
from shared.spans import NoTelemetry

app = Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A blackjack backend whose every deal can be audited.",
)
app.command()(serving.up)
app.command()(serving.serve)
app.command()(working.work)
app.command()(database.migrate)
app.command()(rebuilding.rebuild)
app.command()(exporting.export)
app.command()(verifying.verify)
app.command()(checking.check)
app.command()(replaying.replay)
app.command()(demo.demo)
app.command()(odds.odds)
app.command()(schemas.schemas)
app.add_typer(keys.app, name="keys")
app.add_typer(seed_keys.app, name="seed-keys")
app.add_typer(seals.app, name="seals")
app.add_typer(partitions.app, name="partitions")


def main() -> None:
    """Whatever an operator can put right is answered with a sentence, never with a traceback."""
    if os.getpid() == 1:  # The first process of a container: the kernel spares it unless it asks.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        app()
    except (Refused, WrongSettings, CannotStart, NoTelemetry) as refused:
        _complain(str(refused))
    except psycopg.OperationalError as error:
        _complain(f"The database does not answer; see DATABASE_URL. {' '.join(str(error).split())}")


def _complain(sentence: str) -> None:
    Console(stderr=True, soft_wrap=True, highlight=False).print(sentence, markup=False)
    sys.exit(1)
