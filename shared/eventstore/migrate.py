"""Brings a database to the schema that this program needs, and says whether it is there.

There are two kinds of migrations, in one order: those in `before` add what a release needs, and the
release before goes on with it; those in `after` take away what only the release before needed, and
wait until none of it runs any more.

Only what migrates imports alembic: it would be a third of the start of everything else.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, LiteralString, NamedTuple

import psycopg
from psycopg.errors import UndefinedTable

if TYPE_CHECKING:
    from alembic.config import Config

SCRIPTS = Path(__file__).parents[2] / "deploy" / "migrations"

STANDS: Final[LiteralString] = (
    "SELECT version_num, (SELECT revision FROM schema_floor) FROM alembic_version"
)
"""The revision of a database, and the newest of its migrations that took something away. There is
no such table where the schema is older than any release asks for."""


class Revision(NamedTuple):
    """A migration, and whether it waits until the release before is gone."""

    name: str
    after: bool


def upgrade(url: str, *, after: bool = False) -> list[str]:
    """Runs the migrations that are missing, as the owner of the database, and returns those that
    still wait.

    Those in `after`, and whatever comes behind one, run only when `after` says that no process of
    the release before is left, or in a database that is new. Repeating it is harmless, and so are
    two at once: the second waits for the first.
    """
    from alembic import command

    found = current(url)
    missing = _behind(found)
    if not after and found is not None:
        missing = list(takewhile(lambda revision: not revision.after, missing))
    if missing:
        command.upgrade(alembic(url), missing[-1].name)
        found = missing[-1].name
    return [revision.name for revision in _behind(found)]


def current(url: str) -> str | None:
    """The revision of a database, or None before the first migration."""
    with psycopg.connect(url, connect_timeout=5) as connection:
        there = connection.execute("SELECT to_regclass('alembic_version') IS NOT NULL").fetchone()
        if there != (True,):
            return None
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        return str(row[0]) if row else None


def fit(found: str | None, floor: str | None) -> Literal["current", "behind", "ahead"]:
    """Whether this program can live with a schema of which `STANDS` says this.

    One that is `behind` lacks what we need, one that is `ahead` lacks it again. What a later
    release only added is `current` for us, too.
    """
    known = [revision.name for revision in revisions()]
    if found is None:
        return "behind"
    if found in known:
        return "behind" if known.index(found) < known.index(needed()) else "current"
    return "current" if floor is None or floor in known else "ahead"


def fitness(url: str) -> Literal["current", "behind", "ahead"]:
    """Whether this program can live with the schema of a database; see `fit`."""
    with psycopg.connect(url, connect_timeout=5) as connection:
        try:
            row = connection.execute(STANDS).fetchone()
        except UndefinedTable:
            row = None
    return fit(*row) if row else "behind"


def needed() -> str:
    """The revision that this program needs: what waits behind it takes away what nobody misses."""
    return [revision.name for revision in revisions() if not revision.after][-1]


def head() -> str:
    """The newest revision that this program knows."""
    return revisions()[-1].name


def revisions() -> tuple[Revision, ...]:
    """Every revision that this program knows, the oldest first."""
    return _read(SCRIPTS)


@cache
def _read(place: Path) -> tuple[Revision, ...]:
    """Once: every probe asks, and they are those of the release that runs."""
    scripts = {script: script.read_text() for script in place.glob("versions/*/*.py")}
    followers = {
        _named("down_revision", text): Revision(
            _named("revision", text) or "", after=script.parent.name == "after"
        )
        for script, text in scripts.items()
    }
    known = [followers[None]]
    while follower := followers.get(known[-1].name):
        known.append(follower)
    return tuple(known)


def _behind(found: str | None) -> Sequence[Revision]:
    """The revisions that a database lacks; none where it is of a later release."""
    known = revisions()
    names = [None, *(revision.name for revision in known)]
    return known[names.index(found) :] if found in names else ()


def alembic(url: str = "") -> "Config":
    """How alembic finds the migrations, and the database."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.set_main_option("recursive_version_locations", "true")
    config.attributes["url"] = url
    return config


def _named(name: str, script: str) -> str | None:
    found = re.search(rf'^{name} = "(.+)"$', script, re.MULTILINE)
    return found[1] if found else None


def open_house(url: str, house: str) -> None:
    """Begins the log of a house, as the owner of the database; harmless when it is open."""
    with psycopg.connect(url, connect_timeout=5) as connection:
        connection.execute("SELECT open_house(%s)", (house,))
