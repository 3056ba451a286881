"""Many commands in one request: each as if it had come alone, those of one table in order."""

from typing import Any

import httpx
import pytest

from tests.api.croupier import House, Json, key


@pytest.fixture
def seated(house: House) -> House:
    """Ada and bob at the tables `oak` and `elm`, four hundred chips each before them."""
    house.seat("oak", "ada", "bob")
    house.seat("elm", "cyd", "dan")
    return house


def send(house: House, *commands: Json, **more: Any) -> httpx.Response:
    return house.ask("POST", "/v1/commands", json={"commands": commands}, **more)


def outcomes(house: House, *commands: Json) -> list[Json]:
    """What became of each, of a request that has to be answered."""
    answer = send(house, *commands)
    assert answer.status_code == 200, answer.text
    found: list[Json] = answer.json()["outcomes"]
    assert len(found) == len(commands)
    return found


def bet(table: str, seat: int, amount: int = 20, **more: Json) -> Json:
    return {"table": table, "command": {"type": "bet", "seat": seat, "amount": amount}, **more}


def kind(outcome: Json) -> str:
    return "done" if outcome["status"] == 200 else outcome["type"].removeprefix("/problems/")


def test_each_has_the_outcome_that_it_would_have_had_alone(seated: House) -> None:
    alone = seated.play("oak", "bet", key("alone"), seat=1, amount=20).json()

    done, refused = outcomes(
        seated, bet("oak", 1, key="alone"), bet("elm", 1, amount=21, key="refused")
    )

    assert done == {"status": 200, "replayed": True, **alone}
    refusal = seated.play("elm", "bet", key("refused"), seat=1, amount=21)
    assert refused == refusal.json()
    assert refused["status"] == refusal.status_code == 409


def test_those_of_one_table_happen_in_order_and_the_answer_keeps_the_order(seated: House) -> None:
    found = outcomes(
        seated,
        {"table": "oak", "command": {"type": "sit_out", "seat": 2}},
        bet("elm", 2),
        {"table": "oak", "command": {"type": "buy_in", "seat": 1, "amount": 5}},
        bet("oak", 1),
        bet("elm", 1),
    )

    assert [kind(each) for each in found] == ["done"] * 5
    assert [each["table"]["id"] for each in found] == ["oak", "elm", "oak", "oak", "elm"]
    versions = [each["table"]["version"] for each in found if each["table"]["id"] == "oak"]
    assert versions == sorted(versions)
    assert found[3]["table"]["round"] is not None, "the last bet deals"
    assert found[2]["table"]["seats"][0]["stack"] == 405
    left = found[3]["table"]["seats"][0]["stack"]
    assert left in (385, 405, 435), "20 are staked; a natural, a push of two, are paid at once"


def test_a_refusal_stops_none_of_the_others(seated: House) -> None:
    found = outcomes(
        seated,
        bet("oak", 1, amount=21),
        bet("oak", 1),
        bet("nowhere", 1),
        {"table": "oak", "command": {"type": "leave", "seat": 7}},
        bet("oak", 2),
    )

    assert [kind(each) for each in found][:3] == ["bet-not-allowed", "done", "unknown-table"]
    assert found[3]["status"] == 409
    assert kind(found[4]) == "done"


def test_a_key_makes_each_happen_once(seated: House) -> None:
    bets = [bet("oak", 1, key="one"), bet("elm", 1, key="two")]
    first = outcomes(seated, *bets)
    head = seated.head()

    again = outcomes(seated, *bets, bet("oak", 1, amount=22, key="one"))

    assert [each["replayed"] for each in again[:2]] == [True, True]
    assert [{**each, "replayed": False} for each in again[:2]] == first
    assert kind(again[2]) == "key-reused"
    assert seated.head() == head


def test_a_version_may_be_insisted_on(seated: House) -> None:
    version = seated.get("/v1/tables/oak")["version"]

    found = outcomes(seated, bet("oak", 1, if_version=version), bet("oak", 2, if_version=version))

    assert [kind(each) for each in found] == ["done", "stale-version"]
    assert found[1]["actual"] == version + 1


def test_a_hundred_at_a_hundred_tables_share_a_few_flushes(house: House) -> None:
    """A hundred events in one statement are recorded at one moment."""
    for n in range(100):
        house.open(f"oak-{n}", host="ada")
    house.grant("ada", 10_000)
    sit = {"type": "sit", "seat": 1, "player": "ada", "buy_in": 60}

    found = outcomes(house, *({"table": f"oak-{n}", "command": sit} for n in range(100)))

    assert {kind(each) for each in found} == {"done"}
    assert house.get("/v1/players/ada/vault")["balance"] == 4000
    assert house.get("/v1/ledger/trial-balance")["balanced"]


LEAVE = {"type": "leave", "seat": 1}


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({}, "$"),
        ({"commands": []}, "$.commands"),
        ({"commands": [{"table": "oak", "command": LEAVE}] * 101}, "$.commands"),
        ({"commands": [{"table": "oak"}]}, "$.commands[0]"),
        ({"commands": [{"table": "OAK", "command": LEAVE}]}, "$.commands[0].table"),
        (
            {"commands": [{"table": "oak", "command": {"type": "shout"}}]},
            "$.commands[0].command.type",
        ),
        ({"commands": [{"table": "oak", "command": LEAVE, "key": "a b"}]}, "$.commands[0].key"),
        ({"commands": [{"table": "oak", "command": LEAVE, "if_version": -1}]},
         "$.commands[0].if_version"),
        ({"commands": [{"table": "oak", "command": LEAVE, "house": "x"}]}, "$.commands[0]"),
        ({"commands": [{"table": "oak", "command": LEAVE}], "more": 1}, "$"),
        ([], "$"),
    ],
    ids=str,
)  # fmt: skip
def test_one_that_cannot_be_read_makes_all_of_it_malformed(
    body: Json, at: str, seated: House
) -> None:
    """Nothing has happened then: whoever wrote it has to look at it."""
    head = seated.head()

    refused = seated.ask("POST", "/v1/commands", json=body)

    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/malformed")
    assert refused.json()["errors"][0]["at"] == at
    assert seated.head() == head


@pytest.mark.parametrize("header", ["Idempotency-Key", "If-Match"])
def test_headers_that_are_for_one_command_are_refused(header: str, seated: House) -> None:
    refused = send(seated, bet("oak", 1), headers={header: '"17"'})

    assert refused.status_code == 422
    assert "key, if_version" in refused.json()["detail"]


def test_the_body_may_be_larger_than_that_of_one_but_not_endless(seated: House) -> None:
    fits = send(seated, bet("oak", 1), content=None, headers={})
    assert fits.status_code == 200
    head = seated.head()

    for size, status in ((200 * 1024, 422), (256 * 1024 + 1, 413)):
        refused = seated.ask("POST", "/v1/commands", content=b" " * size)
        assert refused.status_code == status
    assert seated.head() == head
