"""The embedded servers: they keep what they were told, through every way of ending."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from signal import SIGKILL
from tempfile import TemporaryDirectory
from textwrap import dedent

import psycopg
import pytest
import redis

from shared.local import postgres, valkey
from shared.local.postgres import LocalPostgres
from shared.local.process import CannotStart, command_of, end
from shared.local.valkey import LocalValkey

Server = LocalPostgres | LocalValkey


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory that others may enter, as below /var or /srv."""
    with TemporaryDirectory(prefix="croupier-servers-") as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.fixture(params=[LocalPostgres, LocalValkey])
def server(request: pytest.FixtureRequest, home: Path) -> Iterator[Server]:
    server: Server = request.param(home / "server")
    yield server
    server.stop()


def remember(server: Server, fact: str) -> None:
    match server:
        case LocalPostgres():
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute("CREATE TABLE IF NOT EXISTS fact (fact text)")
                connection.execute("INSERT INTO fact VALUES (%s)", (fact,))
        case LocalValkey():
            with redis.Redis.from_url(server.url()) as client:
                client.rpush("fact", fact)


def remembered(server: Server) -> list[str]:
    match server:
        case LocalPostgres():
            with psycopg.connect(server.url()) as connection:
                return [fact for (fact,) in connection.execute("SELECT fact FROM fact")]
        case LocalValkey():
            with redis.Redis.from_url(server.url(), decode_responses=True) as client:
                return list(client.lrange("fact", 0, -1))


def test_a_stopped_server_is_gone_and_the_next_start_finds_its_data(server: Server) -> None:
    server.start()
    remember(server, "kept")
    first = server.pid, server.url()

    server.stop()
    assert command_of(first[0]) == ""
    server.start()

    assert remembered(server) == ["kept"]
    assert server.pid != first[0]
    assert server.url() == first[1]


def test_a_living_server_is_adopted_and_can_be_stopped_by_whoever_adopted_it(
    server: Server,
) -> None:
    server.start()
    remember(server, "kept")

    adopter = type(server)(server.home)
    adopter.start()

    assert (adopter.pid, adopter.url()) == (server.pid, server.url())
    assert remembered(adopter) == ["kept"]
    adopter.stop()
    assert command_of(server.pid) == ""


def test_a_server_outlives_our_death_and_is_adopted(server: Server) -> None:
    program = f"""
        import os
        from {type(server).__module__} import {type(server).__name__}
        from pathlib import Path
        server = {type(server).__name__}(Path({str(server.home)!r}))
        server.start()
        print(server.pid, flush=True)
        os.kill(os.getpid(), {int(SIGKILL)})
    """
    died = subprocess.run(
        [sys.executable, "-c", dedent(program)], capture_output=True, text=True, cwd=Path.cwd()
    )

    server.start()

    assert died.returncode == -SIGKILL
    assert server.pid == int(died.stdout)


def test_what_was_written_before_a_kill_is_there_after_it(server: Server) -> None:
    server.start()
    remember(server, "kept")

    end(server.pid, SIGKILL)
    server.start()

    assert "kept" in remembered(server)


def test_a_port_that_somebody_took_is_replaced(server: Server) -> None:
    server.start()
    server.stop()
    taken = server.port

    with socket.create_server(("127.0.0.1", taken)):
        server.start()

    assert server.port != taken
    remember(server, "reached")


def test_secrets_are_private(server: Server) -> None:
    server.start()

    secret = (server.home / "password").read_text().strip()
    assert (server.home / "password").stat().st_mode & 0o777 == 0o600
    assert secret not in command_of(server.pid)


def test_a_pid_that_belongs_to_somebody_else_by_now_is_no_server(home: Path) -> None:
    server = LocalPostgres(home / "postgres")
    server.start()
    file = server.data / "postmaster.pid"
    content = file.read_text()
    server.stop()
    file.write_text(content.replace(content.splitlines()[0], str(os.getppid()), 1))

    server.start()
    server.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a server as somebody else")
def test_where_namespaces_are_forbidden_root_starts_postgres_as_nobody(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_namespaces_work", lambda: False)
    server = LocalPostgres(home / "postgres")

    server.start()
    try:
        assert Path(f"/proc/{server.pid}").stat().st_uid == 65534
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("module", "start", "variable"),
    [(postgres, LocalPostgres, "DATABASE_URL"), (valkey, LocalValkey, "REDIS_URL")],
)
def test_without_a_wheel_the_way_out_is_named(
    module: object, start: type[Server], variable: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    monkeypatch.setattr(Path, "glob", lambda *_: iter(()))
    monkeypatch.setenv("PATH", "")

    with pytest.raises(CannotStart, match=rf"There is no embedded .* here\. Set {variable} to"):
        start(home / "server").start()


def test_a_directory_that_cannot_be_used_is_answered_with_the_servers_own_words(home: Path) -> None:
    server = LocalPostgres(home / "postgres")
    server.start()
    server.stop()
    (server.data / "PG_VERSION").write_text("9.6\n")

    with pytest.raises(CannotStart, match=r"incompatible with server.*Set DATABASE_URL"):
        server.start()
