"""The vectors of FORMAT.md: what a verifier has to agree with, made by the code of the service."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import json
from msgspec.structs import replace

from services.blackjack.domain.shoe import ALGORITHM, Shoe, commitment
from shared.eventstore import exports
from shared.eventstore.envelope import canonical_json
from shared.eventstore.store import Recorded
from shared.seals import merkle
from shared.seals.merkle import Tree
from shared.seals.notes import COSIGNS, Checkpoint, Note, cosign, public_of, sign
from tests.audit.exported import take
from tests.format.logs import the_log, the_small_log
from tests.format.tampered import variants

Json = Any
DIRECTORY = Path(__file__).with_name("vectors")
ORIGIN, WITNESS = "croupier.example/local", "witness.example/w1"
OLD, NEW, WITNESSING = (Ed25519PrivateKey.from_private_bytes(bytes([n] * 32)) for n in (1, 2, 3))
"""Keys of no secret at all."""
EVENTS_A_PART = 200
LEAVES = [sha256(b"\x00%d" % number).digest() for number in range(33)]


def vectors() -> Iterator[tuple[str, bytes]]:
    """Every file of the vectors, by its path."""
    yield "canonical.json", _text(_canonical())
    yield "hashes.json", _text(_hashes(the_small_log()))
    yield "tree.json", _text(_trees())
    yield "notes.json", _text(_notes())
    yield "shoes.json", _text(_shoes(json.decode((DIRECTORY / "shoes.json").read_bytes())))
    for name, text in _exported(the_log()):
        yield f"log/{name}", text
    for size in (100, 333, len(the_log())):
        yield f"log.seals/{size:015}.seal", sealed(the_log(), size)
    yield "log.seals/public.keys", f"{public_of(NEW, ORIGIN)}\n".encode()
    for name, text in _exported(the_small_log()):
        yield f"small/{name}", text
    yield "small.seal", sealed(the_small_log(), len(the_small_log()))
    index = {variant.name: variant.told for variant in variants()}
    yield "tampered.json", _text(index)
    for variant in variants():
        with TemporaryDirectory() as directory:
            variant.write(Path(directory))
            for name, text in _files(Path(directory)):
                yield f"tampered/{variant.name}/{name}", text


def tree_of(records: Sequence[Recorded]) -> Tree:
    """The tree over some records."""
    tree = Tree()
    for record in records:
        tree.append(record.leaf)
    return tree


def sealed(records: Sequence[Recorded], size: int) -> bytes:
    """A seal of the first records of a log."""
    return str(sign(Checkpoint(ORIGIN, size, tree_of(records[:size]).root()), [NEW])).encode()


def _exported(records: list[Recorded]) -> Iterator[tuple[str, bytes]]:
    with (
        TemporaryDirectory() as directory,
        patch.object(exports, "EVENTS_A_PART", EVENTS_A_PART),
    ):
        take(records, Path(directory))
        yield from _files(Path(directory))


def _files(directory: Path) -> list[tuple[str, bytes]]:
    found = (file for file in directory.rglob("*") if file.is_file())
    return [(str(file.relative_to(directory)), file.read_bytes()) for file in sorted(found)]


FORMS = (
    ' { "b" : 1, "a" : [ true , false , null ] } ',
    '{"type":"bet","seat":1,"amount":20,"client_seed":null}',
    '{"aa":1,"a_":2,"a":{"c":3,"b":4},"Z":5}',
    '[0, -0, -1, 1000000000000, 9007199254740991, -9007199254740991]',
    '"\\u0000\\u0008\\u0009\\u000a\\u000b\\u000c\\u000d\\u001F\\u0020\\u007f"',
    '"\\/ \\" \\\\ \\u0022 \\u005c"',
    '"\\u00e9 e\\u0301 \\u2028 \\ufeff \\ud83c\\udca1 🂡 \\uFFFF"',
    "[[[[[{}]]]],[],\"\"]",
)  # fmt: skip
REFUSED = ("1.0", "0.5", "1e3", "1E-2", "01", "+1", "NaN", '"\\ud800"', '{"a":1', "[1,]", "'a'", "")


def _canonical() -> Json:
    forms = [{"json": each, "canonical": canonical_json(each.encode()).decode()} for each in FORMS]
    return {"forms": forms, "refused": REFUSED}


def _hashes(records: Sequence[Recorded]) -> Json:
    return [
        {"envelope": each.envelope.decode(), "leaf": each.leaf.hex(), "chain": each.chain.hex()}
        for each in records[:8]
    ]


def _trees() -> Json:
    roots = _roots()
    inclusion = [
        {"index": index, "size": size, "hashes": _proof(merkle.inclusion(index, size))}
        for size in (1, 2, 3, 7, 8, 33)
        for index in sorted({0, size // 2, size - 1})
    ]
    consistency = [
        {"old": old, "new": new, "hashes": _proof(merkle.consistency(old, new))}
        for old, new in (
            (1, 1),
            (1, 2),
            (2, 3),
            (3, 7),
            (4, 7),
            (6, 8),
            (7, 33),
            (32, 33),
            (33, 33),
        )
    ]
    return {
        "leaves": [leaf.hex() for leaf in LEAVES],
        "roots": roots,
        "inclusion": inclusion,
        "consistency": consistency,
        "wrong": _wrong(roots),
    }


def _wrong(roots: list[str]) -> Json:
    """Proofs that are too short, too long, or of something else."""
    return [
        {"index": 2, "size": 7, "hashes": _proof(merkle.inclusion(3, 7))},
        {"index": 2, "size": 7, "hashes": _proof(merkle.inclusion(2, 7))[:-1]},
        {"index": 2, "size": 7, "hashes": [*_proof(merkle.inclusion(2, 7)), roots[1]]},
        {"old": 3, "new": 7, "hashes": _proof(merkle.consistency(4, 7))},
        {"old": 3, "new": 7, "hashes": _proof(merkle.consistency(3, 7))[1:]},
        {"old": 3, "new": 7, "hashes": [roots[1], *_proof(merkle.consistency(3, 7))]},
        {"old": 7, "new": 7, "hashes": [roots[7]]},
    ]


def _roots() -> list[str]:
    tree, roots = Tree(), [merkle.EMPTY.hex()]
    for leaf in LEAVES:
        tree.append(leaf)
        roots.append(tree.root().hex())
    return roots


def _proof(many: Sequence[merkle.Leaves]) -> list[str]:
    tiles = {merkle.Place(0, 0): LEAVES}
    return [merkle.root_of(each, tiles).hex() for each in many]


def _notes() -> Json:
    old, new = public_of(OLD, ORIGIN), public_of(NEW, ORIGIN)
    witness = public_of(WITNESSING, WITNESS, COSIGNS)
    checkpoint = Checkpoint(ORIGIN, 7, LEAVES[7])
    plain, both = sign(checkpoint, [NEW]), sign(checkpoint, [NEW, OLD])
    seen = cosign(checkpoint, WITNESS, WITNESSING, 1_767_225_600)
    witnessed = replace(plain, signatures=(*plain.signatures, seen))
    other = sign(Checkpoint(ORIGIN, 8, LEAVES[8]), [NEW])
    unfit = Note(checkpoint, other.signatures)
    alone = Note(checkpoint, (seen,))
    zeros = str(plain).replace("\n7\n", "\n07\n")
    good = (
        ("signed", plain, [new]),
        ("signed by two keys, one of them known", both, [old]),
        ("signed by two known keys", both, [old, new]),
        ("cosigned", witnessed, [new, witness]),
        ("cosigned by somebody unknown", witnessed, [new]),
    )
    bad = (
        ("the signature of another text", unfit, [new]),
        ("a known key did not sign, another did", Note(checkpoint, both.signatures[1:]), [new]),
        ("a witness alone", alone, [witness]),
        ("a wrong cosignature", Note(other.checkpoint, (*other.signatures, seen)), [new, witness]),
        ("no signature", f"{checkpoint.text}\n", [new]),
        ("another size", zeros, [new]),
        ("cut", str(plain)[:-1], [new]),
    )
    believed = {"origin": ORIGIN, "size": 7, "root": LEAVES[7].hex()}
    return [
        {"what": what, "keys": list(map(str, keys)), "note": str(note), "says": says}
        for notes, says in ((good, believed), (bad, None))
        for what, note, keys in notes
    ]


def _shoes(kept: Json) -> Json:
    """What is kept says of which shoes; what they are is worked out again."""
    return {"algorithm": ALGORITHM, "shoes": [_shoe(each) for each in kept["shoes"]]}


def _shoe(kept: Json) -> Json:
    secret, seeds, decks = bytes.fromhex(kept["seed"]), kept["client_seeds"], kept["decks"]
    cards = list(Shoe(secret, decks, kept["round"], seeds))
    wide = len(kept["order"][0].split())
    lines = [" ".join(cards[at : at + wide]) for at in range(0, len(cards), wide)]
    return kept | {"commitment": commitment(secret), "order": lines}


def _text(value: Json) -> bytes:
    return json.format(json.encode(value), indent=1) + b"\n"
