"""`croupier up` as an operator sees it: one process to start, one Ctrl-C, nothing left behind."""

import os
import re
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM, Signals
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from services.settings import Settings, variable
from shared.local.postgres import LocalPostgres
from shared.local.process import until
from shared.local.valkey import LocalValkey
from shared.seals.keyfile import read_keys
from tests.conftest import Database

CROUPIER = (sys.executable, "-c", "from services.cli import main; main()")
ROOT = Path(__file__).parents[2]


class Desk:
    """A directory with a croupier in it, that can be started, spoken to and stopped."""

    def __init__(self, home: Path) -> None:
        self.home = home
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.endpoint: tuple[str, int] = free.getsockname()
        self.address = f"http://127.0.0.1:{self.endpoint[1]}"
        self._environment = {
            **{name: value for name, value in os.environ.items() if name not in SET},
            "CROUPIER_HOME": str(home),
            "CROUPIER_PORT": str(self.endpoint[1]),
        }

    @contextmanager
    def up(self, **environment: str) -> Iterator["subprocess.Popen[str]"]:
        """Running and ready; killed at the end if it still runs."""
        process = subprocess.Popen(
            [*CROUPIER, "up"],
            env=self._environment | environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                assert process.stdout
                said = ""
                while "Ctrl-C stops everything" not in said:
                    line = process.stdout.readline()
                    assert line, f"croupier ended: {said}"
                    said += line
                assert self.address in said
                yield process
            finally:
                process.kill()

    def type(self, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """One command, with its answer."""
        return subprocess.run(
            [*CROUPIER, *words],
            env=self._environment | environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
        )

    def get(self, path: str, key: str) -> httpx.Response:
        return httpx.get(f"{self.address}{path}", headers={"Authorization": f"Bearer {key}"})

    @property
    def key(self) -> str:
        return (self.home / "dev.key").read_text().strip()

    def servers(self) -> set[str]:
        """The servers of this directory that listen."""
        ports = {file.parent.name: int(file.read_text()) for file in self.home.glob("*/port")}
        return {name for name, port in ports.items() if answers(port)}

    def postgres_pid(self) -> int:
        return int((self.home / "postgres/data/postmaster.pid").read_text().split()[0])


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def stop(process: "subprocess.Popen[str]", signal: Signals = SIGINT) -> int:
    """The exit code after a signal."""
    process.send_signal(signal)
    return process.wait(timeout=60)


SET = {variable(field) for field in Settings.model_fields}


@pytest.fixture
def desk() -> Iterator[Desk]:
    with TemporaryDirectory(prefix="croupier-desk-") as home:
        desk = Desk(Path(home))
        yield desk
        for server in LocalPostgres(desk.home / "postgres"), LocalValkey(desk.home / "valkey"):
            if server.home.name in desk.servers():  # The test failed half-way.
                server.start()
                server.stop()


@pytest.mark.parametrize("signal", [SIGINT, SIGTERM])
def test_it_answers_until_it_is_told_to_stop_and_leaves_no_process(
    desk: Desk, signal: Signals
) -> None:
    with desk.up() as process:
        assert desk.get("/v1/tables", desk.key).status_code == 200
        assert desk.servers() == {"postgres", "valkey"}

        assert stop(process, signal) == 0

    assert desk.servers() == set()
    assert (desk.home / "dev.key").stat().st_mode & 0o777 == 0o600


def test_whoever_waits_for_news_is_answered_before_it_stops(desk: Desk) -> None:
    with desk.up() as process, socket.create_connection(desk.endpoint) as waiting:
        waiting.sendall(
            f"GET /v1/events?wait=30 HTTP/1.1\r\nHost: desk\r\nConnection: close\r\n"
            f"Authorization: Bearer {desk.key}\r\n\r\n".encode()
        )
        desk.get("/livez", desk.key)  # It came second, so the first has begun.

        assert stop(process) == 0

        answer = b"".join(iter(lambda: waiting.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.endswith(b'{"data":[],"next":0}')


def test_the_next_start_finds_everything(desk: Desk) -> None:
    with desk.up() as process:
        key = desk.key
        stop(process)

    with desk.up() as process:
        assert desk.key == key
        assert desk.get("/v1/tables", key).status_code == 200
        assert stop(process) == 0


def test_killed_in_mid_air_it_starts_again_on_the_servers_it_left(desk: Desk) -> None:
    with desk.up() as process:
        key, pid = desk.key, desk.postgres_pid()
        stop(process, SIGKILL)
        assert desk.servers() == {"postgres", "valkey"}

    with desk.up() as process:
        assert desk.postgres_pid() == pid
        assert desk.get("/v1/tables", key).status_code == 200
        assert stop(process) == 0

    assert desk.servers() == set()


def test_servers_of_its_own_that_die_are_started_again(desk: Desk) -> None:
    with desk.up() as process:
        for server in (LocalPostgres(desk.home / "postgres"), LocalValkey(desk.home / "valkey")):
            server.start()  # it adopts the one that runs
            os.kill(server.pid, SIGKILL)
            assert until(server.has_died)
        assert until(lambda: desk.get("/readyz", desk.key).status_code == 200)
        assert until(lambda: desk.get("/readyz", desk.key).json()["redis"] == "connected")
        assert desk.get("/v1/tables", desk.key).status_code == 200
        assert stop(process) == 0

    assert desk.servers() == set()


def test_what_is_played_is_sealed_from_the_first_minute_on(desk: Desk, tmp_path: Path) -> None:
    with desk.up(CROUPIER_SEAL_SECONDS="0") as process:
        told = play_a_round(desk)
        assert stop(process) == 0
    bundle, public = tmp_path / "round.json", desk.home / "seal.pub"
    bundle.write_text(told)

    judged = desk.type("verify", str(bundle), "--public-key", str(public))

    assert judged.returncode == 0, judged.stdout
    assert (desk.home / "seal.key").stat().st_mode & 0o777 == 0o600
    assert (desk.home / "seals" / "local" / "latest.seal").exists()
    before = public.read_text(), (desk.home / "seal.key").read_bytes()
    with desk.up() as process:
        assert (public.read_text(), (desk.home / "seal.key").read_bytes()) == before
        stop(process)


def play_a_round(desk: Desk) -> str:
    """The bundle of a round, as soon as it is sealed."""
    with httpx.Client(
        base_url=f"{desk.address}/v1", headers={"Authorization": f"Bearer {desk.key}"}
    ) as http:
        http.put("/tables/oak", json={"ruleset": "european", "host": "ada"})
        http.post("/players/ada/grants", json={"amount": 500})
        for command in (
            {"type": "sit", "seat": 1, "player": "ada", "buy_in": 100},
            {"type": "bet", "seat": 1, "amount": 10},
            {"type": "stand", "seat": 1},
        ):
            http.post("/tables/oak/commands", json=command)
        assert until(lambda: http.get("/rounds/oak.1/bundle").status_code == 200)
        return http.get("/rounds/oak.1/bundle").text


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="memory is shown in /proc")
def test_the_process_that_serves_never_has_the_key_that_seals(desk: Desk) -> None:
    with desk.up(CROUPIER_SEAL_SECONDS="0") as process:
        play_a_round(desk)
        (key,) = read_keys(desk.home / "seal.key")
        secret = key.private_bytes_raw()
        written = (desk.home / "seal.key").read_bytes().split(b"\n")[1]

        assert any(held_by(os.getpid(), secret, written)), "the look at memory finds what is there"
        assert not any(held_by(process.pid, secret, written))
        stop(process)


def held_by(pid: int, *secrets: bytes) -> Iterator[bool]:
    """Of each part of the memory of a process, whether it holds one of these."""
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, rights, *_ = line.split()
            if rights.startswith("rw") and not line.endswith("[vvar]"):
                start, end = (int(edge, 16) for edge in span.split("-"))
                memory.seek(start)
                content = memory.read(end - start)
                yield any(secret in content for secret in secrets)


def test_a_key_that_cannot_seal_is_no_reason_to_make_another(desk: Desk) -> None:
    desk.home.mkdir(exist_ok=True)
    (desk.home / "seal.key").write_text("none")

    refused = desk.type("up")

    assert refused.returncode == 1
    assert "seal.key holds no key that seals" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert (desk.home / "seal.key").read_text() == "none"


def test_a_public_key_that_cannot_be_kept_is_not_taken_for_a_bad_key(desk: Desk) -> None:
    (desk.home / "seal.pub").mkdir(parents=True)

    refused = desk.type("up")

    assert refused.returncode == 1
    assert "cannot be kept" in refused.stderr
    assert "seal.pub" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_key_and_a_place_of_ones_own_for_seals_replace_the_local_ones(
    desk: Desk, tmp_path: Path
) -> None:
    own = {"CROUPIER_SEAL_KEY": str(tmp_path / "own.key"), "CROUPIER_SEALS": str(tmp_path / "own")}
    assert desk.type("seals", "key", **own).returncode == 0

    with desk.up(**own, CROUPIER_SEAL_SECONDS="0") as process:
        play_a_round(desk)
        stop(process)

    assert (tmp_path / "own" / "local" / "latest.seal").exists()
    assert not list(desk.home.glob("seal*"))


def test_keys_are_made_and_revoked_beside_a_running_service(desk: Desk) -> None:
    with desk.up() as process:
        kept = desk.type("keys", "create", "till", "--scopes", "play,read").stdout.strip()
        lost = desk.type("keys", "create", "lost", "--scopes", "read", "--days", "1").stdout.strip()
        revoked = desk.type("keys", "revoke", lost)
        again = desk.type("keys", "revoke", lost)
        listed = desk.type("keys", "list").stdout

        assert (revoked.returncode, again.returncode) == (0, 1)
        assert "has no working key with the prefix" in again.stderr
        assert desk.get("/v1/tables", kept).status_code == 200
        assert desk.get("/v1/tables", lost).status_code == 401
        assert re.search(r"till.*play,read.*works", listed)
        assert re.search(r"lost.*read.*revoked", listed)
        stop(process)


def test_a_second_one_in_the_same_directory_is_refused(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])

    with desk.up() as process:
        second = desk.type("up", CROUPIER_PORT=port)

        assert second.returncode == 1
        assert second.stderr.startswith(f"A croupier runs on {desk.home} already.")
        assert desk.get("/v1/tables", desk.key).status_code == 200
        stop(process)


def test_a_port_that_is_taken_is_named_before_anything_starts(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])

        refused = desk.type("up", CROUPIER_PORT=port)

    assert refused.returncode == 1
    assert refused.stderr.startswith(f"127.0.0.1:{port} cannot be listened on: Address already in")
    assert desk.servers() == set()


def test_serving_a_database_that_is_behind_is_refused(desk: Desk, database: Database) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("UPDATE alembic_version SET version_num = '0001'")

    refused = desk.type("serve", DATABASE_URL=database.app_url, CROUPIER_SEED_KEYS=SEEDS)

    assert refused.returncode == 1
    assert refused.stderr.startswith("The database is at revision 0001, this program needs 0")
    assert refused.stderr.endswith("Run `croupier migrate`.\n")


def test_a_role_that_may_not_migrate_is_told_which_one_is_needed(
    desk: Desk, database: Database
) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("DROP TABLE alembic_version")

    refused = desk.type("migrate", DATABASE_URL=database.app_url)

    assert refused.returncode == 1
    assert "Set CROUPIER_MIGRATION_URL to a role that may create tables" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_migrating_makes_the_role_that_serves(desk: Desk, database: Database) -> None:
    role, owner = f"serving_{secrets.token_hex(6)}", urlsplit(database.owner_url)
    host = owner.netloc.rpartition("@")[2]
    serving = owner._replace(netloc=f"{role}:p%40ss@{host}").geturl()
    settings = {"CROUPIER_MIGRATION_URL": database.owner_url, "DATABASE_URL": serving}

    migrated = [desk.type("migrate", **settings) for _ in range(2)]

    assert [each.returncode for each in migrated] == [0, 0], migrated
    with psycopg.connect(serving) as it:
        assert it.execute("SELECT house FROM log_head").fetchall() == [("local",)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            it.execute("UPDATE log_head SET position = 1")
    with psycopg.connect(database.owner_url) as dropping:
        dropping.execute(f"DROP ROLE {role}")


NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"
SEEDS = f"one:{'a' * 42}E"


@pytest.mark.parametrize(
    ("words", "environment", "sentence"),
    [
        ("up", {"CROUPIER_PORT": "x"}, "CROUPIER_PORT has a value that cannot be used. It is"),
        ("up", {"CROUPIER_HOST": "192.0.2.1"}, "Set CROUPIER_PORT to a free port, or CROUPIER_"),
        ("up", {"DATABASE_URL": NOWHERE}, "The database does not answer; see DATABASE_URL."),
        ("up", {"DATABASE_URL": "mysql://"}, "DATABASE_URL has a value that cannot be used."),
        ("migrate", {"DATABASE_URL": NOWHERE}, "The database does not answer; see DATABASE_URL."),
        ("serve", {}, "Set DATABASE_URL, or run `croupier up`"),
        ("serve", {"DATABASE_URL": NOWHERE}, "Set CROUPIER_SEED_KEYS"),
        (
            "serve",
            {"DATABASE_URL": NOWHERE, "CROUPIER_SEED_KEYS": SEEDS},
            "The database does not answer; see DATABASE_URL.",
        ),
        ("keys list", {"DATABASE_URL": NOWHERE}, "The database does not answer"),
        ("keys create till --scopes shout", {}, "shout: there are play, read, ledger, audit, ops."),
    ],
)
def test_what_an_operator_can_put_right_is_answered_with_a_sentence(
    words: str, environment: Mapping[str, str], sentence: str, desk: Desk
) -> None:
    answer = desk.type(*words.split(), **environment)

    assert answer.returncode in (1, 2)
    assert sentence in answer.stderr
    assert "Traceback" not in answer.stderr
    assert desk.servers() == set()
