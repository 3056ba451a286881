"""`croupier.shoe.v1`: the order of the cards from a committed seed. See FORMAT.md.

The commitment is SHA-256 of the seed, the order is HMAC-SHA256 under the seed, so the commitment
says nothing about the order.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from hmac import digest
from typing import Annotated, Final, Protocol

from msgspec import Struct

from services.blackjack.domain.cards import DECK, Card
from services.blackjack.domain.fields import Commitment
from shared.kernel.described import means

ALGORITHM: Final = "croupier.shoe.v1"


class SealedSeed(Struct, frozen=True):
    """A seed as the log may hold it: committed to in the open, and itself encrypted."""

    commitment: Commitment
    key_id: Annotated[str, means("Which of the house's keys encrypts it.")]
    box: Annotated[str, means("The seed, encrypted for the house alone, in base64.")]


class Seed(Protocol):
    """The chance of one round, handed to `decide` with the command."""

    @property
    def sealed(self) -> SealedSeed:
        """The seed as the log may hold it."""

    @property
    def secret(self) -> bytes:
        """The seed itself, 32 bytes."""

    def successor(self) -> SealedSeed:
        """A fresh seed for the round after, sealed."""

    def shoe(self, decks: int, round_id: str, client_seeds: tuple[str, ...]) -> Sequence[Card]:
        """The cards of this round in the order they are drawn."""


class Shoe(Sequence[Card]):
    """The cards of one round, drawn only as far as they are asked for.

    A Fisher–Yates shuffle from the front: place `i` gets one of the cards that are left, with an
    index by rejection sampling from the HMAC stream.
    """

    def __init__(
        self, secret: bytes, decks: int, round_id: str, client_seeds: Sequence[str]
    ) -> None:
        self._cards = list(DECK) * decks
        self._drawn = 0
        self._words = _words(secret, "\n".join([ALGORITHM, round_id, *client_seeds]).encode())

    def __len__(self) -> int:
        return len(self._cards)

    def __getitem__(self, place: int) -> Card:  # type: ignore[override]
        if not 0 <= place < len(self._cards):
            raise IndexError(f"a shoe of {len(self._cards)} cards has no place {place}")
        while self._drawn <= place:
            chosen = self._drawn + _below(len(self._cards) - self._drawn, self._words)
            cards = self._cards
            cards[self._drawn], cards[chosen] = cards[chosen], cards[self._drawn]
            self._drawn += 1
        return self._cards[place]


def commitment(secret: bytes) -> str:
    """SHA-256 of the seed in hex: published before the first bet, checked when the round ends."""
    return sha256(secret).hexdigest()


def _words(secret: bytes, message: bytes) -> Iterator[int]:
    """16-bit words: block `n` is HMAC-SHA256(seed, message ‖ newline ‖ n as 4 bytes)."""
    for block in range(2**32):
        stream = digest(secret, b"%b\n%b" % (message, block.to_bytes(4, "big")), "sha256")
        for at in range(0, 32, 2):
            yield stream[at] << 8 | stream[at + 1]


def _below(size: int, words: Iterator[int]) -> int:
    """A number from 0 to size − 1, each equally likely: words that do not fit are dropped."""
    mask = (1 << (size - 1).bit_length()) - 1
    if mask == 0:
        return 0
    while (index := next(words) & mask) >= size:
        pass
    return index
