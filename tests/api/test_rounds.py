"""A round, seen by its name: while it is played, and ever after."""

import pytest

from tests.api.croupier import House, command, kinds


def test_a_running_round_is_as_far_as_it_is(house: House) -> None:
    house.seat("oak", "ada", ruleset="european")
    dealt = house.deal("oak", 20)

    seen = house.get("/v1/rounds/oak.1")

    assert seen["table"] == dealt["table"] == house.get("/v1/tables/oak")
    assert kinds(seen["events"])[:2] == ["table_opened", "player_sat"]
    assert seen["events"][-len(dealt["events"]) :] == dealt["events"]


def test_each_round_has_what_happened_since_the_round_before(house: House) -> None:
    house.seat("oak", "ada", "bob", ruleset="coinlounge")
    over = []
    for bets in ((10, 20), (30, 40), (50, 60)):
        house.deal("oak", *bets)
        over.append(house.finish("oak"))

    rounds = [house.get(f"/v1/rounds/oak.{number}") for number in (1, 2, 3)]

    assert [seen["table"] for seen in rounds] == over
    versions = [event["version"] for seen in rounds for event in seen["events"]]
    assert versions == list(range(1, over[-1]["version"] + 1))
    for number, seen in enumerate(rounds, 1):
        assert kinds(seen["events"])[-1] == "seed_revealed"
        assert seen["table"]["round"]["number"] == number
    bets = [event["data"] for event in rounds[1]["events"] if event["type"].endswith("bet_placed")]
    assert [(bet["seat"], bet["amount"]) for bet in bets] == [(1, 30), (2, 40)]


@pytest.mark.parametrize("name", ["oak.1", "oak.2", "elm.1", "oak.999999999999999"])
def test_a_round_that_never_was_is_not_found(name: str, house: House) -> None:
    house.seat("oak", "ada")

    refused = house.ask("GET", f"/v1/rounds/{name}")

    assert (refused.status_code, refused.json()["type"]) == (404, "/problems/unknown-round")


def test_a_table_whose_name_has_dots_and_numbers_has_rounds_too(house: House) -> None:
    house.seat("a.1.2", "ada")
    house.deal("a.1.2", 20)

    assert house.get("/v1/rounds/a.1.2.1")["table"]["round"]["id"] == "a.1.2.1"
    assert house.ask("GET", "/v1/rounds/a.1.2").status_code == 404


@pytest.mark.parametrize("ruleset", ["a2g", "coinlounge", "european"])
def test_nothing_tells_the_hole_card_or_the_seed_before_its_time(
    ruleset: str, house: House
) -> None:
    house.seat("oak", "ada", ruleset=ruleset)
    told = []
    for _ in range(5):
        seen = house.deal("oak", 20)["table"]
        while move := next((m for m in seen["legal_moves"] if m["type"] == "stand"), None):
            told.append(
                house.ask("GET", "/v1/tables/oak").text
                + house.ask("GET", "/v1/rounds/oak." + str(seen["round"]["number"])).text
                + house.ask("GET", f"/v1/tables/oak/events?after={seen['version'] - 8}").text
            )
            assert seen["dealer"]["hole"] == "face_down"
            assert len(seen["dealer"]["cards"]) == 1
            assert seen["round"]["seed"] is None
            seen = house.do("oak", **command(move))["table"]
        seed = seen["round"]["seed"]
        assert seed is None or not any(seed in page for page in told)
        house.finish("oak")
