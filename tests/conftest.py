"""What every test may ask for: a database of its own, a Valkey of its own, a Postgres to kill.

`DATABASE_URL` and `REDIS_URL` replace the embedded servers. The former has to name an owner who
may create databases and roles; what the tests create they drop again.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from tempfile import TemporaryDirectory
from typing import Literal, NoReturn
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

from shared.eventstore.migrate import upgrade
from shared.local.postgres import LocalPostgres
from shared.local.process import end, password
from shared.local.valkey import LocalValkey

pytest.register_assert_rewrite("tests.domain.books", "tests.domain.story")


def pytest_configure() -> None:
    """What tests write is in memory, if there is room and TMPDIR does not say where: databases by
    the hundred, each of three hundred files, take a disk longer than the tests that they are for.
    Whoever is killed there loses no more than on a disk; only a machine that goes down would."""
    memory = "/dev/shm"
    room = shutil.disk_usage(memory).free if os.access(memory, os.W_OK) else 0
    if "TMPDIR" not in os.environ and room > 4 * 2**30:
        tempfile.tempdir = os.environ["TMPDIR"] = memory


@dataclass(frozen=True)
class Database:
    """One migrated, empty database: its owner, and the role that serves, which owns nothing."""

    owner_url: str
    app_url: str


class Cluster:
    """A Postgres with a migrated template, of which a copy costs some 20 ms."""

    def __init__(self, admin_url: str) -> None:
        self._admin_url = admin_url
        name = f"croupier_test_{secrets.token_hex(6)}"
        self._template, self._role, self._password = f"{name}_template", f"{name}_app", password()
        with psycopg.connect(admin_url, autocommit=True) as admin:
            # The group role belongs to the whole cluster: one migration at a time.
            admin.execute("SELECT pg_advisory_lock(hashtext('croupier tests'))")
            admin.execute(f"CREATE DATABASE {self._template}")
            upgrade(self._url(self._template))
            admin.execute(f"CREATE ROLE {self._role} LOGIN PASSWORD '{self._password}'")
            admin.execute(f"GRANT croupier_app TO {self._role}")

    def create(self) -> Database:
        return self._copy(self._template)

    def copy(self, database: Database) -> Database:
        """A copy of a database that nobody is connected to."""
        return self._copy(urlsplit(database.owner_url).path.removeprefix("/"))

    def drop(self, database: Database) -> None:
        name = urlsplit(database.owner_url).path.removeprefix("/")
        self._execute(f"DROP DATABASE {name} WITH (FORCE)")

    def close(self) -> None:
        self._execute(f"DROP DATABASE {self._template} WITH (FORCE)")
        self._execute(f"DROP ROLE {self._role}")

    def _copy(self, template: str) -> Database:
        """By files: where nothing is synced, block by block through the log takes five times as
        long."""
        name = f"{self._template}_{secrets.token_hex(6)}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        return Database(self._url(name), self._url(name, f"{self._role}:{self._password}"))

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self._admin_url, autocommit=True) as admin:
            admin.execute(statement)

    def _url(self, database: str, account: str | None = None) -> str:
        admin = urlsplit(self._admin_url)
        owner, _, host = admin.netloc.rpartition("@")
        return admin._replace(netloc=f"{account or owner}@{host}", path=f"/{database}").geturl()


@dataclass(frozen=True)
class Mortal:
    """A Postgres with fsync on and one migrated database, to be killed in the middle of things."""

    postgres: LocalPostgres
    database: Database

    def kill(self) -> None:
        end(self.postgres.pid, SIGKILL)

    def start(self) -> None:
        self.postgres.start()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """One a worker: it is there in a second, and no worker waits for another."""
    with postgres_url() as url, closing(Cluster(url)) as cluster:
        yield cluster


@pytest.fixture
def database(cluster: Cluster) -> Iterator[Database]:
    database = cluster.create()
    yield database
    cluster.drop(database)


@pytest.fixture
def bare(database: Database) -> Database:
    """A database before its first migration."""
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("DROP SCHEMA public, detached CASCADE")
        owner.execute("CREATE SCHEMA public")
    return database


@pytest.fixture
def mortal() -> Iterator[Mortal]:
    with a_mortal() as mortal:
        yield mortal


@contextmanager
def a_mortal() -> Iterator[Mortal]:
    with TemporaryDirectory(prefix="croupier-mortal-") as home:
        postgres = LocalPostgres(Path(home))
        postgres.start()
        try:
            yield Mortal(postgres, Cluster(postgres.url()).create())
        finally:
            postgres.stop()


@pytest.fixture(scope="session")
def valkey() -> Iterator[str]:
    if "REDIS_URL" in os.environ:
        yield os.environ["REDIS_URL"]
        return
    with TemporaryDirectory(prefix="croupier-valkey-") as home:
        server = LocalValkey(Path(home))
        server.start()
        yield server.url()
        server.stop()


@pytest.fixture
def valkey_url(valkey: str, worker_id: str) -> Iterator[str]:
    """A database of this worker alone, empty before and after the test."""
    number = 1 + int(worker_id.removeprefix("gw")) % 15 if worker_id != "master" else 1
    url = urlsplit(valkey)._replace(path=f"/{number}").geturl()
    with redis.Redis.from_url(url) as client:
        if client.dbsize():
            pytest.fail(f"Database {number} of REDIS_URL is not empty; the tests would clear it.")
        yield url
        client.flushdb()


def not_here(need: Literal["docker", "chromium", "prometheus"], what: str) -> NoReturn:
    """Skips for want of a program, or fails where CROUPIER_NEEDS lists it."""
    if need in os.environ.get("CROUPIER_NEEDS", "").split():
        pytest.fail(f"CROUPIER_NEEDS has {need}, but there is no {what} here.")
    pytest.skip(f"There is no {what} here.")


@contextmanager
def postgres_url() -> Iterator[str]:
    if "DATABASE_URL" in os.environ:
        yield os.environ["DATABASE_URL"]
        return
    with TemporaryDirectory(prefix="croupier-postgres-") as home:
        server = LocalPostgres(Path(home), disposable=True)
        server.start()
        try:
            yield server.url()
        finally:
            server.stop()
