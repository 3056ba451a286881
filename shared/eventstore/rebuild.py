"""Making a view anew from the log, beside the one that is read, while everybody goes on."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic, LiteralString, TypeVar

from msgspec import Struct
from psycopg import AsyncConnection

from shared.eventstore.projection import BEGIN, Pages, Projection

Item = TypeVar("Item")

MOST_AT_ONCE = 5000
"""Events in a transaction: nobody waits for it, so larger than a worker's page."""

_NEARLY_THERE = 1000
"""When so few events are left, the last of them are written while the worker waits."""


class CannotRebuild(Exception):
    """Somebody else is at it, or there is nothing to go back to. The message says which."""


class Checksum(Struct, frozen=True):
    """Of all rows of a view, in whatever order."""

    rows: int
    sum: str


class Rebuilt(Struct, frozen=True):
    """What was read before and what is read now, compared at a position, where both were.

    `differing` rows of the one are not in the other.
    """

    position: int
    before: Checksum
    now: Checksum
    differing: int


class Rebuild(Generic[Item]):
    """One view of one house. It needs a store with at least four readers."""

    def __init__(self, pages: Pages[Item], projection: Projection[Item], house: str) -> None:
        self._pages = pages
        self._pool = pages.store.readers
        self._projection = projection
        self._house = house
        self._key = (house, projection.name)
        self._generation = 0
        self._position = 0

    async def run(self, progress: Callable[[int, int], None]) -> Rebuilt:
        """Build, compare, and take the place of the view that is read, which is kept.

        `progress(position, target)` is called on the way. Raises CannotRebuild.
        """
        async with self.alone() as mine:
            await mine.execute(BEGIN, self._key)
            old = await self._begin(mine)
            while (target := await self._read_position(mine)) - self._position > _NEARLY_THERE:
                await self._go_on(target)
                progress(self._position, target)
            compared = await self._compare(mine, old)
            async with mine.transaction():
                await self._go_on(await self._hold(mine, old))
                await mine.execute(_FLIP, (self._generation, *self._key))
            await self._forget_all_but(mine, self._generation, old)
            progress(self._position, self._position)
            return compared

    async def roll_back(self) -> int:
        """Read the view that was kept; a worker brings it up to date. Returns its position."""
        async with self.alone() as mine:
            rows = await mine.execute(_ROLL_BACK, self._key)
            for (position,) in await rows.fetchall():
                return int(position)
        raise CannotRebuild("There is no earlier view to go back to.")

    async def _begin(self, mine: AsyncConnection[Any]) -> int:
        """Chooses the new generation and clears what an unfinished rebuild may have left of it.

        Returns the generation that is read.
        """
        rows = await mine.execute(_GENERATIONS, self._key)
        [(old, kept)] = await rows.fetchall()
        self._generation, self._position = max(old, kept or 0) + 1, 0
        await self._forget_all_but(mine, old, kept or old)
        return int(old)

    async def _compare(self, mine: AsyncConnection[Any], old: int) -> Rebuilt:
        """Waits with the worker for no longer than it takes to open a snapshot of both."""
        async with self._pool.connection() as connection:
            await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            try:
                async with mine.transaction():
                    await self._go_on(await self._hold(mine, old))
                    position = await self._read_position(connection)
                assert position == self._position
                before = await self._checksum(connection, old)
                now = await self._checksum(connection, self._generation)
                differing = 0 if before == now else await self._differing(connection, old)
            finally:
                await connection.execute("ROLLBACK")
        return Rebuilt(position, before, now, differing)

    async def _hold(self, mine: AsyncConnection[Any], old: int) -> int:
        """The position of the view that is read, which moves no more until the transaction ends."""
        rows = await mine.execute(_HOLD, self._key)
        [(generation, position)] = await rows.fetchall()
        if generation != old:
            raise CannotRebuild("The view was changed by somebody else meanwhile.")
        return int(position)

    async def _go_on(self, target: int) -> None:
        """Writes the next pages, up to the target."""
        while self._position < target:
            limit = min(MOST_AT_ONCE, target - self._position)
            page = await self._pages.read(self._house, self._position, limit)
            async with self._pool.connection() as connection, connection.transaction():
                await connection.execute("SET LOCAL synchronous_commit = off")
                await self._projection.apply(connection, self._house, self._generation, page.items)
            self._position = page.last

    async def _read_position(self, connection: AsyncConnection[Any]) -> int:
        rows = await connection.execute(_POSITION, self._key)
        [(position,)] = await rows.fetchall()
        return int(position)

    async def _checksum(self, connection: AsyncConnection[Any], generation: int) -> Checksum:
        columns, table = self._projection.columns, self._projection.table
        query = f"""
            SELECT count(*), coalesce(sum(hashtextextended(ROW({columns})::text, 0)), 0)::text
              FROM {table} WHERE house = %s AND generation = %s"""
        rows = await connection.execute(query, (self._house, generation))
        [(count, total)] = await rows.fetchall()
        return Checksum(count, total)

    async def _differing(self, connection: AsyncConnection[Any], old: int) -> int:
        columns, table = self._projection.columns, self._projection.table
        of = f"SELECT {columns} FROM {table} WHERE house = %(house)s AND generation ="
        query = f"""
            SELECT greatest((SELECT count(*) FROM ({of} %(old)s EXCEPT {of} %(new)s) AS more),
                            (SELECT count(*) FROM ({of} %(new)s EXCEPT {of} %(old)s) AS less))"""
        generations = {"house": self._house, "old": old, "new": self._generation}
        [(count,)] = await (await connection.execute(query, generations)).fetchall()
        return int(count)

    async def _forget_all_but(self, mine: AsyncConnection[Any], *generations: int) -> None:
        query = f"DELETE FROM {self._projection.table} WHERE house = %s AND generation <> ALL (%s)"
        await mine.execute(query, (self._house, [*generations]))

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[AsyncConnection[Any]]:
        """A connection that holds off every other rebuild of this view."""
        async with self._pool.connection() as connection:
            rows = await connection.execute(_LOCK, self._key)
            if await rows.fetchall() != [(True,)]:
                raise CannotRebuild("Somebody else rebuilds this view now.")
            try:
                yield connection
            finally:
                await connection.execute(_UNLOCK, self._key)


_LOCK: LiteralString = "SELECT pg_try_advisory_lock(hashtext(%s), hashtext(%s))"
_UNLOCK: LiteralString = "SELECT pg_advisory_unlock(hashtext(%s), hashtext(%s))"

_GENERATIONS: LiteralString = """
    SELECT generation, kept_generation FROM projection_checkpoint WHERE house = %s AND name = %s"""

_POSITION: LiteralString = """
    SELECT position FROM projection_checkpoint WHERE house = %s AND name = %s"""

_HOLD: LiteralString = """
    SELECT generation, position FROM projection_checkpoint
     WHERE house = %s AND name = %s FOR UPDATE"""

_FLIP: LiteralString = """
    UPDATE projection_checkpoint
       SET generation = %s, kept_generation = generation, kept_position = position
     WHERE house = %s AND name = %s"""

_ROLL_BACK: LiteralString = """
    UPDATE projection_checkpoint
       SET generation = kept_generation, position = kept_position,
           kept_generation = generation, kept_position = position
     WHERE house = %s AND name = %s AND kept_generation IS NOT NULL
    RETURNING position"""
