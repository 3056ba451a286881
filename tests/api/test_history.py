"""Lists that follow the log: tables, rounds, hands, runs, returns, and waiting for them."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.api.croupier import House, Json

LISTS = [
    "/v1/tables",
    "/v1/tables/oak/rounds",
    "/v1/players/ada/hands",
    "/v1/players/ada/runs",
    "/v1/ledger/returns",
]


def up_to_date(house: House, path: str, **query: Any) -> Json:
    """A list that has all that has been recorded."""
    return house.get(path, wait_for=house.head(), **query)


def test_tables_are_listed_once_each_by_id_page_by_page(house: House) -> None:
    names = [*(f"table-{number}" for number in range(7)), "zinc"]
    for name in names:
        house.open(name)
    head = house.head()

    for limit in (1, 3, 4, 8, 100):
        tables = list(house.walk("/v1/tables", limit=limit, wait_for=head))
        assert [table["id"] for table in tables] == names


def test_a_table_is_listed_as_it_is(house: House) -> None:
    house.seat("oak", "ada", "bob", ruleset="european")
    house.deal("oak", 20, 20)

    listed = up_to_date(house, "/v1/tables")

    seen = house.get("/v1/tables/oak")
    assert listed == {
        "data": [
            {
                **{name: seen[name] for name in ("id", "ruleset", "phase", "host")},
                **{name: seen[name] for name in ("version", "position")},
                **{"seats": 7, "players": ["ada", "bob"], "rounds": 1},
            }
        ],
        "next": None,
        "position": house.head(),
    }


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"phase": "betting"}, ["elm", "fir"]),
        ({"phase": "closed"}, ["oak"]),
        ({"phase": "insurance"}, []),
        ({"ruleset": "a2g"}, ["elm", "oak"]),
        ({"ruleset": "a2g", "phase": "betting"}, ["elm"]),
        ({"ruleset": "whist"}, []),
    ],
)
def test_tables_are_found_by_what_they_wait_for_and_by_their_game(
    query: dict[str, str], names: list[str], house: House
) -> None:
    house.open("elm", "a2g")
    house.open("fir", "classic")
    house.seat("oak", "ada", ruleset="a2g")
    house.do("oak", "close")

    assert [table["id"] for table in up_to_date(house, "/v1/tables", **query)["data"]] == names


def test_a_table_s_rounds_are_listed_newest_first_with_what_they_came_to(house: House) -> None:
    house.seat("oak", "ada", "bob", ruleset="european")
    for _ in range(3):
        house.deal("oak", 20, 30)
        house.finish("oak")
    while (table := house.deal("oak", 20, 30)["table"])["phase"] == "betting":
        pass  # a natural has ended the round at once
    number = table["round"]["number"]

    page = up_to_date(house, "/v1/tables/oak/rounds")

    running, *over = page["data"]
    assert (running["id"], running["ended_at"]) == (f"oak.{number}", None)
    assert [each["id"] for each in over] == [f"oak.{n}" for n in range(number - 1, 0, -1)]
    for each in over:
        assert (each["hands"], each["stake"]) == (2, 50)
        assert each["opened_at"] <= each["ended_at"]
        settled = house.get(f"/v1/rounds/{each['id']}")["table"]["seats"]
        assert each["payout"] == sum(hand["payout"] for seat in settled for hand in seat["hands"])
    walked = []
    before = 2**53
    while before is not None:
        page = house.get("/v1/tables/oak/rounds", limit=3, before=before)
        walked += page["data"]
        before = page["next"]
    assert walked == [running, *over]


def test_a_player_s_hands_are_listed_newest_first_wherever_they_were_played(house: House) -> None:
    house.seat("oak", "ada", ruleset="european")
    house.seat("elm", "ada", ruleset="classic")
    for table in ("oak", "elm", "oak"):
        house.deal(table, 20)
        house.finish(table)

    hands = up_to_date(house, "/v1/players/ada/hands")["data"]

    assert [hand["round"] for hand in hands] == ["oak.2", "elm.1", "oak.1"]
    assert [hand["ruleset"] for hand in hands] == ["european", "classic", "european"]
    for hand in hands:
        events = house.get(f"/v1/rounds/{hand['round']}")["events"]
        [settled] = [event for event in events if event["position"] == hand["position"]]
        assert {name: hand[name] for name in settled["data"]} == settled["data"]
    first, second = (
        house.get("/v1/players/ada/hands", limit=2, before=before)["data"]
        for before in (hands[0]["position"] + 1, hands[1]["position"])
    )
    assert first + second == hands


def test_a_player_s_runs_are_listed_newest_first_with_what_they_came_to(house: House) -> None:
    house.seat("oak", "ada", ruleset="classic")
    house.deal("oak", 5)
    house.finish("oak")
    house.do("oak", "leave", seat=1)
    house.open("elm", "classic", host="ada")
    started = house.do("elm", "start_run", seat=1, player="ada")["events"][0]

    runs = up_to_date(house, "/v1/players/ada/runs")["data"]

    running, left = runs
    assert (running["position"], running["table"]) == (started["position"], "elm")
    named = ("number", "ruleset", "source", "stake", "goal", "rounds", "outcome", "bankroll")
    assert [running[name] for name in named] == [1, "classic", "grant", 100, 300, 0, None, None]
    came_to = house.balance("player/ada/vault") - 900
    assert [left[name] for name in named] == [1, "classic", "vault", 100, 400, 1, "left", came_to]
    assert left["started_at"] <= left["ended_at"] <= running["started_at"]
    assert running["ended_at"] is None
    first, second = (
        house.get("/v1/players/ada/runs", limit=1, before=before)["data"]
        for before in (running["position"] + 1, running["position"])
    )
    assert first + second == runs


def test_what_the_games_returned_is_what_the_banks_lost(house: House) -> None:
    for table, ruleset in (("oak", "european"), ("elm", "coinlounge")):
        house.seat(table, "ada", ruleset=ruleset)
        for _ in range(3):
            house.deal(table, 20)
            house.finish(table)

    days = up_to_date(house, "/v1/ledger/returns")["data"]

    assert sorted({day["ruleset"] for day in days}) == ["coinlounge", "european"]
    assert {day["day"] for day in days} <= {
        f"{datetime.fromisoformat(entry['event']['time']).astimezone(UTC):%Y-%m-%d}"
        for entry in house.walk("/v1/events", limit=1000)
    }
    for ruleset, table in (("european", "oak"), ("coinlounge", "elm")):
        played = [day for day in days if day["ruleset"] == ruleset]
        assert sum(day["rounds"] for day in played) == 3
        won = sum(
            day["stake"] + day["insurance_stake"] - day["payout"] - day["insurance_payout"]
            for day in played
        )
        assert won == house.balance(f"table/{table}/bank")


@pytest.mark.parametrize("path", LISTS)
def test_who_waits_for_what_was_just_recorded_sees_it(path: str, house: House) -> None:
    for number in range(3):
        position = house.open(f"table-{number}").json()["table"]["position"]

        assert house.get(path, wait_for=position)["position"] >= position


async def test_who_waits_for_what_does_not_come_is_told_to_come_back(house: House) -> None:
    house.open("oak")
    later = {"wait_for": house.head() + 1}

    async with house.crowd() as crowd:  # all at once, since each waits for five seconds
        answers = await asyncio.gather(*(crowd.get(path, params=later) for path in LISTS))

    for path, refused in zip(LISTS, answers, strict=True):
        told = refused.json()
        assert (refused.status_code, told["type"]) == (503, "/problems/view-behind"), path
        assert refused.headers["Retry-After"] == "1"
        assert told["position"] == house.head()


@pytest.mark.parametrize("day", ["0", "0.0", "1e3", "20250131", "2025-02-30", "yesterday"])
def test_a_day_is_written_as_a_day(house: House, day: str) -> None:
    answer = house.ask("GET", "/v1/ledger/returns", params={"before": day})

    assert answer.status_code == 422
    assert "before" in answer.json()["detail"]
