"""The schemas over HTTP: for everybody, and fetched once."""

import jsonschema_rs

from services.audit.application.schemas import SCHEMAS
from tests.api.croupier import House

BET = "/v1/schemas/blackjack.bet_placed/1"


def test_every_schema_is_listed_and_served_without_a_key(house: House) -> None:
    listed = house.ask("GET", "/v1/schemas", key="").json()["data"]

    assert [(each["type"], each["version"]) for each in listed] == list(SCHEMAS)
    for each in listed:
        served = house.ask("GET", each["path"], key="")
        assert served.content == SCHEMAS[each["type"], each["version"]].text
        assert served.headers["Content-Type"] == "application/schema+json"
        assert served.headers["ETag"] == f'"{each["sha256"]}"'
        assert served.json()["$id"] == each["path"]


def test_what_a_reader_has_is_not_sent_again(house: House) -> None:
    first = house.ask("GET", BET, key="")
    tag = first.headers["ETag"]

    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = house.ask("GET", BET, key="", headers={"If-None-Match": known})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["ETag"] == tag
    for other in ('"other"', tag.strip('"')):
        assert house.ask("GET", BET, key="", headers={"If-None-Match": other}).status_code == 200
    assert "max-age" in first.headers["Cache-Control"]


def test_what_there_is_not(house: House) -> None:
    for path, detail in (
        ("blackjack.bet_placed/2", "there are 1"),
        ("blackjack.nothing/1", "There is no event"),
    ):
        refused = house.ask("GET", f"/v1/schemas/{path}", key="")
        assert refused.status_code == 404
        assert refused.json()["type"] == "/problems/unknown-schema"
        assert detail in refused.json()["detail"]
    for malformed in ("blackjack.bet_placed/0", "Bet/1", "blackjack.bet_placed/one"):
        assert house.ask("GET", f"/v1/schemas/{malformed}", key="").status_code == 422


def test_what_the_feed_has_fits_them(house: House) -> None:
    house.seat("oak", "ada", ruleset="european")
    house.deal("oak", 20)
    house.finish("oak")

    for record in house.ask("GET", "/v1/events").json()["data"]:
        event = record["event"]
        for path, value in (
            ("envelope/1", event),
            (f"{event['type']}/{event['schemaversion']}", event["data"]),
        ):
            schema = house.ask("GET", f"/v1/schemas/{path}", key="").json()
            jsonschema_rs.Draft202012Validator(schema).validate(value)
