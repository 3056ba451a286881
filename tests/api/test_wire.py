"""HTTP as it is spoken on the wire: what a request may carry behind its head, and whose an answer
is."""

import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from signal import SIGTERM
from socket import SHUT_WR, socket
from time import sleep

import httpx
import pytest

from tests.api.croupier import PATIENCE_SECONDS, Croupier, House
from tests.api.test_metrics import figures
from tests.api.test_slow_clients import connect
from tests.conftest import Database

KIB = 1024


@pytest.fixture
def connection(house: House) -> Iterator[socket]:
    with connect(house) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        yield connection


def chunked(*lines: str) -> bytes:
    """The head of a request whose body comes in chunks."""
    return "\r\n".join((*lines, "Host: here", "Transfer-Encoding: chunked", "", "")).encode()


def with_key(house: House, line: str) -> bytes:
    return chunked(line, f"Authorization: Bearer {house.key}")


def heard(connection: socket, sent: Iterable[bytes] = ()) -> bytes:
    """All that comes back until the other side hangs up. What was said may be lost with the
    connection, as TCP has it."""
    said = b""
    try:
        for part in sent:
            connection.sendall(part)
        while more := connection.recv(64 * KIB):
            said += more
    except TimeoutError:
        pytest.fail("it was waited for without end")
    except OSError:
        pass
    return said


def test_a_header_behind_the_body_is_none(house: House, connection: socket) -> None:
    trailer = f"0\r\nAuthorization: Bearer {house.key}\r\n\r\n".encode()
    connection.sendall(chunked("GET /v1/tables HTTP/1.1") + trailer)

    assert connection.recv(64 * KIB).startswith(b"HTTP/1.1 401 ")


def test_nobody_gives_himself_an_address_behind_the_body(
    database: Database, http: httpx.Client
) -> None:
    """Of `X-Forwarded-For` the last counts, which has to be the proxy's own."""
    croupier = Croupier(database)
    croupier.environment |= {"CROUPIER_FAILED_KEYS": "3/h", "CROUPIER_PROXIES": "127.0.0.1"}
    wrong = f"Authorization: Bearer ck_{secrets.token_hex(5)}_{secrets.token_hex(32)}"
    head = chunked("GET /v1/tables HTTP/1.1", wrong, "X-Forwarded-For: 198.51.100.7")
    told = []
    with croupier:
        house = House(croupier, http)
        for number in range(5):
            with connect(house) as connection:
                connection.settimeout(PATIENCE_SECONDS)
                connection.sendall(head + b"0\r\nX-Forwarded-For: 203.0.113.%d\r\n\r\n" % number)
                told.append(connection.recv(12))

    assert told == [b"HTTP/1.1 401"] * 3 + [b"HTTP/1.1 429"] * 2


@pytest.mark.parametrize(
    ("start", "more"),
    [(b"0\r\n", b"X: y\r\n"), (b"1;", b"extension"), (b"", b"1\r\n \r\n")],
    ids=["trailers", "extension", "chunks"],
)
def test_a_request_has_an_end_whatever_it_is_made_of(
    start: bytes, more: bytes, house: House, connection: socket
) -> None:
    before = figures(house).get(("croupier_requests_given_up_total", "body-too-large"), 0)
    part = more * (64 * KIB // len(more))
    head = with_key(house, "POST /v1/tables/oak/commands HTTP/1.1")
    said = heard(connection, (head + start, *[part] * 128))

    assert said == b"" or said.startswith(b"HTTP/1.1 413 ")
    assert figures(house)["croupier_requests_given_up_total", "body-too-large"] == before + 1


def test_the_longest_body_may_come_in_the_smallest_chunks(house: House, connection: socket) -> None:
    """It is six times as long."""
    body = b'{"commands": []}'.ljust(256 * KIB)
    connection.sendall(with_key(house, "POST /v1/commands HTTP/1.1"))
    connection.sendall(b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n")

    assert connection.recv(64 * KIB).startswith(b"HTTP/1.1 422 ")


@pytest.mark.parametrize(
    "behind",
    [b"GET /livez HTTP/1.1\r\n" + b"X: y\r\n" * 60_000, b"no HTTP\r\n\r\n"],
    ids=["a head without end", "noise"],
)
def test_a_refusal_never_takes_the_place_of_another_answer(
    behind: bytes, house: House, connection: socket
) -> None:
    """Whoever sends two requests takes what comes first for the answer to the first."""
    first = f"GET /v1/events?wait=5&after={house.head()} HTTP/1.1\r\n"
    first += f"Host: here\r\nAuthorization: Bearer {house.key}\r\n\r\n"

    assert heard(connection, (first.encode(), behind)) == b""


def test_nor_that_of_one_that_was_given(house: House, connection: socket) -> None:
    """This one is refused for want of a key before its body has come, which then goes on."""
    head = chunked("POST /v1/tables/oak/commands HTTP/1.1")
    chunk = b"10000\r\n" + bytes(64 * KIB) + b"\r\n"
    said = heard(connection, (head, *[chunk] * 128))

    assert said.count(b"HTTP/1.1 ") <= 1
    assert said == b"" or said.startswith(b"HTTP/1.1 401 ")


def test_a_refusal_has_the_headers_that_every_answer_has(house: House, connection: socket) -> None:
    connection.sendall(b"GET /livez HTTP/1.1\r\n" + b"X: y\r\n" * 60_000)
    connection.shutdown(SHUT_WR)
    said = heard(connection)

    assert said == b"" or said.startswith(b"HTTP/1.1 431 ")
    for name in (b"x-content-type-options: nosniff", b"cache-control: no-store"):
        assert said == b"" or name in said


def test_who_leaves_a_stream_with_a_request_unanswered_is_no_fault(
    database: Database, http: httpx.Client, tmp_path: Path
) -> None:
    """While the second request waits we do not read, and hear only by writing that he has gone."""
    croupier = Croupier(database)
    croupier.log = tmp_path / "log"
    with croupier:
        house = House(croupier, http)
        with connect(house) as connection:
            connection.settimeout(PATIENCE_SECONDS)
            lines = ("GET /v1/events/stream HTTP/1.1", f"Authorization: Bearer {house.key}")
            connection.sendall("\r\n".join((*lines, "Host: here", "", "")).encode())
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: here\r\n\r\n")
            connection.recv(64 * KIB)
        for _ in range(10):
            house.grant("ada", 1)
            sleep(0.05)
        croupier.end(SIGTERM)

    assert "fail" not in croupier.log.read_text()
    assert "closed" not in croupier.log.read_text()
