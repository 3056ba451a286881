"""The settled hands of each player."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from psycopg_pool import AsyncConnectionPool

from services.blackjack.application.plays import Happened, at_tables
from services.blackjack.domain import events as e
from services.blackjack.domain.cards import Cards
from shared.eventstore.arrays import int4s, int8s, texts
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.projection import Projection


def _rows(items: Sequence[Happened]) -> Iterable[tuple[Any, ...]]:
    for item in items:
        if isinstance(event := item.event, e.HandSettled):
            table = item.table
            seat = table.seat(event.seat)
            cards = " ".join(seat.hands[event.hand].cards)
            yield (
                *(seat.player, item.position, table.round_id(), table.rules.name),
                *(event.seat, event.hand, cards, event.outcome, event.stake, event.payout),
                item.at,
            )


HANDS: Final = Projection(
    name="hands",
    table="projected_hand",
    columns="player, position, round, ruleset, seat, hand, cards, outcome, stake, payout, "
    "settled_at",
    rows=at_tables(_rows),
    packers=(texts, int8s, texts, texts, int4s, int4s, texts, texts, int8s, int8s, int8s),
    write="""
        INSERT INTO projected_hand (house, generation, player, position, round, ruleset, seat,
                                    hand, cards, outcome, stake, payout, settled_at)
        SELECT %b, %b, n.player, n.position, n.round, n.ruleset, n.seat, n.hand, n.cards,
               n.outcome, n.stake, n.payout,
               'epoch'::timestamptz + n.settled_at * interval '1 millisecond'
          FROM unnest(%b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b)
            AS n(player, position, round, ruleset, seat, hand, cards, outcome, stake, payout,
                 settled_at)
        """,
)


class HandSummary(Struct, frozen=True):
    """A hand that a player held to its end. `position` is that of its settlement in the log."""

    position: int
    round: str
    ruleset: str
    seat: int
    hand: int
    cards: Cards
    outcome: e.Outcome
    stake: int
    payout: int
    settled_at: datetime


class HandPage(Struct, frozen=True):
    """A part of a player's hands, newest first. `next` continues it; null at the end.

    `position` is the place in the log up to which nothing is missing.
    """

    data: list[HandSummary]
    next: int | None
    position: int


class Hands:
    """The reading side."""

    def __init__(self, pool: AsyncConnectionPool[Any], checkpoints: Checkpoints) -> None:
        self._pool = pool
        self._checkpoints = checkpoints

    async def page(
        self, house: str, player: str, before: int, limit: int, *, wait_for: int = 0
    ) -> HandPage:
        """The hands of a player settled before a position, newest first. Raises ViewBehind."""
        at = await self._checkpoints.reached(house, HANDS.name, wait_for)
        async with self._pool.connection() as connection:
            rows = await connection.execute(
                """
                SELECT position, round, ruleset, seat, hand, string_to_array(cards, ' '), outcome,
                       stake, payout, settled_at
                  FROM projected_hand
                 WHERE house = %s AND generation = %s AND player = %s AND position < %s
                 ORDER BY position DESC LIMIT %s
                """,
                (house, at.generation, player, before, limit),
            )
            data = [HandSummary(*row) for row in await rows.fetchall()]
        return HandPage(data, data[-1].position if len(data) == limit else None, at.position)
