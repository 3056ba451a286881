"""A log held against seals that were kept from before: read once, leaf by leaf, in order."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from shared.seals.merkle import Span
from shared.seals.notes import BadNote, Checkpoint, Note, PublicKey

_LONGEST_FILE: Final = 64 * 1024


class Disagreement(NamedTuple):
    """A log is not the one that was sealed. It shows at `position` at the latest, and not before
    the last seal that it agrees with."""

    position: int
    what: str


def checkpoints(
    notes: Iterable[bytes], keys: Sequence[PublicKey], house: str = ""
) -> list[Checkpoint]:
    """What signed notes say, when they are of one log, and a known key signed each.

    `house` is how their origin has to end. Raises BadNote.
    """
    found = [Note.read(note).check(keys) for note in notes]
    origins = {checkpoint.origin for checkpoint in found}
    if len(origins) > 1:
        raise BadNote(f"the seals are of different logs: {', '.join(sorted(origins))}")
    if house and not all(origin.endswith(f"/{house}") for origin in origins):
        raise BadNote(f"the seals are of {origins.pop()}, and not of the house {house}")
    return sorted(found, key=lambda checkpoint: checkpoint.size)


def public_keys(text: bytes) -> list[PublicKey]:
    """Keys as `croupier seals public` prints them, one a line. Raises BadNote."""
    try:
        lines = text[:_LONGEST_FILE].decode().split()
    except UnicodeDecodeError:
        raise BadNote("the file of public keys is not text") from None
    if not lines:
        raise BadNote("the file of public keys has none")
    return [PublicKey.read(line) for line in lines]


class Holding:
    """Takes up the leaves of a log from its first event on, and compares at every seal.

    They come one by one, or as spans that end where a seal does at the latest.
    """

    def __init__(self, seals: Iterable[Checkpoint]) -> None:
        self._seals = sorted((seal for seal in seals if seal.size), key=lambda seal: seal.size)
        self._tree: Span | None = Span()
        """The tree so far; none any more when leaves are missing in it."""
        self._size = 0
        self._next = 0
        self._agreed = 0
        self._found: list[Disagreement] = []

    @property
    def waits(self) -> bool:
        """Whether there is a seal that was not come to yet."""
        return self._next < len(self._seals)

    def read(self, leaf: bytes) -> None:
        """The leaf of the next event."""
        if self.waits:
            span = Span(self._size)
            span.append(leaf)
            self.join(span)

    def join(self, span: Span) -> None:
        """The leaves that come next."""
        if span.start != self._size:
            self._tree = None
        if self._tree is not None:
            self._tree.extend(span)
        self._size = span.end
        while self.waits and self._seals[self._next].size <= self._size:
            self._compare(self._seals[self._next])
            self._next += 1

    def end(self) -> Iterator[Disagreement]:
        """The log ends here. What is wrong by the seals, the smallest first."""
        yield from self._found
        for seal in self._seals[self._next :]:
            what = f"The log ends at {self._size}, but was sealed up to {seal.size}."
            yield Disagreement(self._size + 1, what)

    def _compare(self, seal: Checkpoint) -> None:
        tree = self._tree
        if tree is not None and tree.end == seal.size and tree.root() == seal.root:
            self._agreed = seal.size
            return
        since = f"somewhere from {self._agreed + 1} on" if self._agreed else "somewhere"
        what = f"The log up to {seal.size} is not the one that was sealed: it was changed {since}."
        self._found.append(Disagreement(seal.size, what))


class Spans:
    """The leaves of a stretch of a log, cut where seals end, for somebody else to hold.

    `start` leaves are before it; `sizes` are those of the seals.
    """

    def __init__(self, start: int, sizes: Iterable[int]) -> None:
        self._sizes = frozenset(sizes)
        self.found = [Span(start)] if self._sizes else []

    def read(self, leaf: bytes) -> None:
        """The leaf of the next event."""
        if self.found:
            self.found[-1].append(leaf)
            if self.found[-1].end in self._sizes:
                self.found.append(Span(self.found[-1].end))
