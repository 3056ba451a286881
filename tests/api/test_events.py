"""The log, taken out: pages, lines, and waiting for what comes."""

import asyncio
import json
from hashlib import sha256

import pytest

from tests.api.croupier import House, Json


@pytest.fixture
def played(house: House) -> House:
    """Two tables with a round each."""
    for table, player in (("oak", "ada"), ("elm", "bob")):
        house.seat(table, player)
        house.deal(table, 20)
        house.finish(table)
    return house


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_the_log_is_told_whole_in_order_page_by_page(limit: int, played: House) -> None:
    entries = list(played.walk("/v1/events", limit=limit))

    assert [entry["position"] for entry in entries] == list(range(1, played.head() + 1))
    assert played.get("/v1/events", after=played.head()) == {"data": [], "next": played.head()}


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_a_tables_events_are_told_whole_in_order(limit: int, played: House) -> None:
    entries = list(played.walk("/v1/tables/oak/events", limit=limit))

    assert {entry["stream"] for entry in entries} == {"table-oak"}
    versions = [entry["version"] for entry in entries]
    assert versions == list(range(1, played.get("/v1/tables/oak")["version"] + 1))
    whole = {entry["position"]: entry for entry in played.walk("/v1/events")}
    assert all(whole[entry["position"]] == entry for entry in entries)


def test_an_unknown_table_has_no_events(house: House) -> None:
    assert house.get("/v1/tables/oak/events") == {"data": [], "next": 0}


@pytest.mark.parametrize("after", [0, 5])
def test_lines_are_the_same_log(after: int, played: House) -> None:
    answer = played.ask("GET", f"/v1/events.jsonl?after={after}")

    assert answer.headers["Content-Type"] == "application/jsonl"
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines == list(played.walk("/v1/events", after=after))


def test_an_empty_log_has_no_line(house: House) -> None:
    assert house.ask("GET", "/v1/events.jsonl").text == ""


def test_anybody_can_check_the_bytes_as_they_come(played: House) -> None:
    chain = bytes(32)
    for line in played.ask("GET", "/v1/events.jsonl").content.splitlines():
        _, found, event = line.partition(b'"event":')
        assert found
        entry = json.loads(line)
        leaf = sha256(b"\x00" + event[:-1]).digest()
        chain = sha256(chain + leaf).digest()
        assert (entry["leaf"], entry["chain"]) == (leaf.hex(), chain.hex())


async def test_whoever_waits_hears_of_the_next_event(house: House) -> None:
    house.open("oak")

    async with house.crowd() as http:
        waiting = [
            asyncio.create_task(http.get(path, params={"after": 1, "wait": 30}))
            for path in ("/v1/events", "/v1/tables/oak/events")
        ]
        await http.post("/v1/players/ada/grants", json={"amount": 100})
        sit = {"type": "sit", "seat": 1, "player": "ada", "buy_in": 100}
        await http.post("/v1/tables/oak/commands", json=sit)
        log, table = (answer.json() for answer in await asyncio.gather(*waiting))

    assert _types(log)[0] == "ledger.chips_granted"
    assert _types(table)[0] == "blackjack.player_sat"


def test_whoever_has_something_to_read_does_not_wait(played: House) -> None:
    assert len(played.get("/v1/events", wait=30, limit=2)["data"]) == 2


def test_waiting_ends_without_news(house: House) -> None:
    assert house.get("/v1/events", wait=1) == {"data": [], "next": 0}


@pytest.mark.parametrize(
    "path",
    ["/v1/events", "/v1/events.jsonl", "/v1/events/stream", "/v1/tables/oak/events/stream"],
)
def test_who_comes_from_a_longer_log_is_told(path: str, played: House) -> None:
    """A database that was brought back may have lost the end of one: there something else comes."""
    head = played.head()

    refused = played.ask("GET", path, params={"after": head + 1})

    assert (refused.status_code, refused.json()["type"]) == (404, "/problems/unknown-position")
    assert refused.json()["newest"] == head


def _types(feed: Json) -> list[str]:
    return [entry["event"]["type"] for entry in feed["data"]]
