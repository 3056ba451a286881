"""What is out of the ordinary in a log: found by the view, and by whoever sealed it."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString

from msgspec import Struct

from services.audit.domain.significant import (
    TYPES,
    Significant,
    SignificantType,
    at_a_table,
    elsewhere,
    words,
)
from services.blackjack.application.plays import Happened, Moment
from shared.eventstore.arrays import int8s, texts
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.projection import Projection
from shared.seals.served import SealFault, Seals


def _rows(items: Sequence[Moment]) -> Iterable[tuple[Any, ...]]:
    for item in items:
        if isinstance(item, Happened):
            found = at_a_table(item.event, item.table)
        else:
            found = elsewhere(item.event, item.actor, asked=item.asked)
        if found:
            yield (
                *(item.position, item.at, found.type, found.table, found.round, found.player),
                *(found.amount, found.actor, found.detail),
            )


SIGNIFICANT: Final = Projection(
    name="significant",
    table="projected_significant",
    columns="position, at, type, table_id, round, player, amount, actor, detail",
    rows=_rows,
    packers=(int8s, int8s, texts, texts, int8s, texts, int8s, texts, texts),
    write="""
        INSERT INTO projected_significant (house, generation, position, at, type, table_id, round,
                                           player, amount, actor, detail)
        SELECT %b, %b, n.position, 'epoch'::timestamptz + n.at * interval '1 millisecond', n.type,
               n.table_id, n.round, n.player, n.amount, n.actor, n.detail
          FROM unnest(%b, %b, %b, %b, %b, %b, %b, %b, %b)
            AS n(position, at, type, table_id, round, player, amount, actor, detail)
        """,
)


class SignificantEvent(Struct, frozen=True):
    """Something out of the ordinary. `amount` is the chips it is about; 0 where it is about none.

    Of a failed check, `position` is where it shows and `time` when it was found.
    """

    position: int
    time: datetime
    type: SignificantType
    text: str
    table: str | None
    round: str | None
    player: str | None
    amount: int


class SignificantPage(Struct, frozen=True):
    """A part of what is out of the ordinary, newest first. `next` continues it; null at the end.

    `position` is the place in the log up to which nothing is missing.
    """

    data: list[SignificantEvent]
    next: int | None
    position: int


class Wanted(Struct, frozen=True):
    """Which are wanted: of these types, about so many chips at least, from a position and a time
    on, up to a position and before a time."""

    since: datetime
    until: datetime
    first: int = 0
    last: int = 2**63 - 1
    least: int = 0
    types: tuple[SignificantType, ...] = TYPES


class Extraordinary:
    """The reading side."""

    def __init__(self, store: PostgresStore, checkpoints: Checkpoints, seals: Seals) -> None:
        self._store = store
        self._checkpoints = checkpoints
        self._seals = seals

    async def page(
        self, house: str, wanted: Wanted, before: int, limit: int, wait_for: int = 0
    ) -> SignificantPage:
        """Those before a position, newest first. Raises ViewBehind.

        A check that fails at a position of another event shares its page.
        """
        at = await self._checkpoints.reached(house, SIGNIFICANT.name, wait_for)
        before = min(before, wanted.last + 1)
        rows = await self._store.rows(
            _FOUND,
            (
                *(house, at.generation, list(wanted.types), before, wanted.first),
                *(wanted.since, wanted.until, wanted.least, limit),
            ),
        )
        found = [_of_a_row(*row) for row in rows]
        if "failed_check" in wanted.types and not wanted.least:
            span = wanted.first, before, wanted.since, wanted.until
            found += map(_of_a_fault, await self._seals.faults(house, *span, limit))
        found.sort(key=lambda each: each.position, reverse=True)
        if len(found) > limit:
            found = [each for each in found if each.position >= found[limit - 1].position]
        return SignificantPage(
            found, found[-1].position if len(found) >= limit else None, at.position
        )


def _of_a_row(
    position: int,
    at: datetime,
    type: SignificantType,
    table: str,
    round: int,
    player: str,
    amount: int,
    actor: str,
    detail: str,
) -> SignificantEvent:
    told = words(Significant(type, table, round, player, amount, actor, detail))
    place = f"{table}.{round}" if round else None
    return SignificantEvent(position, at, type, told, table or None, place, player or None, amount)


def _of_a_fault(fault: SealFault) -> SignificantEvent:
    told = words(Significant("failed_check", detail=fault.what))
    return SignificantEvent(
        *(fault.position, fault.found_at, "failed_check", told, None, None, None, 0)
    )


_FOUND: Final[LiteralString] = """
    SELECT position, at, type, table_id, round, player, amount, actor, detail
      FROM projected_significant
     WHERE house = %b AND generation = %b AND type = ANY(%b::text[])
       AND position < %b AND position >= %b AND at >= %b AND at < %b AND amount >= %b
     ORDER BY position DESC LIMIT %b"""
