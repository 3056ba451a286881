"""Where the chance of a round comes from, and how it lies in the log without being read."""

from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from services.blackjack.domain.cards import Card
from services.blackjack.domain.rejections import TableClosed
from services.blackjack.domain.shoe import SealedSeed, Shoe, commitment
from services.blackjack.domain.table import Betting, Round, Table
from shared.kernel.rejected import Rejected

_NONCE_BYTES = 12
_SEED_BYTES = 32
_MOST_OPEN = 20_000


class SeedUnreadable(Rejected):
    """The seed of the round cannot be opened.

    Its key is not on the operator's key ring, or the sealed seed was tampered with. Nothing was
    recorded; the game goes on as soon as the key is back.
    """

    status = 503


class RoundSeed:
    """The seed of one round, opened when it is needed. It never leaves the process."""

    def __init__(self, shoes: "Shoes", house: str, table: str, round: int, sealed: SealedSeed):
        self.sealed = sealed
        self._shoes = shoes
        self._place = house, table, round
        self._shoe: Shoe | None = None
        self._mixed_with: tuple[str, ...] = ()

    @cached_property
    def secret(self) -> bytes:
        """Raises SeedUnreadable."""
        return self._shoes.unseal(_name(*self._place), self.sealed)

    def successor(self) -> SealedSeed:
        house, table, round = self._place
        return self._shoes.fresh(house, table, round + 1)

    def shoe(self, decks: int, round_id: str, client_seeds: tuple[str, ...]) -> Sequence[Card]:
        # A deal that another one was faster than may have had other client seeds.
        if self._shoe is None or self._mixed_with != client_seeds:
            self._shoe = Shoe(self.secret, decks, round_id, client_seeds)
            self._mixed_with = client_seeds
        return self._shoe


class Shoes:
    """Draws fresh seeds, seals them with AES-GCM under the current key, and opens them again.

    `keys` maps key ids to 32-byte keys; `current` names the one that seals. `randomness(n)` gives
    n unpredictable bytes. The seeds of running rounds are kept, at most 20,000 of them.
    """

    def __init__(
        self, keys: Mapping[str, bytes], current: str, randomness: Callable[[int], bytes]
    ) -> None:
        self._keys = {key_id: AESGCM(key) for key_id, key in keys.items()}
        self._current = current
        self._randomness = randomness
        self._running: OrderedDict[str, RoundSeed] = OrderedDict()

    def fresh(self, house: str, table: str, round: int) -> SealedSeed:
        """A new seed for a round, sealed: nobody can open it without the key."""
        secret = self._randomness(_SEED_BYTES)
        nonce = self._randomness(_NONCE_BYTES)
        box = nonce + self._keys[self._current].encrypt(nonce, secret, _name(house, table, round))
        return SealedSeed(commitment(secret), self._current, b64encode(box).decode())

    def of(self, house: str, table: Table) -> RoundSeed:
        """The seed of the running round, or of the next. Raises TableClosed."""
        match table.stage:
            case Round(sealed=sealed):
                kept = self._running.get(sealed.commitment)
                return kept or RoundSeed(self, house, table.id, table.rounds, sealed)
            case Betting(next=sealed):
                return RoundSeed(self, house, table.id, table.rounds + 1, sealed)
        raise TableClosed(f"Table {table.id} is closed.")

    def keep(self, seed: RoundSeed, *, running: bool) -> None:
        """Remember a seed while its round runs, to spare its opening with every command."""
        if not running:
            self._running.pop(seed.sealed.commitment, None)
            return
        self._running[seed.sealed.commitment] = seed
        if len(self._running) > _MOST_OPEN:
            self._running.popitem(last=False)

    def unseal(self, name: bytes, sealed: SealedSeed) -> bytes:
        """The seed in the box. Raises SeedUnreadable."""
        if sealed.key_id not in self._keys:
            raise SeedUnreadable(f"The key {sealed.key_id!r} is not on the ring of seed keys.")
        box = b64decode(sealed.box)
        try:
            return self._keys[sealed.key_id].decrypt(box[:_NONCE_BYTES], box[_NONCE_BYTES:], name)
        except InvalidTag:
            raise SeedUnreadable(f"The seed of {name.decode()} was not sealed for it.") from None


def _name(house: str, table: str, round: int) -> bytes:
    """What a box is bound to: a seed sealed for one round cannot be opened for another."""
    return f"{house}/{table}.{round}".encode()
