"""Group commit: every command that waits goes into the next transaction."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import NamedTuple

from shared import spans
from shared.eventstore.rejections import Overloaded, Unreachable, WaitedTooLong
from shared.eventstore.store import Append, Appended, EventStore, HouseNotOpen
from shared.kernel.rejected import Rejected
from shared.telemetry import observe_batch

RECONNECT_SECONDS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""The pauses before a batch is sent again to a store that did not answer."""

_LOOK_SECONDS = 0.1
"""How late a command may learn that its time is over. One look for all is cheaper than a timer
for each."""


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
        patience: float = 5.0,
        on_appended: Callable[[str, int], None] | None = None,
        pauses: Sequence[float] = RECONNECT_SECONDS,
    ) -> None:
        """`patience`: how many seconds a command may wait, `deadline` says until when.
        `on_appended(house, last_position)` is called after each flush that recorded."""
        self._store = store
        self._most_in_a_batch = most_in_a_batch
        self._most_waiting = most_waiting
        self._patience = patience
        self._on_appended = on_appended
        self._pauses = pauses
        self._queues: dict[str, deque[_Waiting]] = {}
        self._count = 0
        self._sent: list[_Waiting] = []
        self._flushing: asyncio.Task[None] | None = None
        self._looking: asyncio.TimerHandle
        self._closed = False

    async def __aenter__(self) -> "Batcher":
        self._look_at_the_clock()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
        self._looking.cancel()

    @property
    def waiting(self) -> int:
        """How many commands wait for the next flush."""
        return self._count

    def deadline(self) -> float:
        """Until when, on the clock of the loop, a command that comes now may wait."""
        return asyncio.get_running_loop().time() + self._patience

    def refuse_the_late(self, deadline: float) -> None:
        """Raises WaitedTooLong when the deadline is over."""
        if deadline <= asyncio.get_running_loop().time():
            raise WaitedTooLong()

    async def append(self, house: str, append: Append, deadline: float | None = None) -> Appended:
        """Record one command, together with those of others.

        Raises its Rejected; Overloaded when too many wait or we stop; WaitedTooLong when it was
        not sent before the deadline, and is taken back; Unreachable when the store is gone or has
        not answered by then; HouseNotOpen. A caller that is cancelled takes back a command that
        still waits; one that is on its way may be recorded.
        """
        if self._closed:
            raise Overloaded("The service is stopping.")
        if self._count >= self._most_waiting:
            raise Overloaded(f"{self._count} commands are waiting already.")
        deadline = deadline or self.deadline()
        answer: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        waiting = _Waiting(append, answer, deadline, spans.current())
        self._queues.setdefault(house, deque()).append(waiting)
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
                house, self._sent = self._next()
                if self._sent:
                    await self._flush(house, self._sent)
        finally:
            self._flushing, self._sent = None, []

    def _look_at_the_clock(self) -> None:
        """Answers everybody whose time is over, and forgets whom nobody waits for."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        for waiting in self._sent:
            if waiting.deadline <= now:
                waiting.settle(_unknown(waiting.append.command_id))
        for house, queue in self._queues.items():
            for waiting in queue:
                if waiting.deadline <= now:
                    waiting.settle(WaitedTooLong())
            self._queues[house] = deque(each for each in queue if not each.answer.done())
        self._count = sum(map(len, self._queues.values()))
        self._looking = loop.call_later(_LOOK_SECONDS, self._look_at_the_clock)

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
            with spans.span(
                "append_batch",
                kind="CLIENT",
                links=(waiting.span for waiting in batch),
                db__system__name="postgresql",
                db__operation__name="append_batch",
                db__operation__batch__size=len(batch),
            ):
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
        began = perf_counter()
        answers = await self._send_until_answered(house, appends)
        observe_batch(perf_counter() - began, map(_outcome, answers))
        return answers

    async def _send_until_answered(
        self, house: str, appends: Sequence[Append]
    ) -> Sequence[Appended | Rejected]:
        for pause in self._pauses:
            try:
                return await self._store.append_batch(house, appends)
            except Unreachable:
                await asyncio.sleep(pause)
        return await self._store.append_batch(house, appends)


def _outcome(answer: Appended | Rejected) -> str:
    if isinstance(answer, Appended):
        return "replayed" if answer.replayed else "accepted"
    return answer.slug()


def _unknown(command_id: str) -> Unreachable:
    return Unreachable(
        f"The log has not answered in time. Send the same command with the Idempotency-Key "
        f"{command_id} again: the answer tells what became of it, and it happens once at most."
    )


class _Waiting(NamedTuple):
    append: Append
    answer: "asyncio.Future[Appended]"
    deadline: float
    span: object = None
    """That of its request, where spans are collected."""

    def settle(self, answer: Appended | Rejected | Exception) -> None:
        if self.answer.done():  # its caller was cancelled
            return
        if isinstance(answer, Exception):
            self.answer.set_exception(answer)
        else:
            self.answer.set_result(answer)
