"""What whoever runs the service asks it; neither question needs a key."""

from tests.api.croupier import House


def test_it_is_alive(house: House) -> None:
    answer = house.ask("GET", "/livez", key="")

    assert (answer.status_code, answer.text) == (200, "alive")


def test_it_is_ready_also_without_redis_and_without_a_house_of_the_local_name(
    house: House,
) -> None:
    answer = house.ask("GET", "/readyz", key="")

    assert answer.status_code == 200
    assert answer.json() == {"status": "ready", "database": "reachable", "redis": "absent"}
