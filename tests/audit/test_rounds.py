"""Rounds over REST: read out to anybody who may read, proven to the auditor."""

from hashlib import sha256

import pytest

from tests.api.croupier import House

GAMES = ("a2g", "coinlounge", "classic", "european")


@pytest.mark.parametrize("ruleset", GAMES)
def test_a_round_is_told_and_proven(ruleset: str, house: House) -> None:
    brought = house.seat("oak", "ada", ruleset=ruleset)["table"]["seats"][0]["stack"]
    house.deal("oak", 20)
    over = house.finish("oak")

    told = house.get("/v1/rounds/oak.1/recall")
    assert (told["round"], told["ruleset"], told["over"]) == ("oak.1", ruleset, True)
    assert told["steps"][0]["text"].startswith(f"ada bets 20 of {brought} chips")
    assert told["steps"][-1]["text"].startswith("ada ends the round with ")
    assert told["steps"][-1]["version"] == over["version"]
    assert told["results"][0]["stack_after"] == over["seats"][0]["stack"]
    assert told["results"][0]["net"] == over["seats"][0]["stack"] - brought

    proof = house.get("/v1/rounds/oak.1/proof")
    assert proof["faults"] == []
    assert proof["commitment"] == sha256(bytes.fromhex(proof["seed"])).hexdigest()
    assert [card["logged"] for card in proof["cards"]] == [
        card["derived"] for card in proof["cards"]
    ]
    assert [card["logged"] for card in proof["cards"][1::2]][:2] == over["dealer"]["cards"][:2]


def test_a_round_begins_with_its_first_bet_whatever_happened_since_the_last(house: House) -> None:
    house.seat("oak", "ada", "bob", ruleset="coinlounge")
    house.deal("oak", 20, 20)
    house.finish("oak")
    house.do("oak", "leave", seat=2)
    house.do("oak", "buy_in", seat=1, amount=10)
    house.deal("oak", 30)
    house.finish("oak")

    steps = house.get("/v1/rounds/oak.2/recall")["steps"]
    assert steps[0]["text"].startswith("ada bets 30 of ")
    assert "bob" not in " ".join(step["text"] for step in steps)
    assert house.get("/v1/rounds/oak.2/proof")["faults"] == []


def test_a_running_round_is_told_as_far_as_it_has_come_and_not_proven(house: House) -> None:
    house.seat("oak", "ada", ruleset="coinlounge")
    for number in range(1, 20):
        house.deal("oak", 2)
        told = house.get(f"/v1/rounds/oak.{number}/recall")
        if not told["over"]:
            break
    assert "turns over" not in " ".join(step["text"] for step in told["steps"])

    refused = house.ask("GET", f"/v1/rounds/oak.{number}/proof")
    assert refused.status_code == 409
    assert refused.json()["type"] == "/problems/round-not-over"
    assert "when its last hand is settled" in refused.json()["detail"]


def test_what_is_no_round_is_not_found(house: House, other_house: House) -> None:
    house.seat("oak", "ada")
    house.deal("oak", 20)
    house.finish("oak")

    for page in ("recall", "proof"):
        for round_id in ("oak.2", "elm.1"):
            answer = house.ask("GET", f"/v1/rounds/{round_id}/{page}")
            assert (answer.status_code, answer.json()["type"]) == (404, "/problems/unknown-round")
        assert house.ask("GET", f"/v1/rounds/oak/{page}").status_code == 422
        assert house.ask("GET", f"/v1/rounds/oak.0/{page}").status_code == 422
        assert other_house.ask("GET", f"/v1/rounds/oak.1/{page}").status_code == 404


def test_reading_needs_read_and_proving_needs_audit(house: House) -> None:
    house.seat("oak", "ada")
    house.deal("oak", 20)
    house.finish("oak")

    reads, audits = house.make_key("read"), house.make_key("audit")
    assert house.ask("GET", "/v1/rounds/oak.1/recall", key=reads).status_code == 200
    assert house.ask("GET", "/v1/rounds/oak.1/proof", key=reads).status_code == 403
    assert house.ask("GET", "/v1/rounds/oak.1/proof", key=audits).status_code == 200
    assert house.ask("GET", "/v1/rounds/oak.1/recall", key="").status_code == 401
