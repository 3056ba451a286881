"""Where the chance of a round comes from, and how it lies in the log without being read."""

from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from services.blackjack.domain.cards import Card
from services.blackjack.domain.shoe import SealedSeed, Shoe, commitment
from services.blackjack.domain.table import Round, Table
from shared.kernel.rejected import Rejected

_NONCE_BYTES = 12
_SEED_BYTES = 32
_MOST_OPEN = 20_000


class SeedUnreadable(Rejected):
    """The seed of the running round cannot be opened.

    Its key is not on the operator's key ring, or the sealed seed was tampered with. Nothing was
    recorded; the round goes on as soon as the key is back.
    """

    status = 503


class OpenedSeed:
    """A seed in the clear, with the shoe that it orders. Never leaves the process."""

    def __init__(self, secret: bytes, sealed: SealedSeed) -> None:
        self.secret = secret
        self.sealed = sealed
        self._shoe: Shoe | None = None

    def shoe(self, decks: int, round_id: str, client_seeds: tuple[str, ...]) -> Sequence[Card]:
        """The shoe of the one round that this seed is for, drawn as far as it was needed."""
        if self._shoe is None:
            self._shoe = Shoe(self.secret, decks, round_id, client_seeds)
        return self._shoe


class Shoes:
    """Draws fresh seeds, seals them with AES-GCM under the current key, and opens them again.

    `keys` maps key ids to 32-byte keys; `current` names the one that seals. `randomness(n)` gives
    n unpredictable bytes. Opened seeds are kept for the rounds that run, at most 20,000 of them.
    """

    def __init__(
        self, keys: Mapping[str, bytes], current: str, randomness: Callable[[int], bytes]
    ) -> None:
        self._keys = {key_id: AESGCM(key) for key_id, key in keys.items()}
        self._current = current
        self._randomness = randomness
        self._opened: OrderedDict[str, OpenedSeed] = OrderedDict()

    def open(self, house: str, table: Table) -> OpenedSeed:
        """The chance of the running round, or a fresh one for the next. Raises SeedUnreadable."""
        if not isinstance(table.stage, Round):
            return self._fresh(_name(house, table.id, table.rounds + 1))
        sealed = table.stage.sealed
        opened = self._opened.get(sealed.commitment)
        if opened is None:
            opened = self._unseal(_name(house, table.id, table.rounds), sealed)
        return opened

    def keep(self, seed: OpenedSeed, *, running: bool) -> None:
        """Remember a seed while its round runs, to spare its opening with every command."""
        if not running:
            self._opened.pop(seed.sealed.commitment, None)
            return
        self._opened[seed.sealed.commitment] = seed
        if len(self._opened) > _MOST_OPEN:
            self._opened.popitem(last=False)

    def _fresh(self, name: bytes) -> OpenedSeed:
        secret = self._randomness(_SEED_BYTES)
        nonce = self._randomness(_NONCE_BYTES)
        box = nonce + self._keys[self._current].encrypt(nonce, secret, name)
        return OpenedSeed(
            secret, SealedSeed(commitment(secret), self._current, b64encode(box).decode())
        )

    def _unseal(self, name: bytes, sealed: SealedSeed) -> OpenedSeed:
        if sealed.key_id not in self._keys:
            raise SeedUnreadable(f"The key {sealed.key_id!r} is not on the ring of seed keys.")
        box = b64decode(sealed.box)
        try:
            secret = self._keys[sealed.key_id].decrypt(box[:_NONCE_BYTES], box[_NONCE_BYTES:], name)
        except InvalidTag:
            raise SeedUnreadable(f"The seed of {name.decode()} was not sealed for it.") from None
        return OpenedSeed(secret, sealed)


def _name(house: str, table: str, round: int) -> bytes:
    """What a box is bound to: a seed sealed for one round cannot be opened for another."""
    return f"{house}/{table}.{round}".encode()
