"""Rounds to take away, put together with what proves them."""

from msgspec import Raw, json

from services.audit.application.rounds import Auditor, Catalogue
from services.audit.domain.bundle import FORMAT, Bundle, SealedEvent
from services.audit.domain.proof import prove
from services.audit.domain.recall import recall
from services.blackjack.application.reading import table_stream
from shared.eventstore.store import EventStore
from shared.seals.served import Seals


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
        proof, told = prove(before, events), recall(before, events, first)
        table_id, _, number = round_id.rpartition(".")
        stream = table_stream(table_id)
        foundation = await self._store.read_stream(house, stream, 0, 1)
        earlier = int(number) - 1
        if earlier and (ended := await self._catalogue.round(house, table_id, earlier)):
            foundation += await self._store.read_stream(house, stream, ended[1] - 1, 1)
        rows = await self._store.read_stream(house, stream, first - 1, len(events))
        positions = [row.position for row in (*foundation, *rows)]
        proofs = await self._seals.inclusion(house, positions)
        seal = await self._seals.at(house, proofs[0].size)
        sealed = [
            SealedEvent(row.position, row.version, proof.leaf, proof.hashes, Raw(row.envelope))
            for row, proof in zip((*foundation, *rows), proofs, strict=True)
        ]
        split = len(foundation)
        return Bundle(
            *(FORMAT, house, round_id, seal.note, Raw(json.encode(before))),
            *(tuple(sealed[:split]), tuple(sealed[split:]), told, proof),
        )
