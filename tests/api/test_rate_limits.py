"""Rate limits over HTTP: several processes hold one quota, and every answer says what is left."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack

import httpx
import psycopg
import pytest

from shared.http import keys
from shared.http.keys import SCOPES, Scope
from shared.http.quotas import Quota
from tests.api.conftest import a_croupier
from tests.api.croupier import Croupier, House
from tests.api.test_keys import type
from tests.conftest import Cluster

CONNECTIONS = 9
LEFT = re.compile(r'"key";r=(\d+);t=(\d+)')


@pytest.fixture(scope="module")
def crew(cluster: Cluster) -> Iterator[Croupier]:
    with a_croupier(cluster, CROUPIER_WORKERS="3") as croupier:
        yield croupier


@pytest.fixture
def house(crew: Croupier, http: httpx.Client) -> House:
    return House(crew, http)


def a_key(house: House, requests: int, scopes: Iterable[Scope] = SCOPES) -> str:
    with psycopg.connect(house.croupier.database.owner_url) as owner:
        return keys.create(owner, house.name, "slow", scopes, quota=Quota(requests, 3600))


async def test_three_processes_hold_one_quota(
    cluster: Cluster, valkey_url: str, http: httpx.Client
) -> None:
    database = cluster.create()
    croupier = Croupier(database, valkey_url)
    croupier.environment["CROUPIER_WORKERS"] = "3"
    statuses = Counter[int]()
    with croupier:
        house = House(croupier, http)
        house.key = a_key(house, 60)
        async with AsyncExitStack() as open:
            for _ in range(CONNECTIONS):
                client = await open.enter_async_context(house.crowd())
                for path in ("/v1/tables", "/v1/ledger/accounts"):
                    for _ in range(5):
                        statuses[(await client.get(path)).status_code] += 1
    cluster.drop(database)

    # What a process has taken of the quota it keeps: a sixteenth, and half of one fetched ahead.
    assert 60 - 3 * 4 <= statuses[200] <= 60
    assert statuses[429] == CONNECTIONS * 10 - statuses[200]


def test_every_answer_says_what_is_left_also_a_refusal(house: House) -> None:
    twin = house.croupier.twin()
    twin.environment["CROUPIER_WORKERS"] = "1"
    with twin:
        house.croupier = twin
        house.seat("oak", "ada")
        key = a_key(house, 5)
        asked = [
            ("GET", "/v1/tables", None),
            ("POST", "/v1/tables/oak/commands", {"type": "bet", "seat": 1, "amount": 20}),
            ("POST", "/v1/tables/oak/commands", {"type": "nonsense"}),
            ("GET", "/v1/tables/nowhere", None),
            ("PUT", "/v1/tables/elm", {"ruleset": "a2g"}),
        ]

        answers = [house.ask(m, path, json=body, key=key) for m, path, body in asked]

        assert [each.status_code for each in answers] == [200, 200, 422, 404, 201]
        for left, answer in zip((4, 3, 2, 1, 0), answers, strict=True):
            found = LEFT.fullmatch(answer.headers["RateLimit"])
            assert found
            assert int(found[1]) == left
            assert answer.headers["RateLimit-Policy"] == '"key";q=5;w=3600'
        head = house.head()
        for method, path, body in asked:
            refused = house.ask(method, path, json=body, key=key)
            problem = refused.json()
            assert (refused.status_code, problem["type"]) == (429, "/problems/too-many-requests")
            assert refused.headers["Content-Type"] == "application/problem+json"
            assert problem["detail"] == "The key may ask 5 times in 3600 s."
            assert 0 < int(refused.headers["Retry-After"]) == problem["retry_after"] <= 720
            assert refused.headers["RateLimit"].startswith('"key";r=0;')
        assert house.head() == head
        assert "RateLimit" not in house.ask("GET", "/v1/tables").headers
        assert "croupier_rate_refusals_total 5.0" in house.ask("GET", "/metrics").text


def test_what_a_key_may_not_do_counts_as_well_wherever_it_is_asked_for(house: House) -> None:
    twin = house.croupier.twin()
    twin.environment["CROUPIER_WORKERS"] = "1"
    with twin:
        house.croupier = twin
        for method, path in (("GET", "/v1/tables"), ("POST", "/v1/tables/oak/commands")):
            key = a_key(house, 2, ["ops"])
            statuses = [house.ask(method, path, key=key).status_code for _ in range(3)]

            assert statuses == [403, 403, 429]


def test_the_games_of_a_house_are_not_free_either(house: House) -> None:
    house.key = a_key(house, 3)

    statuses = [house.ask("GET", path).status_code for path in ("/v1/rulesets",) * 8]

    assert (statuses[0], statuses[-1]) == (200, 429)


def test_many_commands_count_as_many(house: House) -> None:
    twin = house.croupier.twin()
    twin.environment["CROUPIER_WORKERS"] = "1"
    with twin:
        house.croupier = twin
        house.seat("oak", "ada")
        key = a_key(house, 100)
        one = {"table": "oak", "command": {"type": "buy_in", "seat": 1, "amount": 1}}

        answer = house.ask("POST", "/v1/commands", json={"commands": [one] * 30}, key=key)

        assert answer.status_code == 200
        assert answer.headers["RateLimit"].startswith('"key";r=70;')


def test_the_operator_says_how_often_a_key_may_ask(house: House) -> None:
    key = type(house, "create", "slow", "--scopes", "read", "--rate", "100/m").stdout.strip()
    wrong = type(house, "create", "slow", "--scopes", "read", "--rate", "often")

    assert house.ask("GET", "/v1/tables", key=key).headers["RateLimit-Policy"] == '"key";q=100;w=60'
    assert "100/m" in type(house, "list").stdout
    assert wrong.returncode == 2
    assert "100/s, 6000/m or 10000/h" in wrong.stderr
