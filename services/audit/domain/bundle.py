"""A round to take away: one value that shows, alone and offline, that it was fair and is sealed."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final, Literal

from msgspec import Raw, Struct, json
from msgspec.structs import asdict, replace

from services.audit.domain.books import Books
from services.audit.domain.lines import event_of, head_of, time_outs_of
from services.audit.domain.proof import Proof, prove
from services.audit.domain.recall import Recall, recall
from services.audit.domain.retrial import Retrial
from services.audit.domain.rulebook import Rulebook
from services.blackjack.domain import events as e
from services.blackjack.domain.table import Betting, Computer, Run, Seat, Table
from shared.eventstore.chain import leaf_of
from shared.eventstore.envelope import Envelope, canonical_json
from shared.kernel.chips import stack
from shared.seals.merkle import DoesNotProve, root_from
from shared.seals.notes import BadNote, Note, PublicKey

FORMAT: Final = "croupier.bundle.v1"


class SealedEvent(Struct, frozen=True, forbid_unknown_fields=True):
    """An event, and the hashes that lead from its leaf to the root of the bundle's seal.

    `leaf` is SHA-256(0x00 ‖ the canonical bytes of `event`), in hex like `hashes`, which are an
    inclusion proof of RFC 6962 for leaf `position` − 1.
    """

    position: int
    leaf: str
    hashes: tuple[str, ...]
    event: Raw


class Sitting(Struct, frozen=True, forbid_unknown_fields=True):
    """A seat as a round finds it: nothing is bet, and no card lies there."""

    player: str
    stack: int
    since: int
    sits_out: bool
    run: Run | None
    items: tuple[str, ...]
    computer: Computer | None


class Before(Struct, frozen=True, forbid_unknown_fields=True):
    """What a round finds at its table, and its foundation does not tell. `version` is that of the
    table's stream then, `runs` how many had been started; a free seat is null.

    This is the house's word. That the chips of a stack were there, and who sat down first, follows
    from all that happened at the table before, which a bundle does not have: take out the log
    and `croupier verify` it. Only what the round itself makes of it is judged here: no bet, double
    or split goes beyond a stack, and whoever is paid is paid on top of it.
    """

    version: int
    host: str | None
    seats: tuple[Sitting | None, ...]
    runs: int

    @classmethod
    def of(cls, table: Table, version: int) -> "Before":
        """The part of a table that has to be told."""
        seats = tuple([_sitting(seat) if seat else None for seat in table.seats])
        return cls(version, table.host, seats, table.runs)

    def at(self, opened: Table, promised: e.TableOpened | e.SeedRevealed) -> Table:
        """The table, with all that is known from its first event and from the commitment."""
        rounds = promised.number if isinstance(promised, e.SeedRevealed) else 0
        return replace(
            opened,
            host=self.host,
            seats=tuple([sitting and Seat(**asdict(sitting)) for sitting in self.seats]),
            stage=Betting(next=promised.next),
            rounds=rounds,
            runs=self.runs,
        )


class Bundle(Struct, frozen=True, forbid_unknown_fields=True):
    """All that is needed to judge a finished round without us.

    `foundation` are the events that opened the table and that committed to the round's seed, where
    they are not the same: so its rules and the commitment need not be believed. `events` are those
    of all commands at the table from the round's first bet to its end, those at vaults included.
    `before` is what they found, and the only part that is our word. `seal` is a signed note over
    the whole log, whose tree has all of these events; `recall` and `proof` are what the service
    itself says of the round.
    """

    format: Literal["croupier.bundle.v1"]
    house: str
    round: str
    seal: str
    before: Before
    foundation: tuple[SealedEvent, ...]
    events: tuple[SealedEvent, ...]
    recall: Recall
    proof: Proof


def judge(bundle: Bundle, keys: Sequence[PublicKey]) -> Iterator[str]:
    """What is wrong with a bundle, for whoever knows the keys of its seal; nothing when it holds.

    It is decided by the bundle alone: the seal is signed, each event is in the sealed log, in
    order, as part of this table; every command is decided again, with the rules that the table was
    opened with and the shoe of the seed that was committed to, and has to cause these very bytes
    and postings; the cards and settlements are looked at a second time by themselves.

    What the round found at the table is believed: see Before. That the table had no other commands
    in between cannot be seen, only that none is missing that would matter to a card, a decision or
    a payout of this round.
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
    try:
        foundation = [_Line.of(each) for each in bundle.foundation]
        lines = map(_Line.of, bundle.events)
        commands = [list(each) for _, each in groupby(lines, lambda line: line.command_id)]
        yield from _out_of_order(bundle, foundation, commands)
        yield from _misplayed(bundle, foundation, commands)
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


