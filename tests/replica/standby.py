"""A second Postgres that follows the first by streaming replication, and what befalls it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import psycopg

from shared.local.postgres import LocalPostgres, postgres_binaries
from shared.local.process import end, keep, until


class Standby:
    """A base backup of a primary, which then streams from a slot of its own."""

    def __init__(self, primary_url: str, home: Path) -> None:
        self._primary_url = primary_url
        password = urlsplit(primary_url).password or ""
        keep(home / "password", password)
        backup = [
            postgres_binaries() / "pg_basebackup",
            "--pgdata",
            home / "data",
            "--dbname",
            primary_url,
        ]
        backup += ["--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast"]
        backup += ["--create-slot", "--slot=standby", "--no-sync"]
        subprocess.run(backup, check=True, capture_output=True)
        self._server = LocalPostgres(home, disposable=True)
        self._server.start()

    def url(self, of_primary: str) -> str:
        """Where a database of the primary is read here, by the same role."""
        url = urlsplit(of_primary)
        account = url.netloc.rpartition("@")[0]
        return url._replace(netloc=f"{account}@127.0.0.1:{self._server.port}").geturl()

    def catch_up(self) -> None:
        """Returns when everything that the primary has written is seen here."""
        with psycopg.connect(self._primary_url, autocommit=True) as primary:
            row = primary.execute("SELECT pg_current_wal_lsn()").fetchone()
        assert row
        with psycopg.connect(self._server.url(), autocommit=True) as here:
            seen = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
            assert until(lambda: here.execute(seen, row).fetchone() == (True,))

    def pause(self) -> None:
        """From now on nothing new is seen here, though it arrives."""
        with psycopg.connect(self._server.url(), autocommit=True) as here:
            here.execute("SELECT pg_wal_replay_pause()")
            state = "SELECT pg_get_wal_replay_pause_state()"
            assert until(lambda: here.execute(state).fetchone() == ("paused",))

    def resume(self) -> None:
        with psycopg.connect(self._server.url(), autocommit=True) as here:
            here.execute("SELECT pg_wal_replay_resume()")

    def kill(self) -> None:
        end(self._server.pid, SIGKILL)

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        self._server.stop()


@contextmanager
def a_standby(primary_url: str) -> Iterator[Standby]:
    with TemporaryDirectory(prefix="croupier-standby-") as home:
        standby = Standby(primary_url, Path(home))
        try:
            yield standby
        finally:
            standby.stop()
