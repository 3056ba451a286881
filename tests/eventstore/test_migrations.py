"""The schema comes by migration, twice is as good as once, and the program knows which it needs."""

import subprocess
import sys
from base64 import urlsafe_b64encode
from pathlib import Path
from shutil import copytree

import psycopg
import pytest
from alembic import command
from alembic.script import ScriptDirectory

from services.cli.database import prepare, ready_to_play
from services.cli.refused import Refused
from services.settings import Settings
from shared.eventstore import migrate
from shared.eventstore.migrate import (
    SCRIPTS,
    alembic,
    current,
    fit,
    fitness,
    head,
    needed,
    open_house,
    upgrade,
)
from tests.conftest import Database


def test_from_nothing_to_the_newest_and_again(bare: Database) -> None:
    assert current(bare.owner_url) is None

    upgrade(bare.owner_url)
    upgrade(bare.owner_url)

    assert current(bare.owner_url) == head()


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The scripts of later releases: something was added, taken away, and added again."""
    scripts = tmp_path / "migrations"
    copytree(SCRIPTS, scripts)
    added = ("before", "9000", head())
    for kind, number, before in (added, ("after", "9001", "9000"), ("before", "9002", "9001")):
        (scripts / "versions" / kind / f"{number}_later.py").write_text(
            f"""revision = "{number}"\ndown_revision = "{before}"\ndef upgrade(): pass\n"""
        )
    monkeypatch.setattr(migrate, "SCRIPTS", scripts)
    return scripts


def test_what_takes_away_waits_until_it_is_told_that_the_release_before_is_gone(
    database: Database, later: Path
) -> None:
    url = database.owner_url

    assert upgrade(url) == upgrade(url) == ["9001", "9002"]
    assert current(url) == "9000"
    assert upgrade(url, after=True) == []
    assert current(url) == "9002"


def test_a_release_lives_with_its_schema_before_and_after_it_took_something_away(
    bare: Database,
) -> None:
    url = bare.owner_url
    command.upgrade(alembic(url), needed())
    assert fitness(url) == "current"

    upgrade(url, after=True)

    assert (current(url), fitness(url)) == (head(), "current")


def test_what_is_added_behind_what_takes_away_waits_with_it(
    database: Database, later: Path
) -> None:
    settings = Settings(database_url=database.app_url, migration_url=database.owner_url)

    with pytest.raises(Refused, match=r"^Migrations 9001, 9002 wait: .* croupier migrate --after"):
        prepare(settings)

    assert current(database.owner_url) == "9000"
    assert prepare(settings, after=True) == []
    assert current(database.owner_url) == "9002"


def test_a_release_does_not_start_where_a_later_one_took_away_what_it_needs(
    database: Database, later: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade(database.owner_url, after=True)
    monkeypatch.undo()
    ring = "k:" + urlsafe_b64encode(bytes(32)).decode()

    with pytest.raises(Refused, match="at revision 9002, of a later release, and has lost what"):
        ready_to_play(Settings(database_url=database.app_url, seed_keys=ring))


@pytest.mark.parametrize(
    ("found", "floor", "fits"),
    [
        (None, None, "behind"),
        ("0001", None, "behind"),
        (needed(), None, "current"),
        (head(), head(), "current"),
        ("9001", None, "current"),
        ("9001", head(), "current"),
        ("9001", "9001", "ahead"),
        ("9002", "9001", "ahead"),
    ],
)
def test_which_schema_a_release_can_live_with(
    found: str | None, floor: str | None, fits: str
) -> None:
    assert fit(found, floor) == fits


def test_a_table_that_somebody_holds_is_not_waited_for(bare: Database) -> None:
    """Whoever plays would wait behind the migration."""
    command.upgrade(alembic(bare.owner_url), "0009")
    settings = Settings(database_url=bare.app_url, migration_url=bare.owner_url)
    with psycopg.connect(bare.app_url) as reader:
        reader.execute("SELECT FROM event_log")
        with pytest.raises(Refused, match=r"held a table for five seconds.*try again"):
            prepare(settings, after=True)
    assert current(bare.owner_url) == "0009"

    prepare(settings, after=True)

    assert current(bare.owner_url) == head()


def test_the_serving_role_can_tell_the_revision(database: Database) -> None:
    assert current(database.app_url) == head()


def test_the_newest_is_known_without_alembic_and_to_alembic() -> None:
    told = "from services.cli import database; import sys; print('alembic' in sys.modules)"
    asked = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)

    assert asked.stdout == "False\n"
    assert ScriptDirectory.from_config(alembic()).get_current_head() == head()


def test_opening_a_house_twice_is_harmless(database: Database) -> None:
    open_house(database.owner_url, "east")
    open_house(database.owner_url, "east")

    with psycopg.connect(database.owner_url) as owner:
        assert owner.execute("SELECT house, position FROM log_head").fetchall() == [("east", 0)]


def test_events_beyond_the_last_partition_find_a_place(database: Database) -> None:
    with psycopg.connect(database.owner_url) as owner:
        for position in (1, 50_000_000, 50_000_001, 100_000_000, 100_000_001, 10**12):
            owner.execute(
                "INSERT INTO event_log VALUES ('h', %s, 's', 1, 't', 1, 'c', '', '', '')",
                (position,),
            )
        places = owner.execute(
            "SELECT tableoid::regclass::text, count(*) FROM event_log GROUP BY 1 ORDER BY 1"
        ).fetchall()

    assert places == [("event_log_0", 2), ("event_log_1", 2), ("event_log_rest", 2)]
