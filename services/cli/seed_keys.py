"""The ring of keys that seal the seeds of shoes: made here, and asked whether one may go."""

import re
import secrets
from typing import Annotated

import psycopg
from rich.console import Console
from rich.table import Table
from typer import BadParameter, Exit, Option, Typer

from services.blackjack.projections.seed_keys import needed_keys
from services.cli.embedded import a_database, local_seed_keys
from services.cli.refused import Refused
from services.settings import Settings, fresh_seed_key
from shared.kernel.ids import ID_PATTERN

app = Typer(no_args_is_help=True, help="The keys that seal the seeds of shoes.")


@app.command()
def new(
    id: Annotated[str, Option(help="How seeds name it; without it one that nobody has.")] = "",
) -> None:
    """Make a key and print it, to be put first in CROUPIER_SEED_KEYS. It is kept nowhere else.

    From then on seeds are sealed with it. The others stay behind it as long as `list` says that
    tables need them.
    """
    name = id or f"key-{secrets.token_hex(4)}"
    if not re.fullmatch(ID_PATTERN, name):
        raise BadParameter(f"An id matches {ID_PATTERN}.", param_hint="--id")
    print(fresh_seed_key(name))


@app.command(name="list")
def show() -> None:
    """Show the keys of the ring, and those that tables need. Ends with 1 when one is missing."""
    with a_database(Settings.from_environment()) as settings:
        ring = settings.seed_keys
        if not ring and (settings.home / "seed.keys").exists():  # to look shall make none
            ring = local_seed_keys(settings.home)
        with psycopg.connect(settings.database_url) as connection:
            needed = {each.key_id: each for each in needed_keys(connection)}
    table = Table("key", "on the ring", "tables that need it", "one of them")
    ids = [key.id for key in ring]
    for key_id in [*ids, *sorted(needed.keys() - set(ids))]:
        place = ("seals" if key_id == ids[0] else "opens") if key_id in ids else "missing"
        found = needed.get(key_id)
        one = f"{found.table} of {found.house}" if found else ""
        table.add_row(key_id, place, str(found.tables if found else 0), one)
    Console().print(table)
    if needed.keys() - set(ids):
        raise Exit(1)


def check_ring(settings: Settings) -> None:
    """Raises `Refused` when the ring lacks a key that a table waits for."""
    with psycopg.connect(settings.database_url) as connection:
        missing = needed_keys(connection, besides=[key.id for key in settings.seed_keys])
    if missing:
        raise Refused(
            "\n".join(
                f"CROUPIER_SEED_KEYS lacks the key {each.key_id!r}, which {_tables(each.tables)} "
                f"for a seed, such as {each.table!r} of the house {each.house!r}."
                for each in missing
            )
            + "\nAdd it behind the current one; `croupier seed-keys list` shows when it may go."
        )


def _tables(count: int) -> str:
    return "one table needs" if count == 1 else f"{count} tables need"
