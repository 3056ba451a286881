"""What a process says of itself: a line a request, and no secret in any of them."""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from signal import SIGTERM

import httpx
import psycopg
import pytest

from shared.local.process import until
from shared.logs import without_secrets
from tests.api.croupier import PATIENCE_SECONDS, Croupier, House, Json
from tests.conftest import Cluster, Database, Mortal

SECRET = f"s3cr3t{secrets.token_hex(8)}"
"""What is put wherever a caller may put something."""

HEADERS = {
    "X-Api-Key": SECRET,
    "Cookie": SECRET,
    "Idempotency-Key": SECRET,
    "traceparent": SECRET,
    "User-Agent": SECRET,
}
EVERYWHERE = [
    ("GET", f"/v1/tables?after={SECRET}"),
    ("GET", f"/v1/tables/{SECRET}"),
    ("GET", f"/{SECRET}?key={SECRET}"),
    ("POST", "/v1/commands"),
    ("POST", "/v1/tables/oak/commands"),
    ("POST", f"/v1/players/{SECRET}/grants"),
]


class Told:
    """A croupier of its own, with all that it writes."""

    def __init__(self, database: Database, file: Path, **settings: str) -> None:
        self.croupier = Croupier(database)
        self.croupier.environment |= {"CROUPIER_LOG_LEVEL": "info", **settings}
        self.croupier.log = file
        self.file = file

    def text(self) -> str:
        return self.file.read_text()

    def lines(self, event: str = "") -> list[Json]:
        lines = [json.loads(line) for line in self.text().splitlines()]
        return [line for line in lines if event in ("", line["event"])]

    def last(self, trace: str) -> Json:
        """The line of the request with this `traceparent`."""
        trace_id = trace.split("-")[1]

        def found() -> list[Json]:
            return [line for line in self.lines("request") if line["trace_id"] == trace_id]

        assert until(lambda: len(found()) == 1), trace
        return found()[0]


