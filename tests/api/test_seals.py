"""Seals over REST: what an auditor and a witness do with them, without trusting us."""

from hashlib import sha256

import msgspec
import pytest

from shared.eventstore.envelope import canonical_json
from shared.seals.merkle import check_consistency, root_from
from shared.seals.notes import COSIGNS, Note, PublicKey, Signature, public_of
from tests.api.croupier import WITNESS, WITNESS_NAME, House, Json, cosigned


def whole(house: House, events: int) -> Json:
    """The newest seal of a house, after some grants."""
    for number in range(events):
        house.grant("ada", 1 + number)
    return house.sealed()


def keys(house: House) -> list[PublicKey]:
    return [PublicKey.read(key["public_key"]) for key in house.get("/v1/audit/keys")["data"]]


def test_a_seal_is_a_checkpoint_signed_by_a_key_of_the_log(house: House) -> None:
    seal = whole(house, 3)

    checkpoint = Note.read(seal["note"].encode()).check(keys(house), f"croupier.local/{house.name}")
    assert (checkpoint.size, checkpoint.root.hex()) == (seal["size"], seal["root"])
    assert house.get(f"/v1/audit/seals/{seal['size']}") == seal
    assert house.get("/v1/audit/seals", limit=1)["data"] == [seal]


def test_an_event_of_the_feed_is_proven_to_be_sealed(house: House) -> None:
    seal = whole(house, 5)
    (event,) = house.get("/v1/events", after=2, limit=1)["data"]

    proof = house.get("/v1/audit/proofs/inclusion", position=3, size=seal["size"])

    envelope = canonical_json(msgspec.json.encode(event["event"]))
    leaf = sha256(b"\x00" + envelope).digest()
    path = [bytes.fromhex(each) for each in proof["hashes"]]
    assert root_from(2, seal["size"], leaf, path).hex() == seal["root"]


def test_a_seal_is_proven_to_continue_an_older_one(house: House) -> None:
    old, new = whole(house, 2), whole(house, 4)

    query = {"from": old["size"], "to": new["size"]}
    proof = house.get("/v1/audit/proofs/consistency", **query)

    roots = bytes.fromhex(old["root"]), bytes.fromhex(new["root"])
    path = [bytes.fromhex(each) for each in proof["hashes"]]
    check_consistency(old["size"], new["size"], *roots, path)


def test_what_a_witness_has_signed_becomes_part_of_the_seal(house: House) -> None:
    seal = whole(house, 1)
    path = f"/v1/audit/seals/{seal['size']}/cosignatures"

    first = house.ask("POST", path, json=cosigned(seal))
    again = house.ask("POST", path, json=cosigned(seal))

    assert first.status_code == again.status_code == 200
    assert first.json() == again.json() == house.get("/v1/audit/seals/latest")
    assert first.json()["witnesses"] == [WITNESS_NAME]
    witness = public_of(WITNESS, WITNESS_NAME, COSIGNS)
    assert Note.read(first.json()["note"].encode()).signers([witness]) == [witness]


def test_what_no_witness_has_signed_does_not(house: House) -> None:
    older, seal = whole(house, 1), whole(house, 1)
    path = f"/v1/audit/seals/{seal['size']}/cosignatures"
    line = cosigned(seal)["cosignature"]
    good = Signature.read(line)
    stranger = str(Signature("stranger.example", good.key_id, good.signature))
    future = str(Signature(good.name, good.key_id, b"\xff" * 8 + good.signature[8:]))
    short = str(Signature(good.name, good.key_id, good.signature[:20]))
    refused = {
        cosigned(older)["cosignature"]: "wrong-cosignature",
        future: "wrong-cosignature",
        short: "wrong-cosignature",
        "nothing": "wrong-cosignature",
        stranger: "unknown-witness",
    }
    for cosignature, problem in refused.items():
        answer = house.ask("POST", path, json={"cosignature": cosignature})
        assert answer.json()["type"] == f"/problems/{problem}"
    for wrong in ("0", "x", "99999999999999999999"):
        answer = house.ask(
            "POST", f"/v1/audit/seals/{wrong}/cosignatures", json={"cosignature": line}
        )
        assert answer.json()["type"] == "/problems/malformed"
    assert house.get("/v1/audit/seals/latest")["witnesses"] == []


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/v1/audit/seals/999", "unknown-seal"),
        ("/v1/audit/proofs/inclusion?position=999", "not-sealed-yet"),
        ("/v1/audit/proofs/inclusion?position=2&size=1", "not-sealed-yet"),
        ("/v1/audit/proofs/consistency?from=999", "not-sealed-yet"),
        ("/v1/audit/proofs/consistency?from=2&to=1", "not-sealed-yet"),
    ],
)
def test_what_is_not_sealed_is_not_proven(path: str, problem: str, house: House) -> None:
    whole(house, 3)

    answer = house.ask("GET", path)

    assert (answer.status_code, answer.json()["type"]) == (404, f"/problems/{problem}")


def test_the_status_says_how_far_the_log_was_checked(house: House) -> None:
    seal = whole(house, 3)
    status = house.get("/v1/audit/status")

    assert status["position"] == status["verified_position"] == seal["size"] == 3
    assert status["seal_age_seconds"] >= 0
    assert status["faults"] == 0
    assert house.get("/v1/audit/events", type="failed_check")["data"] == []


def test_the_figures_say_how_old_seals_are(house: House) -> None:
    whole(house, 1)
    figures = house.ask("GET", "/metrics", key="").text

    assert "croupier_seal_lag_events " in figures
    assert "croupier_seal_age_seconds " in figures
