"""Callers who hang up: half a request is none, and whoever missed the answer may ask again."""

import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.api.croupier import House, key

PATHS = {
    "POST /v1/tables/oak/commands": {"type": "buy_in", "seat": 1, "amount": 1},
    "POST /v1/players/ada/grants": {"amount": 1},
    "PUT /v1/tables/elm": {"ruleset": "a2g"},
}


@pytest.fixture
def seated(house: House) -> House:
    house.seat("oak", "ada")
    return house


def send(house: House, route: str, body: bytes, length: int, *headers: str) -> socket.socket:
    """A request whose body says to have that length, on a connection of its own."""
    address = urlsplit(house.croupier.address)
    lines = (
        f"{route} HTTP/1.1",
        f"Host: {address.netloc}",
        f"Authorization: Bearer {house.key}",
        f"Content-Length: {length}",
        *headers,
    )
    connection = socket.create_connection((address.hostname or "", address.port or 0))
    connection.sendall("\r\n".join((*lines, "", "")).encode() + body)
    return connection


@pytest.mark.parametrize("route", PATHS)
def test_half_a_body_is_no_command(route: str, seated: House) -> None:
    """Not even when the half that came could be read as one: the rest may be on its way."""
    head = seated.head()
    body = json.dumps(PATHS[route]).encode()

    with send(seated, route, body, len(body) + 10) as connection:
        connection.shutdown(socket.SHUT_WR)
        heard = connection.recv(65536)

    assert heard == b"" or b" 422 " in heard.splitlines()[0]
    assert seated.head() == head


@pytest.mark.parametrize("route", PATHS)
def test_whoever_hung_up_asks_again_with_the_same_key(route: str, seated: House) -> None:
    head = seated.head()
    body: Any = PATHS[route]
    method, path = route.split()
    text = json.dumps(body).encode()

    for _ in range(5):
        send(seated, route, text, len(text), "Idempotency-Key: once").close()
    answer = seated.ask(method, path, json=body, headers=key("once"))

    assert answer.status_code in (200, 201)
    assert seated.head() == head + (2 if "commands" in path else 1)


@pytest.mark.parametrize(
    "noise",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /v1/tables/oak/commands HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/tables/oak/commands HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /v1/tables/oak/commands HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /nowhere HTTP/1.1\r\n" + b"X: y\r\n" * 50_000 + b"\r\n",
    ],
    ids=lambda noise: ascii(noise[:24]),
)
def test_noise_is_refused_and_harms_nobody(noise: bytes, seated: House) -> None:
    head = seated.head()
    address = urlsplit(seated.croupier.address)

    with socket.create_connection((address.hostname or "", address.port or 0)) as connection:
        heard = b""
        try:
            connection.sendall(noise)
            connection.shutdown(socket.SHUT_WR)
            heard = connection.recv(65536)
        except OSError:
            pass  # it hung up before all was said

    assert heard == b"" or heard.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4"))
    assert seated.head() == head
