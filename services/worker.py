"""The background process: what has to be done beside serving, until it is told to stop."""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from typing import Final, TypeAlias

from redis.asyncio import Redis

from services.blackjack.application.shoes import Shoes
from services.blackjack.application.tables import Tables
from services.blackjack.domain.events import REGISTRY as BLACKJACK_EVENTS
from services.ledger.application import REGISTRY as LEDGER_EVENTS
from services.settings import Settings
from shared.eventstore.batcher import Batcher
from shared.eventstore.codec import Codec
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.wakeups import Wakeups

Duty: TypeAlias = Callable[[], Awaitable[float]]
"""Does what is to be done now, and says for how many seconds there will be nothing more."""

_TROUBLE_SECONDS: Final = 1.0
"""How long a duty that failed is left alone."""

_log = logging.getLogger(__name__)


class Worker:
    """Attends to its duties side by side; any number of workers may share one database.

    A duty that fails is tried again and holds up no other. After `stop()` each finishes what it
    is doing; then what it recorded is flushed, and the connections are closed.
    """

    def __init__(self, settings: Settings) -> None:
        codec = Codec.of(Codec(BLACKJACK_EVENTS), Codec(LEDGER_EVENTS))
        self.store = PostgresStore(settings.database_url)
        self.redis = Redis.from_url(settings.redis_url) if settings.redis_url else None
        self.wakeups = Wakeups(self.redis)
        self.batcher = Batcher(self.store, on_appended=self.wakeups.announce)
        ring = {key.id: key.key for key in settings.seed_keys}
        shoes = Shoes(ring, settings.seed_keys[0].id, secrets.token_bytes)
        self.tables = Tables(self.store, self.batcher, codec, shoes, _now)
        self.duties: dict[str, Duty] = {}
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Returns after `stop()`, when everything is put away."""
        async with AsyncExitStack() as stack:
            if self.redis:
                stack.push_async_callback(self.redis.aclose)
            await stack.enter_async_context(self.store)
            await stack.enter_async_context(self.wakeups)
            await stack.enter_async_context(self.batcher)
            async with asyncio.TaskGroup() as attending:
                for name, duty in self.duties.items():
                    attending.create_task(self._attend(name, duty))
                await self._stopping.wait()
            await self.tables.reading.loader.settle()

    def stop(self) -> None:
        """Begin nothing more."""
        self._stopping.set()

    async def houses(self) -> list[str]:
        """Every house whose log is open."""
        async with self.store.readers.connection() as connection:
            rows = await connection.execute("SELECT house FROM log_head ORDER BY house")
            return [house for (house,) in await rows.fetchall()]

    async def _attend(self, name: str, duty: Duty) -> None:
        while not self._stopping.is_set():
            try:
                pause = await duty()
            except Exception as error:
                _log.warning("The duty %r failed and is tried again: %r", name, error)
                pause = _TROUBLE_SECONDS
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)


def _now() -> datetime:
    return datetime.now(UTC)
