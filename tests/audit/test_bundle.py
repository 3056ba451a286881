"""A round that was taken away is judged alone, and anything that is changed in it is found."""

import json
from copy import deepcopy
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from services.audit.domain.bundle import Bundle, judge
from services.cli import app
from shared.seals.notes import PublicKey
from tests.api.croupier import House, Json


@pytest.fixture
def keys(house: House) -> list[PublicKey]:
    house.seat("oak", "ada", "bob", ruleset="european")
    for _ in range(2):
        house.deal("oak", 20, 20)
        house.finish("oak")
    house.sealed()
    return [PublicKey.read(key["public_key"]) for key in house.get("/v1/audit/keys")["data"]]


def faults(bundle: Json, keys: list[PublicKey]) -> list[str]:
    return list(judge(msgspec.json.decode(msgspec.json.encode(bundle), type=Bundle), keys))


@pytest.mark.parametrize("round", ["oak.1", "oak.2"])
def test_a_bundle_holds_alone(round: str, house: House, keys: list[PublicKey]) -> None:
    bundle = house.get(f"/v1/rounds/{round}/bundle")

    assert faults(bundle, keys) == []
    assert bundle["recall"] == house.get(f"/v1/rounds/{round}/recall")
    assert bundle["proof"] == house.get(f"/v1/rounds/{round}/proof")
    assert len(bundle["foundation"]) == (1 if round == "oak.1" else 2)


def test_who_does_not_know_the_key_believes_nothing(house: House, keys: list[PublicKey]) -> None:
    bundle = house.get("/v1/rounds/oak.1/bundle")

    assert faults(bundle, []) == ["The seal does not hold: no key that is known has signed it."]


def _changed(bundle: Json) -> dict[str, Json]:
    """The bundle with one thing after another changed in it."""
    changed = {}

    def change(name: str) -> Json:
        changed[name] = deepcopy(bundle)
        return changed[name]

    change("the seal")["seal"] = bundle["seal"].replace("\n\n", "\nmore\n\n")
    change("the house")["house"] = "else"
    change("the round")["round"] = "oak.1"
    change("an actor")["events"][0]["event"]["actor"] = "mallory"
    change("a leaf")["events"][1]["leaf"] = "00" * 32
    change("a hash")["events"][1]["hashes"][0] = "00" * 32
    change("a position")["events"][1]["position"] += 1
    change("a version")["events"][1]["version"] += 1
    change("an event less")["events"].pop(1)
    change("no end")["events"].pop()
    change("no opening")["foundation"].pop(0)
    change("no commitment")["foundation"].pop()
    change("the rules")["before"]["rules"]["decks"] = 5
    change("the next seed")["before"]["stage"]["next"]["commitment"] = "00" * 32
    change("the words")["recall"]["steps"][0]["text"] = "ada wins it all."
    change("the proof")["proof"]["drawn"] += 1
    return changed


def test_whatever_is_changed_is_found(house: House, keys: list[PublicKey]) -> None:
    bundle = house.get("/v1/rounds/oak.2/bundle")

    overlooked = [name for name, each in _changed(bundle).items() if not faults(each, keys)]

    assert overlooked == []


def test_the_command_line_judges_a_bundle(
    house: House, keys: list[PublicKey], tmp_path: Path
) -> None:
    bundle = house.get("/v1/rounds/oak.2/bundle")
    key, file = tmp_path / "public.key", tmp_path / "oak.2.json"
    key.write_text("".join(f"{each}\n" for each in keys))

    for changed, status in ((bundle, 0), (bundle | {"round": "oak.1"}, 1), ({}, 2)):
        file.write_text(json.dumps(changed))
        judged = CliRunner().invoke(app, ["verify", str(file), "--public-key", str(key)])
        assert judged.exit_code == status, judged.output


def test_a_round_that_runs_or_is_not_sealed_has_no_bundle(
    house: House, keys: list[PublicKey]
) -> None:
    house.deal("oak", 20, 20)

    running = house.ask("GET", "/v1/rounds/oak.3/bundle").json()["type"]

    assert running in ("/problems/round-not-over", "/problems/not-sealed-yet")
