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
from shared.http.quotas import Quota
from shared.kernel.ids import ID_PATTERN

app = Typer(no_args_is_help=True, help="API keys: who may call, and what they may do.")

Days = Annotated[int | None, Option(min=1, help="Expires after so many days.")]
House = Annotated[str, Option(help="The house the key belongs to; without it CROUPIER_HOUSE.")]


@app.command()
def create(
    name: Annotated[str, Argument(help="Who holds it; events name their actor so.")],
    scopes: Annotated[str, Option(help=f"What it may do: some of {','.join(SCOPES)}.")],
    days: Days = None,
    rate: Annotated[
        str, Option(help="How often it may ask, as 100/s or 6000/m; else as CROUPIER_RATE says.")
    ] = "",
    house: House = "",
) -> None:
    """Make a key. It is printed now and never again."""
    if not re.fullmatch(ID_PATTERN, name):
        raise BadParameter(
            "1 to 64 of a-z, 0-9, '.', '_', '-'; a-z or 0-9 first.", param_hint="NAME"
        )
    asked, quota = _scopes(scopes), _quota(rate)
    with _owner_of(house) as (owner, house):
        if not owner.execute("SELECT FROM log_head WHERE house = %s", (house,)).rowcount:
            raise Refused(f"No house {house!r} is open: CROUPIER_HOUSE={house} croupier migrate")
        print(keys.create(owner, house, name, asked, _end(days), quota))


@app.command(name="list")
def show(house: House = "") -> None:
    """Show all keys of a house, without their secrets, and when each was used last."""
    with _owner_of(house) as (owner, house):
        found = keys.listed(owner, house)
        # A key is revoked by its prefix: whatever the width, it is there in one piece.
        longest = max((len(key.prefix) for key in found), default=0)
        table = Table(title=f"Keys of {house}")
        table.add_column("prefix", no_wrap=True, min_width=longest)
        for column in "name", "scopes", "rate", "made", "last used", "state":
            table.add_column(column, overflow="fold")
        for key in found:
            made = f"{key.created_at:%Y-%m-%d}"
            used = f"{key.used_at:%Y-%m-%d %H:%M}" if key.used_at else "never"
            rate, scopes = str(key.limit() or ""), ",".join(key.scopes)
            table.add_row(key.prefix, key.name, scopes, rate, made, used, _state(key))
        Console().print(table)


@app.command()
def rotate(
    key: Annotated[str, Argument(help="The prefix of the key, its name, or the key itself.")],
    overlap: Annotated[
        float, Option(min=0, help="For how many hours the old one works beside the new one.")
    ] = 24,
    days: Days = None,
    house: House = "",
) -> None:
    """Make a key that may do what another may, which then ends. The new one is printed once.

    It ends when the old one was to end, unless --days says otherwise. `list` shows whether the old
    one is still used.
    """
    with _owner_of(house) as (owner, house):
        old = _working(keys.listed(owner, house), key, house)
        print(keys.rotate(owner, old, timedelta(hours=overlap), _end(days)))


@app.command()
def revoke(
    key: Annotated[str, Argument(help="The prefix of the key, or the key itself.")],
    house: House = "",
) -> None:
    """End a key for ever. Running services refuse it at once."""
    prefix = _prefix(key)
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


def _working(listed: list[Key], asked: str, house: str) -> Key:
    """The one key that is meant, by prefix or by name. Raises `Refused`."""
    now = datetime.now(UTC)
    works = [key for key in listed if not key.revoked_at and (key.expires_at or now) >= now]
    found = [key for key in works if key.prefix == _prefix(asked)]
    found = found or [key for key in works if key.name == asked]
    if not found:
        raise Refused(f"House {house!r} has no working key {_prefix(asked)!r}.")
    if len(found) > 1:
        prefixes = ", ".join(key.prefix for key in found)
        raise Refused(f"{len(found)} keys are named {asked!r}; say which: {prefixes}.")
    return found[0]


def _prefix(key: str) -> str:
    """That of a whole key, whose secret shall not be said again."""
    return key.removeprefix("ck_").partition("_")[0] if key.startswith("ck_") else key


def _end(days: int | None) -> datetime | None:
    return None if days is None else datetime.now(UTC) + timedelta(days=days)


def _quota(text: str) -> Quota | None:
    try:
        return Quota.read(text) if text else None
    except ValueError as wrong:
        raise BadParameter(f"{wrong}.", param_hint="--rate") from None


def _scopes(text: str) -> list[Scope]:
    asked = [part.strip() for part in text.split(",")]
    if unknown := [scope for scope in asked if scope not in SCOPES]:
        there_are = f"there are {', '.join(SCOPES)}"
        raise BadParameter(f"{', '.join(unknown)}: {there_are}.", param_hint="--scopes")
    return [scope for scope in SCOPES if scope in asked]
