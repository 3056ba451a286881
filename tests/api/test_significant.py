"""What an auditor looks at first: what is out of the ordinary, and the largest wins."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from services.blackjack.api.examples import OWN_RULESET
from tests.api.croupier import House, Json

EVENTS, WINS = "/v1/audit/events", "/v1/audit/wins"


def found(house: House, **query: Any) -> list[Json]:
    return house.get(EVENTS, wait_for=house.head(), **query)["data"]


def walk(house: House, limit: int, **query: Any) -> Iterator[Json]:
    before = 2**53
    while before is not None:
        page = house.get(EVENTS, limit=limit, before=before, wait_for=house.head(), **query)
        yield from page["data"]
        before = page["next"]


@pytest.fixture
def eventful(house: House) -> House:
    """Two grants, a game registered, a table with rules of its own, a changed round, a player who
    leaves amid it, a table closed, and two checks that failed."""
    house.grant("ada", 1000)
    house.grant("bob", 50)
    house.register(OWN_RULESET)
    limit = {"type": "bust_limit", "limit": 22}
    house.open("elm", "classic", environment=[limit], host="ada", clock={})
    house.do("elm", "start_run", seat=1, player="ada", stake=40)
    house.do("elm", "leave", seat=1)
    house.do("elm", "close")
    with psycopg.connect(house.croupier.database.owner_url) as owner:
        for position in (2, 2, 1):
            what = f"The event at {position} was changed by {len(found_faults(owner, house))}."
            owner.execute(
                "INSERT INTO seal_fault VALUES (%s, %s, %s, now())", (house.name, position, what)
            )
    return house


def found_faults(owner: "psycopg.Connection[Any]", house: House) -> list[Any]:
    faults = owner.execute("SELECT position FROM seal_fault WHERE house = %s", (house.name,))
    return faults.fetchall()


def test_each_is_told_in_a_sentence_the_newest_first(eventful: House) -> None:
    told = [(each["type"], each["text"]) for each in found(eventful)]

    actor = eventful.get("/v1/events", limit=1)["data"][0]["event"]["actor"]
    assert told[:3] == [
        ("table_closed", "Table elm was closed."),
        ("table_opened_with_rules", "Table elm was opened; there, a hand busts above 22."),
        ("ruleset_registered", f"A game was registered by {actor}: high-rollers, version 1.0.0."),
    ]
    assert sorted(told[3:6]) == [
        ("adjustment", f"bob was granted 50 chips by {actor}."),
        ("failed_check", "The event at 2 was changed by 0."),
        ("failed_check", "The event at 2 was changed by 1."),
    ]
    assert sorted(told[6:]) == [
        ("adjustment", f"ada was granted 1000 chips by {actor}."),
        ("failed_check", "The event at 1 was changed by 2."),
    ]
    positions = [each["position"] for each in found(eventful)]
    assert positions == sorted(positions, reverse=True)


def test_who_leaves_in_a_round_and_who_changes_its_rules_is_told(house: House) -> None:
    house.seat("oak", "ada", ruleset="classic")
    table = house.deal("oak", 5)["table"]
    while not any(move["type"] == "apply_modifier" for move in table["legal_moves"]):
        house.finish("oak")  # it ended with a natural
        table = house.deal("oak", 5)["table"]
    round = f"oak.{len(house.get('/v1/tables/oak/rounds', wait_for=house.head())['data'])}"
    house.do("oak", "apply_modifier", modifier={"type": "bust_limit", "limit": 23})
    house.do("oak", "leave", seat=1)

    told = {each["type"]: each for each in found(house)}
    changed, left = told["rules_changed"], told["left_in_round"]
    assert changed["round"] == left["round"] == round
    assert changed["text"] == (
        f"The platform changed the rules of round {round}: a hand busts above 23."
    )
    assert left["text"] == f"ada left in round {round}, with 5 chips at risk."
    assert (left["player"], left["amount"]) == ("ada", 5)


@pytest.mark.parametrize("limit", [1, 2, 3, 1000])
def test_pages_have_each_once_and_never_part_a_position(limit: int, eventful: House) -> None:
    whole = found(eventful)

    assert list(walk(eventful, limit)) == whole
    kinds = {"adjustment", "failed_check"}
    chosen = list(walk(eventful, limit, type=[*kinds]))
    assert chosen == [each for each in whole if each["type"] in kinds]


def test_they_are_chosen_by_type_amount_place_and_time(eventful: House) -> None:
    whole = found(eventful)
    (ada,) = found(eventful, least=51)
    assert (ada["player"], ada["amount"], ada["position"]) == ("ada", 1000, 1)
    assert found(eventful, **{"from": 2, "to": 2}) == [e for e in whole if e["position"] == 2]
    assert found(eventful, to="2001-01-01") == []
    assert found(eventful, **{"from": "2001-01-01"}) == whole
    for query, says in (
        ({"type": "voided"}, "adjustment"),
        ({"from": "x"}, "2026-01-31"),
        ({"least": -1}, "0"),
        ({"limit": 1001}, "1000"),
    ):
        refused = eventful.ask("GET", EVENTS, params=query)
        assert (refused.status_code, refused.json()["type"]) == (422, "/problems/malformed")
        assert says in str(refused.json())


def test_chips_that_computers_bring_are_nobodys_doing(house: House) -> None:
    house.open("oak", "a2g", host="ada")
    body = {"seat": 1, "level": "easy", "buy_in": 100, "rounds": 1}
    assert house.ask("POST", "/v1/tables/oak/computers", json=body).status_code == 200

    assert found(house, type="adjustment") == []


def test_chips_granted_to_a_computer_by_hand_are_told_like_all_others(house: House) -> None:
    house.grant("computer-easy-1", 10)

    (told,) = found(house, type="adjustment")
    assert told["text"].startswith("computer-easy-1 was granted 10 chips by key/")


def test_the_largest_wins_come_first(house: House) -> None:
    house.seat("oak", "ada", buy_in=900)
    for bet in (20, 40, 60, 20, 40, 60, 80, 20):
        house.deal("oak", bet)
        house.finish("oak")
    hands = house.get("/v1/players/ada/hands", wait_for=house.head())["data"]
    won = [(h["payout"] - h["stake"], h["position"]) for h in hands if h["payout"] > h["stake"]]

    for limit in (1, 3, 100):
        page = house.get(WINS, limit=limit, wait_for=house.head())
        wins = [(win["amount"], win["position"]) for win in page["data"]]
        assert wins == sorted(won, reverse=True)[:limit]
    for win in page["data"]:
        assert f"ada won {win['amount']} on a stake of {win['stake']} in round" in win["text"]
        assert (win["table"], win["player"]) == ("oak", "ada")
    today = datetime.now(UTC).date()
    tomorrow = str(today + timedelta(days=2))
    assert house.get(WINS, **{"from": tomorrow, "to": tomorrow})["data"] == []
    week = {"from": str(today - timedelta(days=6)), "to": str(today + timedelta(days=1))}
    assert house.get(WINS, limit=100, **week)["data"] == page["data"]


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("2026-02-01", "2026-01-31"),
        ("2025-01-01", "2026-01-02"),
        ("0001-01-01", "9999-12-31"),
        ("1767225600", "2026-01-01"),
        ("2026-02-30", "2026-03-01"),
    ],
)
def test_days_that_are_none_or_too_many_are_refused(first: str, last: str, house: House) -> None:
    refused = house.ask("GET", WINS, params={"from": first, "to": last})

    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/malformed")
    assert house.get(WINS, to="0001-01-01")["first_day"] == "0001-01-01"
