"""Rounds to take away, put together with what proves them."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from msgspec import Raw

from services.audit.application.rounds import Auditor, Catalogue
from services.audit.domain.bundle import FORMAT, Before, Bundle, SealedEvent
from services.audit.domain.lines import event_of, time_outs_of
from services.audit.domain.proof import prove
from services.audit.domain.recall import recall
from services.blackjack.application.reading import table_stream
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.legs import legs
from services.blackjack.domain.table import Table
from services.ledger.domain.vault import moved
from shared.eventstore.store import EventStore, Recorded
from shared.seals.served import Seals

_MOST_AFTER: Final = 32
"""How many events the command that ends a round has at most after that: seats end runs and go."""


class Bundler:
    """Puts finished rounds together with what proves them, to be taken away."""

    def __init__(
        self, auditor: Auditor, catalogue: Catalogue, store: EventStore, seals: Seals
    ) -> None:
        self._auditor, self._catalogue = auditor, catalogue
        self._store, self._seals = store, seals

    async def bundle(self, house: str, round_id: str) -> Bundle:
        """Raises UnknownRound, RoundNotOver, NotSealedYet."""
        before, events, first = await self._auditor.round(house, round_id)
        proof = prove(before, events)
        played = await self._commands(house, before, first, len(events))
        its_own = [row for row in played if row.stream == table_stream(before.id)][: len(events)]
        told = recall(before, events, first, time_outs_of(its_own, first))
        foundation = await self._foundation(house, round_id)
        rows = [*foundation, *played]
        proofs = await self._seals.inclusion(house, [row.position for row in rows])
        seal = await self._seals.at(house, proofs[0].size)
        sealed = [
            SealedEvent(row.position, proof.leaf, proof.hashes, Raw(row.envelope))
            for row, proof in zip(rows, proofs, strict=True)
        ]
        split = len(foundation)
        return Bundle(
            *(FORMAT, house, round_id, seal.note, Before.of(before, first - 1)),
            *(tuple(sealed[:split]), tuple(sealed[split:]), told, proof),
        )

    async def _foundation(self, house: str, round_id: str) -> list[Recorded]:
        """What opened the table, and what ended the round before and so committed to the seed."""
        table_id, _, number = round_id.rpartition(".")
        stream, earlier = table_stream(table_id), int(number) - 1
        found = await self._store.read_stream(house, stream, 0, 1)
        if earlier and (ended := await self._catalogue.round(house, table_id, earlier)):
            found += await self._store.read_stream(house, stream, ended[1] - 1, 1)
        return found

    async def _commands(self, house: str, table: Table, first: int, count: int) -> list[Recorded]:
        """The round from its first bet on, and the rest of the command that ends it."""
        stream = table_stream(table.id)
        rows = await self._store.read_stream(house, stream, first - 1, count + _MOST_AFTER)
        last = rows[count - 1].command_id
        after = takewhile(lambda row: row.command_id == last, rows[count:])
        return await self._with_vaults(house, table, [*rows[:count], *after])

    async def _with_vaults(
        self, house: str, table: Table, rows: Sequence[Recorded]
    ) -> list[Recorded]:
        """The events at a table, each with those at vaults that were recorded right behind it."""
        found = list[Recorded]()
        for row in rows:
            event = event_of(row)
            found.append(row)
            if beside := len(legs(row.stream, table, [event], moved)) - 1:
                found += await self._store.read_log(house, row.position, beside)
            table = evolve(table, event)
        return found
