"""HTTP/1.1 as uvicorn speaks it, with one system call for an answer instead of two."""

import asyncio
from http import HTTPStatus
from typing import Any, Final, Literal

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from shared import telemetry
from shared.kernel.rejected import Rejected

MOST_HEAD_BYTES: Final = 64 * 1024
"""The address and the headers of a request, while they come."""

MOST_BYTES: Final = 2 * 1024 * 1024
"""All of a request, with the edges of its chunks: six times as long as its body, if each has a
byte."""


class OneWrite(HttpToolsProtocol):
    """Sends the head of an answer together with its body.

    uvicorn writes both by themselves and uvloop sends every write at once, so that an answer is
    two packets, and wakes its client twice.
    """

    _counted: object = None
    _bytes = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(_Joining(transport, self.loop))  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        """Refuses a request without end. What its first packet has, 256 KiB at most, is free: the
        end of another request may be in it."""
        super().data_received(data)
        if self._counted is not self.scope:
            self._counted, self._bytes = self.scope, 0
            return
        self._bytes += len(data)
        if self._bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
            if not _has_its_head(self):
                give_up(self, "HeadTooLarge")
            elif self._bytes > MOST_BYTES:
                give_up(self, "BodyTooLarge")

    def on_headers_complete(self) -> None:
        """What comes behind the body as a header is none: nobody would look for it there."""
        super().on_headers_complete()
        self.headers = _NOWHERE

    def send_400_response(self, msg: str) -> None:
        if _may_be_answered(self):
            super().send_400_response(msg)
        else:
            self.transport.close()


def give_up(
    connection: OneWrite, why: Literal["BodyTooLarge", "HeadTooLarge", "RequestTooSlow"]
) -> None:
    """Closes the connection of a request that does not come whole. Its client is told why, with a
    refusal of `problems`, unless that would be taken for the answer to something else."""
    from shared.http import problems  # Slow to import; whoever serves has it already.

    refusal: Rejected = getattr(problems, why)()
    if _may_be_answered(connection):
        connection.transport.write(_written(refusal))
    connection.transport.close()
    if connection.scope is not None:
        telemetry.count_given_up(refusal.slug())


def _has_its_head(connection: OneWrite) -> bool:
    """Whether the head of the newest request has come."""
    return connection.cycle is not None and connection.cycle.scope is connection.scope


def _may_be_answered(connection: OneWrite) -> bool:
    """Whether the next answer is that of the newest request, and has not begun."""
    cycle = connection.cycle
    if connection.scope is None:
        return False  # nobody asked
    if not _has_its_head(connection):
        return cycle is None or cycle.response_complete
    return cycle.more_body and not cycle.response_started and not connection.pipeline


def _written(refusal: Rejected) -> bytes:
    from shared.http import problems
    from shared.http.secured import SECURE

    body = msgspec.json.encode(problems.document(refusal))
    status = HTTPStatus(refusal.status)
    headers = [
        (b"content-type", problems.MEDIA_TYPE.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
        *SECURE,
    ]
    head = b"HTTP/1.1 %d %b\r\n" % (status.value, status.phrase.encode())
    return head + b"".join(b"%b: %b\r\n" % header for header in headers) + b"\r\n" + body


class _Nowhere(list[tuple[bytes, bytes]]):
    """Takes headers, and keeps none."""

    def append(self, _: tuple[bytes, bytes]) -> None:
        pass


_NOWHERE: Final = _Nowhere()


class _Joining:
    """A transport that holds back the head of an answer until the next write.

    Or until the loop's next turn, for a body that is long in coming.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if self._transport.is_closing():
            return  # a client that has gone is no fault of ours
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(b"HTTP/1.1 200 "):
            self._head = data
            self._loop.call_soon(self._flush)
            return
        self._transport.write(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._head:
            self.write(b"")
