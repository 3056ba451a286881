"""Use cases of the auditor: recall a round, and prove it."""

from typing import Protocol, cast

from services.audit.domain.lines import time_outs_of
from services.audit.domain.proof import Proof, prove
from services.audit.domain.recall import Recall, recall
from services.blackjack.application.reading import Reading, table_stream
from services.blackjack.domain import events as blackjack
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.rejections import UnknownRound
from services.blackjack.domain.table import Table


class Catalogue(Protocol):
    """Knows where rounds are found."""

    async def round(self, house: str, table_id: str, number: int) -> tuple[int, int] | None:
        """The versions of the first and the last event of a round; None when there is none."""


class Auditor:
    """Reads rounds again: in words for people, card by card for those who check."""

    def __init__(self, reading: Reading, catalogue: Catalogue) -> None:
        self._reading = reading
        self._catalogue = catalogue

    async def recall(self, house: str, round_id: str) -> Recall:
        """A round in plain words, as far as it has come. Raises UnknownRound."""
        before, events, first = await self.round(house, round_id)
        records = await self._reading.records(house, before.id, first, first + len(events) - 1)
        return recall(before, events, first, time_outs_of(records, first))

    async def prove(self, house: str, round_id: str) -> Proof:
        """Every card of a finished round, derived again. Raises UnknownRound, RoundNotOver."""
        before, events, _ = await self.round(house, round_id)
        return prove(before, events)

    async def round(self, house: str, round_id: str) -> tuple[Table, list[blackjack.Event], int]:
        """The table before the first bet of a round, the events from there on, and the version of
        the first. What happened at the table since the round before comes before the bet."""
        table_id, _, number = round_id.rpartition(".")
        span = await self._catalogue.round(house, table_id, int(number))
        if span is None:
            raise UnknownRound(f"There is no round {round_id}.")
        answer = await self._reading.span(house, table_id, *span)
        loaded = await self._reading.loader.load(house, table_stream(table_id), span[0] - 1)
        table = loaded.state
        events = [cast(blackjack.Event, event.data) for event in answer.events]
        for at, event in enumerate(events):
            if isinstance(event, blackjack.BetPlaced) and table is not None:
                return table, events[at:], span[0] + at
            table = evolve(table, event)
        raise AssertionError("a round has a bet")
