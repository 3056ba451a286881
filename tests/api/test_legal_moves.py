"""Legal moves sent back as they are: what they say beside the command is taken and ignored."""

from typing import Any

import pytest

from tests.api.croupier import House, Json, command, key

HINTS = {"cost": 7, "min": 1, "max": 2, "step": 1}


def send(house: House, body: Json, many: bool, name: str) -> Json:
    """A command with a key, alone or as one of many: its outcome with its status."""
    if many:
        each = {"table": "oak", "command": body, "key": name}
        answer = house.ask("POST", "/v1/commands", json={"commands": [each]})
        return answer.json()["outcomes"][0] if answer.status_code == 200 else answer.json()
    answer = house.ask("POST", "/v1/tables/oak/commands", json=body, headers=key(name))
    return {"status": answer.status_code, **answer.json()}


def move(house: House, type: str) -> Json:
    moves = house.get("/v1/tables/oak")["legal_moves"]
    return next(each for each in moves if each["type"] == type)


@pytest.mark.parametrize("many", [False, True], ids=["alone", "many"])
def test_a_move_is_recorded_as_the_command_that_it_is(many: bool, house: House) -> None:
    """With its hints and without it is the same command, so that either may repeat the other."""
    house.seat("oak", "ada", ruleset="classic")
    buy = move(house, "buy_item")
    assert buy["cost"] > 0
    head = house.head()

    first = send(house, buy, many, "buy")
    again = send(house, command(buy), not many, "buy")

    assert (first["status"], again["status"]) == (200, 200)
    assert again["events"] == first["events"]
    recorded = [entry["event"]["command"] for entry in house.walk("/v1/events", after=head)]
    assert recorded == [command(buy)] * len(recorded)


@pytest.mark.parametrize("many", [False, True], ids=["alone", "many"])
def test_a_bounded_move_needs_its_amount_alone(many: bool, house: House) -> None:
    house.seat("oak", "ada")
    bet = move(house, "bet")

    refused = send(house, bet, many, "bet")
    assert refused["status"] == 422
    assert "missing required field `amount`" in refused["detail"]
    assert send(house, bet | {"amount": bet["min"]}, many, "bet")["status"] == 200


@pytest.mark.parametrize("many", [False, True], ids=["alone", "many"])
def test_a_run_from_the_vault_is_never_taken_for_a_granted_one(many: bool, house: House) -> None:
    house.open("oak", "classic")
    house.grant("ada", 100)
    start = move(house, "start_run") | {"player": "ada"}
    assert start["min"] == 40
    head = house.head()

    refused = send(house, start, many, "run")

    assert (refused["status"], refused["type"]) == (422, "/problems/malformed")
    assert refused["errors"] == [
        {
            "at": "$.commands[0].command" if many else "$",
            "why": "`min` and `max` bound the `stake` of this run: add it, or leave them away.",
        }
    ]
    assert house.head() == head
    started = send(house, start | {"stake": 60}, many, "run")
    assert started["table"]["seats"][0]["stack"] == 60


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"type": "leave", "seat": 1, "more": 1} | HINTS, "unknown field `more`"),
        ({"type": "leave", "seat": 9} | HINTS, "Expected `int` <= 7 - at `$.seat`"),
        ({"type": "shout"} | HINTS, "Invalid value 'shout'"),
        ({"type": "apply_modifier", "modifier": {"type": "fixed_ace", "value": 5, "cost": 1}},
         "unknown field `cost` - at `$.modifier`"),
    ],
    ids=["another field", "a wrong value", "no such type", "further down"],
)  # fmt: skip
def test_nothing_else_is_ignored(body: Any, says: str, house: House) -> None:
    house.seat("oak", "ada")
    head = house.head()

    refused = send(house, body, False, "nonsense")

    assert refused["status"] == 422
    assert says in refused["detail"]
    assert house.head() == head


def test_those_of_a_hand_need_nothing_added(house: House) -> None:
    house.seat("oak", "ada", ruleset="european")
    house.deal("oak", 20)
    seen = house.get("/v1/tables/oak")
    while turns := [each for each in seen["legal_moves"] if "hand" in each]:
        costly = [each for each in turns if "cost" in each]
        answer = house.ask("POST", "/v1/tables/oak/commands", json=[*costly, *turns][0])
        assert answer.status_code == 200, answer.text
        seen = answer.json()["table"]
