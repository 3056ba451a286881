"""The event store in memory: the same promises in the plainest code, for tests and as a model."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import UNSET

from shared.eventstore.chain import GENESIS, leaf_of, link
from shared.eventstore.rejections import InsufficientChips, KeyReused, Unbalanced, VersionConflict
from shared.eventstore.store import (
    NEWEST_SNAPSHOTS,
    SNAPSHOTS_APART,
    Append,
    Appended,
    Deadline,
    Fact,
    Head,
    HouseNotOpen,
    Outcome,
    Recorded,
    Snapshot,
)
from shared.kernel.chips import Posting, floor
from shared.kernel.rejected import Rejected


class House:
    """All that is kept of one house."""

    def __init__(self) -> None:
        self.log: list[Recorded] = []
        self.streams: dict[str, list[Recorded]] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.balances: dict[str, int] = {}
        self.snapshots: dict[tuple[str, str], dict[int, Snapshot]] = {}
        self.deadlines: dict[str, Deadline] = {}
        self.claimed: dict[str, datetime] = {}

    def append(self, append: Append) -> Appended | Rejected:
        known = self.outcomes.get(append.command_id)
        if known and known.request_hash == append.request_hash:
            return known.appended
        if known:
            return KeyReused(append.command_id)
        actual = len(self.streams.get(append.stream, ()))
        if append.expected_version not in (None, actual):
            return VersionConflict(append.stream, append.expected_version or 0, actual)
        postings = [posting for event in append.events for posting in event.postings]
        if off_by := sum(posting.amount for posting in postings):
            return Unbalanced(append.command_id, off_by)
        balances = self.balances.copy()
        if short := _move(balances, postings):
            return short
        self.balances = balances
        return self._record(append)

    def _record(self, append: Append) -> Appended:
        first = len(self.log) + 1
        for event in append.events:
            stream = self.streams.setdefault(event.stream, [])
            leaf = leaf_of(event.envelope)
            recorded = Recorded(
                position=len(self.log) + 1,
                stream=event.stream,
                version=len(stream) + 1,
                type=event.type,
                schema_version=event.schema_version,
                command_id=append.command_id,
                envelope=event.envelope,
                leaf=leaf,
                chain=link(self.head().chain, leaf),
            )
            self.log.append(recorded)
            stream.append(recorded)
        if append.deadline is not UNSET:
            self._wait(append.stream, append.deadline)
        version = len(self.streams.get(append.stream, ()))
        place = (append.stream, first, len(self.log), version)
        self.outcomes[append.command_id] = Outcome(
            append.request_hash, Appended(*place, replayed=True)
        )
        return Appended(*place)

    def _wait(self, stream: str, deadline: Deadline | None) -> None:
        self.deadlines.pop(stream, None)
        self.claimed.pop(stream, None)
        if deadline:
            self.deadlines[stream] = deadline

    def claim(self, now: datetime, until: datetime, limit: int) -> list[Deadline]:
        free = [
            deadline
            for deadline in self.deadlines.values()
            if deadline.due <= now and self.claimed.get(deadline.stream, now) <= now
        ]
        found = sorted(free, key=lambda deadline: (deadline.due, deadline.stream))[:limit]
        self.claimed |= {deadline.stream: until for deadline in found}
        return found

    def head(self) -> Head:
        return Head(len(self.log), self.log[-1].chain if self.log else GENESIS)


class MemoryStore:
    """Keeps everything in this process, and loses it with it. See EventStore."""

    def __init__(self, *houses: str) -> None:
        """The houses named are open."""
        self._houses = {house: House() for house in houses}

    async def append_batch(
        self, house: str, appends: Sequence[Append]
    ) -> list[Appended | Rejected]:
        kept = self._open(house)
        return [kept.append(append) for append in appends]

    async def read_stream(
        self, house: str, stream: str, after: int = 0, limit: int = 1000
    ) -> list[Recorded]:
        return self._house(house).streams.get(stream, [])[after : after + limit]

    async def streams(self, house: str, prefix: str, limit: int) -> list[str]:
        names = sorted(self._house(house).streams)
        return [name for name in names if name.startswith(prefix)][:limit]

    async def read_log(self, house: str, after: int = 0, limit: int = 1000) -> list[Recorded]:
        return self._house(house).log[after : after + limit]

    async def stream_facts(
        self, house: str, stream: str, after: int = 0, limit: int = 1000
    ) -> Sequence[Fact]:
        return await self.read_stream(house, stream, after, limit)

    async def log_facts(self, house: str, after: int = 0, limit: int = 1000) -> Sequence[Fact]:
        return await self.read_log(house, after, limit)

    async def outcome(self, house: str, command_id: str) -> Outcome | None:
        return self._house(house).outcomes.get(command_id)

    async def read_snapshot(
        self, house: str, stream: str, format: str, at_version: int | None = None
    ) -> Snapshot | None:
        kept = self._house(house).snapshots.get((stream, format), {})
        versions = [v for v in kept if at_version is None or v <= at_version]
        return kept[max(versions)] if versions else None

    async def write_snapshot(
        self, house: str, stream: str, format: str, snapshot: Snapshot
    ) -> None:
        kept = self._open(house).snapshots.setdefault((stream, format), {})
        kept.setdefault(snapshot.version, snapshot)
        for version in _superfluous(sorted(kept)):
            del kept[version]

    async def claim_deadlines(
        self, house: str, now: datetime, until: datetime, limit: int = 100
    ) -> list[Deadline]:
        return self._house(house).claim(now, until, limit)

    async def head(self, house: str) -> Head:
        return self._open(house).head()

    async def balance(self, house: str, account: str) -> int:
        return self._house(house).balances.get(account, 0)

    def _open(self, house: str) -> House:
        if house not in self._houses:
            raise HouseNotOpen(house)
        return self._houses[house]

    def _house(self, house: str) -> House:
        return self._houses.get(house) or House()


def _superfluous(versions: list[int]) -> list[int]:
    """The older snapshots, but for the first in every span of SNAPSHOTS_APART versions."""
    spans = [version // SNAPSHOTS_APART for version in versions]
    older = list(zip(spans, [None, *spans], versions, strict=False))[:-NEWEST_SNAPSHOTS]
    return [version for span, before, version in older if span == before]


def _move(balances: dict[str, int], postings: Iterable[Posting]) -> InsufficientChips | None:
    for account, amount in ((posting.account, posting.amount) for posting in postings):
        balance, least = balances.get(account, 0), floor(account)
        if amount < 0 and least is not None and balance + amount < least:
            return InsufficientChips(account, balance, needed=-amount)
        balances[account] = balance + amount
    return None
