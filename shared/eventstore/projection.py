"""Views that follow the log: a page of it becomes rows, written together with how far they go."""

import logging
import secrets
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from time import monotonic
from typing import Any, Generic, LiteralString, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct
from psycopg import AsyncConnection, OperationalError

from shared import spans
from shared.eventstore import arrays
from shared.eventstore.chain import ChainBroken
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.rejections import Archived, Unreachable
from shared.eventstore.store import Fact
from shared.telemetry import count_view_failure, expect_views, observe_page

Item = TypeVar("Item")

Open: TypeAlias = Callable[[str, Sequence[Fact]], Awaitable[Sequence[Item]]]
"""`open(house, records)`: what consecutive records mean to the views of a context."""

PAGE = 1000
"""The most events that are written in one transaction."""

LEASE = timedelta(seconds=5)
"""How long a view stays with the worker that wrote it last, before another may go on with it."""

_SET_ASIDE_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Projection(Struct, Generic[Item], frozen=True):
    """A view: a pure function of what happened, and the statement that writes what it gives."""

    name: str
    table: LiteralString
    columns: LiteralString
    """All of the table's after `house` and `generation`."""
    rows: Callable[[Sequence[Item]], Iterable[tuple[Any, ...]]]
    """What the items change. They come in the order of the log, and no more than a page."""
    packers: tuple[Callable[[Sequence[Any]], bytes], ...]
    """How each place of those rows becomes an array."""
    write: LiteralString
    """Takes house, generation, and the rows as arrays: one for each place."""
    looks: int = 0
    """How often the statement names house and generation once more after that, to read its table
    where it is: what it adds to depends on what there is."""

    async def apply(
        self, connection: AsyncConnection[Any], house: str, generation: int, items: Sequence[Item]
    ) -> None:
        """Write what the items change, in the transaction of the connection."""
        columns = list(zip(*self.rows(items), strict=True))
        if columns:
            packed = [pack(column) for pack, column in zip(self.packers, columns, strict=True)]
            cursor = connection.cursor(binary=True)
            arrays.register(cursor)
            where = house, generation
            await cursor.execute(self.write, (*where, *packed, *where * self.looks))


class Page(Struct, Generic[Item], frozen=True):
    """Consecutive events of a house: those at `after` + 1 to `last`, and what they mean."""

    house: str
    after: int
    last: int
    items: Sequence[Item]


class Pages(Generic[Item]):
    """Reads a log page by page, and insists that none is missing."""

    def __init__(self, store: PostgresStore, open_records: Open[Item]) -> None:
        self.store = store
        self._open = open_records

    async def read(self, house: str, after: int, limit: int = PAGE) -> Page[Item]:
        """The next events after a position. Raises ChainBroken rather than skip one."""
        records = await self.store.log_facts(house, after, limit)
        for expected, record in enumerate(records, after + 1):
            if record.position != expected:
                raise ChainBroken(expected, f"a gap, the next event has {record.position}.")
        return Page(house, after, after + len(records), await self._open(house, records))


