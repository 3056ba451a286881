"""Seals as text: checkpoints in signed notes, as C2SP writes them down.

The text has three lines: the origin, the size of the tree, its root. Below an empty line there is
a line for each signature: `— <name> <base64 of key id and signature>`. See c2sp.org/signed-note,
c2sp.org/tlog-checkpoint and c2sp.org/tlog-cosignature. Signatures of unknown keys are passed over.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from msgspec import Struct

SIGNS: Final = 1
"""The type of a key that signs the text as it is."""

COSIGNS: Final = 4
"""The type of a witness's key: it signs the text with the time when it saw it."""

MOST_NOTE_BYTES: Final = 64 * 1024
MOST_SIGNATURES: Final = 64

_SIGNATURE: Final = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")
_SIZE: Final = re.compile("0|[1-9][0-9]{0,17}")
_ID_BYTES, _TIME_BYTES, _ROOT_BYTES, _KEY_BYTES = 4, 8, 32, 32


class BadNote(Exception):
    """A note, a key or a signature cannot be read, or does not hold. The message says why."""


class PublicKey(Struct, frozen=True):
    """A key that is known: by its name, its type, and 32 bytes of Ed25519."""

    name: str
    kind: int
    key: bytes

    @classmethod
    def read(cls, text: str) -> "PublicKey":
        """From `<name>+<key id>+<base64 of type and key>`. Raises BadNote."""
        name, _, rest = text.strip().partition("+")
        said, _, encoded = rest.partition("+")
        material = _bytes(encoded)
        key = cls(name, material[0] if material else 0, material[1:])
        if not name or key.kind not in (SIGNS, COSIGNS) or len(key.key) != _KEY_BYTES:
            raise BadNote(f"{text.strip()[:200]!r} is no Ed25519 key of a note")
        if said != key.id.hex():
            raise BadNote(f"the key of {name} has the id {key.id.hex()}, not {said[:20]}")
        return key

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{b64encode(bytes((self.kind,)) + self.key).decode()}"

    @property
    def id(self) -> bytes:
        """4 bytes."""
        return sha256(self.name.encode() + b"\n" + bytes((self.kind,)) + self.key).digest()[:4]

    def holds(self, text: str, signature: bytes) -> bool:
        """Whether a signature, without its key id, is one of this key over a text."""
        message = text.encode()
        if self.kind == COSIGNS:
            seen, signature = time_of(signature), signature[_TIME_BYTES:]
            message = _cosigned(text, seen)
        try:
            Ed25519PublicKey.from_public_bytes(self.key).verify(signature, message)
        except InvalidSignature:
            return False
        return True


class Signature(Struct, frozen=True):
    """A signature line. `signature` comes without the key id."""

    name: str
    key_id: bytes
    signature: bytes

    @classmethod
    def read(cls, line: str) -> "Signature":
        """Raises BadNote."""
        if not (found := _SIGNATURE.fullmatch(line)):
            raise BadNote(f"{line[:200]!r} is no signature line")
        signed = _bytes(found[2])
        if len(signed) <= _ID_BYTES:
            raise BadNote(f"the signature of {found[1]} is too short")
        return cls(found[1], signed[:_ID_BYTES], signed[_ID_BYTES:])

    def __str__(self) -> str:
        return f"— {self.name} {b64encode(self.key_id + self.signature).decode()}"


class Checkpoint(Struct, frozen=True):
    """A tree of a log, by its size and its root of 32 bytes."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"


class Note(Struct, frozen=True):
    """A checkpoint with signatures, none of them checked yet."""

    checkpoint: Checkpoint
    signatures: tuple[Signature, ...]

    @classmethod
    def read(cls, written: bytes) -> "Note":
        """Raises BadNote."""
        if len(written) > MOST_NOTE_BYTES:
            raise BadNote("a note of more than 64 KiB is none of ours")
        try:
            text, _, below = written.decode().rpartition("\n\n")
        except UnicodeDecodeError:
            raise BadNote("the note is not UTF-8") from None
        lines = below.split("\n")
        if not text or lines[-1] or not 1 < len(lines) <= MOST_SIGNATURES + 1:
            raise BadNote("a note is a text, an empty line, and lines of signatures")
        checkpoint = _checkpoint(text + "\n")
        return cls(checkpoint, tuple(Signature.read(line) for line in lines[:-1]))

    def __str__(self) -> str:
        lines = "".join(f"{signature}\n" for signature in self.signatures)
        return f"{self.checkpoint.text}\n{lines}"

    def signers(self, known: Iterable[PublicKey]) -> list[PublicKey]:
        """The known keys that signed it. Raises BadNote when one of them did not really."""
        keys = {(key.name, key.id): key for key in known}
        found = list[PublicKey]()
        for signature in self.signatures:
            if key := keys.get((signature.name, signature.key_id)):
                if not key.holds(self.checkpoint.text, signature.signature):
                    raise BadNote(f"the signature of {key.name} does not fit the text above it")
                found.append(key)
        return found

    def check(self, known: Iterable[PublicKey], origin: str = "") -> Checkpoint:
        """What it says, once a known key is found to have signed it. Raises BadNote."""
        if not any(key.kind == SIGNS for key in self.signers(known)):
            raise BadNote("no key that is known has signed it")
        if origin and self.checkpoint.origin != origin:
            raise BadNote(f"it is of {self.checkpoint.origin}, not of {origin}")
        return self.checkpoint


def sign(checkpoint: Checkpoint, keys: Sequence[Ed25519PrivateKey]) -> Note:
    """Signed by each of the keys, under the name of the origin."""
    made = list[Signature]()
    for key in keys:
        public = public_of(key, checkpoint.origin)
        made.append(Signature(public.name, public.id, key.sign(checkpoint.text.encode())))
    return Note(checkpoint, tuple(made))


def cosign(checkpoint: Checkpoint, name: str, key: Ed25519PrivateKey, seen: int) -> Signature:
    """What a witness says of a checkpoint that it has `seen`, in seconds since 1970."""
    public = public_of(key, name, COSIGNS)
    signature = key.sign(_cosigned(checkpoint.text, seen))
    return Signature(name, public.id, seen.to_bytes(_TIME_BYTES) + signature)


def time_of(cosignature: bytes) -> int:
    """When a witness says to have seen what it signed, in seconds since 1970."""
    return int.from_bytes(cosignature[:_TIME_BYTES])


def public_of(key: Ed25519PrivateKey, name: str, kind: int = SIGNS) -> PublicKey:
    """The public key of a private one, under a name."""
    return PublicKey(name, kind, key.public_key().public_bytes_raw())


def _checkpoint(text: str) -> Checkpoint:
    origin, size, root, *more = [*text.split("\n")[:-1], "", ""]
    decoded = _bytes(root)
    if not origin or not _SIZE.fullmatch(size) or len(decoded) != _ROOT_BYTES or any(more):
        raise BadNote("a checkpoint is three lines: origin, size, and a root of 32 bytes")
    checkpoint = Checkpoint(origin, int(size), decoded)
    if checkpoint.text != text:
        raise BadNote("the checkpoint is not written as it has to be")
    return checkpoint


def _cosigned(text: str, seen: int) -> bytes:
    return f"cosignature/v1\ntime {seen}\n{text}".encode()


def _bytes(encoded: str) -> bytes:
    """Only what would be written so itself: of several texts for the same bytes one is right."""
    try:
        decoded = b64decode(encoded, validate=True)
        if b64encode(decoded).decode() == encoded:
            return decoded
    except (NotBase64, ValueError):
        pass
    raise BadNote(f"{encoded[:100]!r} is no base64")
