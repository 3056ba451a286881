"""The schema, and the house that plays in it."""

from urllib.parse import unquote, urlsplit

import psycopg
from psycopg import sql

from services.cli.embedded import a_database
from services.cli.refused import Refused
from services.cli.seed_keys import check_ring
from services.settings import Settings
from shared.eventstore.migrate import current, head, open_house, upgrade
from shared.eventstore.partitions import make_ahead


def migrate() -> None:
    """Bring the database to this version, and open the house (CROUPIER_HOUSE).

    Runs as the role of CROUPIER_MIGRATION_URL, and lets the role of DATABASE_URL serve; makes that
    role, with the password of DATABASE_URL, where there is none.
    """
    with a_database(Settings.from_environment()) as settings:
        prepare(settings)
        print(f"The database is at revision {head()}, and the house {settings.house!r} is open.")


def prepare(settings: Settings) -> None:
    """Migrates, opens the house, makes partitions ahead, lets the role of DATABASE_URL serve."""
    if current(settings.owner_url) != head():
        from sqlalchemy.exc import DBAPIError  # Slow to import, and nothing else needs it.

        try:
            upgrade(settings.owner_url)
        except DBAPIError as error:
            raise Refused(
                f"The migrations cannot run: {error.orig} Set CROUPIER_MIGRATION_URL to a role "
                "that may create tables and roles."
            ) from error
    open_house(settings.owner_url, settings.house)
    with psycopg.connect(settings.owner_url, autocommit=True) as owner:
        make_ahead(owner)
        _let_serve(owner, settings.database_url)


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
    found, needed = current(settings.database_url), head()
    if found != needed:
        raise Refused(
            f"The database is at revision {found or 'none'}, this program needs {needed}. "
            "Run `croupier migrate`."
        )
    check_ring(settings)
    return settings
