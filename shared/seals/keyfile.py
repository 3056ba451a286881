"""The private keys that seal, in a file of their own: PEM (PKCS #8), the current one first.

A seal is signed by every key of the file. So a new key is put before the old one, which goes when
all who check seals know the new one: those who know either believe the seals in between.
"""

import os
import re
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from shared.eventstore.files import settle

_PEM: Final = re.compile(
    rb"-----BEGIN PRIVATE KEY-----\s.*?\s-----END PRIVATE KEY-----\s*", re.DOTALL
)


class BadKeyFile(Exception):
    """The file of private keys is missing, or has none that can seal. The message says why."""


def read_keys(file: Path) -> list[Ed25519PrivateKey]:
    """The current key first. Raises BadKeyFile."""
    try:
        blocks = _PEM.findall(file.read_bytes())
        found = [load_pem_private_key(block, password=None) for block in blocks]
    except (OSError, ValueError) as error:
        raise BadKeyFile(f"{file} cannot be read: {error}") from None
    keys = [key for key in found if isinstance(key, Ed25519PrivateKey)]
    if not keys or len(keys) != len(found):
        raise BadKeyFile(f"{file} has to have private keys of Ed25519, in PEM, and no others.")
    return keys


def add_key(file: Path) -> list[Ed25519PrivateKey]:
    """Makes a key and puts it first in the file, which nobody else may read. Raises BadKeyFile."""
    keys = [Ed25519PrivateKey.generate(), *(read_keys(file) if file.exists() else ())]
    _write(file, keys)
    return keys


def retire_keys(file: Path) -> list[Ed25519PrivateKey]:
    """Leaves only the current key in the file. Raises BadKeyFile."""
    keys = read_keys(file)[:1]
    _write(file, keys)
    return keys


def _write(file: Path, keys: list[Ed25519PrivateKey]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as fresh:
        for key in keys:
            fresh.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    settle(unfinished, file)
