"""Kill -9 in the middle of a load: nothing is lost, nothing is doubled, play goes on."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from tempfile import TemporaryDirectory

import httpx
import pytest

from shared.local.process import end, until
from shared.local.valkey import LocalValkey
from tests.api.croupier import Croupier, House, children
from tests.api.routes import ROUTES
from tests.conftest import Database, Mortal
from tests.crash.audit import nothing_is_lost_and_nothing_is_doubled, verified
from tests.crash.conftest import kill_postgres
from tests.crash.load import Load

DEATHS = 3
PART = 100
"""Commands that are answered between one death and the next."""


@pytest.mark.parametrize("signal", [SIGKILL, SIGTERM], ids=["killed", "told to stop"])
async def test_the_service_ends(signal: Signals, house: House) -> None:
    load = Load(house)
    async with load.running():
        for _ in range(DEATHS):
            await load.until_answered(PART)
            async with load.away():
                await asyncio.to_thread(house.croupier.end, signal)
                await asyncio.to_thread(house.croupier.start)
        await load.until_answered(PART)

    report = nothing_is_lost_and_nothing_is_doubled(load)
    assert load.troubles or signal is SIGTERM
    assert report.rounds >= load.players


async def test_postgres_is_killed(house: House, mortal: Mortal) -> None:
    load = Load(house)
    async with load.running():
        for _ in range(DEATHS):
            await load.until_answered(PART)
            await asyncio.to_thread(kill_postgres, mortal)
            await asyncio.to_thread(mortal.start)
        await load.until_answered(PART)

    report = nothing_is_lost_and_nothing_is_doubled(load)
    assert report.rounds >= load.players


@pytest.fixture
def crew(mortal: Mortal, house: House) -> Iterator[Croupier]:
    """Three more processes, at an address of their own, with the same keys."""
    crew = house.croupier.twin()
    crew.environment["CROUPIER_WORKERS"] = "3"
    with crew:
        yield crew


async def test_postgres_is_killed_under_many_processes_at_two_addresses(
    house: House, mortal: Mortal, crew: Croupier
) -> None:
    load = Load(house, addresses=[crew.address])
    async with load.running():
        for _ in range(DEATHS):
            await load.until_answered(PART)
            await asyncio.to_thread(kill_postgres, mortal)
            await asyncio.to_thread(mortal.start)
        await load.until_answered(PART)

    report = nothing_is_lost_and_nothing_is_doubled(load)
    assert report.rounds >= load.players


async def test_processes_are_killed_one_after_the_other_and_replaced(
    house: House, crew: Croupier
) -> None:
    load = Load(house, addresses=[crew.address])
    async with load.running():
        for _ in range(DEATHS):
            await load.until_answered(PART)
            os.kill(min(children(crew)), SIGKILL)
        await load.until_answered(PART)

    report = nothing_is_lost_and_nothing_is_doubled(load)
    assert report.rounds >= load.players
    assert load.troubles, "some were cut off, and asked again"


async def test_both_are_killed_at_once(house: House, mortal: Mortal) -> None:
    load = Load(house)
    async with load.running():
        await load.until_answered(PART)
        async with load.away():
            house.croupier.end()
            await asyncio.to_thread(kill_postgres, mortal)
            await asyncio.to_thread(mortal.start)
            await asyncio.to_thread(house.croupier.start)
        await load.until_answered(PART)

    nothing_is_lost_and_nothing_is_doubled(load)
    assert load.troubles


@pytest.mark.parametrize("ruleset", ["a2g", "coinlounge", "european"])
def test_a_round_goes_on_with_the_same_shoe_and_the_same_moves(
    ruleset: str, house: House, mortal: Mortal
) -> None:
    house.seat("oak", "ada", "bob", ruleset=ruleset)
    while (before := house.deal("oak", 20, 20)["table"])["phase"] == "betting":
        pass  # a dealer's natural has ended the round at once
    number = before["round"]["number"]

    house.croupier.end()
    kill_postgres(mortal)
    mortal.start()
    house.croupier.start()

    assert house.get("/v1/tables/oak") == before
    over = house.finish("oak")
    proof = house.get(f"/v1/rounds/oak.{number}/proof")
    assert proof["faults"] == []
    assert proof["commitment"] == before["round"]["commitment"] == over["round"]["commitment"]
    assert verified(house).rounds == number


async def test_redis_is_killed_and_no_caller_notices(database: Database) -> None:
    with TemporaryDirectory(prefix="croupier-valkey-") as home, httpx.Client() as http:
        valkey = LocalValkey(Path(home))
        valkey.start()
        with Croupier(database, valkey.url()) as croupier:
            house = House(croupier, http)
            assert until(lambda: _redis(house) == "connected")
            load = Load(house)
            async with load.running():
                await load.until_answered(PART)
                await asyncio.to_thread(end, valkey.pid, SIGKILL)
                await load.until_answered(PART)

            assert load.troubles == []
            assert _redis(house) == "absent"
            nothing_is_lost_and_nothing_is_doubled(load)
            valkey.start()
            assert until(lambda: _redis(house) == "connected")
        valkey.stop()


def _redis(house: House) -> str:
    health = house.ask("GET", "/readyz", key="")
    assert health.status_code == 200
    return str(health.json()["redis"])


async def test_while_postgres_is_away_every_route_says_so(house: House, mortal: Mortal) -> None:
    house.seat("oak", "ada", "bob", ruleset="european")
    house.deal("oak", 20, 20)
    before = house.get("/v1/tables/oak")
    kill_postgres(mortal)
    asked = [route for route in ROUTES if not route.path.startswith("/v1/rulesets")]  # need no log

    async with house.crowd() as http:
        answers = await asyncio.gather(
            http.get("/livez"),
            http.get("/readyz"),
            *(http.request(route.method, route.address, json=route.body) for route in asked),
        )
    alive, ready, *refused = answers

    for route, answer in zip(asked, refused, strict=True):
        assert "127.0.0.1" not in answer.text
        if route.path == "/v1/commands":  # is answered, with what each of them would have been
            assert [each["status"] for each in answer.json()["outcomes"]] == [503]
            continue
        assert answer.status_code == 503, (route, answer.text)
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["type"] in ("/problems/unreachable", "/problems/waited-too-long")
        assert answer.headers["Retry-After"] == "1"
    assert (alive.status_code, ready.status_code) == (200, 503)
    assert ready.json()["database"] == "unreachable"

    mortal.start()
    assert until(lambda: house.ask("GET", "/readyz").status_code == 200)
    # What was on its way may have been recorded since: nobody was told that it was not.
    assert house.get("/v1/tables/oak", version=before["version"]) == before
    verified(house)
