"""Sections 1 to 6 of FORMAT.md: hashes and seals."""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

HASHES, SEALS, CARDS, CHIPS = 1, 2, 3, 4
ALWAYS = {
    *("actor", "data", "id", "postings", "schemaversion", "source", "specversion"),
    *("subject", "time", "type"),
}
SAME = ("actor", "source", "time", "traceparent")
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"


class Fault(NamedTuple):
    level: int
    position: int
    what: str


class Event(NamedTuple):
    position: int
    stream: str
    leaf: bytes
    envelope: Any


# 2. Canonical form


def read(text: bytes | str) -> Any:
    """Raises ValueError for what has no canonical form."""

    def refuse(number: str) -> None:
        raise ValueError(f"{number} is not whole")

    return json.loads(text, parse_float=refuse, parse_constant=refuse)


def canonical(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


# 1, 3 and 4. The export, the envelope, leaf and chain


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


class Log:
    """An export, read from its first line to its last."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.manifest = json.loads((directory / "manifest.json").read_text())
        self.faults: list[Fault] = []
        self.events: list[Event] = []
        self.position, self.chain = 0, bytes(32)
        self.versions: Counter[str] = Counter()
        self.commands: set[str] = set()
        self.first: Any = {"id": ".0"}
        self.number = 0
        for part in self.manifest["parts"]:
            self.part(part)
        if self.manifest["finished"] and self.position != self.manifest["head"]:
            self.fault(f"the log went on to {self.manifest['head']}")

    def fault(self, what: str) -> None:
        self.faults.append(Fault(HASHES, self.position, what))

    def part(self, part: Any) -> None:
        before = self.position + 1, self.chain.hex()
        if (part["first_position"], part["chain_before"]) != before:
            self.fault("a part does not begin where the one before ends")
        [file] = part["files"]
        text = (self.directory / file["path"]).read_bytes()
        if (len(text), sha(text).hex()) != (file["bytes"], file["sha256"]):
            first = part["first_position"]
            self.faults.append(Fault(HASHES, first, f"{file['path']} is not the file that was"))
        lines = text.splitlines()
        for line in lines:
            try:
                self.line(line)
            except (ValueError, KeyError, TypeError) as error:
                self.fault(f"the line after this position cannot be read: {error!r}")
        found = self.position, self.chain.hex(), len(lines)
        if found != (part["last_position"], part["chain"], part["events"]):
            self.fault("the part does not end as the manifest says")

    def line(self, line: bytes) -> None:
        row = read(line)
        envelope = line[line.index(b'"event":') + 8 : line.rindex(b"}")]
        last, self.position, stream = self.position, row["position"], row["stream"]
        if self.position != last + 1:
            self.fault(f"the position before is {last}")
        if row["version"] != self.versions[stream] + 1:
            self.fault(f"the version of {stream} before is {self.versions[stream]}")
        leaf = sha(b"\x00", envelope)
        if (row["leaf"], row["chain"]) != (leaf.hex(), sha(self.chain, leaf).hex()):
            self.fault("leaf or chain do not follow")
        self.versions[stream], self.chain = row["version"], bytes.fromhex(row["chain"])
        if envelope != canonical(row["event"]):
            self.fault("the envelope is not in canonical form")
        self.envelope(row["event"], stream)
        self.events.append(Event(self.position, stream, leaf, row["event"]))

    def envelope(self, envelope: Any, stream: str) -> None:
        command, _, number = envelope["id"].rpartition(".")
        if number == "0":
            if command in self.commands:
                self.fault("a command happened twice")
            self.commands.add(command)
            self.first, self.number = envelope, 0
        self.number, due = self.number + 1, f"{self.first['id'][:-1]}{self.number}"
        if envelope["id"] != due:
            self.fault(f"the next event should be {due}")
        if any(envelope.get(name) != self.first.get(name) for name in SAME):
            self.fault("the events of a command differ in what they have in common")
        must = ALWAYS | ({"command"} if number == "0" else set())
        if envelope.keys() - {"traceparent"} != must:
            self.fault("the envelope has other members than it should have")
        house = f"/houses/{self.manifest['house']}"
        fixed = envelope["subject"], envelope["source"], envelope["specversion"]
        if fixed != (stream, house, "1.0") or not re.fullmatch(TIME, envelope["time"]):
            self.fault("the envelope is not of this stream, house, or form")


# 5. The tree


def node(left: bytes, right: bytes) -> bytes:
    return sha(b"\x01", left, right)


def half(size: int) -> int:
    return next(2**n for n in count() if 2 ** (n + 1) >= size)


def root(leaves: list[bytes]) -> bytes:
    if len(leaves) < 2:
        return leaves[0] if leaves else sha()
    k = half(len(leaves))
    return node(root(leaves[:k]), root(leaves[k:]))


def root_from(leaf: bytes, index: int, size: int, hashes: list[bytes]) -> bytes:
    """Raises ValueError for a proof of another length."""
    if size == 1:
        [] = hashes
        return leaf
    *rest, beside = hashes
    k = half(size)
    if index < k:
        return node(root_from(leaf, index, k, rest), beside)
    return node(beside, root_from(leaf, index - k, size - k, rest))


def roots_from(
    old: int, new: int, hashes: list[bytes], known: bytes, whole: bool = True
) -> tuple[bytes, bytes]:
    """`known` is the root of the old tree. Raises ValueError for a proof of another length."""
    if old == new:
        [alone] = [*hashes, known] if whole else hashes
        return alone, alone
    *rest, beside = hashes
    k = half(new)
    if old <= k:
        a, b = roots_from(old, k, rest, known, whole)
        return a, node(b, beside)
    a, b = roots_from(old - k, new - k, rest, known, False)
    return node(beside, a), node(beside, b)


# 6. Seals


def seal(note: bytes, keys: list[str]) -> tuple[str, int, bytes]:
    """Origin, size and root of a note that is believed. Raises ValueError."""
    text, _, below = note.decode().rpartition("\n\n")
    known = {}
    for key in keys:
        name, key_id, material = key.split("+", 2)
        decoded = base64.b64decode(material, validate=True)
        if sha(name.encode(), b"\n", decoded)[:4].hex() != key_id or len(decoded) != 33:
            raise ValueError(f"{key} is not a key")
        known[name, key_id] = decoded
    believed = False
    for line in below.removesuffix("\n").split("\n"):
        _, name, encoded = re.fullmatch("(—) (\\S+) (\\S+)", line).groups()
        signed = base64.b64decode(encoded, validate=True)
        if (key := known.get((name, signed[:4].hex()))) is None:
            continue
        signature, message = signed[4:], f"{text}\n"
        if key[0] == 4:
            time = int.from_bytes(signature[:8], "big")
            signature, message = signature[8:], f"cosignature/v1\ntime {time}\n{message}"
        try:
            Ed25519PublicKey.from_public_bytes(key[1:]).verify(signature, message.encode())
        except InvalidSignature:
            raise ValueError(f"{name} did not sign this") from None
        believed = believed or key[0] == 1
    if not believed or not below.endswith("\n"):
        raise ValueError("no known key of a house has signed this")
    origin, size, hashed = text.split("\n")
    if not re.fullmatch("0|[1-9][0-9]*", size):
        raise ValueError(f"{size} is no size")
    decoded = base64.b64decode(hashed, validate=True)
    if len(decoded) != 32:
        raise ValueError("a root has 32 bytes")
    return origin, int(size), decoded


def held(log: Log, note: bytes, keys: list[str]) -> Iterator[Fault]:
    origin, size, hashed = seal(note, keys)
    if not origin.endswith(f"/{log.manifest['house']}"):
        raise ValueError(f"the seal is of {origin}")
    if size > len(log.events):
        yield Fault(SEALS, len(log.events) + 1, f"the log was sealed up to {size}")
    elif root([event.leaf for event in log.events[:size]]) != hashed:
        yield Fault(SEALS, size, "the log is not the one that was sealed")
