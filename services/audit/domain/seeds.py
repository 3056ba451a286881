"""The chance of a round as an auditor has it: sealed until it is revealed, then open to all."""

from collections.abc import Sequence

from services.blackjack.domain import events as e
from services.blackjack.domain.cards import Card
from services.blackjack.domain.shoe import SealedSeed, Shoe, commitment
from services.blackjack.domain.table import Betting, Round, Table


class StillSealed(Exception):
    """The command drew cards, whose seed is revealed later, or never."""


class SealedChance:
    """A seed that nobody has opened. What needs no card can be decided with it."""

    def __init__(self, table: Table) -> None:
        self.sealed = sealed_seed(table)

    @property
    def secret(self) -> bytes:
        raise StillSealed

    def successor(self) -> SealedSeed:
        raise StillSealed

    def shoe(self, decks: int, round_id: str, client_seeds: tuple[str, ...]) -> Sequence[Card]:
        raise StillSealed


class RevealedChance:
    """A seed after its round, for all commands of that round. What came next is as recorded: it
    was drawn at random, and only its own round can show what it is."""

    def __init__(self, table: Table, revealed: e.SeedRevealed) -> None:
        """Raises ValueError for a seed that is not hexadecimal."""
        self.sealed = sealed_seed(table)
        self.secret = bytes.fromhex(revealed.seed)
        self.fits = commitment(self.secret) == self.sealed.commitment
        self._next = revealed.next
        self._shoe: Shoe | None = None
        self._mixed_with: tuple[str, ...] = ()

    def successor(self) -> SealedSeed:
        return self._next

    def shoe(self, decks: int, round_id: str, client_seeds: tuple[str, ...]) -> Sequence[Card]:
        if self._shoe is None or self._mixed_with != client_seeds:
            self._shoe = Shoe(self.secret, decks, round_id, client_seeds)
            self._mixed_with = client_seeds
        return self._shoe


def sealed_seed(table: Table) -> SealedSeed:
    """The seed that the table has committed to; none of a closed table is ever asked for."""
    match table.stage:
        case Betting(next=sealed) | Round(sealed=sealed):
            return sealed
    return SealedSeed("", "", "")
