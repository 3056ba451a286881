"""How far views have come: to wait for one, and to measure how far it is behind."""

import asyncio
from datetime import UTC, datetime
from time import monotonic
from typing import Any, ClassVar, Final, LiteralString, NamedTuple

from msgspec import Struct
from psycopg_pool import AsyncConnectionPool

from shared.eventstore.envelope import decided_at
from shared.kernel.rejected import Rejected

MOST_WAIT_SECONDS: Final = 5.0
"""How long a reader waits for a view at most."""

_LOOK_AGAIN_SECONDS: Final = 0.02


class ViewBehind(Rejected):
    """The view has not come that far yet.

    Lists are kept up to date beside the log, and are behind it for a moment, or for longer while
    no worker runs. `position` is where the view is now. Nothing is wrong with what was recorded:
    wait for `retry_after` seconds and ask again, or ask without `wait_for` for what there is.
    """

    status: ClassVar[int] = 503

    def __init__(self, name: str, position: int, wait_for: int) -> None:
        super().__init__(
            f"The view {name!r} is at position {position}, not yet at {wait_for}.",
            position=position,
            retry_after=1,
        )


class Checkpoint(Struct, frozen=True):
    """The generation of a view that is read now, and the position it has come to."""

    generation: int
    position: int


class Lag(NamedTuple):
    """How far a view is behind the log, in the house where it is furthest behind.

    `seconds` is the age of the oldest event that it does not have.
    """

    events: int
    seconds: float


class Checkpoints:
    """Asks the database, once for all who wait for the same view."""

    def __init__(self, pool: AsyncConnectionPool[Any]) -> None:
        self._pool = pool
        self._looks: dict[tuple[str, str], asyncio.Task[Checkpoint]] = {}

    async def reached(self, house: str, name: str, wait_for: int = 0) -> Checkpoint:
        """Where a view is, at `wait_for` or beyond. Raises ViewBehind when that takes too long."""
        deadline = monotonic() + MOST_WAIT_SECONDS
        checkpoint = await self._read(house, name)
        while checkpoint.position < wait_for:
            if monotonic() > deadline:
                raise ViewBehind(name, checkpoint.position, wait_for)
            checkpoint = await asyncio.shield(self._next_look(house, name))
        return checkpoint

    async def lag(self) -> dict[str, Lag]:
        """Every view by its name."""
        async with self._pool.connection() as connection:
            rows = await (await connection.execute(_LAG)).fetchall()
        now, lags = datetime.now(UTC), dict[str, Lag]()
        for name, events, envelope in rows:
            decided = envelope and decided_at(envelope)
            seconds = (now - decided).total_seconds() if decided else 0.0
            known = lags.get(name, Lag(0, 0.0))
            lags[name] = Lag(max(known.events, events), max(known.seconds, seconds))
        return lags

    def _next_look(self, house: str, name: str) -> "asyncio.Task[Checkpoint]":
        look = self._looks.get((house, name))
        if look is None or look.done():
            look = self._looks[house, name] = asyncio.create_task(self._look_soon(house, name))
        return look

    async def _look_soon(self, house: str, name: str) -> Checkpoint:
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        self._looks.pop((house, name), None)
        return await self._read(house, name)

    async def _read(self, house: str, name: str) -> Checkpoint:
        async with self._pool.connection() as connection:
            rows = await connection.execute(_CHECKPOINT, (house, name))
            return Checkpoint(*(await rows.fetchone() or (1, 0)))


_CHECKPOINT: LiteralString = """
    SELECT generation, position FROM projection_checkpoint WHERE house = %s AND name = %s"""

_LAG: LiteralString = """
    SELECT c.name, h.position - c.position, e.envelope
      FROM projection_checkpoint c
      JOIN log_head h ON h.house = c.house
      LEFT JOIN event_log e ON e.house = c.house AND e.position = c.position + 1"""
