"""What an event store keeps and promises. `postgres` and `memory` both pass the same tests."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import UNSET, Struct, UnsetType

from shared.kernel.chips import Posting
from shared.kernel.rejected import Rejected

NEWEST_SNAPSHOTS = 3
"""How many of a stream's newest snapshots are kept: with them a load reads the tail alone."""

SNAPSHOTS_APART = 10_000
"""Of the older ones, one in so many versions is kept: a look at any past version folds no more."""


class NewEvent(Struct, frozen=True, gc=False):
    """An event to record: `envelope` is canonical JSON and is kept byte for byte."""

    stream: str
    type: str
    schema_version: int
    envelope: bytes
    postings: tuple[Posting, ...]


class Deadline(Struct, frozen=True, gc=False):
    """Until when a stream waits for `turn`; then whoever claims it says that time is out.

    `due` is in whole milliseconds.
    """

    stream: str
    turn: str
    due: datetime


class Append(Struct, frozen=True):
    """The outcome of one command: all of its events and postings are recorded, or none.

    `expected_version` is that of `stream` (0: it must be new; None: whatever it is). Events may
    go to other streams too, such as the vault of a buy-in; those are not checked. `request_hash`
    stands for all that the caller asked for, the stream included. `deadline` is what `stream`
    waits for from now on: nothing (None), or what it waited for before (UNSET).
    """

    command_id: str
    request_hash: bytes
    stream: str
    expected_version: int | None
    events: tuple[NewEvent, ...]
    deadline: Deadline | UnsetType | None = UNSET

    def __post_init__(self) -> None:
        if not self.events:
            raise ValueError(f"Command {self.command_id!r} has no event: nothing to append.")


class Fact(Struct, frozen=True, gc=False):
    """What a fold needs of a recorded event. `version` is its place in the stream, `position` in
    the log, from 1."""

    position: int
    stream: str
    version: int
    type: str
    schema_version: int
    envelope: bytes


class Recorded(Fact, frozen=True, gc=False):
    """All of an event in the log: with its command, and its link of the hash chain."""

    command_id: str
    leaf: bytes
    chain: bytes


class Appended(Struct, frozen=True, gc=False):
    """Where a command was recorded. `version` is that of `stream` after it.

    `replayed`: the command had been recorded before, and this is its first answer again.
    """

    stream: str
    first_position: int
    last_position: int
    version: int
    replayed: bool = False


class Outcome(Struct, frozen=True):
    """What became of a command id: the body it came with, and where it was recorded."""

    request_hash: bytes
    appended: Appended


class Snapshot(Struct, frozen=True):
    """A folded state of a stream at a version; `position` is that of its last event."""

    version: int
    position: int
    state: bytes


class Head(Struct, frozen=True):
    """The last position of a house's log and the hash chain there (0 and zeros when empty)."""

    position: int
    chain: bytes


class HouseNotOpen(Rejected):
    """The house has no log yet.

    The key is good, but its house was never opened, so there is nowhere to record anything. The
    operator opens a house with `croupier migrate` (or `SELECT open_house(name)` as the owner).
    """

    status = 503

    def __init__(self, house: str) -> None:
        super().__init__(f"The house {house!r} is not open. Open it with: SELECT open_house(name)")


class EventStore(Protocol):
    """One append-only log a house, gapless and in commit order, with its ledger."""

    async def append_batch(
        self, house: str, appends: Sequence[Append]
    ) -> list[Appended | Rejected]:
        """Record commands in one transaction, in order, as if one after the other.

        An answer for each: where it was recorded, or its refusal, which spoils nothing for the
        others. No account with a floor falls below it at any posting. The ids of a batch differ.
        An exception means that nothing was recorded, except Unreachable, after which the same
        batch has to be sent again to find out. Raises HouseNotOpen.
        """

    async def read_stream(
        self, house: str, stream: str, after: int = 0, limit: int = 1000
    ) -> list[Recorded]:
        """The next events of a stream with version > `after`, oldest first.

        Raises Archived when some of them were taken out of the database.
        """

    async def streams(self, house: str, prefix: str, limit: int) -> list[str]:
        """The streams whose name begins so, in order of their names."""

    async def read_log(self, house: str, after: int = 0, limit: int = 1000) -> list[Recorded]:
        """The next events of the house with position > `after`: `after` + 1, + 2, …, no gap.

        Raises Archived when some of them were taken out of the database.
        """

    async def stream_facts(
        self, house: str, stream: str, after: int = 0, limit: int = 1000
    ) -> Sequence[Fact]:
        """What `read_stream` reads, for who folds it: half as much to fetch."""

    async def log_facts(self, house: str, after: int = 0, limit: int = 1000) -> Sequence[Fact]:
        """What `read_log` reads, for who folds it: half as much to fetch."""

    async def outcome(self, house: str, command_id: str) -> Outcome | None:
        """What a command id was used for, or None when it was never accepted."""

    async def read_snapshot(
        self, house: str, stream: str, format: str, at_version: int | None = None
    ) -> Snapshot | None:
        """The newest snapshot of that format (at or below `at_version`), if there is one."""

    async def write_snapshot(
        self, house: str, stream: str, format: str, snapshot: Snapshot
    ) -> None:
        """Keep a snapshot, and of the older ones only some: see NEWEST_SNAPSHOTS, SNAPSHOTS_APART.

        Any may be lost at any moment without harm, unless events before it are archived.
        """

    async def claim_deadlines(
        self, house: str, now: datetime, until: datetime, limit: int = 100
    ) -> list[Deadline]:
        """Deadlines that are due, the oldest first; nobody else gets them before `until`.

        A deadline goes away with the append that answers it.
        """

    async def head(self, house: str) -> Head:
        """The end of the log. Raises HouseNotOpen."""

    async def balance(self, house: str, account: str) -> int:
        """The chips on an account, 0 when it was never used."""
