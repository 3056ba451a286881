"""Where tables and rounds are found in the log."""

from typing import Any

from psycopg_pool import AsyncConnectionPool

from services.blackjack.application.reading import table_stream


class Catalogue:
    """Lists of tables, and the place of a round in its table's stream."""

    def __init__(self, pool: AsyncConnectionPool[Any]) -> None:
        self._pool = pool

    async def tables(self, house: str, after: str, limit: int) -> list[str]:
        """The ids of the tables after an id, in the order of the ids."""
        prefix = table_stream("")
        rows = await self._rows(
            """
            SELECT stream FROM stream_head
             WHERE house = %s AND stream > %s AND starts_with(stream, %s)
             ORDER BY stream LIMIT %s
            """,
            (house, table_stream(after), prefix, limit),
        )
        return [stream.removeprefix(prefix) for (stream,) in rows]

    async def round(self, house: str, table_id: str, number: int) -> tuple[int, int] | None:
        """The versions of the first and the last event of a round, its bets included.

        A round that is still open ends with the newest event. None when it was never opened.
        """
        stream = table_stream(table_id)
        ends = await self._rows(
            """
            SELECT version FROM event_log
             WHERE house = %s AND stream = %s AND type = 'blackjack.seed_revealed'
             ORDER BY version OFFSET %s LIMIT 2
            """,
            (house, stream, max(number - 2, 0)),
        )
        versions = [version for (version,) in ends]
        first = 1 if number == 1 else versions.pop(0) + 1 if versions else None
        if first is None:
            return None
        if versions:
            return first, versions[0]
        opened = await self._rows(
            """
            SELECT max(version) FROM event_log
             WHERE house = %s AND stream = %s AND version >= %s
            HAVING bool_or(type = 'blackjack.round_opened')
            """,
            (house, stream, first),
        )
        return (first, opened[0][0]) if opened else None

    async def _rows(self, query: Any, parameters: tuple[object, ...]) -> list[Any]:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(query, parameters)
            rows: list[Any] = await cursor.fetchall()
            return rows
