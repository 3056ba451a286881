"""The schema comes by migration, twice is as good as once, and the program knows which it needs."""

import subprocess
import sys

import psycopg
import pytest
from alembic.script import ScriptDirectory

from shared.eventstore.migrate import SCRIPTS, current, head, open_house, upgrade
from tests.conftest import Database


@pytest.fixture
def bare(database: Database) -> Database:
    """A database before its first migration."""
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("DROP SCHEMA public CASCADE")
        owner.execute("CREATE SCHEMA public")
    return database


def test_from_nothing_to_the_newest_and_again(bare: Database) -> None:
    assert current(bare.owner_url) is None

    upgrade(bare.owner_url)
    upgrade(bare.owner_url)

    assert current(bare.owner_url) == head()


def test_the_serving_role_can_tell_the_revision(database: Database) -> None:
    assert current(database.app_url) == head()


def test_the_newest_is_known_without_alembic_and_to_alembic() -> None:
    told = "from services.cli import database; import sys; print('alembic' in sys.modules)"
    asked = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)

    assert asked.stdout == "False\n"
    assert ScriptDirectory(SCRIPTS).get_current_head() == head()


def test_opening_a_house_twice_is_harmless(database: Database) -> None:
    open_house(database.owner_url, "east")
    open_house(database.owner_url, "east")

    with psycopg.connect(database.owner_url) as owner:
        assert owner.execute("SELECT house, position FROM log_head").fetchall() == [("east", 0)]


def test_events_beyond_the_last_partition_find_a_place(database: Database) -> None:
    with psycopg.connect(database.owner_url) as owner:
        for position in (1, 50_000_000, 50_000_001, 100_000_000, 100_000_001, 10**12):
            owner.execute(
                "INSERT INTO event_log VALUES ('h', %s, 's', 1, 't', 1, 'c', '', '', '', now())",
                (position,),
            )
        places = owner.execute(
            "SELECT tableoid::regclass::text, count(*) FROM event_log GROUP BY 1 ORDER BY 1"
        ).fetchall()

    assert places == [("event_log_0", 2), ("event_log_1", 2), ("event_log_rest", 2)]