class _Line(Struct, frozen=True):
    """A sealed event as the auditor takes up a log; its row says what its envelope says."""

    position: int
    stream: str
    type: str
    schema_version: int
    command_id: str
    envelope: bytes
    version: int = 0
    leaf: bytes = b""
    chain: bytes = b""

    @classmethod
    def of(cls, each: SealedEvent) -> "_Line":
        """Raises ValueError."""
        envelope = canonical_json(bytes(each.event))
        said = json.decode(envelope, type=Envelope)
        command_id = said.id.rpartition(".")[0]
        return cls(
            *(each.position, said.subject, said.type, said.schemaversion, command_id, envelope)
        )


def _stream(bundle: Bundle) -> str:
    return f"table-{bundle.round.rpartition('.')[0]}"


def _out_of_order(
    bundle: Bundle, foundation: Sequence[_Line], commands: Sequence[Sequence[_Line]]
) -> Iterator[str]:
    stream = _stream(bundle)
    for line in (*foundation, *(lines[0] for lines in commands)):
        if line.stream != stream or head_of(line).source != f"/houses/{bundle.house}":
            yield f"The event at position {line.position} is not of {stream} in this house."
    positions = [each.position for each in (*bundle.foundation, *bundle.events)]
    if positions != sorted(set(positions)):
        yield "The events are not in the order of the log."
    ends = [any(line.type == "blackjack.seed_revealed" for line in lines) for lines in commands]
    if ends != [*[False] * (len(commands) - 1), True]:
        yield "The events are not those of one round, up to the command that ends it."


def _misplayed(
    bundle: Bundle, foundation: Sequence[_Line], commands: Sequence[Sequence[_Line]]
) -> Iterator[str]:
    """Plays the round again: first its foundation, then all of its commands."""
    stream, books = _stream(bundle), Books()
    retrial = Retrial(stream, books, Rulebook(complete=lambda stream: False))
    for fault in retrial.read(foundation[:1]):
        yield str(fault)
    promised = event_of(foundation[-1])
    yield from _not_promised(bundle, foundation, promised)
    if retrial.table is None or not isinstance(promised, e.TableOpened | e.SeedRevealed):
        return
    before = retrial.table = bundle.before.at(retrial.table, promised)
    for _, seat in before.seated():
        books.balances[stack(before.id, seat.player)] = seat.stack
    for lines in commands:
        for fault in retrial.read(lines):
            yield str(fault)
    for fault in retrial.close():
        yield str(fault)
    told = [line for lines in commands for line in lines if line.stream == stream]
    yield from _told_otherwise(bundle, before, told)


def _not_promised(bundle: Bundle, foundation: Sequence[_Line], promised: Any) -> Iterator[str]:
    """Whether the foundation is the opening of the table, and the end of the round before."""
    number = int(bundle.round.rpartition(".")[2])
    match promised:
        case e.TableOpened() if number == len(foundation) == 1:
            return
        case e.SeedRevealed(before) if number - 1 == before and len(foundation) == 2:
            return
    yield "The bundle does not say how the table was opened, and which seed was committed to."


def _told_otherwise(bundle: Bundle, before: Table, lines: Sequence[_Line]) -> Iterator[str]:
    """What the service says of the round beside what follows from it.

    Bundles were taken away whose words do not tell that the clock acted: they hold too.
    """
    events: list[e.Event] = [event_of(line) for line in lines]
    end = next(at for at, event in enumerate(events, 1) if isinstance(event, e.SeedRevealed))
    proof = prove(before, events[:end])
    yield from proof.faults
    if proof.round != bundle.round:
        yield f"The events are of the round {proof.round}, not of {bundle.round}."
    if proof != bundle.proof:
        yield "The proof that comes with the round is another than the one that follows from it."
    first = bundle.before.version + 1
    by_clock = time_outs_of(lines[:end], first)
    if all(recall(before, events[:end], first, c) != bundle.recall for c in (by_clock, ())):
        yield "The round is told otherwise than it went."


def _sitting(seat: Seat) -> Sitting:
    return Sitting(*(getattr(seat, name) for name in Sitting.__struct_fields__))
