"""Telling followers that a log has grown: at once in this process, through Redis in others.

A courtesy and never a truth: a message may be lost, and Redis may be gone. Whoever waits looks
into the log again after a while in any case.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress

from redis.asyncio import Redis
from redis.exceptions import RedisError

_CHANNEL = "croupier:{}:appended:"
"""One for each database of a Redis: what is published in one is heard in all."""

_RETRY_SECONDS = 1.0
_CANCEL_SECONDS = 0.1

_log = logging.getLogger(__name__)


class Wakeups:
    """Use it as `async with Wakeups(redis) as wakeups`; without Redis it serves one process."""

    def __init__(self, redis: "Redis | None" = None) -> None:
        self._redis = redis
        database = redis.connection_pool.connection_kwargs.get("db", 0) if redis else 0
        self._channel = _CHANNEL.format(database)
        self._newest: dict[str, int] = {}
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._outbox: dict[str, int] = {}
        self._publishing: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self.connected = False
        """Whether we hear of other processes."""
        self._said = True
        """What the log was told of it last, beginning with what need not be told."""

    async def __aenter__(self) -> "Wakeups":
        if self._redis:
            self._listening = asyncio.create_task(self._listen(self._redis))
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in (self._listening, self._publishing):
            while task and not task.done():
                task.cancel()  # and again: while it connects, the client of Redis may not hear it
                await asyncio.wait({task}, timeout=_CANCEL_SECONDS)

    def announce(self, house: str, position: int) -> None:
        """Say that the log of a house ends at a position. Returns at once, never raises."""
        self._note(house, position)
        if self._redis:
            self._outbox[house] = position
            if self._publishing is None or self._publishing.done():
                self._publishing = asyncio.create_task(self._publish(self._redis))

    async def wait(self, house: str, after: int, timeout_seconds: float) -> bool:
        """Returns True when the log is known to go beyond `after`, False when time is over."""
        return await self.wait_for_any({house: after}, timeout_seconds)

    async def wait_for_any(self, after: Mapping[str, int], timeout_seconds: float) -> bool:
        """The same for several logs: True when one of them is known to go beyond its `after`."""
        if any(self._newest.get(house, 0) > position for house, position in after.items()):
            return True
        grown = asyncio.Event()
        for house in after:
            self._waiting[house].add(grown)
        try:
            await asyncio.wait_for(grown.wait(), timeout_seconds)
            return True
        except TimeoutError:
            return False
        finally:
            for house in after:
                self._waiting[house].discard(grown)

    def newest(self, houses: Iterable[str]) -> dict[str, int]:
        """How far each log is known to go."""
        return {house: self._newest.get(house, 0) for house in houses}

    def release(self) -> None:
        """Wakes all who wait, though nothing has grown: it is time to go."""
        for waiting in self._waiting.values():
            for grown in waiting:
                grown.set()

    def _note(self, house: str, position: int) -> None:
        if position > self._newest.get(house, 0):
            self._newest[house] = position
            for grown in self._waiting[house]:
                grown.set()

    async def _publish(self, redis: "Redis") -> None:
        """Sends the newest position of each house; what came before it is old news."""
        while self._outbox:
            house, position = self._outbox.popitem()
            with suppress(RedisError, OSError):
                await redis.publish(self._channel + house, position)

    async def _listen(self, redis: "Redis") -> None:
        while True:
            with suppress(RedisError, OSError, ValueError):
                async with redis.pubsub() as channel:
                    await channel.psubscribe(self._channel + "*")
                    self._is_connected(now=True)
                    async for message in channel.listen():
                        if message["type"] == "pmessage":
                            name = message["channel"].decode()
                            self._note(name.removeprefix(self._channel), int(message["data"]))
            self._is_connected(now=False)
            await asyncio.sleep(_RETRY_SECONDS)

    def _is_connected(self, *, now: bool) -> None:
        self.connected = now
        if now is not self._said:
            self._said = now
            _log.warning("Redis %s.", "answers again" if now else "does not answer: news is late")
