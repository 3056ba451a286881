"""The tables as they are, for lobbies: many at a glance, each without its cards."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from psycopg.rows import class_row
from psycopg_pool import AsyncConnectionPool

from services.blackjack.application.plays import Happened, at_tables
from services.blackjack.domain.table import Betting, Round, Table
from services.blackjack.domain.view import Phase, phase
from shared.eventstore.arrays import int4s, int8s, texts
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.projection import Projection


def _rows(items: Sequence[Happened]) -> Iterable[tuple[Any, ...]]:
    """Every table that anything happened at, as the last event left it."""
    for last in {item.table.id: item for item in items}.values():
        table = last.table
        yield (
            *(table.id, table.rules.name, phase(table), table.host or "", table.rules.seats),
            " ".join(seat.player for _, seat in table.seated()),
            *(table.rounds, last.version, last.position, _seed_key(table)),
        )


def _seed_key(table: Table) -> str:
    """The key that opens the seed of the running or the next round."""
    match table.stage:
        case Round(sealed=sealed) | Betting(next=sealed):
            return sealed.key_id
    return ""


TABLES: Final = Projection(
    name="tables",
    table="projected_table",
    columns="id, ruleset, phase, host, seats, players, rounds, version, position, seed_key",
    rows=at_tables(_rows),
    packers=(texts, texts, texts, texts, int4s, texts, int8s, int8s, int8s, texts),
    write="""
        INSERT INTO projected_table AS t (house, generation, id, ruleset, phase, host, seats,
                                          players, rounds, version, position, seed_key)
        SELECT %b, %b, n.id, n.ruleset, n.phase, nullif(n.host, ''), n.seats,
               string_to_array(n.players, ' '), n.rounds, n.version, n.position,
               nullif(n.seed_key, '')
          FROM unnest(%b, %b, %b, %b, %b, %b, %b, %b, %b, %b)
            AS n(id, ruleset, phase, host, seats, players, rounds, version, position, seed_key)
        ON CONFLICT (house, generation, id) DO UPDATE
           SET phase = excluded.phase, host = excluded.host, players = excluded.players,
               rounds = excluded.rounds, version = excluded.version, position = excluded.position,
               seed_key = excluded.seed_key
        """,
)


class TableSummary(Struct, frozen=True):
    """A table at a glance: who sits there, in the order of the seats, and what it waits for.

    `rounds` is how many have been dealt, `version` and `position` those of its last event.
    """

    id: str
    ruleset: str
    phase: Phase
    host: str | None
    seats: int
    players: list[str]
    rounds: int
    version: int
    position: int


class TablePage(Struct, frozen=True):
    """A part of the tables, by id. `next` continues it; null at the end.

    `position` is the place in the log up to which nothing is missing.
    """

    data: list[TableSummary]
    next: str | None
    position: int


class TableList:
    """The reading side."""

    def __init__(self, pool: AsyncConnectionPool[Any], checkpoints: Checkpoints) -> None:
        self._pool = pool
        self._checkpoints = checkpoints

    async def page(
        self,
        house: str,
        after: str,
        limit: int,
        *,
        phase: Phase | None = None,
        ruleset: str | None = None,
        wait_for: int = 0,
    ) -> TablePage:
        """The tables after an id, in the order of the ids. Raises ViewBehind."""
        at = await self._checkpoints.reached(house, TABLES.name, wait_for)
        async with (
            self._pool.connection() as connection,
            connection.cursor(row_factory=class_row(TableSummary)) as cursor,
        ):
            await cursor.execute(
                """
                SELECT id, ruleset, phase, host, seats, players, rounds, version, position
                  FROM projected_table
                 WHERE house = %(house)s AND generation = %(generation)s AND id > %(after)s
                   AND (%(phase)s::text IS NULL OR phase = %(phase)s)
                   AND (%(ruleset)s::text IS NULL OR ruleset = %(ruleset)s)
                 ORDER BY id LIMIT %(limit)s
                """,
                {
                    **{"house": house, "generation": at.generation, "after": after},
                    **{"phase": phase, "ruleset": ruleset, "limit": limit},
                },
            )
            data = await cursor.fetchall()
        return TablePage(data, data[-1].id if len(data) == limit else None, at.position)
