"""What an operator watches."""

from prometheus_client.parser import text_string_to_metric_families

from tests.api.croupier import House

Samples = dict[tuple[str, str], float]


def figures(house: House) -> Samples:
    """Every sample by its name and the value of its first label."""
    answer = house.ask("GET", "/metrics", key="")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


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
