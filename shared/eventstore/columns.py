"""A batch of appends as the columns of `append_batch`, and its numbers as answers again."""

from collections.abc import Sequence
from enum import IntEnum
from itertools import starmap

from shared.eventstore.arrays import byteas, int4s, int8s, texts
from shared.eventstore.chain import leaf_of
from shared.eventstore.rejections import InsufficientChips, KeyReused, Unbalanced, VersionConflict
from shared.eventstore.store import Append, Appended, Deadline
from shared.kernel.moments import milliseconds
from shared.kernel.rejected import Rejected

_ANY_VERSION = -1
_AS_IT_WAS, _NONE = -1, 0


class _Is(IntEnum):
    """The outcomes as the function numbers them."""

    ACCEPTED = 0
    REPLAYED = 1
    KEY_REUSED = 2
    VERSION_CONFLICT = 3
    INSUFFICIENT_CHIPS = 4
    UNBALANCED = 5


class Columns:
    """The parameters of `append_batch` after the house. Streams and accounts are named once
    and meant by their place, from 1."""

    def __init__(self, appends: Sequence[Append]) -> None:
        self._appends = appends
        self._streams: dict[str, int] = {}
        self._accounts: dict[str, int] = {}
        self.packed = self._pack()

    def _pack(self) -> tuple[bytes, ...]:
        streams, accounts = self._streams, self._accounts
        appends = self._appends
        command_streams, last_events = [], []
        event_streams, last_postings = [], []
        posting_accounts, amounts = [], []
        for append in appends:
            command_streams.append(streams.setdefault(append.stream, len(streams) + 1))
            for event in append.events:
                event_streams.append(streams.setdefault(event.stream, len(streams) + 1))
                for posting in event.postings:
                    account = posting.account
                    posting_accounts.append(accounts.setdefault(account, len(accounts) + 1))
                    amounts.append(posting.amount)
                last_postings.append(len(amounts))
            last_events.append(len(event_streams))
        events = [event for append in appends for event in append.events]
        return (
            texts([append.command_id for append in appends]),
            byteas([append.request_hash for append in appends]),
            int4s(command_streams),
            int8s([_expected(append) for append in appends]),
            texts([_turn(append) for append in appends]),
            int8s([_due(append) for append in appends]),
            int4s(last_events),
            texts(list(streams)),
            int4s(event_streams),
            texts([event.type for event in events]),
            int4s([event.schema_version for event in events]),
            byteas([event.envelope for event in events]),
            byteas([leaf_of(event.envelope) for event in events]),
            int4s(last_postings),
            texts(list(accounts)),
            int4s(posting_accounts),
            int8s(amounts),
        )

    def answers(self, numbers: Sequence[int | None]) -> list[Appended | Rejected]:
        """What the function returned: the outcomes, then each of their three facts."""
        n = len(self._appends)
        rows = zip(self._appends, *(numbers[i : i + n] for i in range(0, 4 * n, n)), strict=True)
        return list(starmap(self._answer, rows))

    def _answer(self, append: Append, outcome: int, a: int, b: int, c: int) -> Appended | Rejected:
        match outcome:
            case _Is.ACCEPTED | _Is.REPLAYED:
                return Appended(append.stream, a, b, c, outcome == _Is.REPLAYED)
            case _Is.KEY_REUSED:
                return KeyReused(append.command_id)
            case _Is.VERSION_CONFLICT:
                return VersionConflict(append.stream, append.expected_version or 0, a)
            case _Is.INSUFFICIENT_CHIPS:
                return InsufficientChips(list(self._accounts)[a - 1], balance=b, needed=c)
            case _Is.UNBALANCED:
                return Unbalanced(append.command_id, off_by=a)
        raise AssertionError(f"append_batch answered {outcome}")


def _expected(append: Append) -> int:
    return _ANY_VERSION if append.expected_version is None else append.expected_version


def _turn(append: Append) -> str:
    return append.deadline.turn if isinstance(append.deadline, Deadline) else ""


def _due(append: Append) -> int:
    """In milliseconds since the epoch; or none, or as it was."""
    if isinstance(append.deadline, Deadline):
        return milliseconds(append.deadline.due)
    return _NONE if append.deadline is None else _AS_IT_WAS
