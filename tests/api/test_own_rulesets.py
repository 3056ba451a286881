"""Games of a house's own: registered over REST, kept in every version, played at tables."""

import asyncio
from typing import Any

import pytest

from services.blackjack.api.examples import OTHER_RULESETS, OWN_RULESET
from services.blackjack.domain.rulesets import PUBLISHED
from tests.api.croupier import House, Json, kinds
from tests.api.test_bad_input import MALFORMED

NAME = OWN_RULESET["name"]


def own(**changes: Any) -> Json:
    return {**OWN_RULESET, **changes}


def problem(answer: Any, status: int, kind: str) -> Json:
    assert answer.status_code == status, answer.text
    told = answer.json()
    assert told["type"] == f"/problems/{kind}"
    return told


def test_it_is_registered_once_shown_and_listed(house: House) -> None:
    first, again = house.register(OWN_RULESET), house.register(OWN_RULESET)

    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json() == house.get(f"/v1/rulesets/{NAME}")
    assert {name: first.json()[name] for name in OWN_RULESET} == OWN_RULESET
    assert first.json()["published"] is False
    assert house.head() == 1
    listed = house.get("/v1/rulesets")["data"]
    assert [each["name"] for each in listed] == [*PUBLISHED, NAME]
    assert listed[-1] == first.json()


def test_auditors_see_it_in_the_log(house: House) -> None:
    shown = house.register(OWN_RULESET).json()

    event = house.get("/v1/events")["data"][0]["event"]

    assert (event["type"], event["subject"]) == (
        "blackjack.ruleset_registered",
        f"ruleset-{NAME}",
    )
    assert event["data"] == {"ruleset": OWN_RULESET, "ruleset_sha256": shown["sha256"]}
    assert event["command"] == OWN_RULESET


def test_a_table_keeps_the_version_that_it_was_opened_with(house: House) -> None:
    first = house.register(OWN_RULESET).json()
    body = {"host": "ada", "seats": 2}
    assert house.open("oak", NAME, **body).status_code == 201

    second = house.register(own(version="1.1.0", surrender=False)).json()

    assert [each["version"] for each in second["versions"]] == ["1.0.0", "1.1.0"]
    assert house.open("elm", NAME, **body).status_code == 201
    assert house.open("oak", NAME, **body).status_code == 200, "the same body, as before"
    assert house.open("oak", NAME, host="bob").status_code == 409
    opened = {table: house.get(f"/v1/tables/{table}/events")["data"][0] for table in ("oak", "elm")}
    rules = {table: entry["event"]["data"]["ruleset"] for table, entry in opened.items()}
    assert rules["oak"] == own(seats=2)
    assert rules["elm"] == own(seats=2, version="1.1.0", surrender=False)
    old = house.get(f"/v1/rulesets/{NAME}", version="1.0.0")
    assert old == first | {"versions": second["versions"]}


def test_it_is_opened_again_whatever_the_newest_version_allows(house: House) -> None:
    house.register(own(seats=4))
    body = {"host": "ada", "seats": 3}
    opened = house.open("oak", NAME, **body)
    assert house.register(own(version="1.1.0", seats=2)).status_code == 201

    again = house.open("oak", NAME, **body)

    assert (opened.status_code, again.status_code) == (201, 200), again.text
    assert again.json()["table"] == opened.json()["table"]
    problem(house.open("oak", NAME, host="ada", seats=4), 409, "table-exists")
    problem(house.open("oak", NAME, host="ada", seats=7), 422, "ruleset-nonsense")
    problem(house.open("elm", NAME, **body), 422, "ruleset-nonsense")
    assert house.get("/v1/tables/oak")["version"] == 1


def test_what_is_shown_may_be_changed_and_put(house: House) -> None:
    """What we say of a ruleset is no part of it: neither played nor recorded."""
    shown = house.get("/v1/rulesets/a2g")
    changes = {name: OWN_RULESET[name] for name in OWN_RULESET if name in shown}

    first = house.register(shown | changes)
    again = house.register(first.json())

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    event = house.get("/v1/events")["data"][0]["event"]
    assert event["command"] == event["data"]["ruleset"] == OWN_RULESET
    other = problem(house.register(shown | changes | {"sha265": "0"}), 422, MALFORMED)
    assert "unknown field `sha265`" in other["detail"]


def test_a_game_of_the_house_is_played(house: House) -> None:
    house.register(OWN_RULESET)
    house.grant("ada", 10_000)
    house.open("oak", NAME, clock={})
    house.do("oak", "sit", seat=1, player="ada", buy_in=5000)

    refused = problem(house.play("oak", "bet", seat=1, amount=50), 409, "bet-not-allowed")
    assert "100" in refused["detail"]
    dealt = house.do("oak", "bet", seat=1, amount=300)
    assert "hands_dealt" in kinds(dealt["events"])
    assert house.finish("oak")["phase"] == "betting"
    assert house.get("/v1/ledger/trial-balance")["balanced"]
    rounds = house.get("/v1/tables", ruleset=NAME, wait_for=house.head())["data"]
    assert [(table["id"], table["rounds"]) for table in rounds] == [("oak", 1)]


def test_what_belongs_to_another_house_is_not_there(house: House, other_house: House) -> None:
    house.register(OWN_RULESET)

    problem(other_house.ask("GET", f"/v1/rulesets/{NAME}"), 404, "unknown-ruleset")
    problem(other_house.open("oak", NAME), 404, "unknown-ruleset")
    problem(house.ask("GET", f"/v1/rulesets/{NAME}", key=""), 404, "unknown-ruleset")
    names = [each["name"] for each in house.ask("GET", "/v1/rulesets", key="").json()["data"]]
    assert names == list(PUBLISHED)


@pytest.mark.parametrize("path", ["/v1/rulesets", "/v1/rulesets/a2g"])
def test_who_sends_a_key_has_one_that_may_read(house: House, path: str) -> None:
    assert house.ask("GET", path, key=house.make_key("read")).status_code == 200
    problem(house.ask("GET", path, key=house.make_key("play")), 403, "forbidden")
    problem(house.ask("GET", path, key="ck_none"), 401, "unauthenticated")


def test_what_is_refused_changes_nothing(house: House) -> None:
    house.register(OWN_RULESET)
    head = house.head()

    problem(house.register(own(name="a2g")), 409, "ruleset-published")
    taken = problem(house.register(own(seats=3)), 409, "ruleset-version-taken")
    assert taken["newest"] == "1.0.0"
    nonsense = problem(house.register(own(version="2.0.0", decks=1)), 422, "ruleset-nonsense")
    assert "cards" in nonsense["detail"]
    shape = problem(house.register(own(peek="sometimes")), 422, MALFORMED)
    assert shape["errors"][0]["at"] == "$.peek"
    other = house.ask("PUT", "/v1/rulesets/elsewhere", json=OWN_RULESET)
    assert problem(other, 422, MALFORMED)["errors"][0]["at"] == "$.name"
    problem(house.open("oak", NAME, seats=7, bet={"min": 3}), 422, "ruleset-nonsense")

    assert house.head() == head


@pytest.mark.parametrize("name", OTHER_RULESETS)
def test_the_examples_can_be_registered(house: House, name: str) -> None:
    assert house.register(OTHER_RULESETS[name]).status_code == 201


async def test_many_at_once_register_it_once(house: House) -> None:
    async with house.crowd() as crowd:
        put = [crowd.put(f"/v1/rulesets/{NAME}", json=OWN_RULESET) for _ in range(8)]
        answers = await asyncio.gather(*put)

    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert house.head() == 1
