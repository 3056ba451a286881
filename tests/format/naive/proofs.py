"""Canonical form, hashes, tree, seals and shoe: sections 2 and 4 to 7 of FORMAT.md."""

import base64
import binascii
import hmac
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

NO_CHAIN = bytes(32)
HOUSE, WITNESS = 1, 4


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not a whole number in decimal")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, whose names are ASCII and come once (section 2)."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name comes twice")
    if not all(name.isascii() for name in members):
        raise ValueError("a name is not ASCII")
    return members


def parse(document: str | bytes) -> Any:
    """JSON that has a canonical form (section 2)."""
    text = document.decode("utf-8") if isinstance(document, bytes) else document
    try:
        return json.loads(
            text,
            object_pairs_hook=_members,
            parse_float=_no_number,
            parse_constant=_no_number,
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def write(value: Any) -> bytes:
    """The canonical form of what was parsed (section 2)."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8")  # lone surrogates raise UnicodeEncodeError, a ValueError


def canonical(document: str | bytes) -> bytes:
    """The canonical form of some JSON; ValueError when it has none (section 2)."""
    return write(parse(document))


def leaf(envelope: bytes) -> bytes:
    """The hash of an event (section 4)."""
    return sha256(b"\x00" + envelope).digest()


def chain(before: bytes, leaf: bytes) -> bytes:
    """The chain after an event (section 4)."""
    return sha256(before + leaf).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def _half(size: int) -> int:
    """The largest power of two below size (section 5)."""
    half = 1
    while half * 2 < size:
        half *= 2
    return half


def root(leaves: Sequence[bytes]) -> bytes:
    """The root of a tree (section 5)."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    half = _half(len(leaves))
    return _node(root(leaves[:half]), root(leaves[half:]))


def root_by_inclusion(leaf: bytes, index: int, size: int, hashes: Sequence[bytes]) -> bytes:
    """The root to which an inclusion proof leads (section 5)."""
    if not 0 <= index < size:
        raise ValueError("no such leaf")
    if size == 1:
        if hashes:
            raise ValueError("a hash is left over")
        return leaf
    if not hashes:
        raise ValueError("a hash is missing")
    half, last = _half(size), hashes[-1]
    if index < half:
        return _node(root_by_inclusion(leaf, index, half, hashes[:-1]), last)
    return _node(last, root_by_inclusion(leaf, index - half, size - half, hashes[:-1]))


def roots_by_consistency(
    m: int, n: int, hashes: Sequence[bytes], old_root: bytes
) -> tuple[bytes, bytes]:
    """The roots of m and of n leaves to which a consistency proof leads (section 5)."""
    if not 1 <= m <= n:
        raise ValueError("no such trees")
    return _roots(m, n, hashes, old_root)


def _roots(m: int, n: int, hashes: Sequence[bytes], whole: bytes | None) -> tuple[bytes, bytes]:
    """`whole` is the known root of m leaves as long as they begin the whole tree."""
    if m == n and whole is not None:
        if hashes:
            raise ValueError("a hash is left over")
        return whole, whole
    if not hashes:
        raise ValueError("a hash is missing")
    last, rest, half = hashes[-1], hashes[:-1], _half(n)
    if m == n:
        if rest:
            raise ValueError("a hash is left over")
        return last, last
    if m <= half:
        old, new = _roots(m, half, rest, whole)
        return old, _node(new, last)
    old, new = _roots(m - half, n - half, rest, None)
    return _node(last, old), _node(last, new)


@dataclass(frozen=True)
class Key:
    """A public key (section 6)."""

    name: str
    id: bytes
    kind: int
    key: bytes


def _base64(text: str) -> bytes:
    """Standard, padded, and in one form only."""
    try:
        value = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{text!r} is not base64") from error
    if base64.b64encode(value).decode() != text:
        raise ValueError(f"{text!r} is not base64")
    return value


def read_key(text: str) -> Key:
    """`<name>+<hex of key id>+<base64 of kind and key>` (section 6)."""
    name, found, rest = text.partition("+")
    number, found_too, body = rest.partition("+")
    if not (name and found and found_too and re.fullmatch("[0-9a-f]{8}", number)):
        raise ValueError(f"{text!r} is not a public key")
    raw = _base64(body)
    if sha256(name.encode() + b"\n" + raw).digest()[:4].hex() != number:
        raise ValueError(f"{text!r}: the id is not that of the key")
    if raw[0] in (HOUSE, WITNESS) and len(raw) != 33:
        raise ValueError(f"{text!r}: an Ed25519 key has 32 bytes")
    return Key(name, bytes.fromhex(number), raw[0], raw[1:])


def _check_signature(key: Key, signature: bytes, text: bytes) -> None:
    """Raise when a known key's signature is wrong (section 6)."""
    if key.kind == WITNESS:
        if len(signature) != 72:
            raise ValueError(f"the signature of {key.name} has a wrong length")
        time = int.from_bytes(signature[:8], "big")
        signature, text = signature[8:], b"cosignature/v1\ntime %d\n" % time + text
    try:
        Ed25519PublicKey.from_public_bytes(key.key).verify(signature, text)
    except InvalidSignature as error:
        raise ValueError(f"the signature of {key.name} is wrong") from error


def _signatures(block: str) -> Iterator[tuple[str, bytes, bytes]]:
    """Name, key id and signature of each line (section 6)."""
    for line in block.split("\n"):
        found = re.fullmatch("— ([^ +]+) ([^ ]+)", line)
        if not found:
            raise ValueError(f"{line!r} is not a signature")
        raw = _base64(found[2])
        yield found[1], raw[:4], raw[4:]


def read_note(note: bytes, public_keys: Sequence[str]) -> tuple[str, int, bytes]:
    """Origin, size and root of a seal; ValueError when it is not to be believed (section 6)."""
    text, empty, block = note.decode("utf-8").partition("\n\n")
    lines = text.split("\n")
    if not empty or len(lines) != 3 or not block.endswith("\n"):
        raise ValueError("not three lines, an empty one, and signatures")
    origin, size, base = lines
    if not origin or not re.fullmatch("0|[1-9][0-9]*", size):
        raise ValueError("not an origin and a size")
    hash_ = _base64(base)
    if len(hash_) != 32:
        raise ValueError("the root has not 32 bytes")
    keys = [read_key(key) for key in public_keys]
    believed = False
    for name, number, signature in _signatures(block[:-1]):
        for key in keys:
            if (key.name, key.id) == (name, number) and key.kind in (HOUSE, WITNESS):
                _check_signature(key, signature, (text + "\n").encode())
                believed |= key.kind == HOUSE and name == origin
    if not believed:
        raise ValueError("no known key of the house has signed it")
    return origin, int(size), hash_


def words(seed: bytes, message: bytes) -> Iterator[int]:
    """The stream of words (section 7)."""
    number = 0
    while True:
        data = message + b"\n" + number.to_bytes(4, "big")
        block = hmac.digest(seed, data, "sha256")
        for place in range(0, 32, 2):
            yield int.from_bytes(block[place : place + 2], "big")
        number += 1


def _below(size: int, words: Iterator[int]) -> int:
    """A number below size (section 7)."""
    if size == 1:
        return 0
    mask = 1
    while mask < size - 1:
        mask = mask * 2 + 1
    while (index := next(words) & mask) >= size:
        pass
    return index


def shoe(seed: bytes, round: str, client_seeds: Sequence[str], decks: int) -> list[str]:
    """The order of all cards (section 7)."""
    message = "\n".join(["croupier.shoe.v1", round, *client_seeds]).encode()
    stream = words(seed, message)
    deck = [rank + suit for suit in "cdhs" for rank in "A23456789TJQK"]
    cards = deck * decks
    for place in range(len(cards)):
        chosen = place + _below(len(cards) - place, stream)
        cards[place], cards[chosen] = cards[chosen], cards[place]
    return cards
