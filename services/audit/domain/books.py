"""The ledger kept a second time, from the postings that are sealed in the events."""

from collections import Counter
from collections.abc import Iterable, Iterator

from services.blackjack.domain.table import Table
from shared.kernel.chips import Posting, floor, in_play, stack


class Books:
    """Balances by account, and the command that is being entered."""

    def __init__(self) -> None:
        self.balances: dict[str, int] = {}
        self.postings = 0
        self._sum = 0
        self._touched: set[str] = set()
        self._owed: Counter[tuple[str, str]] = Counter()
        self._sees_transfers = True

    def enter(self, postings: Iterable[Posting]) -> None:
        """The postings of one event of the current command."""
        for account, amount in ((line.account, line.amount) for line in postings):
            self.balances[account] = self.balances.get(account, 0) + amount
            self.postings += 1
            self._sum += amount
            self._touched.add(account)

    def transfer(self, player: str, table: str, chips: int) -> None:
        """One side of a move between table and vault: the table owes (+), the vault got (−)."""
        self._owed[player, table] += chips

    def lose_sight(self) -> None:
        """An event of this command could not be followed: who owes whom is not known."""
        self._sees_transfers = False

    def close(self) -> Iterator[str]:
        """The command is complete: what is wrong with it."""
        if self._sum:
            yield f"The postings of the command sum to {self._sum}, not to 0."
        for account in sorted(self._touched):
            least = floor(account)
            if least is not None and self.balances[account] < least:
                yield f"{account} fell to {self.balances[account]}; its floor is {least}."
        for (player, table), chips in self._owed.items():
            if chips and self._sees_transfers:
                yield f"Between {table} and the vault of {player}, {abs(chips)} chips went astray."
        self._sum = 0
        self._touched.clear()
        self._owed.clear()
        self._sees_transfers = True

    def disagreements(self, table: Table) -> Iterator[str]:
        """After a round: chips still at risk, or a stack that is not what the table tells."""
        if at_risk := self.balances.get(in_play(table.id), 0):
            yield f"The round is over with {at_risk} chips in {in_play(table.id)}."
        for _, seat in table.seated():
            account = stack(table.id, seat.player)
            if (balance := self.balances.get(account, 0)) != seat.stack:
                yield f"{account} holds {balance}, but the table tells of {seat.stack}."
