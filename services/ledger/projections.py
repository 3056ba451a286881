"""Balances, entries and the trial balance: read from the ledger that the log writes."""

import asyncio
from typing import Any, Final, LiteralString
from weakref import WeakValueDictionary

from msgspec import Struct
from psycopg.rows import AsyncRowFactory, class_row, tuple_row

from shared.eventstore.rejections import UnknownPosition
from shared.eventstore.replica import ReplicaStore

_MOST_TRIALS: Final = 2


class Account(Struct, frozen=True):
    """An account with its balance, in chips."""

    account: str
    balance: int


class Entry(Struct, frozen=True):
    """A line of the ledger: `amount` into (+) or out of (-) an account, and what was there then.

    `position` is the event's place in the log, `line` the line's place in the event, from 0. `type`
    is null when the event was taken out of the database.
    """

    position: int
    line: int
    account: str
    amount: int
    balance_after: int
    type: str | None


class AccountPage(Struct, frozen=True):
    """A part of the accounts, by name. `next` continues it; null at the end."""

    data: list[Account]
    next: str | None


class EntryPage(Struct, frozen=True):
    """A part of an account's entries, oldest first. `next` continues it; null at the end."""

    data: list[Entry]
    next: int | None


class Kind(Struct, frozen=True):
    """All accounts of a kind together."""

    kind: str
    accounts: int
    balance: int


class TrialBalance(Struct, frozen=True):
    """All accounts summed at a position of the log. `total` is 0 in a ledger that balances."""

    position: int
    accounts: list[Kind]
    total: int
    balanced: bool


class Books:
    """The reading side of the ledger, from a replica where there is one.

    A trial balance takes seconds where there are many accounts. However many are asked for, a
    house has one under way, and a process two: they leave connections to those who play.
    """

    def __init__(self, reads: ReplicaStore) -> None:
        self._reads = reads
        self._trials = asyncio.Semaphore(_MOST_TRIALS)
        self._trial_of = WeakValueDictionary[str, asyncio.Lock]()

    async def balance(self, house: str, account: str) -> int:
        """The chips on an account; 0 for one that was never used."""
        found = await self._rows(
            "SELECT balance FROM account WHERE house = %s AND account = %s", (house, account)
        )
        return found[0][0] if found else 0

    async def balance_at(self, house: str, account: str, position: int) -> int:
        """The chips on an account right after the event at a position."""
        found = await self._rows(
            """
            SELECT balance_after FROM posting
             WHERE house = %s AND account = %s AND position <= %s
             ORDER BY position DESC LIMIT 1
            """,
            (house, account, position),
        )
        return found[0][0] if found else 0

    async def accounts(self, house: str, prefix: str, after: str, limit: int) -> AccountPage:
        """Accounts whose name starts with `prefix`, by name, after a name."""
        data = await self._rows(
            """
            SELECT account, balance FROM account
             WHERE house = %s AND account > %s AND starts_with(account, %s)
             ORDER BY account LIMIT %s
            """,
            (house, after, prefix, limit),
            class_row(Account),
        )
        return AccountPage(data, data[-1].account if len(data) == limit else None)

    async def entries(self, house: str, account: str, after: int, limit: int) -> EntryPage:
        """The lines of an account after a position, oldest first. An event has one at most."""
        data = await self._rows(
            """
            SELECT p.position, p.line, p.account, p.amount, p.balance_after, e.type
              FROM posting p
              LEFT JOIN event_log e ON e.house = p.house AND e.position = p.position
             WHERE p.house = %s AND p.account = %s AND p.position > %s
             ORDER BY p.position LIMIT %s
            """,
            (house, account, after, limit),
            class_row(Entry),
        )
        return EntryPage(data, data[-1].position if len(data) == limit else None)

    async def trial_balance(self, house: str, position: int | None = None) -> TrialBalance:
        """Every chip, by kind of account, in one statement and so at one position: now, or after
        the command with the event at an earlier position. Raises UnknownPosition.

        A command balances as a whole: amid one, chips may be on their way.
        """
        async with self._trial_of.setdefault(house, asyncio.Lock()), self._trials:
            return await self._trial_balance(house, position)

    async def _trial_balance(self, house: str, position: int | None) -> TrialBalance:
        if position is None:
            rows = await self._rows(_NOW, (house, house))
        else:
            position = await self._end_at(house, position)
            rows = await self._rows(_THEN, (house, position, house))
        head = rows[0][0] if rows else 0
        kinds = [Kind(kind, count, balance) for _, kind, count, balance in rows if kind]
        total = sum(kind.balance for kind in kinds)
        at = head if position is None else position
        return TrialBalance(at, kinds, total, balanced=total == 0)

    async def _end_at(self, house: str, position: int) -> int:
        """The last position of the command there. Raises UnknownPosition."""
        rows = await self._rows("SELECT position FROM log_head WHERE house = %s", (house,))
        head = rows[0][0] if rows else 0
        if position > head:
            raise UnknownPosition(position, head)
        _, last = await self._reads.read(house, lambda store: store.command_at(house, position))
        return last

    async def imbalance(self, house: str) -> int:
        """What all accounts of a house come to: 0, or something is wrong."""
        found = await self._rows(
            "SELECT coalesce(sum(balance), 0)::bigint FROM account WHERE house = %s", (house,)
        )
        return int(found[0][0])

    async def _rows(
        self,
        query: LiteralString,
        parameters: tuple[Any, ...],
        as_what: AsyncRowFactory[Any] = tuple_row,
    ) -> list[Any]:
        """`parameters` begin with the house."""
        return await self._reads.read(
            parameters[0], lambda store: store.rows(query, parameters, as_what)
        )


_NOW: Final[LiteralString] = """
    SELECT h.position, coalesce(a.kind, ''), coalesce(a.accounts, 0), coalesce(a.balance, 0)
      FROM log_head h
      LEFT JOIN (SELECT regexp_replace(account, '^.*/', '') AS kind,
                        count(*) AS accounts, sum(balance)::bigint AS balance
                   FROM account WHERE house = %s GROUP BY 1) a ON true
     WHERE h.house = %s ORDER BY 2"""

# Each line of the ledger has the balance after it, so a look by its key finds what was on an
# account at any time: as far back as one likes at the same price, and without another index,
# which every append would have to write.
_THEN: Final[LiteralString] = """
    SELECT h.position, coalesce(a.kind, ''), coalesce(a.accounts, 0), coalesce(a.balance, 0)
      FROM log_head h
      LEFT JOIN (SELECT regexp_replace(n.account, '^.*/', '') AS kind,
                        count(*) AS accounts, sum(p.balance_after)::bigint AS balance
                   FROM (SELECT house, account FROM account WHERE house = %s) n,
                        LATERAL (
                        SELECT balance_after FROM posting
                         WHERE house = n.house AND account = n.account AND position <= %s
                         ORDER BY position DESC, line DESC LIMIT 1) p
                  GROUP BY 1) a ON true
     WHERE h.house = %s ORDER BY 2"""
