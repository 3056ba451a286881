"""An export judged from its files alone, in pieces, by as many hands as there are.

First every part of the log is hashed, and what runs from one into the next is joined, in their
order; then the commands of every shard of the streams are decided again. Nobody waits for anybody
within the two, and the report is the same whoever does it.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path

from services.audit.application.engines import Engine, Started, local
from services.audit.application.once import Once
from services.audit.application.pieces import (
    Tell,
    Tried,
    hashed,
    to_hash,
    to_try,
    tried,
)
from services.audit.domain.books import added
from services.audit.domain.faults import Fault, Faults
from services.audit.domain.lines import Line
from services.audit.domain.stretches import Whole
from services.audit.domain.verify import Report
from shared.eventstore.chain import GENESIS
from shared.eventstore.exports import CannotRead, Manifest, read_manifest
from shared.seals.holding import Holding
from shared.seals.notes import Checkpoint


def verify_export(
    directory: Path,
    *,
    engine: Started = local(1),  # noqa: B008
    hashes_alone: bool = False,
    seals: Sequence[Checkpoint] = (),
    progress: Tell = lambda events: None,
) -> Report:
    """Judges an export; `progress` is told how many more events have been read.

    `hashes_alone` leaves the rules of the game and the chips aside; `seals` are those of the house
    that it is held against. Raises CannotRead.
    """
    directory = directory.absolute()  # others may be somewhere else
    manifest = read_manifest(directory)
    _can_hold(manifest, seals)
    joined = _Joined(manifest, seals)
    shards = list[Tried]()
    with engine(progress) as hands:
        joined.read(hands, directory, hashes_alone)
        if not hashes_alone:
            games, begun = joined.registered, joined.whole.begun
            pieces = to_try(directory, manifest, games, hands.width, begun)
            shards = sorted(chain.from_iterable(hands.each(tried, pieces)), key=_by_shard)
    return _report(joined, shards)


def events_to_read(manifest: Manifest, hashes_alone: bool) -> int:
    """How many events `progress` is told of, all in all."""
    return manifest.events * (1 if hashes_alone else 2)


def _by_shard(shard: Tried) -> int:
    return shard.shard


class _Joined:
    """The parts of a log, hashed, put together again in their order."""

    def __init__(self, manifest: Manifest, seals: Sequence[Checkpoint]) -> None:
        self.whole = Whole(manifest.scope.complete, manifest.scope.every)
        self.found = Faults()
        self.registered: list[Line] = []
        self.events = self.position = 0
        self.chain = GENESIS
        self._manifest, self._seals = manifest, seals

    def read(self, hands: Engine, directory: Path, hashes_alone: bool) -> None:
        """All parts. Raises CannotRead."""
        held = Holding(self._seals)
        self.found.add(_joints(self._manifest))
        sizes = [seal.size for seal in self._seals]
        pieces = to_hash(directory, self._manifest, sizes, hashes_alone=hashes_alone)
        with Once(self._manifest.events) as once:
            for part in hands.each(hashed, pieces):
                self.found.join(part.found)
                self.found.add(self.whole.join(part.versions, part.moved))
                once.add(part.commands)
                for span in part.spans:
                    held.join(span)
                self.events += part.events
                if part.events:
                    self.position, self.chain = part.position, part.chain
                self.registered += part.registered
            self.found.add(once.faults())
        self.found.add(Fault(at, what, "seal", field="root") for at, what in held.end())


def _report(joined: _Joined, shards: Sequence[Tried]) -> Report:
    found, vaults = joined.found, joined.whole.vaults
    for shard in shards:
        found.join(shard.found)
    return Report(
        position=joined.position,
        chain=joined.chain.hex(),
        events=joined.events,
        commands=sum(shard.commands for shard in shards),
        streams=joined.whole.streams,
        in_part=joined.whole.in_part,
        rounds=sum(shard.rounds for shard in shards),
        cards=sum(shard.cards for shard in shards),
        postings=vaults.postings + sum(shard.postings for shard in shards),
        balances=added(vaults.balances, *(shard.balances for shard in shards)),
        faults=tuple(found.named),
        fault_count=found.count,
    )


def _can_hold(manifest: Manifest, seals: Sequence[Checkpoint]) -> None:
    """A seal is over a whole log from its beginning on. Raises CannotRead."""
    if not seals:
        return
    if manifest.scope.gaps or manifest.scope.first_position != 1:
        raise CannotRead("A seal is over all of a log; this export has only a part of it.")
    last = manifest.parts[-1].last_position if manifest.parts else 0
    largest = max(seal.size for seal in seals)
    if last < largest and (manifest.scope.last_position or not manifest.finished):
        raise CannotRead(f"The export ends at {last}; the seal is over the log up to {largest}.")


def _joints(manifest: Manifest) -> Iterator[Fault]:
    """Whether the parts continue each other, from the beginning on."""
    scope = manifest.scope
    if not scope.gaps and scope.first_position == 1 and manifest.parts:
        first = manifest.parts[0]
        if (first.first_position, first.chain_before) != (1, GENESIS.hex()):
            yield Fault(1, "The export does not begin with the log.", "export", field="parts")
    for one, two in pairwise(manifest.parts):
        follows = two.first_position == one.last_position + 1 or scope.gaps
        if not follows or one.chain != two.chain_before or two.first_position <= one.last_position:
            what = f"After the part up to {one.last_position} comes one from {two.first_position}."
            yield Fault(two.first_position, what, "export", field="parts")
    last = manifest.parts[-1].last_position if manifest.parts else 0
    if manifest.finished and not scope.gaps and last < manifest.end:
        what = f"The log went on to position {manifest.end}; the export ends at {last}."
        yield Fault(last, what, "export", field="parts")
