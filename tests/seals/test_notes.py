"""Signed notes, against the published examples of the format, and whatever is not one."""

from base64 import b64decode

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shared.seals.notes import (
    COSIGNS,
    BadNote,
    Checkpoint,
    Note,
    PublicKey,
    Signature,
    cosign,
    public_of,
    sign,
    time_of,
)

# The example of Go's package `note`, where the format comes from.
NEUMANN = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
NEUMANNS_SEED = b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
SAID = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
)
SIGNED = (
    "— PeterNeumann "
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
)

# The example of c2sp.org/tlog-cosignature.
SOFA = (
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "— example.com/behind-the-sofa "
    "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
    "— witness.example.com/w1 "
    "jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIU"
    "BkBIfZ+qnA==\n"
)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32))
CHECKPOINT = Checkpoint("croupier.example/local", 7, bytes(range(32)))


def test_the_published_key_and_signature() -> None:
    key, signature = PublicKey.read(NEUMANN), Signature.read(SIGNED)

    assert str(key) == NEUMANN
    assert key == public_of(Ed25519PrivateKey.from_private_bytes(NEUMANNS_SEED), "PeterNeumann")
    assert (signature.name, signature.key_id, str(signature)) == (key.name, key.id, SIGNED)
    assert key.holds(SAID, signature.signature)
    assert not key.holds(SAID + " ", signature.signature)


def test_a_signature_is_written_in_one_way_only() -> None:
    with pytest.raises(BadNote, match="no base64"):  # the last letter has two bits to spare
        Signature.read(SIGNED.replace("nAM=", "nAN="))


def test_the_published_checkpoint() -> None:
    note = Note.read(SOFA.encode())

    assert str(note) == SOFA
    assert (note.checkpoint.origin, note.checkpoint.size) == (
        "example.com/behind-the-sofa",
        20852163,
    )
    assert time_of(note.signatures[1].signature) == 1679315147


def test_who_knows_a_key_believes_what_it_signed() -> None:
    note = Note.read(str(sign(CHECKPOINT, [KEY, OTHER])).encode())

    for key in (KEY, OTHER):
        assert note.check([public_of(key, CHECKPOINT.origin)], CHECKPOINT.origin) == CHECKPOINT


def test_a_witness_signs_the_time_too() -> None:
    cosigned = cosign(CHECKPOINT, "witness.example/w1", OTHER, 1_700_000_000)
    witness = public_of(OTHER, "witness.example/w1", COSIGNS)
    note = Note(CHECKPOINT, (*sign(CHECKPOINT, [KEY]).signatures, cosigned))

    assert note.signers([witness]) == [witness]
    assert time_of(cosigned.signature) == 1_700_000_000
    later = cosigned.signature[:7] + b"\xff" + cosigned.signature[8:]
    assert not witness.holds(CHECKPOINT.text, later)
    with pytest.raises(BadNote, match="no key that is known"):
        note.check([witness])  # a witness alone does not make a seal


@pytest.mark.parametrize(
    ("key", "name", "origin"),
    [(OTHER, CHECKPOINT.origin, ""), (KEY, "else", ""), (KEY, CHECKPOINT.origin, "else")],
)
def test_others_do_not(key: Ed25519PrivateKey, name: str, origin: str) -> None:
    with pytest.raises(BadNote):
        sign(CHECKPOINT, [KEY]).check([public_of(key, name)], origin)


def test_a_note_that_was_changed_is_refused() -> None:
    written = str(sign(CHECKPOINT, [KEY]))
    for one, other in (("\n7\n", "\n8\n"), ("AAEC", "AAED")):
        assert one in written
        note = Note.read(written.replace(one, other, 1).encode())
        with pytest.raises(BadNote, match="does not fit"):
            note.check([public_of(KEY, CHECKPOINT.origin)])


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"a\n1\nAA==\n",
        SOFA.rstrip("\n").encode(),
        SOFA.replace("20852163", "020852163").encode(),
        SOFA.replace("20852163", "-1").encode(),
        SOFA.replace("jxq2I=", "jxq2J=").encode(),
        SOFA.replace("\n\n", "\nmore\n\n").encode(),
        SOFA.replace("— ", "- ").encode(),
        SOFA.replace("Az3g", "A\x003g").encode(),
        SOFA.encode()[:-5] + b"\xff\n",
        SOFA.encode() + 70_000 * b"x",
    ],
)
def test_what_is_no_note(note: bytes) -> None:
    with pytest.raises(BadNote):
        Note.read(note)


@pytest.mark.parametrize(
    "key",
    ["", "x", NEUMANN.replace("c74f", "c74e"), NEUMANN[:-4], "+".join(NEUMANN.split("+")[:2])],
)
def test_what_is_no_key(key: str) -> None:
    with pytest.raises(BadNote):
        PublicKey.read(key)
