"""The load: players at HTTP/1.1 keep-alive connections, in a process of their own.

Every connection is one player after another: take a fresh table, start a run, play ten rounds from
the legal moves in the answers (the least bet, hit below 17, otherwise stand), move on. Commands are
counted and timed once the warm-up is over; opening a table and the grant of chips are played too
but not counted. Any refusal ends the run: nothing is measured that did not work.

    python -m tests.benchmarks.load URL KEY --connections 64 --seconds 8     one line of JSON
"""

import argparse
import asyncio
import secrets
from time import perf_counter
from urllib.parse import urlsplit

import msgspec
import uvloop

from tests.benchmarks.measure import percentile

ROUNDS_A_TABLE = 10
STAND_AT = 17

OPEN = b'{"ruleset":"classic"}'
GRANT = b'{"amount":1000}'
START = b'{"type":"start_run","seat":1,"player":"%s","stake":100}'
BET = b'{"type":"bet","seat":1,"amount":%d}'
HIT = b'{"type":"hit","seat":1,"hand":0}'
STAND = b'{"type":"stand","seat":1,"hand":0}'

WARM_UP_SECONDS = 1.0
PATIENCE_SECONDS = 30.0
"""How long the last answers may take, once the time is over."""


class Move(msgspec.Struct):
    type: str
    min: int = 0


class Hand(msgspec.Struct):
    total: int


class Seat(msgspec.Struct):
    hands: list[Hand]


class View(msgspec.Struct):
    legal_moves: list[Move]
    seats: list[Seat]


class Answer(msgspec.Struct):
    """The part of an answer that a player looks at."""

    table: View


read_answer = msgspec.json.Decoder(Answer).decode


class Refused(Exception):
    """The service answered with something else than success."""


class Connection(asyncio.Protocol):
    """One request at a time, and the body of its answer."""

    def __init__(self, host: str, key: str) -> None:
        self._head = (
            f"Host: {host}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
        )
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    async def request(self, method: str, path: str, body: bytes, key: str) -> bytes:
        """Send a request under an idempotency key. Refused: any answer but 200 and 201."""
        self._answer = asyncio.get_running_loop().create_future()
        head = f"{method} {path} HTTP/1.1\r\n{self._head}Idempotency-Key: {key}\r\n"
        self._transport.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return await self._answer

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        self._received = b""
        if head[9:12] in (b"200", b"201"):
            self._answer.set_result(body)
        else:
            self._answer.set_exception(Refused(f"{head.decode()}\n{body.decode()}"))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._answer.done():
            self._answer.set_exception(exc or Refused("the service closed the connection"))


class Visit(msgspec.Struct, frozen=True):
    """What a load found. `played` counts the commands of the warm-up too."""

    played: int
    per_second: float
    p50_ms: float
    p99_ms: float


class Load:
    """All connections of a run, and what they count."""

    def __init__(self, url: str, key: str, connections: int, seconds: float) -> None:
        self._address = urlsplit(url)
        self._key = key
        self._connections = connections
        self._seconds = seconds
        self._run = secrets.token_hex(4)
        self._played = 0
        self._latencies: list[float] = []

    async def run(self) -> Visit:
        """Play until the time is over."""
        self._begin = perf_counter() + WARM_UP_SECONDS
        self._end = self._begin + self._seconds
        async with asyncio.timeout(WARM_UP_SECONDS + self._seconds + PATIENCE_SECONDS):
            await asyncio.gather(*map(self._play_tables, range(self._connections)))
        milliseconds = [1000 * seconds for seconds in self._latencies]
        return Visit(
            played=self._played,
            per_second=len(milliseconds) / self._seconds,
            p50_ms=percentile(milliseconds, 0.5),
            p99_ms=percentile(milliseconds, 0.99),
        )

    async def _play_tables(self, number: int) -> None:
        host, port = self._address.hostname, self._address.port
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            lambda: Connection(f"{host}:{port}", self._key), host, port
        )
        count = 0
        while perf_counter() < self._end:
            count += 1
            await self._play_table(connection, f"{self._run}-{number}-{count}")

    async def _play_table(self, connection: Connection, name: str) -> None:
        """Open a table for a player of the same name, and play until the last round or the end."""
        await connection.request("PUT", f"/v1/tables/{name}", OPEN, f"{name}.open")
        await connection.request("POST", f"/v1/players/{name}/grants", GRANT, f"{name}.grant")
        command = START % name.encode()
        path, rounds, number = f"/v1/tables/{name}/commands", 0, 0
        while rounds <= ROUNDS_A_TABLE:
            sent = perf_counter()
            body = await connection.request("POST", path, command, f"{name}.{number}")
            received = perf_counter()
            self._played += 1
            if received > self._end:
                return
            if sent >= self._begin:
                self._latencies.append(received - sent)
            number += 1
            command = next_command(read_answer(body).table)
            rounds += command not in (HIT, STAND)


def next_command(view: View) -> bytes:
    """What a plain player at seat 1 does next."""
    moves = {move.type: move for move in view.legal_moves}
    if "bet" in moves:
        return BET % moves["bet"].min
    if "hit" in moves and view.seats[0].hands[0].total < STAND_AT:
        return HIT
    return STAND


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("key")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=8.0)
    options = parser.parse_args()
    load = Load(options.url, options.key, options.connections, options.seconds)
    print(msgspec.json.encode(uvloop.run(load.run())).decode())


if __name__ == "__main__":
    main()
