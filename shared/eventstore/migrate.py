"""Brings a database to the schema that this program needs, and says whether it is there.

Only what migrates imports alembic: it would be a third of the start of everything else.
"""

import re
from pathlib import Path

import psycopg

SCRIPTS = Path(__file__).parents[2] / "deploy" / "migrations"


def upgrade(url: str) -> None:
    """Runs every migration that is missing, as the owner of the database.

    Repeating it is harmless, and so are two at once: the second waits for the first.
    """
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.attributes["url"] = url
    command.upgrade(config, "head")


def current(url: str) -> str | None:
    """The revision of a database, or None before the first migration."""
    with psycopg.connect(url, connect_timeout=5) as connection:
        there = connection.execute("SELECT to_regclass('alembic_version') IS NOT NULL").fetchone()
        if there != (True,):
            return None
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        return str(row[0]) if row else None


def head() -> str:
    """The revision that this program needs."""
    return revisions()[0]


def revisions() -> list[str]:
    """Every revision that this program knows, the newest first."""
    scripts = [script.read_text() for script in (SCRIPTS / "versions").glob("*.py")]
    after = {_named("down_revision", script): _named("revision", script) for script in scripts}
    known: list[str] = []
    revision = after[None]
    while revision is not None:
        known.insert(0, revision)
        revision = after.get(revision)
    return known


def _named(name: str, script: str) -> str | None:
    found = re.search(rf'^{name} = "(.+)"$', script, re.MULTILINE)
    return found[1] if found else None


def open_house(url: str, house: str) -> None:
    """Begins the log of a house, as the owner of the database; harmless when it is open."""
    with psycopg.connect(url, connect_timeout=5) as connection:
        connection.execute("SELECT open_house(%s)", (house,))