class Projector(Generic[Item]):
    """Keeps views up to date, in all houses, side by side with any number of others like it.

    A view is written by one at a time: the compare-and-set of its position makes that safe, the
    lease that comes with it makes it cheap. When one of us dies, another goes on with its views
    as soon as the lease is over. Use it as `async with Projector(…)`; leaving gives them up.
    """

    def __init__(
        self, pages: Pages[Item], projections: Sequence[Projection[Item]], *, page: int = PAGE
    ) -> None:
        self._pages = pages
        self._pool = pages.store.readers
        self._projections = {each.name: each for each in projections}
        self._page = page
        self._me = secrets.token_hex(8)
        self._set_aside: dict[tuple[str, str], float] = {}
        expect_views(self._projections)

    async def __aenter__(self) -> "Projector[Item]":
        return self

    async def __aexit__(self, *_: object) -> None:
        with suppress(OperationalError):  # then others wait until the leases are over
            async with self._pool.connection() as connection:
                await connection.execute(_GIVE_UP, (self._me,))

    async def advance(self) -> bool:
        """Moves every view that is behind by one page. Says whether there is more to do at once."""
        more = False
        for (house, position), due in (await self._due()).items():
            with spans.span("write views", views=len(due)):
                if page := await self._read(house, position, due):
                    observe_page(page.last - page.after)
                    await self._move(page, due)
                    more = more or page.last - page.after == self._page
        return more

    async def _read(self, house: str, position: int, due: "list[_Due]") -> Page[Item] | None:
        """The next page; without one its views are set aside, so that no other house waits."""
        try:
            return await self._pages.read(house, position, self._page)
        except Unreachable:
            raise
        except Archived as gone:  # a view that is newer than the archive
            names = ", ".join(each.name for each in due)
            _log.error("The views %s of %s wait for what is in the archive: %s", names, house, gone)
        except Exception:
            _log.exception("The log of %s cannot be read after %d", house, position)
            for each in due:
                count_view_failure(each.name)
        for each in due:
            self._set_aside[house, each.name] = monotonic() + _SET_ASIDE_SECONDS
        return None

    async def _due(self) -> "dict[tuple[str, int], list[_Due]]":
        """What is behind and free to be written, by where it stands: a page serves them all."""
        now = monotonic()
        due = defaultdict(list)
        async with self._pool.connection() as connection:
            rows = await connection.execute(_DUE, (list(self._projections), self._me))
            for house, name, generation, position in await rows.fetchall():
                if generation is None:
                    await connection.execute(BEGIN, (house, name))
                    generation = 1
                if self._set_aside.get((house, name), now) <= now:
                    due[house, position].append(_Due(name, generation))
        return due

    async def _move(self, page: Page[Item], due: "list[_Due]") -> None:
        """All of them in one transaction; each in one of its own when that fails."""
        try:
            await self._write(page, due)
        except Exception:
            if len(due) > 1:
                for each in due:
                    await self._move(page, [each])
                return
            name = due[0].name
            count_view_failure(name)
            _log.exception("The view %s of %s fails after %d", name, page.house, page.after)
            self._set_aside[page.house, name] = monotonic() + _SET_ASIDE_SECONDS

    async def _write(self, page: Page[Item], due: "list[_Due]") -> None:
        names, generations = zip(*due, strict=True)
        async with (
            self._pool.connection() as connection,
            connection.pipeline(),
            connection.transaction(),
        ):
            await connection.execute("SET LOCAL synchronous_commit = off")
            me, house = self._me, page.house
            moved = await connection.execute(
                _MOVE, (page.last, me, LEASE, house, page.after, me, [*names], [*generations])
            )
            for name, generation in await moved.fetchall():
                projection = self._projections[name]
                await projection.apply(connection, house, generation, page.items)


class _Due(NamedTuple):
    name: str
    generation: int


_DUE: LiteralString = """
    SELECT h.house, n.name, c.generation, coalesce(c.position, 0)
      FROM log_head h
     CROSS JOIN unnest(%s::text[]) AS n(name)
      LEFT JOIN projection_checkpoint c ON c.house = h.house AND c.name = n.name
     WHERE h.position > coalesce(c.position, 0)
       AND (c.holder IS NULL OR c.holder = %s OR c.held_until < now())
     ORDER BY h.house"""

BEGIN: LiteralString = """
    INSERT INTO projection_checkpoint (house, name, generation, position, holder, held_until)
    VALUES (%s, %s, 1, 0, '', '-infinity') ON CONFLICT DO NOTHING"""

_MOVE: LiteralString = """
    UPDATE projection_checkpoint c
       SET position = %s, holder = %s, held_until = now() + %s
     WHERE c.house = %s AND c.position = %s
       AND (c.holder = %s OR c.held_until < now())
       AND (c.name, c.generation) IN (SELECT * FROM unnest(%s::text[], %s::int[]))
    RETURNING c.name, c.generation"""

_GIVE_UP: LiteralString = """
    UPDATE projection_checkpoint SET held_until = '-infinity' WHERE holder = %s"""
