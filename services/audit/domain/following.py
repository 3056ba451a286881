"""One table, followed through the log: its state, its postings and the proof of each round."""

from collections.abc import Iterator
from typing import Any

from services.audit.domain.books import Books
from services.audit.domain.changes import change_faults
from services.audit.domain.proof import Proof, prove
from services.audit.domain.runs import run_faults
from services.blackjack.domain import events as e
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.rules import fingerprint
from services.blackjack.domain.settlement import postings, to_vault
from services.blackjack.domain.table import Round, Table
from shared.kernel.chips import Posting


class Followed:
    """What an auditor remembers of a table; of its rounds only the one that runs."""

    def __init__(self) -> None:
        self.proof: Proof | None = None
        """The proof of the round that the last event has ended, if it has."""
        self._table: Table | None = None
        self._round: tuple[Table, list[e.Event]] | None = None
        """The running round: the table before it was opened, and its events since."""

    def read(self, event: Any, sealed: tuple[Posting, ...], books: Books) -> Iterator[str]:
        """The faults of the next event, whose postings are in the books already.

        Raises whatever `evolve` raises for an event that does not follow.
        """
        self.proof = None
        before = self._table
        if before is not None and isinstance(event, e.RoundOpened):
            yield from _order_faults(before, event)
            self._round = before, []
        after = evolve(before, event)
        if before is None:
            yield from _ruleset_faults(after, event)
        else:
            yield from _posting_faults(before, event, sealed, books)
            yield from run_faults(before, event)
            if isinstance(event, e.ItemBought):  # between rounds, whose proofs look at the rest
                yield from change_faults(before, event, None)
        if self._round is not None:
            self._round[1].append(event)
            if isinstance(event, e.SeedRevealed):
                self.proof = prove(*self._round)
                self._round = None
                yield from (f"Round {self.proof.round}: {fault}" for fault in self.proof.faults)
                yield from books.disagreements(after)
        self._table = after


def _ruleset_faults(table: Table, event: e.TableOpened) -> Iterator[str]:
    if event.ruleset_sha256 != (digest := fingerprint(table.rules)):
        yield f"The ruleset has the hash {digest}, but {event.ruleset_sha256} is recorded."


def _order_faults(table: Table, event: e.RoundOpened) -> Iterator[str]:
    """A round that is begun must be ended, or a bad one could be dealt again."""
    if isinstance(table.stage, Round):
        yield f"Round {table.round_id()} was never ended."
    if event.number != table.rounds + 1:
        yield f"Round {event.number} follows round {table.rounds}."


def _posting_faults(
    table: Table, event: e.Event, sealed: tuple[Posting, ...], books: Books
) -> Iterator[str]:
    if sealed != (due := postings(table, event)):
        yield f"The sealed postings {_lines(sealed)} should be {_lines(due)}."
    if movement := to_vault(table, event):
        player, chips = movement
        books.transfer(player, table.id, chips)


def _lines(postings: tuple[Posting, ...]) -> str:
    return ", ".join(f"{line.account} {line.amount:+}" for line in postings) or "none"
