"""Reading from a second database that follows the first, and never seeing less for it.

Where the log of a house ends is asked of the first: one row by its key. What is there to read is
then read from the second, if it has come as far; if not, or if it does not answer, from the first.
So whoever has an answer to a command finds what it did in every later answer, from any process.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from time import monotonic
from typing import Final, TypeVar

import psycopg

from shared.eventstore.postgres import PostgresStore
from shared.eventstore.rejections import Unreachable
from shared.eventstore.store import (
    Append,
    Appended,
    Deadline,
    Fact,
    Head,
    HouseNotOpen,
    Outcome,
    Recorded,
    Snapshot,
)
from shared.kernel.rejected import Rejected

Found = TypeVar("Found")

LEFT_ALONE_SECONDS: Final = 5.0
"""How long a replica that does not answer is not asked again."""

_PATIENCE_SECONDS: Final = 0.25
"""How long we wait for a connection to it. There is another to ask."""

_PAUSES_SECONDS: Final = (0.001, 0.003, 0.01, 0.03)
"""While it is a little behind, as it always is under load."""

_log = logging.getLogger(__name__)


class ReplicaStore:
    """An EventStore for readers: reads the replica when it has all that `primary` has.

    Without a URL everything is read from the primary. Use it as `async with`, inside of that of
    the primary, which it does not open.
    """

    def __init__(
        self, primary: PostgresStore, url: str = "", *, clock: Callable[[], float] = monotonic
    ) -> None:
        self.from_replica = self.from_primary = 0
        """How many reads were answered by which, since the start; none without a replica."""
        self._primary = primary
        self._replica = PostgresStore(url, patience_seconds=_PATIENCE_SECONDS) if url else None
        self._clock = clock
        self._left_alone_until = 0.0
        self._keeps_up = True
        self._reached: dict[str, int] = {}
        self._open = AsyncExitStack()

    async def __aenter__(self) -> "ReplicaStore":
        if self._replica:
            await self._open.enter_async_context(self._replica)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    async def read(self, house: str, read: Callable[[PostgresStore], Awaitable[Found]]) -> Found:
        """What `read` finds in the replica, or in the primary when that knows more or alone
        answers. Raises what `read` raises, and Unreachable."""
        if self._replica is None:
            return await read(self._primary)
        if await self._has_all(self._replica, house):
            try:
                found = await read(self._replica)
            except Unreachable:
                self._leave_alone("does not answer")
            else:
                self.from_replica += 1
                return found
        self.from_primary += 1
        return await read(self._primary)

    async def read_stream(
        self, house: str, stream: str, after: int = 0, limit: int = 1000
    ) -> list[Recorded]:
        return await self.read(house, lambda store: store.read_stream(house, stream, after, limit))

    async def streams(self, house: str, prefix: str, limit: int) -> list[str]:
        return await self.read(house, lambda store: store.streams(house, prefix, limit))

    async def read_log(self, house: str, after: int = 0, limit: int = 1000) -> list[Recorded]:
        return await self.read(house, lambda store: store.read_log(house, after, limit))

    async def stream_facts(
        self, house: str, stream: str, after: int = 0, limit: int = 1000
    ) -> Sequence[Fact]:
        return await self.read(house, lambda store: store.stream_facts(house, stream, after, limit))

    async def log_facts(self, house: str, after: int = 0, limit: int = 1000) -> Sequence[Fact]:
        return await self.read(house, lambda store: store.log_facts(house, after, limit))

    async def read_snapshot(
        self, house: str, stream: str, format: str, at_version: int | None = None
    ) -> Snapshot | None:
        return await self.read(
            house, lambda store: store.read_snapshot(house, stream, format, at_version)
        )

    async def head(self, house: str) -> Head:
        return await self._primary.head(house)

    async def append_batch(
        self, house: str, appends: Sequence[Append]
    ) -> list[Appended | Rejected]:
        return await self._primary.append_batch(house, appends)

    async def outcome(self, house: str, command_id: str) -> Outcome | None:
        return await self._primary.outcome(house, command_id)

    async def write_snapshot(
        self, house: str, stream: str, format: str, snapshot: Snapshot
    ) -> None:
        await self._primary.write_snapshot(house, stream, format, snapshot)

    async def claim_deadlines(
        self, house: str, now: datetime, until: datetime, limit: int = 100
    ) -> list[Deadline]:
        return await self._primary.claim_deadlines(house, now, until, limit)

    async def balance(self, house: str, account: str) -> int:
        return await self._primary.balance(house, account)

    async def _has_all(self, replica: PostgresStore, house: str) -> bool:
        """Whether it has come as far as the primary is now; waits a moment while it keeps up."""
        if self._clock() < self._left_alone_until:
            return False
        try:
            end = (await self._primary.head(house)).position
            for pause in (*_PAUSES_SECONDS, 0.0) if self._keeps_up else (0.0,):
                if await self._come_to(replica, house, end):
                    self._keep_up(True)
                    return True
                await asyncio.sleep(pause)
        except HouseNotOpen:
            return False
        except (Unreachable, psycopg.Error) as error:
            self._leave_alone(f"cannot be read: {error}")
            return False
        self._keep_up(False)
        return False

    async def _come_to(self, replica: PostgresStore, house: str, end: int) -> bool:
        if self._reached.get(house, -1) < end:
            self._reached[house] = (await replica.head(house)).position
        return self._reached[house] >= end

    def _keep_up(self, keeps_up: bool) -> None:
        if keeps_up != self._keeps_up:
            now = "keeps up again" if keeps_up else "is behind; the primary is read"
            _log.warning("The replica %s.", now)
        self._keeps_up = keeps_up

    def _leave_alone(self, why: str) -> None:
        _log.warning("The replica %s; the primary is read for %s s.", why, LEFT_ALONE_SECONDS)
        self._left_alone_until = self._clock() + LEFT_ALONE_SECONDS
        self._reached.clear()
