"""The servers of a run: a Postgres with its default durability, and one database for each side."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import psycopg
from msgspec import Struct
from psycopg import sql

from shared.eventstore.migrate import open_house, upgrade
from shared.local.postgres import LocalPostgres

HOUSE = "local"
DURABILITY = ("fsync", "synchronous_commit", "full_page_writes", "wal_sync_method")


class Postgres(Struct, frozen=True):
    """A running server. `pid` is None when its process is not on this machine."""

    url: str
    pid: int | None
    version: str
    settings: dict[str, str]

    @contextmanager
    def database(self, name: str) -> Iterator[str]:
        """An empty database, dropped at the end; yields where to connect."""
        drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        create = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(drop)
            connection.execute(create)
        try:
            yield urlsplit(self.url)._replace(path=f"/{name}").geturl()
        finally:
            with psycopg.connect(self.url, autocommit=True) as connection:
                connection.execute(drop)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """The server that DATABASE_URL names, else an embedded one in a directory that goes away."""
    if url := os.environ.get("DATABASE_URL"):
        yield _described(url)
        return
    with TemporaryDirectory(prefix="croupier-bench-") as home:
        server = LocalPostgres(Path(home))
        server.start()
        try:
            yield _described(server.url())
        finally:
            server.stop()


@contextmanager
def croupier_database(server: Postgres, name: str = "bench_croupier") -> Iterator[str]:
    """A migrated database with the house `local` open; yields its owner's URL."""
    with server.database(name) as url:
        upgrade(url)
        open_house(url, HOUSE)
        yield url


@contextmanager
def naive_database(server: Postgres) -> Iterator[str]:
    """A database with the naive service's tables."""
    with server.database("bench_naive") as url:
        with psycopg.connect(url) as connection:
            connection.execute(Path(__file__).with_name("naive.sql").read_bytes())
        yield url


def _described(url: str) -> Postgres:
    with psycopg.connect(url) as connection:
        settings = {name: _shown(connection, name) for name in DURABILITY}
        pid_file = Path(_shown(connection, "data_directory"), "postmaster.pid")
        pid = int(pid_file.read_text().split()[0]) if pid_file.exists() else None
        return Postgres(url, pid, _shown(connection, "server_version"), settings)


def _shown(connection: psycopg.Connection, name: str) -> str:
    row = connection.execute("SELECT current_setting(%s)", [name]).fetchone()
    assert row is not None
    return str(row[0])
