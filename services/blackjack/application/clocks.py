"""What is due at tables: time-outs where nobody acts, and the turns of computer players.

Any worker may attend to any of them.
"""

import logging
from asyncio import gather
from collections.abc import Callable
from datetime import datetime, timedelta

from services.blackjack.application.computers import Computers
from services.blackjack.application.reading import table_id
from services.blackjack.application.tables import Tables, is_for_computers
from services.blackjack.domain.commands import TimeOut
from shared import spans
from shared.eventstore.cause import Cause
from shared.eventstore.rejections import Unreachable
from shared.eventstore.store import Deadline, EventStore
from shared.kernel.rejected import Rejected
from shared.tracing import named

CLAIM = timedelta(seconds=2)
"""How long a claimed deadline is ours: another worker fires it then, should we have died."""

_MOST_AT_ONCE = 64

_log = logging.getLogger(__name__)


class Clocks:
    """Fires deadlines as recorded commands. `late` is told by how much each clock was late."""

    def __init__(
        self,
        store: EventStore,
        tables: Tables,
        computers: Computers,
        clock: Callable[[], datetime],
        late: Callable[[timedelta], None],
    ) -> None:
        self._store = store
        self._tables = tables
        self._computers = computers
        self._clock = clock
        self._late = late

    async def fire_due(self, house: str) -> int:
        """Fire what is due in a house, once over all workers. Returns how many were found."""
        now = self._clock()
        due = await self._store.claim_deadlines(house, now, now + CLAIM, _MOST_AT_ONCE)
        await gather(*(self._answer(house, deadline) for deadline in due))
        return len(due)

    async def _answer(self, house: str, deadline: Deadline) -> None:
        """What cannot be done at one table holds up no other; when its claim is over, it is tried
        again."""
        try:
            if not is_for_computers(deadline):
                await self._fire(house, deadline)
            elif ran_out := await self._computers.act(house, deadline.stream):
                await self._fire(house, ran_out)
        except Unreachable:
            raise
        except Exception:
            _log.exception("What is due at %s of %s fails", deadline.stream, house)

    async def _fire(self, house: str, deadline: Deadline) -> None:
        # One turn times out once. No caller's key has a space, so none can take this one.
        name = f"time-out {deadline.stream} {deadline.turn}"
        cause = Cause(house=house, actor="clock", id=name, traceparent=named(house, name))
        command = TimeOut(deadline.turn)
        try:
            with spans.span("time out", parent=cause.traceparent):
                answered = await self._tables.play(cause, table_id(deadline.stream), command)
        except Rejected:
            return  # somebody acted in time, or the claim runs out and it is tried again
        if not answered.replayed:
            self._late(self._clock() - deadline.due)
