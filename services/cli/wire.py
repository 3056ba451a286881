"""HTTP/1.1 as uvicorn speaks it, with one system call for an answer instead of two."""

import asyncio
from http import HTTPStatus
from typing import Any, Final, Literal

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from shared.kernel.rejected import Rejected

MOST_HEAD_BYTES: Final = 64 * 1024
"""The address and the headers of a request, while they come."""


class OneWrite(HttpToolsProtocol):
    """Sends the head of an answer together with its body.

    uvicorn writes both by themselves and uvloop sends every write at once, so that an answer is
    two packets, and wakes its client twice.
    """

    _head_of: object = None
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(_Joining(transport, self.loop))  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        """Refuses a head that does not end. What its first packet has, 256 KiB at most, is free:
        the end of another request may be in it."""
        super().data_received(data)
        if self.cycle is not None and self.cycle.scope is self.scope:
            return  # it came whole
        if self._head_of is not self.scope:
            self._head_of, self._head_bytes = self.scope, 0
            return
        self._head_bytes += len(data)
        if self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
            hang_up(self.transport, "HeadTooLarge")


def hang_up(transport: asyncio.Transport, why: Literal["HeadTooLarge", "RequestTooSlow"]) -> None:
    """Answers a request that has not come whole with a refusal of `problems`, and closes."""
    from shared.http import problems  # Slow to import; whoever serves has it already.

    refusal: Rejected = getattr(problems, why)()
    body = msgspec.json.encode(problems.document(refusal))
    status = HTTPStatus(refusal.status)
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"content-type: {problems.MEDIA_TYPE}",
        f"content-length: {len(body)}",
        "connection: close",
        "",
        "",
    )
    transport.write("\r\n".join(head).encode() + body)
    transport.close()


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
