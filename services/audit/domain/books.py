"""The ledger kept a second time, from the postings that are sealed in the events."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from services.blackjack.domain.table import Betting, Closed, Round, Table
from shared.kernel.chips import Posting, floor, in_play, stack


class Books:
    """Balances by account, from the first event on."""

    def __init__(self) -> None:
        self.balances: dict[str, int] = {}
        self.postings = 0

    def enter(self, postings: Iterable[Posting]) -> Iterator[str]:
        """Some postings, in order. Says which account fell below its floor."""
        for posting in postings:
            account = posting.account
            balance = self.balances[account] = self.balances.get(account, 0) + posting.amount
            self.postings += 1
            if balance < 0 and posting.amount < 0:
                least = floor(account)
                if least is not None:
                    yield f"{account} fell to {balance}; its floor is {least}."

    def disagreements(self, table: Table) -> Iterator[str]:
        """Chips at risk, or a stack, that are not what the table tells."""
        held, due = self.balances.get(in_play(table.id), 0), at_risk(table)
        if held != due:
            yield f"{in_play(table.id)} holds {held}, but {due} chips are at risk."
        for _, seat in table.seated():
            account = stack(table.id, seat.player)
            if (balance := self.balances.get(account, 0)) != seat.stack:
                yield f"{account} holds {balance}, but the table tells of {seat.stack}."


def added(*balances: Mapping[str, int]) -> dict[str, int]:
    """Those of several books in one, by name."""
    total: Counter[str] = Counter()
    for book in balances:
        total.update(book)
    return dict(sorted(total.items()))


def at_risk(table: Table) -> int:
    """The chips that lie on the table: bets, or the stakes of a running round."""
    match table.stage:
        case Betting():
            return sum(seat.bet for _, seat in table.seated())
        case Round():
            return sum(seat.staked for _, seat in table.seated())
        case Closed():
            return 0
