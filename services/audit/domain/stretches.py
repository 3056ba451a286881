"""What runs through all of a log: the versions of streams, and the chips of vaults, which several
tables move. It is checked line by line, or a stretch of the log at a time.

A stretch is checked by itself as far as that goes. For the rest it keeps what whoever joins the
stretches has to know, which is little: the versions that a stream has in it, what moved the chips
of vaults, which games were registered, and the commands by their ids.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Final

from msgspec import Struct

from services.audit.domain.books import Books
from services.audit.domain.faults import Fault, Faults
from services.audit.domain.lines import Line, envelope_of
from services.audit.domain.rulebook import RULESETS
from services.audit.domain.spine import Spine
from shared.kernel.chips import Posting

VAULTS: Final = "vault-"
"""How the streams of vaults begin."""

DIGEST: Final = 16
NAMED: Final = DIGEST + 8
"""The bytes that are kept of a command: so many of the SHA-256 of its id, then its position."""

_BEGINS: Final = b'.0","postings":'
"""What an envelope has that is the first of its command: the end of its id, and what is next."""

Complete = Callable[[str], bool]


def _always(stream: str) -> bool:
    return True


class Versions(Struct, gc=False):
    """Those that a stream has in a stretch; `position` is that of the first."""

    position: int
    first: int
    last: int


class Moved(Struct, frozen=True, gc=False):
    """The postings of an event of a vault."""

    position: int
    stream: str
    postings: tuple[Posting, ...]


class Stretch:
    """Consecutive lines of a log, judged by themselves; `every` is as for `Whole`.

    With `hashes_alone`, only places, hashes and versions are looked at.
    """

    def __init__(self, spine: Spine, every: Complete, *, hashes_alone: bool = False) -> None:
        self.found = Faults()
        self.events = 0
        self.versions: dict[str, Versions] = {}
        self.moved: list[Moved] = []
        self.registered: list[Line] = []
        """The lines of games, which whoever tries a table has to know."""
        self.commands = bytearray()
        """Those that begin here, as `named`."""
        self._spine, self._every, self._hashes_alone = spine, every, hashes_alone

    def read(self, line: Line) -> None:
        """The next line."""
        self.events += 1
        if faults := self._spine.faults(line):
            self.found.add(faults)
        stream, version = line.stream, line.version
        here = self.versions.get(stream)
        if here is None:
            self.versions[stream] = Versions(line.position, version, version)
        else:
            if version != here.last + 1:
                position = line.position
                self.found.add(_order(stream, here.last, version, position, self._every))
            here.last = version
        if self._hashes_alone:
            return
        if _BEGINS in line.envelope:
            self.commands += named(line.command_id, line.position)
        if stream.startswith(VAULTS):
            self.moved.extend(_moved(line))
        elif stream.startswith(RULESETS):
            self.registered.append(line)

    def unreadable(self, position: int, why: str) -> None:
        """A line that cannot be taken up."""
        self.found.add([self._spine.unreadable(position, why)])


def named(command_id: str, position: int) -> bytes:
    """A command, in `NAMED` bytes: two with the same id begin with the same `DIGEST`."""
    # A line may say any position, if it is tampered with: that it is out of order is said anyway.
    return sha256(command_id.encode()).digest()[:DIGEST] + (position % 2**64).to_bytes(8)


class Whole:
    """A log from its first event on, which comes by lines or by stretches, in order.

    `complete` says of a stream whether all of it is there, from its first event on, and `every`
    whether all is that comes after the first that is there. Memory grows with the streams and
    vaults there are.
    """

    def __init__(self, complete: Complete = _always, every: Complete = _always) -> None:
        self.vaults = Books()
        self.begun = set[str]()
        """Streams that begin within what was read, so that they are complete all the same."""
        self._versions: dict[str, int] = {}
        self._complete, self._every = complete, every

    @property
    def streams(self) -> int:
        return len(self._versions)

    @property
    def in_part(self) -> dict[str, int]:
        """How many streams are not there from their first event on: tables, vaults, rulesets."""
        without = (stream for stream in self._versions if not self.complete(stream))
        return dict(Counter(f"{stream.partition('-')[0]}s" for stream in without))

    def complete(self, stream: str) -> bool:
        """Whether a stream that was read is there from its first event on."""
        return self._complete(stream) or stream in self.begun

    def read(self, line: Line) -> Iterator[Fault]:
        """The next line."""
        yield from self._follow(line.stream, line.version, line.version, line.position)
        if line.stream.startswith(VAULTS):
            for moved in _moved(line):
                yield from self._enter(moved)

    def join(self, versions: Mapping[str, Versions], moved: Iterable[Moved]) -> Iterator[Fault]:
        """What the next stretch has."""
        for stream, here in versions.items():
            yield from self._follow(stream, here.first, here.last, here.position)
        for each in moved:
            yield from self._enter(each)

    def _follow(self, stream: str, first: int, last: int, position: int) -> Iterator[Fault]:
        before = self._versions.get(stream, 0)
        if not before and first == 1 and self._every(stream) and not self._complete(stream):
            self.begun.add(stream)
        follows = self._every if before else self._complete
        yield from _order(stream, before, first, position, follows)
        self._versions[stream] = last

    def _enter(self, moved: Moved) -> Iterator[Fault]:
        fallen = list(self.vaults.enter(moved.postings))
        if self.complete(moved.stream):
            for what in fallen:
                yield Fault(moved.position, what, "chips", moved.stream, field="postings")


def _order(
    stream: str, before: int, version: int, position: int, follows: Complete
) -> Iterator[Fault]:
    if version != before + 1 and (follows(stream) or version <= before):
        what = f"After version {before} of {stream} comes {version}."
        yield Fault(position, what, "order", stream, field="version")


def _moved(line: Line) -> Iterator[Moved]:
    try:
        yield Moved(line.position, line.stream, envelope_of(line).postings)
    except ValueError:
        return  # said when the command is tried
