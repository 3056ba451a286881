"""API keys: who may call, and what they may do."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated

import psycopg
from rich.console import Console
from rich.table import Table
from typer import Argument, BadParameter, Option, Typer

from services.cli.embedded import a_database
from services.cli.refused import Refused
from services.settings import Settings
from shared.http import keys
from shared.http.keys import SCOPES, Key, Scope
from shared.kernel.ids import ID_PATTERN

app = Typer(no_args_is_help=True, help="API keys: who may call, and what they may do.")

House = Annotated[str, Option(help="The house the key belongs to; without it CROUPIER_HOUSE.")]


@app.command()
def create(
    name: Annotated[str, Argument(help="Who holds it; events name their actor so.")],
    scopes: Annotated[str, Option(help=f"What it may do: some of {','.join(SCOPES)}.")],
    days: Annotated[int | None, Option(min=1, help="Expires after so many days.")] = None,
    house: House = "",
) -> None:
    """Make a key. It is printed now and never again."""
    if not re.fullmatch(ID_PATTERN, name):
        raise BadParameter(
            "1 to 64 of a-z, 0-9, '.', '_', '-'; a-z or 0-9 first.", param_hint="NAME"
        )
    asked = _scopes(scopes)
    with _owner_of(house) as (owner, house):
        if not owner.execute("SELECT FROM log_head WHERE house = %s", (house,)).rowcount:
            raise Refused(f"No house {house!r} is open: CROUPIER_HOUSE={house} croupier migrate")
        end = None if days is None else datetime.now(UTC) + timedelta(days=days)
        print(keys.create(owner, house, name, asked, end))


@app.command(name="list")
def show(house: House = "") -> None:
    """Show all keys of a house, without their secrets."""
    with _owner_of(house) as (owner, house):
        table = Table("prefix", "name", "scopes", "made", "state", title=f"Keys of {house}")
        for key in keys.listed(owner, house):
            made = f"{key.created_at:%Y-%m-%d}"
            table.add_row(key.prefix, key.name, ",".join(key.scopes), made, _state(key))
        Console().print(table)


@app.command()
def revoke(
    key: Annotated[str, Argument(help="The prefix of the key, or the key itself.")],
    house: House = "",
) -> None:
    """End a key for ever. Running services refuse it within seconds."""
    prefix = key.removeprefix("ck_").partition("_")[0]
    with _owner_of(house) as (owner, house):
        if not keys.revoke(owner, house, prefix):
            raise Refused(f"House {house!r} has no working key with the prefix {prefix!r}.")
        print(f"The key {prefix} is revoked.")


@contextmanager
def _owner_of(house: str) -> Iterator[tuple[psycopg.Connection, str]]:
    """A connection that may change keys, and the house that is meant."""
    with (
        a_database(Settings.from_environment()) as settings,
        psycopg.connect(settings.owner_url, autocommit=True) as owner,
    ):
        yield owner, house or settings.house


def _state(key: Key) -> str:
    if key.revoked_at:
        return f"revoked {key.revoked_at:%Y-%m-%d}"
    if key.expires_at and key.expires_at < datetime.now(UTC):
        return f"expired {key.expires_at:%Y-%m-%d}"
    return f"until {key.expires_at:%Y-%m-%d}" if key.expires_at else "works"


def _scopes(text: str) -> list[Scope]:
    asked = [part.strip() for part in text.split(",")]
    if unknown := [scope for scope in asked if scope not in SCOPES]:
        there_are = f"there are {', '.join(SCOPES)}"
        raise BadParameter(f"{', '.join(unknown)}: {there_are}.", param_hint="--scopes")
    return [scope for scope in SCOPES if scope in asked]
