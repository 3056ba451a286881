"""Backups that are brought back: whole, to a point in time, and when the end of the log is lost."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from signal import SIGKILL
from time import sleep

import httpx
import psycopg
import pytest

from services.worker import VIEWS
from shared.local.postgres import LocalPostgres, postgres_binaries
from shared.local.process import end, keep, until
from tests.api.croupier import PATIENCE_SECONDS, Croupier, House
from tests.conftest import Cluster, Database
from tests.crash.audit import verified

SCRIPTS = Path(__file__).parents[2] / "deploy" / "backup"
NOBODY = ("unshare", "--user", "--map-user=65534", "--map-group=65534", "--")
"""As root: Postgres refuses to be."""


class Site:
    """A house that plays on a Postgres which archives its write-ahead log."""

    def __init__(self, home: Path) -> None:
        self.home, self.backups = home, home / "backups"
        (self.backups / "wal").mkdir(parents=True)
        self.postgres = LocalPostgres(home / "postgres")
        self.postgres.start()
        self.postgres.stop()
        with (self.postgres.data / "postgresql.conf").open("a") as settings:
            archive = f"sh {SCRIPTS}/archive.sh %p %f {self.backups}/wal"
            settings.write(f"archive_mode = on\narchive_command = '{archive}'\n")
        self.postgres.start()

    def back_up(self) -> None:
        self.script("base.sh", self.backups, f"--dbname={self.postgres.url()}")

    def archive(self) -> None:
        """Returns when all that was written so far is archived."""
        with psycopg.connect(self.postgres.url(), autocommit=True) as admin:
            (segment,) = admin.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone() or ()
        assert until(lambda: (self.backups / "wal" / segment).exists())

    def script(self, name: str, *words: object, ends: int = 0, **environment: str) -> str:
        """What one of the scripts says, and how it has to end."""
        programs = f"{postgres_binaries()}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        as_nobody = NOBODY if os.geteuid() == 0 else ()
        done = subprocess.run(
            [*as_nobody, "sh", SCRIPTS / name, *map(str, words)],
            env={"PATH": programs, "TMPDIR": str(self.home), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == ends, done.stdout
        return done.stdout


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    if os.geteuid() == 0 and not shutil.which("unshare"):
        pytest.skip("Postgres does not run as root.")
    site = Site(tmp_path)
    yield site
    site.postgres.stop()


@pytest.fixture
def database(site: Site) -> Iterator[Database]:
    with closing(Cluster(site.postgres.url())) as cluster:
        yield cluster.create()


@pytest.fixture
def house(database: Database) -> Iterator[House]:
    with (
        Croupier(database) as croupier,
        httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as http,
    ):
        yield House(croupier, http)


def play(house: House, table: str) -> int:
    """A round, sealed; the position of its last event."""
    house.seat(table, f"ada-{table}")
    house.deal(table, 20)
    house.finish(table)
    size: int = house.sealed()["size"]
    assert size == house.head()
    return size


def drill(site: Site, house: House, *time: str, ends: int = 0) -> str:
    environment = house.croupier.environment
    name = house.croupier.database.owner_url.rpartition("/")[2]
    return site.script(
        *("drill.sh", site.backups, *time),
        ends=ends,
        PGDATABASE=name,
        CROUPIER_SEALS=environment["CROUPIER_SEALS"],
    )


def test_a_backup_brings_back_a_log_that_holds(site: Site, house: House) -> None:
    play(house, "oak")
    site.back_up()
    head = play(house, "elm")
    site.archive()

    told = drill(site, house)

    assert f"The log of {house.name} ends at {head}." in told
    assert f"it is the log that was sealed at {head:,}" in told
    assert told.count("was right") == len(VIEWS)
    assert told.endswith("All of it holds.\n")


def test_a_backup_brings_back_a_point_in_time(site: Site, house: House) -> None:
    site.back_up()
    then_head = play(house, "oak")
    sleep(0.01)
    then = datetime.now(UTC).isoformat()
    sleep(0.01)
    head = play(house, "elm")
    site.archive()

    told = drill(site, house, then)

    assert f"The log of {house.name} ends at {then_head}." in told
    assert f"It was sealed up to {head}: {head - then_head} events are missing" in told
    assert told.endswith("All of it holds.\n")


def test_a_lost_end_is_told_by_the_seals_and_the_house_goes_on(site: Site, house: House) -> None:
    site.back_up()
    kept = play(house, "oak")
    site.archive()
    lost = play(house, "elm")

    told = drill(site, house, ends=1)
    assert f"It was sealed up to {lost}: {lost - kept} events are missing" in told

    house.croupier.end()
    restored(site)
    house.croupier.start()
    assert house.head() == kept
    assert until(lambda: faults(house))
    assert faults(house) == [(f"The log ends at {kept}, but was sealed up to {lost}.",)]

    seals = Path(house.croupier.environment["CROUPIER_SEALS"])
    site.script("lost.sh", seals, house.name, kept)
    aside = seals / house.name / f"lost-after-{kept}"
    assert f"{lost:015}.seal" in {file.name for file in aside.iterdir()}
    house.croupier.end()
    house.croupier.start()  # else it tries again only after half a minute
    play(house, "ash")
    verified(house)


def restored(site: Site) -> None:
    """The server is gone with its disk; another one stands on what was backed up."""
    end(site.postgres.pid, SIGKILL)
    port = site.postgres.port
    site.postgres.stop()
    shutil.rmtree(site.postgres.data)
    keep(site.postgres.home / "port", str(port))
    site.script("restore.sh", site.backups, site.postgres.data)
    site.postgres.start()
    assert site.postgres.port == port
    with psycopg.connect(site.postgres.url(), autocommit=True) as admin:
        recovers = "SELECT pg_is_in_recovery()"
        assert until(lambda: admin.execute(recovers).fetchone() == (False,))


def faults(house: House) -> list[tuple[str]]:
    """What the worker found when it was to seal."""
    with psycopg.connect(house.croupier.database.owner_url) as owner:
        return owner.execute(
            "SELECT what FROM seal_fault WHERE house = %s", [house.name]
        ).fetchall()


def test_nothing_is_restored_over_what_is_there(site: Site) -> None:
    site.back_up()

    told = site.script("restore.sh", site.backups, site.postgres.data, ends=2)

    assert "is there already" in told


def test_a_time_before_every_backup_is_refused(site: Site) -> None:
    site.back_up()

    told = site.script("restore.sh", site.backups, site.home / "new", "2020-01-01Z", ends=2)

    assert "has no backup that was complete before 2020-01-01Z" in told


def test_a_segment_is_kept_once_and_never_replaced(site: Site, tmp_path: Path) -> None:
    first, other = tmp_path / "first", tmp_path / "other"
    first.write_text("first")
    other.write_text("other")
    wal = site.backups / "wal"

    site.script("archive.sh", first, "segment", wal)
    site.script("archive.sh", first, "segment", wal)
    site.script("archive.sh", other, "segment", wal, ends=1)

    assert (wal / "segment").read_text() == "first"
