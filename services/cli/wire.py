"""HTTP/1.1 as uvicorn speaks it, with one system call for an answer instead of two."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class OneWrite(HttpToolsProtocol):
    """Sends the head of an answer together with its body.

    uvicorn writes both by themselves and uvloop sends every write at once, so that an answer is
    two packets, and wakes its client twice.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(_Joining(transport, self.loop))  # type: ignore[arg-type]


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
