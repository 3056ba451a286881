"""The schema, and the house that plays in it."""

from typing import Annotated
from urllib.parse import unquote, urlsplit

import psycopg
import typer
from psycopg import sql
from psycopg.errors import LockNotAvailable

from services.cli.embedded import a_database
from services.cli.refused import Refused
from services.cli.seed_keys import check_ring
from services.settings import Settings
from shared.eventstore.migrate import current, fitness, head, needed, open_house, upgrade
from shared.eventstore.partitions import make_ahead


def migrate(
    after: Annotated[
        bool,
        typer.Option(
            "--after",
            help="Also take away what only the release before this one needs. None of its "
            "processes may run any more.",
        ),
    ] = False,
) -> None:
    """Bring the database to this version, and open the house (CROUPIER_HOUSE).

    Before a roll-out, while the release before plays on; and once more after it, with --after. Runs
    as the role of CROUPIER_MIGRATION_URL, and lets the role of DATABASE_URL serve; makes that role,
    with the password of DATABASE_URL, where there is none.
    """
    with a_database(Settings.from_environment(), new=True) as settings:
        waiting = prepare(settings, after=after)
        found = current(settings.owner_url)
        print(f"The database is at revision {found}, and the house {settings.house!r} is open.")
        if waiting:
            print(
                f"{_named(waiting)} until no process of an earlier release runs: "
                "then `croupier migrate --after`."
            )


def prepare(settings: Settings, *, after: bool = False) -> list[str]:
    """Migrates, opens the house, makes partitions ahead, lets the role of DATABASE_URL serve.

    Returns the migrations that wait for the release before to be gone; `after` says that it is.
    Raises Refused when what this program needs is behind one of them.
    """
    waiting = _upgraded(settings.owner_url, after)
    if needed() in waiting:
        raise Refused(
            f"{_named(waiting)}: the first takes away what the release that runs may need, and "
            "this one needs what is behind it. Stop all processes, then: croupier migrate --after"
        )
    open_house(settings.owner_url, settings.house)
    with psycopg.connect(settings.owner_url, autocommit=True) as owner:
        make_ahead(owner)
        _let_serve(owner, settings.database_url)
    return waiting


def _upgraded(url: str, after: bool) -> list[str]:
    """Runs what is missing, and returns what still waits."""
    if current(url) == head():
        return []
    from sqlalchemy.exc import DBAPIError  # Slow to import, and nothing else needs it.

    try:
        return upgrade(url, after=after)
    except DBAPIError as error:
        if isinstance(error.orig, LockNotAvailable):
            raise Refused(
                "The migrations cannot run: somebody has held a table for five seconds. Nothing "
                "was changed; try again."
            ) from error
        raise Refused(
            f"The migrations cannot run: {error.orig} Set CROUPIER_MIGRATION_URL to a role "
            "that may create tables and roles."
        ) from error


def _named(waiting: list[str]) -> str:
    names = ", ".join(waiting)
    return f"Migration {names} waits" if len(waiting) == 1 else f"Migrations {names} wait"


def _let_serve(owner: psycopg.Connection, url: str) -> None:
    """Makes the role of this URL one that may read and append."""
    serving = urlsplit(url)
    name, password = unquote(serving.username or ""), unquote(serving.password or "")
    if not name or name == owner.info.user:
        return
    role = sql.Identifier(name)
    if password and not owner.execute("SELECT FROM pg_roles WHERE rolname = %s", (name,)).rowcount:
        sealed = owner.pgconn.encrypt_password(password.encode(), name.encode(), b"scram-sha-256")
        make = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
        owner.execute(make.format(role, sealed.decode()))
    owner.execute(sql.SQL("GRANT croupier_app TO {}").format(role))


def ready_to_play(settings: Settings) -> Settings:
    """The settings themselves, when they name all that playing takes.

    Raises `Refused` when something is missing, a seed key that a table waits for included, or when
    the database is not at the revision that this program needs.
    """
    if not settings.database_url:
        raise Refused("Set DATABASE_URL, or run `croupier up` for a Postgres of its own.")
    if not settings.seed_keys:
        raise Refused(
            "Set CROUPIER_SEED_KEYS, to be kept as safe as the database. "
            "`croupier seed-keys new` makes a key."
        )
    match fitness(settings.database_url):
        case "behind":
            raise Refused(
                f"The database is at revision {current(settings.database_url) or 'none'}, this "
                f"program needs {needed()}. Run `croupier migrate`."
            )
        case "ahead":
            raise Refused(
                f"The database is at revision {current(settings.database_url)}, of a later "
                "release, and has lost what this one needs. Run that release, or a later one."
            )
    check_ring(settings)
    return settings
