"""The chance of a round as an auditor has it: sealed until it is revealed, then open to all."""

from collections.abc import Sequence
from typing import Final

from services.audit.domain.proof import dealt_in
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
        """Raises ValueError for a seed that is not hexadecimal, or not the one committed to."""
        self.sealed = sealed_seed(table)
        self.secret = bytes.fromhex(revealed.seed)
        if commitment(self.secret) != self.sealed.commitment:
            raise ValueError(f"the seed does not give the commitment {self.sealed.commitment}")
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


class RecordedChance:
    """Without a seed that can be believed, the cards as they were recorded: they show whether the
    play was right, if not whether the cards were. What was not recorded is still sealed.
    """

    def __init__(
        self, table: Table, events: Sequence[e.Event], revealed: e.SeedRevealed | None = None
    ) -> None:
        self.sealed = sealed_seed(table)
        self._cards = {place: card for place, (_, card) in dealt_in(events).items()}
        self._revealed = revealed
        for event in events:
            match event:
                case e.HandsDealt(hands):
                    hole = 2 * len(hands) + 1
                case e.DealerPeeked(natural=False):
                    self._cards.setdefault(hole, _NO_NATURAL)

    @property
    def secret(self) -> bytes:
        if self._revealed is None:
            raise StillSealed
        try:
            return bytes.fromhex(self._revealed.seed)
        except ValueError:
            return b""

    def successor(self) -> SealedSeed:
        if self._revealed is None:
            raise StillSealed
        return self._revealed.next

    def shoe(self, decks: int, round_id: str, client_seeds: tuple[str, ...]) -> Sequence[Card]:
        return _Recorded(self._cards)


class _Recorded(Sequence[Card]):
    def __init__(self, cards: dict[int, Card]) -> None:
        self._cards = cards

    def __len__(self) -> int:
        return len(self._cards)

    def __getitem__(self, place: int) -> Card:  # type: ignore[override]
        if place not in self._cards:
            raise StillSealed
        return self._cards[place]


_NO_NATURAL: Final = "2c"
"""A hole card for a dealer who has peeked and found no natural; no rule asks more of it."""


def sealed_seed(table: Table) -> SealedSeed:
    """The seed that the table has committed to; none of a closed table is ever asked for."""
    match table.stage:
        case Betting(next=sealed) | Round(sealed=sealed):
            return sealed
    return SealedSeed("", "", "")
