"""The figures of all processes that serve one address, whichever of them is asked.

A scrape reaches one process, the kernel says which. So each shows its figures to the others too, on
a port of the loopback that the supervisor has opened for it, and who is asked asks them all: a
connection is answered with the text, and closed.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from shared.telemetry import merged

_PATIENCE_SECONDS: Final = 1.0
"""How long another process may take: one that is being replaced does not answer at all."""


class Together:
    """One of several processes, or one alone: `own(process)` gives its figures, each labelled with
    the number of the process unless that is ''. Use it as `async with`."""

    def __init__(
        self, own: Callable[[str], bytes], listeners: Sequence[socket.socket], number: int
    ) -> None:
        self._own = own
        self._addresses = [listener.getsockname() for listener in listeners]
        self._listener = listeners[number] if listeners else None
        self._number = number
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "Together":
        if self._listener:
            self._server = await asyncio.start_server(self._tell, sock=self._listener)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server:
            self._server.close()

    async def figures(self) -> bytes:
        """Those of every process that answers in time."""
        if not self._addresses:
            return self._own("")
        others = [at for number, at in enumerate(self._addresses) if number != self._number]
        told = await asyncio.gather(*map(_asked, others))
        return merged([self._own(str(self._number)), *told])

    async def _tell(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            writer.write(self._own(str(self._number)))
            await writer.drain()
        writer.close()


async def _asked(address: tuple[str, int]) -> bytes:
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(_PATIENCE_SECONDS):
            reader, writer = await asyncio.open_connection(*address)
            try:
                return await reader.read()
            finally:
                writer.close()
    return b""
