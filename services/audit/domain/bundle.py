"""A round to take away: one value that shows, alone and offline, that it was fair and is sealed."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

from msgspec import Raw, Struct, json

from services.audit.domain.proof import Proof, prove
from services.audit.domain.recall import Recall, recall
from services.blackjack.domain import events as e
from services.blackjack.domain.table import Betting, Table
from shared.eventstore.chain import leaf_of
from shared.eventstore.codec import Codec
from shared.eventstore.envelope import Envelope, canonical_json
from shared.eventstore.store import Fact
from shared.seals.merkle import DoesNotProve, root_from
from shared.seals.notes import BadNote, Note, PublicKey

FORMAT: Final = "croupier.bundle.v1"

_EVENTS: Final = Codec(e.REGISTRY)


class SealedEvent(Struct, frozen=True):
    """An event, and the hashes that lead from its leaf to the root of the bundle's seal.

    `leaf` is SHA-256(0x00 ‖ the canonical bytes of `event`), in hex like `hashes`, which are an
    inclusion proof of RFC 6962 for leaf `position` − 1.
    """

    position: int
    version: int
    leaf: str
    hashes: tuple[str, ...]
    event: Raw


class Bundle(Struct, frozen=True):
    """All that is needed to judge a finished round without us.

    `foundation` are the events that opened the table and that committed to the round's seed, where
    they are not the same; `events` are those of the table from the round's first bet on. `before`
    is the table as these found it: its rules and the commitment are in the foundation, its chips
    and seats are as we say. `seal` is a signed note over the whole log, whose tree has
    all of these events; `recall` and `proof` are what the service itself says of the round.
    """

    format: Literal["croupier.bundle.v1"]
    house: str
    round: str
    seal: str
    before: Raw
    foundation: tuple[SealedEvent, ...]
    events: tuple[SealedEvent, ...]
    recall: Recall
    proof: Proof


def judge(bundle: Bundle, keys: Sequence[PublicKey]) -> Iterator[str]:
    """What is wrong with a bundle, for whoever knows the keys of its seal; nothing when it holds.

    It is decided by the bundle alone: the seal is signed, each event is in the sealed log, in
    order, as part of this table; the rules and the commitment are those that were recorded; every
    card follows from the seed, and every settlement from the cards.
    """
    try:
        checkpoint = Note.read(bundle.seal.encode()).check(keys)
    except BadNote as bad:
        yield f"The seal does not hold: {bad}."
        return
    if not checkpoint.origin.endswith(f"/{bundle.house}"):
        yield f"The seal is of {checkpoint.origin}, and not of the house {bundle.house}."
    for each in (*bundle.foundation, *bundle.events):
        yield from _not_included(each, checkpoint.size, checkpoint.root)
    yield from _out_of_order(bundle)
    try:
        yield from _misplayed(bundle)
    except Exception as error:  # whatever the fold raises: it never expects such events
        yield f"The events do not fit together: {error!r}."


def _not_included(each: SealedEvent, size: int, root: bytes) -> Iterator[str]:
    try:
        leaf = leaf_of(canonical_json(bytes(each.event)))
        path = [bytes.fromhex(hashed) for hashed in each.hashes]
        if leaf.hex() != each.leaf:
            yield f"The event at position {each.position} does not have its leaf."
        if root_from(each.position - 1, size, leaf, path) != root:
            yield f"The event at position {each.position} is not in the log that was sealed."
    except (ValueError, DoesNotProve) as why:
        yield f"The event at position {each.position} is not proven to be sealed: {why}."


def _out_of_order(bundle: Bundle) -> Iterator[str]:
    table = bundle.round.rpartition(".")[0]
    stream = f"table-{table}"
    for each in (*bundle.foundation, *bundle.events):
        said = json.decode(each.event)
        if said.get("subject") != stream or not said.get("source", "").endswith(f"/{bundle.house}"):
            yield f"The event at position {each.position} is not of {stream} in this house."
    versions = [each.version for each in bundle.events]
    if not versions or versions != list(range(versions[0], versions[0] + len(versions))):
        yield "The versions of the round's events do not follow each other."
    positions = [each.position for each in (*bundle.foundation, *bundle.events)]
    if positions != sorted(set(positions)):
        yield "The events are not in the order of the log."


def _misplayed(bundle: Bundle) -> Iterator[str]:
    before, events = json.decode(bundle.before, type=Table), opened(bundle.events)
    yield from _not_founded(before, opened(bundle.foundation))
    proof = prove(before, events)
    yield from proof.faults
    if proof.round != bundle.round:
        yield f"The events are of the round {proof.round}, not of {bundle.round}."
    if proof != bundle.proof:
        yield "The proof that comes with the round is another than the one that follows from it."
    if recall(before, events, bundle.events[0].version) != bundle.recall:
        yield "The round is told otherwise than it went."


def _not_founded(before: Table, founding: Sequence[Any]) -> Iterator[str]:
    """Whether the table's rules and the round's commitment were recorded before it."""
    if not founding or not isinstance(founding[0], e.TableOpened):
        yield "The bundle does not say how the table was opened."
        return
    first, promised = founding[0], founding[-1]
    if (first.table, first.ruleset) != (before.id, before.rules):
        yield "The table does not have the rules that it was opened with."
    if not isinstance(promised, e.TableOpened | e.SeedRevealed):
        yield "The bundle does not say which seed was committed to."
    elif not isinstance(before.stage, Betting) or before.stage.next != promised.next:
        yield "The round's seed is not the one that was committed to when the round before ended."


def opened(events: Sequence[SealedEvent]) -> list[Any]:
    """The events as play knows them. Raises ValueError, UnknownEvent."""
    return [_opened(each) for each in events]


def _opened(each: SealedEvent) -> Any:
    said = json.decode(each.event, type=Envelope)
    return _EVENTS.open(
        Fact(
            *(each.position, said.subject, each.version),
            *(said.type, said.schemaversion, bytes(each.event)),
        )
    )
