"""`croupier.shoe.v1` once more, written from shoe.md alone: nothing here imports the service.

All words first, then all numbers, then the shuffle: slow, and easy to compare with the page.
"""

import hashlib
import hmac
import struct
from itertools import chain, count


def commitment(seed: str) -> str:
    return hashlib.sha256(bytes.fromhex(seed)).hexdigest()


def order(seed: str, round: str, client_seeds: list[str], decks: int) -> list[str]:
    cards = [rank + suit for _ in range(decks) for suit in "cdhs" for rank in "A23456789TJQK"]
    message = "".join(line + "\n" for line in ["croupier.shoe.v1", round, *client_seeds])
    words = chain.from_iterable(
        block(bytes.fromhex(seed), message.encode(), number) for number in count()
    )
    for place in range(len(cards)):
        chosen = place + below(len(cards) - place, words)
        cards[place], cards[chosen] = cards[chosen], cards[place]
    return cards


def block(seed: bytes, message: bytes, number: int) -> tuple[int, ...]:
    data = message + struct.pack(">I", number)
    return struct.unpack(">16H", hmac.new(seed, data, hashlib.sha256).digest())


def below(size: int, words) -> int:
    if size == 1:
        return 0
    mask = next(2**bits - 1 for bits in count(1) if 2**bits > size - 1)
    return next(word & mask for word in words if word & mask < size)
