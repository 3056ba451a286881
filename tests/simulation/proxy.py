"""A wire that can be cut: TCP through this process, to any port of this machine."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable

_CHUNK_BYTES = 64 * 1024


class Proxy:
    """Use it as `async with Proxy(lambda: port) as proxy`; clients connect to `proxy.port`."""

    def __init__(self, target: Callable[[], int]) -> None:
        self._target = target
        self._open: dict[int, StreamWriter] = {}
        self._count = 0
        self.port = 0
        self.delay_seconds = 0.0
        """Of every piece, in both directions."""
        self.is_cut = False

    async def __aenter__(self) -> "Proxy":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.cut()
        self._server.close()

    def cut(self) -> None:
        """Whatever is on the wire is lost, and nobody gets through until it is mended."""
        self.is_cut = True
        for writer in list(self._open.values()):
            writer.transport.abort()

    def mend(self) -> None:
        self.is_cut = False

    async def _connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            if self.is_cut:
                raise ConnectionError
            there, away = await asyncio.open_connection("127.0.0.1", self._target())
        except OSError:
            writer.transport.abort()
            return
        ends = [self._hold(end) for end in (writer, away)]
        await asyncio.gather(self._carry(reader, away), self._carry(there, writer))
        for end in ends:
            del self._open[end]

    def _hold(self, writer: StreamWriter) -> int:
        self._count += 1
        self._open[self._count] = writer
        return self._count

    async def _carry(self, reader: StreamReader, writer: StreamWriter) -> None:
        """One direction, until either side hangs up; the other side hears of it."""
        try:
            while chunk := await reader.read(_CHUNK_BYTES):
                if self.delay_seconds:
                    await asyncio.sleep(self.delay_seconds)
                writer.write(chunk)
                await writer.drain()
        except OSError:
            writer.transport.abort()
        else:
            writer.close()
