"""Use cases of the auditor: recall a round, prove it, and read a log line by line."""

from datetime import datetime
from typing import Final, Protocol, cast

from msgspec import Raw, Struct, json
from msgspec.structs import replace

from services.audit.domain.bundle import FORMAT, Bundle, SealedEvent
from services.audit.domain.proof import Proof, prove
from services.audit.domain.recall import Recall, recall
from services.audit.domain.verify import Line, Unreadable
from services.blackjack.application.reading import Reading, table_stream
from services.blackjack.domain import events as blackjack
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.rejections import UnknownRound
from services.blackjack.domain.table import Table
from services.ledger import application as ledger
from shared.eventstore.codec import Codec, UnknownEvent
from shared.eventstore.envelope import Envelope, canonical_json
from shared.eventstore.store import EventStore, Recorded
from shared.seals.served import Seals

CODEC: Final = Codec.of(Codec(blackjack.REGISTRY), Codec(ledger.REGISTRY))
"""Opens every event that there is."""


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
        return recall(*await self.round(house, round_id))

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


class FeedRecord(Struct, frozen=True):
    """An event as the feed `/v1/events` gives it, with `leaf` and `chain` in hex."""

    position: int
    stream: str
    version: int
    leaf: str
    chain: str
    event: Raw


def from_feed(record: FeedRecord) -> Line:
    """A line for the verifier, from the feed; its bytes are made again from what they say."""
    try:
        envelope = canonical_json(bytes(record.event))
        sealed = json.decode(envelope, type=Envelope)
        recorded = Recorded(
            position=record.position,
            stream=record.stream,
            version=record.version,
            type=sealed.type,
            schema_version=sealed.schemaversion,
            command_id=sealed.id.rpartition(".")[0],
            envelope=envelope,
            leaf=bytes.fromhex(record.leaf),
            chain=bytes.fromhex(record.chain),
            recorded_at=datetime.fromisoformat(sealed.time),
        )
    except ValueError as error:
        why = Unreadable(str(error))
        return Line(record.position, record.stream, record.version, event=why)
    return from_store(recorded)


def from_store(record: Recorded) -> Line:
    """A line for the verifier, from the store. What cannot be read is a fault, not an error."""
    line = Line(
        position=record.position,
        stream=record.stream,
        version=record.version,
        leaf=record.leaf,
        chain=record.chain,
        envelope=record.envelope,
    )
    try:
        sealed = CODEC.envelope(record)
        line = replace(line, id=sealed.id, subject=sealed.subject, postings=sealed.postings)
        return replace(line, event=_event(record, sealed))
    except (ValueError, UnknownEvent) as error:
        return replace(line, event=Unreadable(str(error)))


def _event(record: Recorded, sealed: Envelope) -> Struct:
    columns = record.type, record.schema_version, record.command_id
    if columns != (sealed.type, sealed.schemaversion, sealed.id.rpartition(".")[0]):
        return Unreadable(f"the log calls it {columns}, which is not what its envelope says")
    event: Struct = CODEC.open(record)
    return event
