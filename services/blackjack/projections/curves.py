"""How the return of each game and each table came about, round by round."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from psycopg_pool import AsyncConnectionPool

from services.blackjack.application.plays import Happened, at_tables
from services.blackjack.domain import events as e
from services.blackjack.domain.table import Table
from services.blackjack.odds.luck import Played
from shared.eventstore.arrays import int4s, int8s, texts
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.projection import Projection

ALL_TABLES: Final = ""
"""Where the rounds of a game at all tables are counted together."""


class _Part:
    """What a page has of a round."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.changed = bool(table.rules.environment)
        self.bet = self.stake = self.payout = self.rounded = 0

    def row(self, ended: bool) -> tuple[Any, ...]:
        rules = self.table.rules
        key = self.table.id, rules.name, rules.version
        return *key, int(ended), int(self.changed), self.bet, self.stake, self.payout, self.rounded


def _rows(items: Sequence[Happened]) -> Iterable[tuple[Any, ...]]:
    """The parts of rounds, in the order in which they end; then those of rounds that go on.

    A round with a modifier or an item has other odds than its game: it is marked, and not counted.
    """
    running: dict[str, _Part] = {}
    for item in items:
        match event := item.event:
            case (
                e.RoundOpened() | e.HandSettled() | e.InsuranceSettled() | e.SeedRevealed()
                | e.ModifierApplied() | e.CardRedrawn() | e.HandShielded()
            ):  # fmt: skip
                table = item.table
                part = running.get(table.id) or running.setdefault(table.id, _Part(table))
        match event:
            case e.RoundOpened():
                part.bet += sum(seat.bet for _, seat in item.table.seated())
            case e.HandSettled(_, _, outcome, stake, payout):
                part.stake += stake
                part.payout += payout
                part.rounded += stake % 2 if outcome in ("natural", "surrender") else 0
            case e.InsuranceSettled(_, stake, payout):
                part.stake += stake
                part.payout += payout
            case e.ModifierApplied() | e.CardRedrawn() | e.HandShielded():
                part.changed = True
            case e.SeedRevealed():
                yield running.pop(item.table.id).row(ended=True)
    for part in running.values():
        yield part.row(ended=False)


CURVES: Final = Projection(
    name="curves",
    table="projected_curve",
    columns="table_id, ruleset, version, step, rounds, bet, stake, payout, rounded, squares, "
    "changed",
    rows=at_tables(_rows),
    packers=(texts, texts, texts, int4s, int4s, int8s, int8s, int8s, int8s),
    # A round may begin in one page and end in another: what a page has of it waits at step 0. The
    # sums go on from the newest row, and each step keeps those of its last round.
    write="""
        INSERT INTO projected_curve (house, generation, table_id, ruleset, version, step, rounds,
                                     bet, stake, payout, rounded, squares, changed)
        SELECT %b, %b, more.* FROM (
            WITH told AS (
                SELECT n.*, row_number() OVER (PARTITION BY table_id ORDER BY place) AS nth,
                       row_number() OVER (PARTITION BY table_id ORDER BY place DESC) AS nth_last
                  FROM unnest(%b, %b, %b, %b, %b, %b, %b, %b, %b) WITH ORDINALITY
                    AS n(table_id, ruleset, version, ended, changed, bet, stake, payout, rounded,
                         place)
            ), waiting AS (
                SELECT table_id, ruleset, version, bet, stake, payout, rounded, changed
                  FROM projected_curve
                 WHERE house = %b AND generation = %b AND step = 0
                   AND table_id IN (SELECT table_id FROM told)
            ), whole AS (
                SELECT t.table_id, t.ruleset, t.version, t.ended, t.place, t.nth_last,
                       t.bet + coalesce(w.bet, 0) AS bet, t.stake + coalesce(w.stake, 0) AS stake,
                       t.payout + coalesce(w.payout, 0) AS payout,
                       t.rounded + coalesce(w.rounded, 0) AS rounded,
                       t.changed = 1 OR coalesce(w.changed, false) AS changed
                  FROM told t
                  LEFT JOIN waiting w ON t.nth = 1 AND w.table_id = t.table_id
                                     AND w.ruleset = t.ruleset AND w.version = t.version
            ), counted AS (
                SELECT s.table_id, w.ruleset, w.version, w.place, w.bet, w.stake, w.payout,
                       w.rounded, (w.payout - w.stake)::numeric AS net
                  FROM whole w, LATERAL (VALUES (w.table_id), ('')) AS s(table_id)
                 WHERE w.ended = 1 AND NOT w.changed
            ), newest AS (
                SELECT k.table_id, k.ruleset, k.version, c.*
                  FROM (SELECT DISTINCT table_id, ruleset, version FROM counted) k,
                       LATERAL (SELECT rounds, bet, stake, payout, rounded, squares
                                  FROM projected_curve
                                 WHERE house = %b AND generation = %b AND table_id = k.table_id
                                   AND ruleset = k.ruleset AND version = k.version AND step > 0
                                 ORDER BY step DESC LIMIT 1) c
            ), summed AS (
                SELECT c.table_id, c.ruleset, c.version,
                       coalesce(n.rounds, 0) + row_number() OVER w AS rounds,
                       coalesce(n.bet, 0) + sum(c.bet) OVER w AS bet,
                       coalesce(n.stake, 0) + sum(c.stake) OVER w AS stake,
                       coalesce(n.payout, 0) + sum(c.payout) OVER w AS payout,
                       coalesce(n.rounded, 0) + sum(c.rounded) OVER w AS rounded,
                       coalesce(n.squares, 0) + sum(c.net * c.net) OVER w AS squares
                  FROM counted c LEFT JOIN newest n USING (table_id, ruleset, version)
                WINDOW w AS (PARTITION BY c.table_id, c.ruleset, c.version ORDER BY c.place)
            ), stepped AS (
                SELECT s.*, rounds >> bits << bits AS step
                  FROM summed s, LATERAL (
                       SELECT greatest(length(ltrim(rounds::bit(60)::text, '0')) - 5, 0) AS bits) b
            )
            (SELECT DISTINCT ON (table_id, ruleset, version, step)
                    table_id, ruleset, version, step, rounds,
                    bet::bigint, stake::bigint, payout::bigint, rounded::bigint, squares, false
               FROM stepped
              ORDER BY table_id, ruleset, version, step, rounds DESC)
             UNION ALL
            SELECT table_id, ruleset, version, 0, 0, bet * (1 - ended), stake * (1 - ended),
                   payout * (1 - ended), rounded * (1 - ended), 0, changed AND ended = 0
              FROM whole WHERE nth_last = 1) AS more
        ON CONFLICT (house, generation, table_id, ruleset, version, step) DO UPDATE
           SET rounds = excluded.rounds, bet = excluded.bet, stake = excluded.stake,
               payout = excluded.payout, rounded = excluded.rounded, squares = excluded.squares,
               changed = excluded.changed
        """,
    looks=2,
)


