"""What waits is bounded, in number and in time; whoever is turned away may come back.

The log of the house is held, as a slow database would: by a lock on its head.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx
import psycopg
import pytest

from tests.api.croupier import Croupier, House, Json, key
from tests.conftest import Cluster, Database

MOST = 4
TABLES = [f"oak-{n}" for n in range(3 * MOST)]


@pytest.fixture(scope="module")
def database(cluster: Cluster) -> Iterator[Database]:
    database = cluster.create()
    yield database
    cluster.drop(database)


@pytest.fixture(scope="module")
def narrow(database: Database) -> Iterator[Croupier]:
    """A process with room for four commands."""
    with _with(database, CROUPIER_MOST_COMMANDS=MOST, CROUPIER_COMMAND_SECONDS=60) as croupier:
        yield croupier


@pytest.fixture(scope="module")
def hurried(database: Database) -> Iterator[Croupier]:
    """A process in which a command waits for a second at most."""
    with _with(database, CROUPIER_COMMAND_SECONDS=1) as croupier:
        yield croupier


def _with(database: Database, **settings: object) -> Croupier:
    croupier = Croupier(database)
    croupier.environment |= {name: str(value) for name, value in settings.items()}
    return croupier


def seated(croupier: Croupier, http: httpx.Client) -> House:
    """A house with ada at every table, a hundred chips before her."""
    house = House(croupier, http)
    house.grant("ada", 100 * len(TABLES))
    for table in TABLES:
        house.open(table, host="ada")
        house.do(table, "sit", seat=1, player="ada", buy_in=90)
    return house


@asynccontextmanager
async def held(house: House) -> AsyncIterator[None]:
    """Nothing is recorded inside."""
    owner = await psycopg.AsyncConnection.connect(house.croupier.database.owner_url)
    async with owner:
        await owner.execute("SELECT FROM log_head WHERE house = %s FOR UPDATE", (house.name,))
        yield


async def buy_in(http: httpx.AsyncClient, table: str, name: str) -> httpx.Response:
    body = {"type": "buy_in", "seat": 1, "amount": 1}
    return await http.post(f"/v1/tables/{table}/commands", json=body, headers=key(name))


async def grant(http: httpx.AsyncClient) -> httpx.Response:
    return await http.post("/v1/players/ada/grants", json={"amount": 1})


def kind(problem: Json) -> str:
    return str(problem["type"]).removeprefix("/problems/")


async def test_whoever_comes_when_there_is_no_room_is_told_to_come_back(
    narrow: Croupier, http: httpx.Client
) -> None:
    house = seated(narrow, http)
    async with house.crowd() as crowd:
        async with held(house):
            coming = [asyncio.create_task(buy_in(crowd, table, table)) for table in TABLES]
            turned_away: list[httpx.Response] = []
            while len(turned_away) < len(TABLES) - MOST:
                done, _ = await asyncio.wait(coming, return_when=asyncio.FIRST_COMPLETED)
                turned_away += (task.result() for task in done)
                coming = [task for task in coming if task not in done]
            bulk = {"commands": [{"table": "oak-1", "command": {"type": "close"}}]}
            turned_away.append(await crowd.post("/v1/commands", json=bulk))
            coming += [asyncio.create_task(grant(crowd)) for _ in range(2 * MOST)]
            done, _ = await asyncio.wait(coming, return_when=asyncio.FIRST_COMPLETED)
            turned_away += (task.result() for task in done)
        let_in = [await task for task in coming[:MOST]]
        await asyncio.gather(*coming)

    for answer in turned_away:
        assert (answer.status_code, kind(answer.json())) == (503, "overloaded"), answer.text
        assert answer.headers["Retry-After"] == "1"
        assert answer.json()["retry_after"] == 1
    assert [answer.status_code for answer in let_in] == [200] * MOST
    assert house.play(TABLES[0], "buy_in", key(TABLES[0]), seat=1, amount=1).status_code == 200


async def test_a_command_that_was_not_sent_in_time_is_taken_back(
    hurried: Croupier, http: httpx.Client
) -> None:
    """The first is sent alone, and holds up the next ones: at its own table, and at others."""
    house = seated(hurried, http)
    head = house.head()
    async with house.crowd() as crowd, held(house):
        first = asyncio.create_task(buy_in(crowd, TABLES[0], "first"))
        await _until_sent(house)
        later = await asyncio.gather(*(buy_in(crowd, t, f"later-{t}") for t in TABLES[:3]))
        unknown = await first

    for answer in later:
        assert (answer.status_code, kind(answer.json())) == (503, "waited-too-long")
        assert answer.headers["Retry-After"] == "1"
    assert (unknown.status_code, kind(unknown.json())) == (503, "unreachable")
    assert "Idempotency-Key first again" in unknown.json()["detail"]

    told = house.play(TABLES[0], "buy_in", key("first"), seat=1, amount=1)
    assert told.headers["Idempotent-Replayed"] == "true"
    assert told.json()["table"]["seats"][0]["stack"] == 91
    assert house.head() == head + 2
    for table in TABLES[:3]:
        fresh = house.play(table, "buy_in", key(f"later-{table}"), seat=1, amount=1)
        assert fresh.status_code == 200
        assert "Idempotent-Replayed" not in fresh.headers


async def _until_sent(house: House) -> None:
    """Returns when an append waits for the head of the log."""
    owner = await psycopg.AsyncConnection.connect(
        house.croupier.database.owner_url, autocommit=True
    )
    async with owner:
        waits = False
        while not waits:
            found = await owner.execute(
                "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() "
                "AND wait_event_type = 'Lock' AND query LIKE '%append_batch%'"
            )
            (waits,) = (await found.fetchone()) or (False,)


def test_more_at_once_than_there_is_ever_room_for_are_not_told_to_come_back(
    narrow: Croupier, http: httpx.Client
) -> None:
    house = seated(narrow, http)
    command = {"type": "buy_in", "seat": 1, "amount": 1}
    many = [{"table": table, "command": command} for table in TABLES[: MOST + 1]]

    refused = house.ask("POST", "/v1/commands", json={"commands": many})

    assert (refused.status_code, kind(refused.json())) == (422, "malformed")
    assert "Send 4 at most" in refused.json()["detail"]
