"""What an operator watches."""

import socket
from collections.abc import Iterable, Iterator

import httpx
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from shared.local.process import until
from tests.api.conftest import a_croupier
from tests.api.croupier import Croupier, House
from tests.api.test_described import DESCRIPTION
from tests.conftest import Cluster, Database

Samples = dict[tuple[str, str], float]


@pytest.fixture(scope="module")
def croupier(cluster: Cluster) -> Iterator[Croupier]:
    """One that nobody else has asked for anything, or left something with."""
    with a_croupier(cluster) as running:
        yield running


def samples(house: House) -> Iterator[Sample]:
    answer = house.ask("GET", "/metrics", key="")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    yield from parsed(answer.text)


def parsed(text: str) -> Iterator[Sample]:
    for family in text_string_to_metric_families(text):
        yield from family.samples


def figures(house: House) -> Samples:
    """Every sample by its name and the value of its first label."""
    return by_name(samples(house))


def by_name(samples: Iterable[Sample]) -> Samples:
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value for sample in samples
    }


REQUESTS = "http_server_request_duration_seconds"


def requests(house: House) -> dict[tuple[str, str, str], float]:
    """How many were answered, by method, route and status."""
    names = "http_request_method", "http_route", "http_response_status_code"
    return {
        (sample.labels[names[0]], sample.labels[names[1]], sample.labels[names[2]]): sample.value
        for sample in samples(house)
        if sample.name == f"{REQUESTS}_count"
    }


def test_requests_are_timed_by_route_and_answer(house: House) -> None:
    before = requests(house)

    house.seat("oak", "ada")
    house.get("/v1/tables/oak")
    house.ask("GET", "/v1/tables/elm")
    house.play("oak", "bet", seat=1, amount=10**6)
    house.ask("GET", "/v1/tables", key="")
    house.ask("GET", "/nowhere/ada?secret")

    seen = requests(house)
    grown = {kind: count - before.get(kind, 0) for kind, count in seen.items()}
    assert grown["PUT", "/v1/tables/{table}", "201"] == 1
    assert grown["POST", "/v1/players/{player}/grants", "200"] == 1
    assert grown["POST", "/v1/tables/{table}/commands", "200"] == 1
    assert grown["POST", "/v1/tables/{table}/commands", "409"] == 1
    assert grown["GET", "/v1/tables/{table}", "200"] == 1
    assert grown["GET", "/v1/tables/{table}", "404"] == 1
    assert grown["GET", "/v1/tables", "401"] == 1
    assert grown["GET", "", "404"] == 1
    assert grown["GET", "/metrics", "200"] >= 1


def test_a_route_is_one_of_those_described_whatever_is_asked_for(house: House) -> None:
    for path in ("/v1/tables/a%2fb", "/problems/x", "/docs", "/x" * 99, "/v1/commands"):
        for method in ("GET", "PROPFIND"):
            house.ask(method, path)

    seen = requests(house)
    assert {route for _, route, _ in seen} <= {"", "/docs", *DESCRIPTION["paths"]}
    methods = {method for method, _, _ in seen}
    assert "_OTHER" in methods
    assert "PROPFIND" not in methods


def test_commands_are_counted_by_what_became_of_them(house: House) -> None:
    house.seat("oak", "ada")
    before = figures(house)

    assert house.play("oak", "buy_in", seat=1, amount=10**6).status_code == 409
    house.do("oak", "bet", seat=1, amount=20)

    after = figures(house)
    grown = {key: value - before.get(key, 0) for key, value in after.items()}
    assert grown["croupier_commands_total", "accepted"] == 1
    assert grown["croupier_commands_total", "insufficient-chips"] == 1
    assert grown["croupier_append_batch_seconds_count", ""] >= 2
    assert after["croupier_append_waiting_commands", ""] == 0


def test_views_that_are_up_to_date_have_no_lag(house: House) -> None:
    house.seat("oak", "ada")
    for path in ("/v1/tables", "/v1/tables/oak/rounds", "/v1/players/ada/hands"):
        house.get(path, wait_for=house.head())
    house.get("/v1/ledger/returns", wait_for=house.head())

    seen = figures(house)

    for view in ("tables", "rounds", "hands", "returns"):
        assert seen["croupier_view_lag_events", view] == 0
        assert seen["croupier_view_lag_seconds", view] == 0


def test_the_process_and_what_it_is_connected_to_are_seen(house: House) -> None:
    seen = figures(house)

    assert seen["process_resident_memory_bytes", ""] > 10**7
    assert seen["croupier_redis_connected", ""] == 0
    assert seen["croupier_stream_clients", ""] == 0
    assert seen["croupier_stream_dropped_clients_total", ""] == 0


def test_the_log_grows_and_what_of_it_is_verified(house: House) -> None:
    before = figures(house)
    house.seat("oak", "ada")
    house.sealed()

    after = figures(house)
    assert after["croupier_log_events", ""] >= before["croupier_log_events", ""] + 3
    verified = "croupier_verified_events", ""
    assert before.get(verified, 0) < after[verified]
    assert after["croupier_verified_events", ""] <= after["croupier_log_events", ""]
    assert after["croupier_seal_age_seconds", ""] >= 0
    assert after["croupier_seal_lag_events", ""] >= 0


def test_nothing_is_told_of_seals_where_nothing_is_sealed(
    database: Database, http: httpx.Client
) -> None:
    croupier = Croupier(database)
    croupier.environment["CROUPIER_SEALS"] = ""
    with croupier:
        house = House(croupier, http)
        house.seat("oak", "ada")

        seen = figures(house)

    assert seen["croupier_log_events", ""] >= 3
    assert "croupier_seal_age_seconds" not in {name for name, _ in seen}
    assert "croupier_verified_events" not in {name for name, _ in seen}


def test_a_worker_tells_what_was_played_and_that_the_ledger_balances(
    database: Database, http: httpx.Client
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    croupier = Croupier(database)
    croupier.environment["CROUPIER_METRICS_PORT"] = str(port)
    with croupier:
        house = House(croupier, http)
        house.seat("oak", "ada", ruleset="european")
        for _ in range(3):
            house.deal("oak", 20)
            house.finish("oak")
        head = house.head()
        curves = "/v1/rulesets/european/returns"
        assert until(lambda: house.ask("GET", f"{curves}?wait_for={head}").status_code == 200)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("UPDATE account SET balance = balance + 7 WHERE account = 'player/ada/vault'")

    with croupier:  # It looks once a minute, and when it begins.
        assert until(lambda: worker(port).get(("croupier_rounds_total", "european")) == 3)
        seen = worker(port)

    assert seen["croupier_stake_chips_total", "european"] >= 60
    assert seen["croupier_payout_chips_total", "european"] >= 0
    assert seen["croupier_ledger_imbalance_chips", ""] == 7
    assert ("croupier_rounds_total", "others") not in seen


def worker(port: int) -> Samples:
    """The figures of a worker; none while it does not listen."""
    try:
        answer = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False)
    except httpx.ConnectError:
        return {}
    return by_name(parsed(answer.text))
