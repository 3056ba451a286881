"""Hearing of keys that have changed: at once, from Postgres, in every process that serves."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection, sql

from shared.http.keys import CHANGED

_RETRY_SECONDS: Final = 1.0
_CANCEL_SECONDS: Final = 0.1
_PLAIN: Final[Mapping[str, Any]] = {"autocommit": True}

_log = logging.getLogger(__name__)


class Revocations:
    """Use it as `async with Revocations(url, forget, options)`; `options` are for the connection.

    Calls `forget(prefix)` for each key that has changed, and `forget(None)` whenever it begins to
    listen, because of what it may have missed. While Postgres does not answer it tries again.
    """

    def __init__(
        self, url: str, forget: Callable[[str | None], None], options: Mapping[str, Any] = _PLAIN
    ) -> None:
        self._url = url
        self._forget = forget
        self._options = options
        self._listening: asyncio.Task[None] | None = None
        self._connected = asyncio.Event()

    async def __aenter__(self) -> "Revocations":
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._listening and not self._listening.done():
            self._listening.cancel()  # and again: while it connects, it may not hear it
            await asyncio.wait({self._listening}, timeout=_CANCEL_SECONDS)

    async def listening(self) -> None:
        """Returns once we hear of revocations."""
        await self._connected.wait()

    async def _listen(self) -> None:
        while True:
            try:
                await self._hear()
            except (psycopg.Error, OSError) as error:
                _log.warning("Revocations of keys are not heard for a moment: %s", error)
            finally:
                self._connected.clear()
            await asyncio.sleep(_RETRY_SECONDS)

    async def _hear(self) -> None:
        """Returns, or raises, when the connection has ended."""
        connection = await AsyncConnection.connect(self._url, **self._options)
        async with connection:
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANGED)))
            self._connected.set()
            self._forget(None)
            async for notice in connection.notifies():
                self._forget(notice.payload)
