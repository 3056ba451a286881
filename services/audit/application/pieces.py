"""The pieces that an export is judged in. What comes of a piece depends on nothing but its files.

`hashed` reads a part of the log, from all of its files: hashes, places, and what runs on into the
next part. `tried` decides the commands of some streams again, from the files that have them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Final

from msgspec import Struct

from services.audit.domain.court import Court
from services.audit.domain.faults import Fault, Faults
from services.audit.domain.lines import Line
from services.audit.domain.spine import Spine
from services.audit.domain.stretches import Moved, Stretch, Versions
from shared.eventstore import jsonlines
from shared.eventstore.exports import (
    SHARDS,
    CannotRead,
    Form,
    Manifest,
    Part,
    Row,
    Rows,
    Scope,
    Unread,
    digest_of,
    shard_of,
)
from shared.seals.holding import Spans
from shared.seals.merkle import Span

Tell = Callable[[int], None]
"""Is told how many more events were read."""

_EVENTS_A_SIGN: Final = 5_000


class ToHash(Struct, frozen=True):
    """A part of an export. `after` is the position before it, `sizes` those of the seals.

    `hashes_alone`: what it has of vaults and commands is not asked for.
    """

    directory: Path
    form: Form
    scope: Scope
    part: Part
    after: int
    sizes: tuple[int, ...] = ()
    hashes_alone: bool = False


class Hashed(Struct, frozen=True):
    """What was found in a part, and what whoever joins the parts has to know of it.

    `position` and `chain` are those of the last event that was read, or before the part.
    """

    events: int
    position: int
    chain: bytes
    found: Faults
    versions: dict[str, Versions]
    moved: list[Moved]
    registered: list[Line]
    spans: list[Span]
    commands: bytes


class ToTry(Struct, frozen=True):
    """The streams in some of so many shards, and the files that have them, part by part; of one
    shard alone where the files have no other.

    `registered` are the lines of all games of the house, `begun` the streams that are complete
    though the scope does not say so: they begin within it.
    """

    directory: Path
    form: Form
    scope: Scope
    house: str
    parts: tuple[Part, ...]
    registered: tuple[Line, ...] = ()
    shards: tuple[int, ...] = (0,)
    of: int = 1
    begun: frozenset[str] = frozenset()

    def complete(self, stream: str) -> bool:
        """Whether a stream is there from its first event on."""
        return self.scope.complete(stream) or stream in self.begun


class Tried(Struct, frozen=True):
    """What came of a shard, by its number among those that the export was tried in."""

    shard: int
    commands: int
    rounds: int
    cards: int
    postings: int
    balances: dict[str, int]
    found: Faults


def to_hash(
    directory: Path, manifest: Manifest, sizes: Iterable[int] = (), *, hashes_alone: bool = False
) -> list[ToHash]:
    """The parts of an export."""
    about, after, pieces = (directory, manifest.form, manifest.scope), 0, list[ToHash]()
    rest = tuple(sizes), hashes_alone
    for part in manifest.parts:
        # Where positions are left out, only the part before says what comes next.
        before = after if manifest.scope.gaps else part.first_position - 1
        pieces.append(ToHash(*about, part, before, *rest))
        after = part.last_position
    return pieces


def to_try(
    directory: Path,
    manifest: Manifest,
    registered: Sequence[Line],
    width: int,
    begun: Iterable[str] = (),
) -> list[ToTry]:
    """The streams of an export, as they are filed, or for so many who try them at once.

    However that is, a shard is judged by itself, so the report is the same. `begun` is as for
    `ToTry`.
    """
    about = directory, manifest.form, manifest.scope, manifest.house
    games, all_begun = tuple(registered), frozenset(begun)
    if manifest.form == "parquet":
        filed = enumerate(_filed_together(manifest))
        return [ToTry(*about, parts, games, (n,), 1, all_begun) for n, parts in filed]
    shards = [tuple(range(SHARDS)[n::width]) for n in range(min(width, SHARDS))]
    return [ToTry(*about, manifest.parts, games, some, SHARDS, all_begun) for some in shards]


def _filed_together(manifest: Manifest) -> Iterator[tuple[Part, ...]]:
    """The parts with the files of one directory at a time: all files there are, whatever the
    manifest calls them."""
    places = {str(Path(file.path).parent) for part in manifest.parts for file in part.files}
    for place in sorted(places):
        yield tuple(_only(part, place) for part in manifest.parts)


def _only(part: Part, place: str) -> Part:
    files = tuple(file for file in part.files if str(Path(file.path).parent) == place)
    return Part(
        *(part.first_position, part.last_position, part.events),
        *(part.chain_before, part.chain, files),
    )


def hashed(piece: ToHash, tell: Tell) -> Hashed:
    """Judges a part of an export. Raises CannotRead without what reads its form."""
    spine = Spine(piece.after, bytes.fromhex(piece.part.chain_before), gaps=piece.scope.gaps)
    stretch = Stretch(spine, piece.scope.every, hashes_alone=piece.hashes_alone)
    spans = Spans(piece.part.first_position - 1, piece.sizes)
    signs = _Signs(tell)
    for row in rows(piece.directory, piece.form, piece.part):
        signs.add(1)
        if isinstance(row, Unread):
            stretch.unreadable(row.position, row.why)
            spans.read(bytes(32))
        else:
            stretch.read(row)
            spans.read(row.leaf)
    signs.end()
    stretch.found.add(_as_listed(piece, spine, stretch.events))
    return Hashed(
        *(stretch.events, spine.position, spine.chain, stretch.found),
        *(stretch.versions, stretch.moved, stretch.registered),
        *(spans.found, bytes(stretch.commands)),
    )


def _as_listed(piece: ToHash, spine: Spine, events: int) -> Iterator[Fault]:
    """Whether the part holds what the manifest says, and its files are those it names."""
    part = piece.part
    for file in part.files:
        if (digest := digest_of(piece.directory / file.path)) != file.sha256:
            what = f"{file.path} has another SHA-256 than the manifest says."
            if digest is None:
                what = f"{file.path} is not there."
            yield Fault(part.first_position, what, "export", field=file.path)
    if (spine.position, spine.chain.hex(), events) != (part.last_position, part.chain, part.events):
        what = (
            f"The part from {part.first_position} to {part.last_position} has {events} events up "
            f"to {spine.position}; the manifest says {part.events}, and the chain {part.chain}."
        )
        yield Fault(spine.position, what, "export", field="parts")


def tried(piece: ToTry, tell: Tell) -> list[Tried]:
    """Judges the streams of some shards, a shard after the other. Raises CannotRead as `hashed`."""
    about = piece.complete, piece.house, piece.registered
    courts = {shard: (Court(*about), Faults()) for shard in piece.shards}
    signs = _Signs(tell)
    for command in _commands(piece):
        of = shard_of(command[0].stream, piece.of) if piece.of > 1 else piece.shards[0]
        if of in courts:
            court, found = courts[of]
            found.add(court.read(command))
            signs.add(len(command))
    signs.end()
    return [_tried(shard, court, found) for shard, (court, found) in courts.items()]


def _tried(shard: int, court: Court, found: Faults) -> Tried:
    found.add(court.close())
    return Tried(
        shard,
        *(court.commands, court.rounds, court.cards),
        *(court.books.postings, court.books.balances, found),
    )


def _commands(piece: ToTry) -> Iterator[list[Row]]:
    """The rows of the files, a command at a time. Of what cannot be read, its hashes tell."""
    every = chain.from_iterable(rows(piece.directory, piece.form, part) for part in piece.parts)
    read = (row for row in every if isinstance(row, Row))
    for _, command in groupby(read, key=lambda row: row.command_id):
        yield list(command)


def rows(directory: Path, form: Form, part: Part) -> Rows:
    """The rows of a part, in whichever form they are. Raises CannotRead without pyarrow."""
    if form != "parquet":
        return jsonlines.read(directory, part)
    try:
        from shared.eventstore import parquet
    except ImportError:
        raise CannotRead("To read Parquet, install pyarrow: croupier[parquet].") from None
    return parquet.read(directory, part)


class _Signs:
    """Of how far we are: given now and then, since each may take a message to somebody else."""

    def __init__(self, tell: Tell) -> None:
        self._tell, self._untold = tell, 0

    def add(self, events: int) -> None:
        self._untold += events
        if self._untold >= _EVENTS_A_SIGN:
            self.end()

    def end(self) -> None:
        self._tell(self._untold)
        self._untold = 0
