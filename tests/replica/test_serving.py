"""The whole service with a replica: the same answers whatever becomes of it."""

from collections.abc import Iterator

import httpx
import pytest

from tests.api.croupier import PATIENCE_SECONDS, Croupier, House, Json
from tests.conftest import Database
from tests.replica.standby import Standby

GRANTS = 3


@pytest.fixture
def house(database: Database, standby: Standby) -> Iterator[House]:
    croupier = Croupier(database)
    croupier.environment["CROUPIER_REPLICA_URL"] = standby.url(database.app_url)
    with croupier, httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as http:
        yield House(croupier, http)


@pytest.mark.parametrize("fate", ["well", "pause", "kill"])
def test_a_caller_sees_what_its_command_did(house: House, standby: Standby, fate: str) -> None:
    house.seat("t", "ada")
    if fate != "well":
        getattr(standby, fate)()

    for number in range(1, GRANTS + 1):
        answer = house.grant("bob", 100).json()
        assert house.get("/v1/players/bob/vault")["balance"] == 100 * number
        assert house.balance("player/bob/vault") == 100 * number
        assert house.get("/v1/events", after=answer["position"] - 1)["data"]
    round_of(house)


def round_of(house: House) -> None:
    dealt: Json = house.deal("t", 20)
    version = dealt["table"]["version"]
    assert house.get("/v1/tables/t", version=version) == dealt["table"]
    house.finish("t")
    assert house.get("/v1/rounds/t.1")["table"]["phase"] == "betting"
    assert house.get("/v1/rounds/t.1/proof")["faults"] == []
    lines = house.ask("GET", "/v1/events.jsonl").text.splitlines()
    assert len(lines) == house.head()
