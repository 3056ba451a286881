"""Group commit: every command that waits goes into the next transaction."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from shared.eventstore.rejections import Overloaded, Unreachable
from shared.eventstore.store import Append, Appended, EventStore, HouseNotOpen
from shared.kernel.rejected import Rejected

RECONNECT_SECONDS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""The pauses before a batch is sent again to a store that did not answer."""


class Batcher:
    """Appends for many callers over one connection, a batch at a time.

    There is no timer: a flush starts when the last one returns, and takes what has come in
    meanwhile for one house. The busier the log, the larger the batch. Use it as
    `async with Batcher(store) as batcher`; leaving flushes what waits.
    """

    def __init__(
        self,
        store: EventStore,
        *,
        most_in_a_batch: int = 128,
        most_waiting: int = 4096,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        on_appended: Callable[[str, int], None] | None = None,
        pauses: Sequence[float] = RECONNECT_SECONDS,
    ) -> None:
        """`on_appended(house, last_position)` is called after each flush that recorded."""
        self._store = store
        self._most_in_a_batch = most_in_a_batch
        self._most_waiting = most_waiting
        self._clock = clock
        self._on_appended = on_appended
        self._pauses = pauses
        self._queues: dict[str, deque[_Waiting]] = {}
        self._count = 0
        self._flushing: asyncio.Task[None] | None = None
        self._closed = False

    async def __aenter__(self) -> "Batcher":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def waiting(self) -> int:
        """How many commands wait for the next flush."""
        return self._count

    async def append(self, house: str, append: Append) -> Appended:
        """Record one command, together with those of others.

        Raises its Rejected; Overloaded when too many wait or we stop; Unreachable when the store
        is gone; HouseNotOpen. A caller that is cancelled takes back a command that still waits;
        one that is on its way may be recorded.
        """
        if self._closed:
            raise Overloaded("The service is stopping.")
        if self._count >= self._most_waiting:
            raise Overloaded(f"{self._count} commands are waiting already.")
        answer: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(house, deque()).append(_Waiting(append, answer))
        self._count += 1
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush_all())
        return await answer

    async def close(self) -> None:
        """Take no more, and record what waits."""
        self._closed = True
        if self._flushing:
            await self._flushing

    async def _flush_all(self) -> None:
        try:
            while self._queues:
                house, batch = self._next()
                if batch:
                    await self._flush(house, batch)
        finally:
            self._flushing = None

    def _next(self) -> "tuple[str, list[_Waiting]]":
        """The commands that have waited longest in the house whose turn it is.

        A batch ends before a command id that it holds already: the outcome of the first answers
        the second, in the next batch.
        """
        house, queue = next(iter(self._queues.items()))
        del self._queues[house]
        batch: dict[str, _Waiting] = {}
        while queue and len(batch) < self._most_in_a_batch:
            if queue[0].append.command_id in batch:
                break
            waiting = queue.popleft()
            self._count -= 1
            if not waiting.answer.done():
                batch[waiting.append.command_id] = waiting
        if queue:
            self._queues[house] = queue
        return house, list(batch.values())

    async def _flush(self, house: str, batch: "list[_Waiting]") -> None:
        try:
            answers = await self._send(house, [waiting.append for waiting in batch])
        except Exception as error:
            if len(batch) > 1 and not isinstance(error, Unreachable | HouseNotOpen):
                # Nothing was recorded because of one of them: each on its own finds out which.
                for waiting in batch:
                    await self._flush(house, [waiting])
                return
            answers = [error] * len(batch)
        for waiting, answer in zip(batch, answers, strict=True):
            waiting.settle(answer)
        recorded = [answer.last_position for answer in answers if isinstance(answer, Appended)]
        if recorded and self._on_appended:
            asyncio.get_running_loop().call_soon(self._on_appended, house, max(recorded))

    async def _send(
        self, house: str, appends: Sequence[Append]
    ) -> "Sequence[Appended | Exception]":
        """Sends the same command ids until an answer comes: what was recorded is not again."""
        for pause in self._pauses:
            try:
                return await self._store.append_batch(house, appends, self._clock())
            except Unreachable:
                await asyncio.sleep(pause)
        return await self._store.append_batch(house, appends, self._clock())


class _Waiting(NamedTuple):
    append: Append
    answer: "asyncio.Future[Appended]"

    def settle(self, answer: Appended | Rejected | Exception) -> None:
        if self.answer.done():  # its caller was cancelled
            return
        if isinstance(answer, Exception):
            self.answer.set_exception(answer)
        else:
            self.answer.set_result(answer)
