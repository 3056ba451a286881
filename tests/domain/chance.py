"""Seeds for play at random: real shoes, and shoes in which exciting cards come early."""

from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256

from services.blackjack.domain.cards import Card
from services.blackjack.domain.shoe import SealedSeed, Shoe, commitment

Shuffle = Callable[[int, str, tuple[str, ...]], Sequence[Card]]


class ChanceSeed:
    """A seed with its real shoe; cards of the `early` ranks are pulled to its front.

    Each seed gives the secret of the next.
    """

    def __init__(self, secret: bytes, early: str = "") -> None:
        self.secret = secret
        self.sealed = SealedSeed(commitment(secret), key_id="test", box="c2VhbGVk")
        self._early = early
        self.shoe: Shuffle = cache(self._shuffled)

    def __repr__(self) -> str:
        return f"ChanceSeed({self.secret!r}, {self._early!r})"

    def successor(self) -> SealedSeed:
        return self.next().sealed

    def next(self) -> "ChanceSeed":
        """The seed of the round after."""
        return ChanceSeed(sha256(self.secret).digest())

    def with_early(self, ranks: str) -> "ChanceSeed":
        """The same secret, and another shoe."""
        return ChanceSeed(self.secret, ranks)

    def _shuffled(self, decks: int, round_id: str, client_seeds: tuple[str, ...]) -> Sequence[Card]:
        shoe = Shoe(self.secret, decks, round_id, client_seeds)
        if not self._early:
            return shoe
        return sorted(shoe, key=lambda card: card[0] not in self._early)


class OtherFuture:
    """The same seed with another order of the cards that nobody has seen."""

    def __init__(self, seed: ChanceSeed, shoe: Sequence[Card]) -> None:
        self.secret, self.sealed, self._shoe = seed.secret, seed.sealed, shoe
        self.successor = seed.successor

    def shoe(self, decks: int, round_id: str, client_seeds: tuple[str, ...]) -> Sequence[Card]:
        return self._shoe