@pytest.fixture(scope="module")
def told(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    database = cluster.create()
    told = Told(database, tmp_path_factory.mktemp("log") / "log")
    with told.croupier:
        yield told
    cluster.drop(database)


@pytest.fixture
def watched(told: Told, http: httpx.Client) -> House:
    return House(told.croupier, http)


def test_a_request_is_one_line_of_json(told: Told, watched: House) -> None:
    answers = {
        ("PUT", "/v1/tables/{table}", 201): watched.open("oak"),
        ("PUT", "/v1/rulesets/{name}", 422): watched.ask("PUT", "/v1/rulesets/x", json={}),
        ("POST", "/v1/tables/{table}/commands", 409): watched.play("oak", "deal", player="ada"),
        ("GET", "/v1/tables/{table}", 200): watched.ask("GET", "/v1/tables/oak"),
        ("GET", "/v1/rounds/{round}", 404): watched.ask("GET", "/v1/rounds/oak.7"),
        ("GET", "/v1/rounds/{round}", 422): watched.ask("GET", "/v1/rounds/oak.7?x=y"),
    }

    for (method, route, status), answer in answers.items():
        line = told.last(answer.headers["traceparent"])
        assert answer.status_code == status, answer.text
        assert 0 < line.pop("seconds") < 60
        assert datetime.fromisoformat(line.pop("time")).tzinfo
        assert line.pop("trace_id") == answer.headers["traceparent"].split("-")[1]
        assert line == {
            "event": "request",
            "level": "info",
            "method": method,
            "route": route,
            "status": status,
            "house": watched.name,
            "key": watched.key.split("_")[1],
        }


def test_who_is_nobody_and_what_is_nowhere_are_told_as_such(told: Told, watched: House) -> None:
    nobody = watched.ask("GET", "/v1/tables/oak", key="ck_abc_def")
    nowhere = watched.ask("DELETE", f"/{SECRET}", key="")
    unheard = watched.ask("PROPFIND", "/v1/commands")

    assert "house" not in told.last(nobody.headers["traceparent"])
    assert told.last(nowhere.headers["traceparent"])["route"] == ""
    assert told.last(unheard.headers["traceparent"])["method"] == "_OTHER"


def test_no_secret_is_told_whatever_is_sent(told: Told, watched: House) -> None:
    """Keys, addresses, headers and bodies, of requests that succeed, are refused and break."""
    watched.seat("oak", "ada")
    for key in (None, f"ck_{'a' * 8}_{SECRET}", SECRET):
        for method, path in EVERYWHERE:
            body = {"type": SECRET, SECRET: 1}
            watched.ask(method, path, key=key, headers=HEADERS, json=body)
    watched.deal("oak", 20)
    watched.finish("oak")
    with broken(told, "event_log"):
        answers = [
            watched.ask("GET", f"/v1/ledger/entries?account={SECRET}", headers=HEADERS),
            watched.play("oak", "bet", headers=HEADERS, seat=1, amount=20),
        ]
    for answer in answers:
        assert answer.status_code == 500
        assert told.last(answer.headers["traceparent"])["level"] == "error"

    text = told.text().lower()
    assert "traceback" in text
    for secret in (
        SECRET,
        watched.key.rpartition("_")[2],
        told.croupier.environment["CROUPIER_SEED_KEYS"].partition(":")[2],
        password_in(told.croupier.database.app_url),
    ):
        assert secret.lower() not in text


def test_what_breaks_is_told_with_its_traceback_and_trace(told: Told, watched: House) -> None:
    with broken(told, "posting"):
        answer = watched.ask("GET", "/v1/ledger/entries?account=player/ada/vault")

    assert answer.status_code == 500
    trace_id = answer.headers["traceparent"].split("-")[1]

    def heard() -> list[Json]:
        return [line for line in told.lines("log") if line.get("trace_id") == trace_id]

    assert until(lambda: bool(heard()))
    said = heard()
    assert [line["level"] for line in said] == ["error"]
    assert said[0]["message"] == "GET /v1/ledger/entries has failed."
    assert "UndefinedTable" in said[0]["error"]
    assert said[0]["logger"] == "shared.http.observed"


def test_passwords_that_libraries_tell_are_taken_out(
    mortal: Mortal, tmp_path: Path, http: httpx.Client
) -> None:
    """The database goes away in the middle of things, and those who connect to it complain."""
    told = Told(mortal.database, tmp_path / "log")
    with told.croupier:
        house = House(told.croupier, http)
        mortal.kill()
        assert until(lambda: house.ask("GET", "/readyz", key="").status_code == 503)
        assert until(lambda: "psycopg.pool" in told.text(), PATIENCE_SECONDS)

    assert password_in(mortal.database.app_url) not in told.text()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("postgresql://me:p4ss@host/db failed", "postgresql://me:…@host/db failed"),
        ("redis://:p4ss%40@host:6379/0", "redis://:…@host:6379/0"),
        ("Bearer ck_abcdefgh_Zm9vYmFy-_x.", "Bearer ck_abcdefgh_…."),
        ("Bearer eyJhbGciOi.eyJzdWIi-_.c2ln-_ was", "Bearer … was"),
        ("cut off: eyJhbGciOi.eyJzdWIi", "cut off: …"),
        ("GET http://127.0.0.1:8000/v1", "GET http://127.0.0.1:8000/v1"),
    ],
)
def test_what_looks_like_a_secret_is_taken_out(said: str, told: str) -> None:
    assert without_secrets(said) == told


def test_people_are_told_in_words(database: Database, tmp_path: Path, http: httpx.Client) -> None:
    told = Told(database, tmp_path / "log", CROUPIER_LOG="text")
    with told.croupier:
        House(told.croupier, http, "oaks").open("oak")
        told.croupier.end(SIGTERM)

    words = told.text().split()
    assert words[1:5] == ["201", "PUT", "/v1/tables/{table}", words[4]]
    assert words[5:7] == ["ms", "oaks"]


def test_less_is_told_where_less_is_asked_for(
    database: Database, tmp_path: Path, http: httpx.Client
) -> None:
    told = Told(database, tmp_path / "log", CROUPIER_LOG_LEVEL="error")
    with told.croupier:
        assert House(told.croupier, http).open("oak").status_code == 201
        told.croupier.end(SIGTERM)

    assert told.text() == ""


@contextmanager
def broken(told: Told, table: str) -> Iterator[None]:
    """Without a table of its database."""
    with psycopg.connect(told.croupier.database.owner_url, autocommit=True) as owner:
        owner.execute(f"ALTER TABLE {table} RENAME TO gone")
        try:
            yield
        finally:
            owner.execute(f"ALTER TABLE gone RENAME TO {table}")


def password_in(url: str) -> str:
    password = httpx.URL(url.replace("postgresql", "http")).password
    assert len(password) > 8
    return password
