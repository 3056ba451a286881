"""The rounds of each table: where they are found in its stream, and what they came to."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from psycopg_pool import AsyncConnectionPool

from services.blackjack.application.plays import Happened, at_tables
from services.blackjack.application.reading import table_stream
from services.blackjack.domain import events as e
from shared.eventstore.arrays import int4s, int8s, texts
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.projection import Projection

_SEED_REVEALED = "blackjack.seed_revealed"


class _Round:
    """What a page adds to a round. Insurance is a stake like any other here."""

    opened_at = ended_at = last_version = hands = stake = payout = 0


def _rows(items: Sequence[Happened]) -> Iterable[tuple[Any, ...]]:
    """Every round that was opened, ended, or had a stake settled."""
    rounds: dict[tuple[str, int], _Round] = {}
    for item in items:
        match event := item.event:
            case e.RoundOpened() | e.SeedRevealed() | e.HandSettled() | e.InsuranceSettled():
                key = item.table.id, item.table.rounds
                round = rounds.get(key) or rounds.setdefault(key, _Round())
        match event:
            case e.RoundOpened():
                round.opened_at = item.at
            case e.SeedRevealed():
                round.ended_at, round.last_version = item.at, item.version
            case e.HandSettled() | e.InsuranceSettled():
                round.hands += isinstance(event, e.HandSettled)
                round.stake += event.stake
                round.payout += event.payout
    for (table, number), r in rounds.items():
        yield table, number, r.opened_at, r.ended_at, r.last_version, r.hands, r.stake, r.payout


ROUNDS: Final = Projection(
    name="rounds",
    table="projected_round",
    columns="table_id, number, opened_at, ended_at, last_version, hands, stake, payout",
    rows=at_tables(_rows),
    packers=(texts, int8s, int8s, int8s, int8s, int4s, int8s, int8s),
    write="""
        INSERT INTO projected_round AS r (house, generation, table_id, number, opened_at, ended_at,
                                          last_version, hands, stake, payout)
        SELECT %b, %b, n.table_id, n.number,
               'epoch'::timestamptz + n.opened_at * interval '1 millisecond',
               'epoch'::timestamptz + nullif(n.ended_at, 0) * interval '1 millisecond',
               nullif(n.last_version, 0), n.hands, n.stake, n.payout
          FROM unnest(%b, %b, %b, %b, %b, %b, %b, %b)
            AS n(table_id, number, opened_at, ended_at, last_version, hands, stake, payout)
        ON CONFLICT (house, generation, table_id, number) DO UPDATE
           SET ended_at = excluded.ended_at, last_version = excluded.last_version,
               hands = r.hands + excluded.hands, stake = r.stake + excluded.stake,
               payout = r.payout + excluded.payout
        """,
)


class RoundSummary(Struct, frozen=True):
    """A round of a table: how many hands were settled, what they staked and what came back.

    Insurance is in `stake` and `payout`. While the round runs, `ended_at` is null and the figures
    are of what has been settled so far.
    """

    id: str
    number: int
    opened_at: datetime
    ended_at: datetime | None
    hands: int
    stake: int
    payout: int


class RoundPage(Struct, frozen=True):
    """A part of a table's rounds, newest first. `next` continues it; null at the end.

    `position` is the place in the log up to which nothing is missing.
    """

    data: list[RoundSummary]
    next: int | None
    position: int


class Rounds:
    """The reading side."""

    def __init__(self, pool: AsyncConnectionPool[Any], checkpoints: Checkpoints) -> None:
        self._pool = pool
        self._checkpoints = checkpoints

    async def page(
        self, house: str, table_id: str, before: int, limit: int, *, wait_for: int = 0
    ) -> RoundPage:
        """The rounds of a table before a number, newest first. Raises ViewBehind."""
        at = await self._checkpoints.reached(house, ROUNDS.name, wait_for)
        rows = await self._rows(
            """
            SELECT number, opened_at, ended_at, hands, stake, payout FROM projected_round
             WHERE house = %s AND generation = %s AND table_id = %s AND number < %s
             ORDER BY number DESC LIMIT %s
            """,
            (house, at.generation, table_id, before, limit),
        )
        data = [RoundSummary(f"{table_id}.{row[0]}", *row) for row in rows]
        return RoundPage(data, data[-1].number if len(data) == limit else None, at.position)

    async def round(self, house: str, table_id: str, number: int) -> tuple[int, int] | None:
        """The versions of the first and the last event of a round, its bets included.

        A round that is still open ends with the newest event. None when it was never opened. The
        log has the last word: what the view does not have yet is looked for there, behind the
        rounds that it has.
        """
        at = await self._checkpoints.reached(house, ROUNDS.name)
        known = await self._rows(
            """
            SELECT number, last_version FROM projected_round
             WHERE house = %s AND generation = %s AND table_id = %s AND number <= %s
               AND last_version IS NOT NULL
             ORDER BY number DESC LIMIT 2
            """,
            (house, at.generation, table_id, number),
        )
        ends: dict[int, int] = {0: 0, **dict(known)}
        if number in ends and number - 1 in ends:
            return ends[number - 1] + 1, ends[number]
        newest = max(ends)
        return await self._in_the_log(house, table_id, number - newest, ends[newest])

    async def _in_the_log(
        self, house: str, table_id: str, number: int, after: int
    ) -> tuple[int, int] | None:
        """The versions of the n-th round after a version."""
        stream = table_stream(table_id)
        ends = await self._rows(
            """
            SELECT version FROM event_log
             WHERE house = %s AND stream = %s AND version > %s AND type = %s
             ORDER BY version OFFSET %s LIMIT 2
            """,
            (house, stream, after, _SEED_REVEALED, max(number - 2, 0)),
        )
        versions = [version for (version,) in ends]
        first = after + 1 if number == 1 else versions.pop(0) + 1 if versions else None
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
