"""The rows that are written beside the log, held against it: entries, balances, versions of
streams, outcomes of commands, deadlines, snapshots, and the head of the log.

All of them follow from the events. So the log is folded once more, in its order, and the longest
tables are read beside it in the same order: memory grows with accounts and streams alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, LiteralString, TypeAlias

import msgspec
from msgspec import UNSET, Struct

from services.audit.domain.faults import Fault, Kind
from services.audit.domain.lines import CODEC, Head, envelope_of, head_of
from services.blackjack.application.reading import TABLES
from services.blackjack.application.rulesets import RULESETS
from services.blackjack.application.tables import waits_after
from shared.eventstore.cause import Cause
from shared.eventstore.chain import GENESIS
from shared.eventstore.partitions import Owner
from shared.eventstore.store import Recorded
from shared.kernel.chips import floor
from shared.kernel.decider import Decider
from shared.kernel.moments import instant, moment

Row: TypeAlias = tuple[Any, ...]
Rows: TypeAlias = Mapping[Row, Row]
"""By what names them."""

_ROWS_A_READ: Final = 5_000
_END: Final = 2**63 - 1
_DECIDERS: Final[dict[str, Decider[Any, Any]]] = {"table-": TABLES, "ruleset-": RULESETS}


class Kept(Struct, frozen=True):
    """A table whose rows follow from the log. `columns` come after the `names`, as many as make a
    row the only one."""

    name: str
    kind: Kind
    names: int
    columns: tuple[str, ...]
    query: LiteralString
    words: tuple[Any, ...] = ()
    """What the query is told besides the house."""

    def row(self, values: Sequence[Any]) -> tuple[Row, Row]:
        """What names a row, and what its columns have."""
        return tuple(values[: self.names]), tuple(values[self.names :])

    def parted(self, due: Rows, found: Rows, at: Callable[[Row], int]) -> Iterator[Fault]:
        """Where the rows are not those that are due; `at` is the position that a row is of."""
        for key in sorted(due.keys() | found.keys(), key=str):
            named = f"{self.name} of {' '.join(map(str, key))}"
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


# Of those that are read beside the log, the first column is the place of the row there.
ENTRIES: Final = Kept(
    "posting", "chips", 3, ("amount", "balance_after"),
    "SELECT position, position, line, account, amount, balance_after FROM posting "
    "WHERE house = %s ORDER BY position, line, account",
)  # fmt: skip
OUTCOMES: Final = Kept(
    "command_outcome",
    "order",
    1,
    ("request_hash", "stream", "version", "first_position", "last_position"),
    "SELECT first_position, command_id, request_hash, stream, version, first_position, "
    "last_position FROM command_outcome WHERE house = %s ORDER BY first_position, command_id",
)
SNAPSHOTS: Final = Kept(
    "snapshot", "play", 3, ("position", "state"),
    # Those of other formats are of other releases, and never read.
    "SELECT position, stream, format, version, position, state FROM snapshot WHERE house = %s "
    "AND format = ANY (%s) ORDER BY position, stream, format, version",
    ([decider.format for decider in _DECIDERS.values()],),
)  # fmt: skip
ACCOUNTS: Final = Kept(
    "account", "chips", 1, ("balance", "floor"),
    "SELECT account, balance, floor FROM account WHERE house = %s",
)  # fmt: skip
STREAMS: Final = Kept(
    "stream_head", "order", 1, ("version",),
    "SELECT stream, version FROM stream_head WHERE house = %s",
)  # fmt: skip
DEADLINES: Final = Kept(
    "deadline", "time-out", 1, ("turn", "due_at"),
    "SELECT stream, turn, due_at FROM deadline WHERE house = %s",
)  # fmt: skip
HEAD: Final = Kept(
    "log_head", "order", 1, ("position", "chain"),
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
        self._deadlines: dict[Row, Row] = {}
        self._states: dict[str, Any] = {}
        self._last: dict[str, int] = {}
        """The position of the last event of each stream, and of each account."""
        self._end: tuple[int, bytes] = (0, GENESIS)

    def read(self, command: Sequence[Recorded]) -> Iterator[Fault]:
        """The events of the next command."""
        last = command[-1]
        yield from self._strays(command[0].position - 1)
        self._end = last.position, last.chain
        for record in command:
            self._versions[record.stream] = record.version
            self._last[record.stream] = record.position
        entries = dict(self._entries_due(command))
        yield from ENTRIES.parted(entries, self._entries.up_to(last.position), _place_of)
        yield from self._outcome(command)
        yield from self._fold(command)

    def close(self) -> Iterator[Fault]:
        """The log ends here."""
        yield from self._strays(_END)
        accounts = {(name,): (chips, floor(name)) for name, chips in self._balances.items()}
        versions = {(stream,): (version,) for stream, version in self._versions.items()}
        for kept, due in (
            (ACCOUNTS, accounts),
            (STREAMS, versions),
            (DEADLINES, self._deadlines),
            (HEAD, {(self._house,): self._end}),
        ):
            yield from kept.parted(due, self._all(kept), self._last_of)

    def _strays(self, position: int) -> Iterator[Fault]:
        """Rows up to a position, of which no event was read; a page of them at a time."""
        for beside in (self._entries, self._outcomes, self._snapshots):
            while rows := beside.up_to(position, _ROWS_A_READ):
                yield from beside.kept.parted({}, rows, lambda key: self._end[0])

    def _all(self, kept: Kept) -> Rows:
        with self._owner.cursor(binary=True) as cursor:
            return dict(map(kept.row, cursor.execute(kept.query, (self._house, *kept.words))))

    def _last_of(self, key: Row) -> int:
        """The position of the last event of what a row begins its name with."""
        return self._last.get(key[0], self._end[0])

    def _entries_due(self, command: Sequence[Recorded]) -> Iterator[tuple[Row, Row]]:
        for record in command:
            try:
                postings = envelope_of(record).postings
            except ValueError:
                continue  # the log is broken there: whoever verifies it says so
            for line, posting in enumerate(postings):
                account = posting.account
                balance = self._balances[account] = self._balances.get(account, 0) + posting.amount
                self._last[account] = record.position
                yield (record.position, line, account), (posting.amount, balance)

    def _outcome(self, command: Sequence[Recorded]) -> Iterator[Fault]:
        first, last = command[0], command[-1]
        found = self._outcomes.up_to(last.position)
        try:
            head = head_of(first)
        except ValueError:
            return
        cause = Cause(self._house, head.actor, first.command_id)
        body = b"" if head.command is UNSET else bytes(head.command)
        due = {
            (first.command_id,): (
                cause.fingerprint(first.stream, body),
                *(first.stream, self._versions[first.stream], first.position, last.position),
            )
        }
        yield from OUTCOMES.parted(due, found, lambda key: first.position)

    def _fold(self, command: Sequence[Recorded]) -> Iterator[Fault]:
        """States of tables and games: what they wait for, and what is kept of them."""
        stream, folded = command[0].stream, dict[Row, Row]()
        decider = next((d for name, d in _DECIDERS.items() if stream.startswith(name)), None)
        found = self._snapshots.up_to(command[-1].position)
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
        yield from SNAPSHOTS.parted(due, found, self._last_of)

    def _wait(self, stream: str, before: Any, after: Any, head: Head) -> None:
        now = moment(instant(head.time))
        waits = waits_after(stream, before, after, self._versions[stream], now)
        if waits is not UNSET:
            self._deadlines[(stream,)] = (waits.turn, waits.due) if waits else ("", None)


class _Beside:
    """The rows of a table in the order of the log."""

    def __init__(self, owner: Owner, kept: Kept, house: str) -> None:
        self.kept = kept
        cursor = owner.cursor(f"beside {kept.name}", binary=True)
        cursor.itersize = _ROWS_A_READ
        self._rows = iter(cursor.execute(kept.query, (house, *kept.words)))
        self._next = next(self._rows, None)

    def up_to(self, position: int, most: int | None = None) -> dict[Row, Row]:
        """Those that come next, up to a position, and at most so many."""
        found = dict[Row, Row]()
        while self._next is not None and self._next[0] <= position and len(found) != most:
            key, columns = self.kept.row(self._next[1:])
            found[key] = columns
            self._next = next(self._rows, None)
        return found


def _place_of(key: Row) -> int:
    return int(key[0])