class Total(Struct, frozen=True):
    """All that was played of a game: at one table, or at all of them when `table` is ''."""

    table: str
    ruleset: str
    version: str
    played: Played


class Curve(Struct, frozen=True):
    """Sums from the first round on, at fewer and fewer places; the last one has all.

    `position` is the place in the log up to which nothing is missing.
    """

    points: list[Played]
    position: int


class Curves:
    """The reading side."""

    def __init__(self, pool: AsyncConnectionPool[Any], checkpoints: Checkpoints) -> None:
        self._pool = pool
        self._checkpoints = checkpoints

    async def of(
        self, house: str, ruleset: str, version: str, table: str = ALL_TABLES, *, wait_for: int = 0
    ) -> Curve:
        """The rounds of a game, at one table or at all. Raises ViewBehind."""
        at = await self._checkpoints.reached(house, CURVES.name, wait_for)
        rows = await self._rows(
            """
            SELECT rounds, bet, stake, payout, rounded, squares::float8 FROM projected_curve
             WHERE house = %s AND generation = %s AND table_id = %s AND ruleset = %s
               AND version = %s AND step > 0
             ORDER BY step
            """,
            (house, at.generation, table, ruleset, version),
        )
        return Curve([Played(*row) for row in rows], at.position)

    async def totals(self, house: str) -> list[Total]:
        """All games and tables. The statement leaps from one to the next, over their steps."""
        at = await self._checkpoints.reached(house, CURVES.name)
        here = house, at.generation
        rows = await self._rows(
            """
            WITH RECURSIVE newest AS (
                (SELECT * FROM projected_curve WHERE house = %s AND generation = %s
                  ORDER BY table_id DESC, ruleset DESC, version DESC, step DESC LIMIT 1)
                UNION ALL
                SELECT c.* FROM newest n, LATERAL (
                    SELECT * FROM projected_curve WHERE house = %s AND generation = %s
                       AND (table_id, ruleset, version) < (n.table_id, n.ruleset, n.version)
                     ORDER BY table_id DESC, ruleset DESC, version DESC, step DESC LIMIT 1) c
            )
            SELECT table_id, ruleset, version, rounds, bet, stake, payout, rounded, squares::float8
              FROM newest WHERE step > 0 ORDER BY table_id, ruleset, version
            """,
            (*here, *here),
        )
        return [Total(row[0], row[1], row[2], Played(*row[3:])) for row in rows]

    async def _rows(self, query: Any, parameters: tuple[object, ...]) -> list[Any]:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(query, parameters)
            rows: list[Any] = await cursor.fetchall()
            return rows
