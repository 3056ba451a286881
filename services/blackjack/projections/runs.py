"""The runs of each player: what they began with, what they came to, and in how many rounds."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from psycopg.rows import class_row
from psycopg_pool import AsyncConnectionPool

from services.blackjack.application.plays import Happened, at_tables
from services.blackjack.domain import events as e
from shared.eventstore.arrays import int4s, int8s, texts
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.projection import Projection


class _Run:
    """What a page adds to a run."""

    player = ruleset = source = outcome = ""
    position = stake = goal = rounds = bankroll = started_at = ended_at = 0


def _rows(items: Sequence[Happened]) -> Iterable[tuple[Any, ...]]:
    """Every run that was started, was dealt to, or ended."""
    runs: dict[tuple[str, int], _Run] = {}
    for item in items:
        match item.event:
            case e.RunStarted(_, player, _, source, stake, goal) as event:
                run = _of(runs, item, event.seat)
                run.player, run.ruleset = player, item.table.rules.name
                run.source, run.stake, run.goal = source, stake, goal
                run.position, run.started_at = item.position, item.at
            case e.HandsDealt(hands) if item.table.rules.run:
                for seat, _, _ in hands:
                    _of(runs, item, seat).rounds += 1
            case e.RunEnded(seat, outcome, bankroll):
                run = _of(runs, item, seat)
                run.outcome, run.bankroll, run.ended_at = outcome, bankroll, item.at
    for (table, number), r in runs.items():
        yield (
            *(table, number, r.player, r.position, r.ruleset, r.source, r.stake, r.goal),
            *(r.rounds, r.outcome, r.bankroll, r.started_at, r.ended_at),
        )


def _of(runs: dict[tuple[str, int], _Run], item: Happened, seat: int) -> _Run:
    """The run of a seat."""
    run = item.table.seat(seat).run
    assert run is not None, "in a game of runs every seat has one"
    return runs.setdefault((item.table.id, run.number), _Run())


RUNS: Final = Projection(
    name="runs",
    table="projected_run",
    columns="table_id, number, player, position, ruleset, source, stake, goal, rounds, outcome, "
    "bankroll, started_at, ended_at",
    rows=at_tables(_rows),
    packers=(
        *(texts, int8s, texts, int8s, texts, texts, int8s, int8s),
        *(int4s, texts, int8s, int8s, int8s),
    ),
    write="""
        INSERT INTO projected_run AS r (house, generation, table_id, number, player, position,
                                        ruleset, source, stake, goal, rounds, outcome, bankroll,
                                        started_at, ended_at)
        SELECT %b, %b, n.table_id, n.number, n.player, n.position, n.ruleset, n.source, n.stake,
               n.goal, n.rounds, nullif(n.outcome, ''),
               CASE WHEN n.outcome <> '' THEN n.bankroll END,
               'epoch'::timestamptz + n.started_at * interval '1 millisecond',
               'epoch'::timestamptz + nullif(n.ended_at, 0) * interval '1 millisecond'
          FROM unnest(%b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b)
            AS n(table_id, number, player, position, ruleset, source, stake, goal, rounds, outcome,
                 bankroll, started_at, ended_at)
        ON CONFLICT (house, generation, table_id, number) DO UPDATE
           SET rounds = r.rounds + excluded.rounds, outcome = excluded.outcome,
               bankroll = excluded.bankroll, ended_at = excluded.ended_at
        """,
)


class RunSummary(Struct, frozen=True):
    """A run of a player, by the table where it was played and its number there.

    `position` is that of its start in the log. While it runs, `outcome`, `bankroll` and `ended_at`
    are null; then `bankroll` is what went back to the `source`.
    """

    position: int
    table: str
    number: int
    ruleset: str
    source: e.Source
    stake: int
    goal: int
    rounds: int
    outcome: e.RunOutcome | None
    bankroll: int | None
    started_at: datetime
    ended_at: datetime | None


class RunPage(Struct, frozen=True):
    """A part of a player's runs, newest first. `next` continues it; null at the end.

    `position` is the place in the log up to which nothing is missing.
    """

    data: list[RunSummary]
    next: int | None
    position: int


class RunList:
    """The reading side."""

    def __init__(self, pool: AsyncConnectionPool[Any], checkpoints: Checkpoints) -> None:
        self._pool = pool
        self._checkpoints = checkpoints

    async def page(
        self, house: str, player: str, before: int, limit: int, *, wait_for: int = 0
    ) -> RunPage:
        """The runs of a player started before a position, newest first. Raises ViewBehind."""
        at = await self._checkpoints.reached(house, RUNS.name, wait_for)
        async with (
            self._pool.connection() as connection,
            connection.cursor(row_factory=class_row(RunSummary)) as cursor,
        ):
            await cursor.execute(
                """
                SELECT position, table_id AS "table", number, ruleset, source, stake, goal, rounds,
                       outcome, bankroll, started_at, ended_at
                  FROM projected_run
                 WHERE house = %s AND generation = %s AND player = %s AND position < %s
                 ORDER BY position DESC LIMIT %s
                """,
                (house, at.generation, player, before, limit),
            )
            data = await cursor.fetchall()
        return RunPage(data, data[-1].position if len(data) == limit else None, at.position)
