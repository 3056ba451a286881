"""Clients that hold a connection and do not get on with it: given up, with a word."""

import socket
from collections.abc import Iterator
from time import monotonic
from urllib.parse import urlsplit

import httpx
import pytest

from tests.api.conftest import a_croupier
from tests.api.croupier import PATIENCE_SECONDS, Croupier, House
from tests.conftest import Cluster

SECONDS = 1.0
BETWEEN_BYTES = 0.1


@pytest.fixture(scope="module")
def hasty(cluster: Cluster) -> Iterator[Croupier]:
    """A croupier with little patience."""
    with a_croupier(cluster, CROUPIER_REQUEST_SECONDS=str(SECONDS)) as croupier:
        yield croupier


@pytest.fixture
def house(hasty: Croupier, http: httpx.Client) -> House:
    house = House(hasty, http)
    house.seat("oak", "ada")
    return house


def connect(house: House) -> socket.socket:
    address = urlsplit(house.croupier.address)
    connection = socket.create_connection((address.hostname or "", address.port or 0))
    connection.settimeout(BETWEEN_BYTES)
    return connection


def trickle(connection: socket.socket, start: bytes, drop: bytes) -> bytes:
    """Sends a start, then a drop now and then, until something is heard; what that is."""
    connection.sendall(start)
    began = monotonic()
    while monotonic() - began < PATIENCE_SECONDS:
        try:
            return connection.recv(65536)
        except TimeoutError:
            connection.sendall(drop)
    pytest.fail("it was waited for without end")


def head(house: House, path: str, length: int) -> bytes:
    lines = (
        f"POST {path} HTTP/1.1",
        "Host: here",
        f"Authorization: Bearer {house.key}",
        f"Content-Length: {length}",
    )
    return "\r\n".join((*lines, "", "")).encode()


@pytest.mark.parametrize("path", ["/v1/tables/oak/commands", "/v1/commands", "/v1/tables"])
def test_a_body_that_trickles_in_is_not_waited_for(path: str, house: House) -> None:
    position = house.head()
    with connect(house) as connection:
        heard = trickle(connection, head(house, path, 10_000) + b'{"type"', b" ")

    if path != "/v1/tables":  # where nobody reads a body: the answer does not wait for it
        assert heard.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert b"content-type: application/problem+json" in heard
        assert b'"type":"/problems/request-too-slow"' in heard
    assert house.head() == position


def test_a_head_that_trickles_in_is_not_waited_for(house: House) -> None:
    with connect(house) as connection:
        heard = trickle(connection, b"GET /livez HTTP/1.1\r\n", b"X: y\r\n")

    assert heard.startswith(b"HTTP/1.1 408 ")


def test_neither_is_the_second_head_on_a_connection(house: House) -> None:
    with connect(house) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        connection.sendall(b"GET /livez HTTP/1.1\r\nHost: here\r\n\r\n")
        assert connection.recv(65536).endswith(b"alive")
        connection.settimeout(BETWEEN_BYTES)
        heard = trickle(connection, b"GET /livez HTTP/1.1\r\n", b"X: y\r\n")

    assert heard.startswith(b"HTTP/1.1 408 ")


def test_who_connects_and_says_nothing_has_to_go(house: House) -> None:
    """Without a word: it may be a spare connection of a load balancer, which would take an answer
    that nobody asked for to be that to the request it is about to send."""
    with connect(house) as connection:
        connection.settimeout(PATIENCE_SECONDS)

        assert connection.recv(65536) == b""


def test_whoever_waits_for_us_is_not_taken_for_slow(house: House) -> None:
    """A feed that waits for news asks us to be slow."""
    began = monotonic()
    waited = house.ask("GET", f"/v1/events?after={house.head()}&wait=3")

    assert waited.status_code == 200
    assert monotonic() - began > 2 * SECONDS


def test_who_was_answered_may_be_idle_for_longer_than_its_clients_keep_a_connection(
    house: House,
) -> None:
    """Many leave after five seconds, and none may find that we have just left."""
    with connect(house) as connection:
        alive(connection)
        connection.settimeout(6.0)
        with pytest.raises(TimeoutError):  # nothing is said, and nobody hangs up
            connection.recv(1)
        alive(connection)


def alive(connection: socket.socket) -> None:
    connection.settimeout(PATIENCE_SECONDS)
    connection.sendall(b"GET /livez HTTP/1.1\r\nHost: here\r\n\r\n")
    assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_a_head_without_end_is_refused(house: House) -> None:
    with connect(house) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        connection.sendall(b"GET /livez HTTP/1.1\r\n")
        heard = b""
        try:
            for _ in range(10_000):
                connection.sendall(b"X: " + b"y" * 1000 + b"\r\n")
        except OSError:
            pass  # it hung up before all was said
        try:
            heard = connection.recv(65536)
        except OSError:
            return  # what it said was lost with the connection, as TCP has it

    assert heard.startswith(b"HTTP/1.1 431 ")
    assert b'"type":"/problems/head-too-large"' in heard


def test_a_long_body_with_the_next_head_behind_it_is_no_long_head(house: House) -> None:
    """Whoever sends requests without waiting for answers may end a packet in the middle of one."""
    body = b'{"commands": [' + b" " * 200_000 + b"]}"
    with connect(house) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        first = head(house, "/v1/commands", len(body)) + body
        connection.sendall(first + b"GET /livez HTTP/1.1\r\nHost: here")
        heard = connection.recv(65536)
        assert heard.startswith(b"HTTP/1.1 422 ")
        connection.sendall(b"\r\n\r\n")
        while not heard.endswith(b"alive"):
            more = connection.recv(65536)
            assert more
            heard += more


def test_a_head_has_a_hundred_headers(house: House) -> None:
    for path in ("/livez", "/v1/tables"):
        many = {f"X-{number}": "y" for number in range(101)}
        refused = house.ask("GET", path, headers=many)

        assert refused.status_code == 431
        assert refused.json()["type"] == "/problems/head-too-large"


@pytest.mark.parametrize(("count", "status"), [(100, b"200"), (101, b"431")])
def test_none_of_the_hundred_is_ours(count: int, status: bytes, house: House) -> None:
    """A request without a trace is given one, which its caller did not send."""
    many = [b"Host: here", *(b"X-%d: y" % number for number in range(count - 1))]
    with connect(house) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        connection.sendall(b"\r\n".join((b"GET /livez HTTP/1.1", *many, b"", b"")))

        assert connection.recv(65536).startswith(b"HTTP/1.1 %b " % status)
