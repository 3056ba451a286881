"""The rows that are written beside the log, held against it: entries, balances, versions of
streams, outcomes of commands, deadlines, snapshots, and the head of the log.

All of them follow from the events. So the log is folded once more, in its order, and the longest
tables are read beside it in the same order: memory grows with accounts and streams alone.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final, LiteralString, TypeAlias

import msgspec
from msgspec import UNSET, Struct

from services.audit.domain.faults import Fault, Kind
from services.audit.domain.lines import CODEC, Head, envelope_of, head_of
from services.blackjack.application.reading import TABLES
from services.blackjack.application.rulesets import RULESETS
from services.blackjack.application.tables import waits_after
from shared.eventstore.cause import Cause
from shared.eventstore.partitions import Owner
from shared.eventstore.store import Recorded
from shared.kernel.chips import floor
from shared.kernel.decider import Decider
from shared.kernel.moments import instant, moment

Row: TypeAlias = tuple[Any, ...]
Rows: TypeAlias = Mapping[Any, Row]

_ROWS_A_READ: Final = 5_000
_END: Final = 2**63 - 1
_DECIDERS: Final[dict[str, Decider[Any, Any]]] = {"table-": TABLES, "ruleset-": RULESETS}


class Kept(Struct, frozen=True):
    """A table whose rows follow from the log. `columns` come after those that name a row."""

    name: str
    kind: Kind
    columns: tuple[str, ...]
    query: LiteralString
    words: tuple[Any, ...] = ()
    """What the query is told besides the house."""

    def parted(self, due: Rows, found: Rows, at: Callable[[Any], int]) -> Iterator[Fault]:
        """Where the rows are not those that are due; `at` is the position that a row is of."""
        for key in sorted(due.keys() | found.keys(), key=str):
            named = (
                f"{self.name} of {' '.join(map(str, key if isinstance(key, tuple) else (key,)))}"
            )
            if key not in found:
                yield Fault(at(key), f"The {named} is not there.", self.kind, field=self.name)
            elif key not in due:
                what = f"The {named} follows from no event."
                yield Fault(at(key), what, self.kind, field=self.name)
            else:
                for column, now, was in zip(self.columns, found[key], due[key], strict=True):
                    if now != was:
                        what = f"The {named} has the {column} {_shown(now)}, not {_shown(was)}."
                        field = f"{self.name}.{column}"
                        yield Fault(at(key), what, self.kind, field=field)


def _shown(value: object) -> str:
    if isinstance(value, bytes):
        return value.hex() if len(value) <= 32 else f"{len(value)} other bytes"
    return repr(value) if isinstance(value, str) else str(value)


ENTRIES: Final = Kept(
    "posting", "chips", ("account", "amount", "balance_after"),
    "SELECT position, line, account, amount, balance_after FROM posting WHERE house = %s "
    "ORDER BY position, line, account",
)  # fmt: skip
OUTCOMES: Final = Kept(
    "command_outcome",
    "order",
    ("request_hash", "stream", "version", "first_position", "last_position"),
    "SELECT first_position, command_id, request_hash, stream, version, first_position, "
    "last_position FROM command_outcome WHERE house = %s ORDER BY first_position, command_id",
)
SNAPSHOTS: Final = Kept(
    "snapshot", "play", ("position", "state"),
    # Those of other formats are of other releases, and never read.
    "SELECT position, stream, format, version, position, state FROM snapshot WHERE house = %s "
    "AND format = ANY (%s) ORDER BY position, stream, format, version",
    ([decider.format for decider in _DECIDERS.values()],),
)  # fmt: skip
ACCOUNTS: Final = Kept(
    "account", "chips", ("balance", "floor"),
    "SELECT account, balance, floor FROM account WHERE house = %s",
)  # fmt: skip
STREAMS: Final = Kept(
    "stream_head", "order", ("version",), "SELECT stream, version FROM stream_head WHERE house = %s"
)
DEADLINES: Final = Kept(
    "deadline", "time-out", ("turn", "due_at"),
    "SELECT stream, turn, due_at FROM deadline WHERE house = %s",
)  # fmt: skip
HEAD: Final = Kept(
    "log_head", "order", ("position", "chain"),
    "SELECT house, position, chain FROM log_head WHERE house = %s",
)  # fmt: skip


class Derived:
    """Reads the log of a house command by command, in one transaction that sees one moment."""

    def __init__(self, owner: Owner, house: str) -> None:
        self._owner, self._house = owner, house
        self._entries = _Beside(owner, ENTRIES, house)
        self._outcomes = _Beside(owner, OUTCOMES, house)
        self._snapshots = _Beside(owner, SNAPSHOTS, house)
        self._balances: dict[str, int] = {}
        self._versions: dict[str, int] = {}
        self._deadlines: dict[str, Row] = {}
        self._states: dict[str, Any] = {}
        self._last: dict[str, int] = {}
        """The position of the last event of each stream, and of each account."""
        self._end: tuple[int, bytes] = (0, bytes(32))

    def read(self, command: Sequence[Recorded]) -> Iterator[Fault]:
        """The events of the next command."""
        last = command[-1]
        self._end = last.position, last.chain
        for record in command:
            self._versions[record.stream] = record.version
            self._last[record.stream] = record.position
        entries = dict(self._entries_due(command))
        yield from ENTRIES.parted(entries, self._entries.up_to(last.position, 2), _first_of)
        yield from self._outcome(command)
        yield from self._fold(command)

    def close(self) -> Iterator[Fault]:
        """The log ends here."""
        for beside, width in ((self._entries, 2), (self._outcomes, 1), (self._snapshots, 3)):
            left = beside.up_to(_END, width)
            yield from beside.kept.parted({}, left, lambda key: self._end[0])
        accounts = {name: (chips, floor(name)) for name, chips in self._balances.items()}
        versions = {stream: (version,) for stream, version in self._versions.items()}
        for kept, due in (
            (ACCOUNTS, accounts),
            (STREAMS, versions),
            (DEADLINES, self._deadlines),
            (HEAD, {self._house: self._end}),
        ):
            yield from kept.parted(
                due, self._all(kept), lambda key: self._last.get(key, self._end[0])
            )

    def _all(self, kept: Kept) -> Rows:
        with self._owner.cursor(binary=True) as cursor:
            return {
                row[0]: row[1:] for row in cursor.execute(kept.query, (self._house, *kept.words))
            }

    def _entries_due(self, command: Sequence[Recorded]) -> Iterator[tuple[Hashable, Row]]:
        for record in command:
            try:
                postings = envelope_of(record).postings
            except ValueError:
                continue  # the log is broken there: whoever verifies it says so
            for line, posting in enumerate(postings):
                account = posting.account
                balance = self._balances[account] = self._balances.get(account, 0) + posting.amount
                self._last[account] = record.position
                yield (record.position, line), (account, posting.amount, balance)

    def _outcome(self, command: Sequence[Recorded]) -> Iterator[Fault]:
        first, last = command[0], command[-1]
        found = self._outcomes.up_to(last.position, 1)
        try:
            head = head_of(first)
        except ValueError:
            return
        cause = Cause(self._house, head.actor, first.command_id)
        body = b"" if head.command is UNSET else bytes(head.command)
        due = {
            first.command_id: (
                cause.fingerprint(first.stream, body),
                *(first.stream, self._versions[first.stream], first.position, last.position),
            )
        }
        yield from OUTCOMES.parted(due, found, lambda key: first.position)

    def _fold(self, command: Sequence[Recorded]) -> Iterator[Fault]:
        """States of tables and games: what they wait for, and what is kept of them."""
        stream, folded = command[0].stream, dict[Hashable, Row]()
        decider = next((d for name, d in _DECIDERS.items() if stream.startswith(name)), None)
        found = self._snapshots.up_to(command[-1].position, 3)
        try:
            if decider:
                before = self._states.get(stream, decider.initial(stream))
                state, wanted = before, {row[0] for row in found.values()}
                for record in command:
                    if record.stream == stream:
                        state = decider.evolve(state, *CODEC.told(record))
                        if record.position in wanted:
                            key = stream, decider.format, record.version
                            folded[key] = record.position, msgspec.msgpack.encode(state)
                self._states[stream] = state
                if decider is TABLES:
                    self._wait(stream, before, state, head_of(command[0]))
        except Exception:
            return  # the log is broken there: whoever verifies it says so
        due = {key: row for key, row in folded.items() if key in found}
        yield from SNAPSHOTS.parted(due, found, lambda key: self._last.get(key[0], self._end[0]))

    def _wait(self, stream: str, before: Any, after: Any, head: Head) -> None:
        now = moment(instant(head.time))
        waits = waits_after(stream, before, after, self._versions[stream], now)
        if waits is not UNSET:
            self._deadlines[stream] = (waits.turn, waits.due) if waits else ("", None)


class _Beside:
    """The rows of a table in the order of the log. The first column of each is its place there."""

    def __init__(self, owner: Owner, kept: Kept, house: str) -> None:
        self.kept = kept
        cursor = owner.cursor(f"beside {kept.name}", binary=True)
        cursor.itersize = _ROWS_A_READ
        self._rows = iter(cursor.execute(kept.query, (house, *kept.words)))
        self._next = next(self._rows, None)

    def up_to(self, position: int, width: int) -> dict[Hashable, Row]:
        """Those that come next, up to a position; so many columns name a row."""
        found = dict[Hashable, Row]()
        while self._next is not None and self._next[0] <= position:
            place, *rest = self._next
            names = (place, *rest) if self.kept is ENTRIES else tuple(rest)
            key = names[:width] if width > 1 else names[0]
            found[key] = names[width:]
            self._next = next(self._rows, None)
        return found


def _first_of(key: tuple[int, int]) -> int:
    return key[0]
