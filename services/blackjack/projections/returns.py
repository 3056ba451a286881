"""What was staked and what came back, by day and ruleset: how each game really pays."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, Final

from msgspec import Struct
from psycopg.rows import class_row
from psycopg_pool import AsyncConnectionPool

from services.blackjack.application.plays import Happened, at_tables
from services.blackjack.domain import events as e
from shared.eventstore.arrays import int4s, int8s, texts
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.projection import Projection

_DAY: Final = 24 * 60 * 60 * 1000


def _rows(items: Sequence[Happened]) -> Iterable[tuple[Any, ...]]:
    """What a page adds to a day (UTC) of a ruleset."""
    added: defaultdict[tuple[int, str], list[int]] = defaultdict(lambda: [0] * 6)
    for item in items:
        match item.event:
            case e.SeedRevealed():
                more = (1, 0, 0, 0, 0, 0)
            case e.HandSettled(_, _, _, stake, payout):
                more = (0, 1, stake, payout, 0, 0)
            case e.InsuranceSettled(_, stake, payout):
                more = (0, 0, 0, 0, stake, payout)
            case _:
                continue
        figures = added[item.at // _DAY, item.table.rules.name]
        figures[:] = map(int.__add__, figures, more)
    for key, figures in added.items():
        yield *key, *figures


RETURNS: Final = Projection(
    name="returns",
    table="projected_return",
    columns="day, ruleset, rounds, hands, stake, payout, insurance_stake, insurance_payout",
    rows=at_tables(_rows),
    packers=(int4s, texts, int8s, int8s, int8s, int8s, int8s, int8s),
    write="""
        INSERT INTO projected_return AS r (house, generation, day, ruleset, rounds, hands, stake,
                                           payout, insurance_stake, insurance_payout)
        SELECT %b, %b, 'epoch'::date + n.day, n.ruleset, n.rounds, n.hands, n.stake, n.payout,
               n.insurance_stake, n.insurance_payout
          FROM unnest(%b, %b, %b, %b, %b, %b, %b, %b)
            AS n(day, ruleset, rounds, hands, stake, payout, insurance_stake, insurance_payout)
        ON CONFLICT (house, generation, day, ruleset) DO UPDATE
           SET rounds = r.rounds + excluded.rounds, hands = r.hands + excluded.hands,
               stake = r.stake + excluded.stake, payout = r.payout + excluded.payout,
               insurance_stake = r.insurance_stake + excluded.insurance_stake,
               insurance_payout = r.insurance_payout + excluded.insurance_payout
        """,
)


class Return(Struct, frozen=True):
    """A day (UTC) of a ruleset: what was staked, and all that came back for it, in chips."""

    day: date
    ruleset: str
    rounds: int
    hands: int
    stake: int
    payout: int
    insurance_stake: int
    insurance_payout: int


class ReturnPage(Struct, frozen=True):
    """Some days, newest first, each with its rulesets. `next` continues it; null at the end.

    `position` is the place in the log up to which nothing is missing.
    """

    data: list[Return]
    next: date | None
    position: int


class Returns:
    """The reading side."""

    def __init__(self, pool: AsyncConnectionPool[Any], checkpoints: Checkpoints) -> None:
        self._pool = pool
        self._checkpoints = checkpoints

    async def page(
        self, house: str, before: date | None, days: int, *, wait_for: int = 0
    ) -> ReturnPage:
        """The newest days on which anything was settled, before a day. Raises ViewBehind."""
        at = await self._checkpoints.reached(house, RETURNS.name, wait_for)
        async with (
            self._pool.connection() as connection,
            connection.cursor(row_factory=class_row(Return)) as cursor,
        ):
            await cursor.execute(
                """
                SELECT day, ruleset, rounds, hands, stake, payout, insurance_stake,
                       insurance_payout
                  FROM projected_return
                 WHERE house = %(house)s AND generation = %(generation)s
                   AND day IN (SELECT DISTINCT day FROM projected_return
                                WHERE house = %(house)s AND generation = %(generation)s
                                  AND day < coalesce(%(before)s::date, 'infinity')
                                ORDER BY day DESC LIMIT %(days)s)
                 ORDER BY day DESC, ruleset
                """,
                {"house": house, "generation": at.generation, "before": before, "days": days},
            )
            data = await cursor.fetchall()
        full = len({each.day for each in data}) == days
        return ReturnPage(data, data[-1].day if full else None, at.position)
