"""Keys in operation: made, rotated and revoked by `croupier keys` while several processes serve."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from time import monotonic

import httpx
import pytest

from shared.http.auth import REMEMBERED_SECONDS
from tests.api.conftest import a_croupier
from tests.api.croupier import ROOT, Croupier, House
from tests.conftest import Cluster

WORKERS = 3
CONNECTIONS = 12
"""The kernel spreads them over the processes."""

AT_ONCE_SECONDS = REMEMBERED_SECONDS / 2
"""Well before an answer about a key would be forgotten by its age."""


@pytest.fixture(scope="module")
def crew(cluster: Cluster) -> Iterator[Croupier]:
    with a_croupier(cluster, CROUPIER_WORKERS=str(WORKERS)) as croupier:
        yield croupier


@pytest.fixture
def house(crew: Croupier, http: httpx.Client) -> House:
    return House(crew, http)


def type(house: House, *words: str) -> "subprocess.CompletedProcess[str]":
    """`croupier keys …`, as the operator types it."""
    return subprocess.run(
        (sys.executable, "-c", "from services.cli import main; main()", "keys", *words),
        env=house.croupier.environment
        | {
            "CROUPIER_MIGRATION_URL": house.croupier.database.owner_url,
            "CROUPIER_HOUSE": house.name,
            "COLUMNS": "200",
        },
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def opens(house: House, key: str) -> bool:
    answer = house.ask("GET", "/v1/tables", key=key)
    assert answer.status_code in (200, 401)
    return answer.status_code == 200


@pytest.mark.parametrize("path", ["/v1/tables", "/v1/commands"])
async def test_a_revoked_key_is_refused_by_all_processes_at_once(path: str, house: House) -> None:
    """Each remembers the key, and on its own would believe it for seconds."""
    token = type(house, "create", "till", "--scopes", "read,play").stdout.strip()
    method = "GET" if path == "/v1/tables" else "POST"
    async with AsyncExitStack() as open:
        clients = [await open.enter_async_context(house.crowd()) for _ in range(CONNECTIONS)]
        for client in clients:
            client.headers["Authorization"] = f"Bearer {token}"
            assert (await client.request(method, path)).status_code != 401

        assert type(house, "revoke", token).returncode == 0
        revoked = monotonic()
        for client in clients:
            while (await client.request(method, path)).status_code != 401:
                assert monotonic() - revoked < AT_ONCE_SECONDS


def test_a_key_is_rotated_by_its_name(house: House) -> None:
    old = type(house, "create", "office", "--scopes", "read", "--days", "30").stdout.strip()
    assert opens(house, old)

    rotated = type(house, "rotate", "office", "--house", house.name)

    new = rotated.stdout.strip()
    assert rotated.returncode == 0, rotated.stderr
    assert opens(house, new)
    assert opens(house, old)
    listed = type(house, "list").stdout
    assert old.split("_")[1] in listed
    assert new.split("_")[1] in listed
    assert old.split("_")[2] not in listed


def test_two_keys_of_one_name_are_told_apart_by_prefix(house: House) -> None:
    first, second = (
        type(house, "create", "desk", "--scopes", "read").stdout.strip() for _ in range(2)
    )

    unclear = type(house, "rotate", "desk")
    rotated = type(house, "rotate", first.split("_")[1], "--overlap", "0")

    assert unclear.returncode == 1
    assert unclear.stderr.startswith("2 keys are named 'desk'; say which: ")
    assert opens(house, rotated.stdout.strip())
    assert opens(house, second)
    again = type(house, "rotate", first)
    assert again.stderr == f"House '{house.name}' has no working key '{first.split('_')[1]}'.\n"


def test_an_address_that_tries_keys_is_told_to_wait(crew: Croupier, http: httpx.Client) -> None:
    twin = crew.twin()
    twin.environment |= {"CROUPIER_FAILED_KEYS": "5/h", "CROUPIER_WORKERS": "1"}
    with twin:
        house = House(twin, http)
        assert opens(house, house.key)
        for number in range(5):
            assert not opens(house, f"ck_{number:010x}_{'0' * 64}")

        for method, path in (("GET", "/v1/tables"), ("POST", "/v1/commands")):
            waits = house.ask(method, path, key="ck_0123456789_" + "0" * 64)
            assert waits.status_code == 429
            assert waits.headers["Content-Type"] == "application/problem+json"
            assert waits.json()["type"] == "/problems/too-many-failures"
            assert 0 < int(waits.headers["Retry-After"]) <= 3600
        assert opens(house, house.key)

        forwarded = {"X-Forwarded-For": "198.51.100.7"}  # anybody can say so, and it is not asked
        waits = house.ask("GET", "/v1/tables", key="ck_0123456789_" + "0" * 64, headers=forwarded)
        assert waits.status_code == 429


def test_behind_a_proxy_that_is_named_each_client_waits_for_itself(
    crew: Croupier, http: httpx.Client
) -> None:
    twin = crew.twin()
    twin.environment |= {
        "CROUPIER_FAILED_KEYS": "5/h",
        "CROUPIER_WORKERS": "1",
        "CROUPIER_PROXIES": "127.0.0.0/8",
    }
    wrong = "ck_0123456789_" + "0" * 64
    with twin:
        house = House(twin, http)
        statuses = [
            house.ask("GET", "/v1/tables", key=wrong, headers={"X-Forwarded-For": client})
            for client in (*["198.51.100.7"] * 6, "198.51.100.8")
        ]

    assert [each.status_code for each in statuses] == [401] * 5 + [429, 401]
