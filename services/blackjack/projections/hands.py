"""The settled hands of each player."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
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


class Win(Struct, frozen=True):
    """A hand that won: `amount` more came back than the `stake`."""

    position: int
    time: datetime
    text: str
    table: str
    round: str
    ruleset: str
    player: str
    cards: Cards
    outcome: e.Outcome
    stake: int
    amount: int


class WinPage(Struct, frozen=True):
    """The largest wins from a day to another, both included; of equal ones the later first.

    `position` is the place in the log up to which nothing is missing.
    """

    first_day: date
    last_day: date
    data: list[Win]
    position: int


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

    async def largest_wins(
        self, house: str, first: date, last: date, limit: int, *, wait_for: int = 0
    ) -> WinPage:
        """The hands that won most in some days (UTC). Raises ViewBehind.

        The largest of each day are read by their index, so other hands cost nothing.
        """
        at = await self._checkpoints.reached(house, HANDS.name, wait_for)
        async with self._pool.connection() as connection:
            rows = await connection.execute(
                """
                SELECT w.position, w.settled_at, w.round, w.ruleset, w.player,
                       string_to_array(w.cards, ' '), w.outcome, w.stake, w.payout - w.stake
                  FROM generate_series(0, %s::date - %s::date) AS n, LATERAL (
                       SELECT * FROM projected_hand
                        WHERE house = %s AND generation = %s AND payout > stake
                          AND (settled_at AT TIME ZONE 'UTC')::date = %s::date + n
                        ORDER BY payout - stake DESC, position DESC LIMIT %s) w
                 ORDER BY w.payout - w.stake DESC, w.position DESC LIMIT %s
                """,
                (last, first, house, at.generation, first, limit, limit),
            )
            data = [_win(*row) for row in await rows.fetchall()]
        return WinPage(first, last, data, at.position)


def _win(
    position: int,
    time: datetime,
    round: str,
    ruleset: str,
    player: str,
    cards: Cards,
    outcome: e.Outcome,
    stake: int,
    amount: int,
) -> Win:
    text = f"{player} won {amount} on a stake of {stake} in round {round}, with {' '.join(cards)}."
    table = round.rpartition(".")[0]
    return Win(
        *(position, time, text, table, round, ruleset, player, cards, outcome, stake, amount)
    )
