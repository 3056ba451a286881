"""What whoever runs the service asks it; neither question needs a key."""

import httpx
import psycopg
import pytest

from tests.api.croupier import Croupier, House
from tests.conftest import Database, Mortal


def test_it_is_alive(house: House) -> None:
    answer = house.ask("GET", "/livez", key="")

    assert (answer.status_code, answer.text) == (200, "alive")


def test_it_is_ready_also_without_redis_and_without_a_house_of_the_local_name(
    house: House,
) -> None:
    answer = house.ask("GET", "/readyz", key="")

    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ready",
        "database": "reachable",
        "schema": "current",
        "redis": "absent",
    }


@pytest.mark.parametrize(
    ("revision", "floor", "status", "schema"),
    [
        ("0001", None, 503, "behind"),
        (None, None, 503, "behind"),
        ("9999", None, 200, "current"),
        ("9999", "9999", 503, "ahead"),
    ],
)
def test_it_is_not_ready_on_a_schema_that_lacks_what_it_needs(
    revision: str | None,
    floor: str | None,
    status: int,
    schema: str,
    database: Database,
    http: httpx.Client,
) -> None:
    """What a later release only added, while it is rolled out, lets us go on."""
    with Croupier(database) as running:
        with psycopg.connect(database.owner_url, autocommit=True) as owner:
            if revision:
                owner.execute("UPDATE alembic_version SET version_num = %s", (revision,))
                owner.execute("UPDATE schema_floor SET revision = %s", (floor,))
            else:
                owner.execute("DROP TABLE alembic_version")
        answer = http.get(f"{running.address}/readyz")
        alive = http.get(f"{running.address}/livez")

    assert (answer.status_code, answer.json()["schema"]) == (status, schema)
    assert answer.json()["status"] == ("ready" if status == 200 else "not ready")
    assert alive.text == "alive"


def test_without_its_database_it_is_alive_and_shows_its_figures_but_is_not_ready(
    mortal: Mortal, http: httpx.Client
) -> None:
    with Croupier(mortal.database) as running:
        mortal.kill()

        answer = http.get(f"{running.address}/readyz")
        alive = http.get(f"{running.address}/livez")
        figures = http.get(f"{running.address}/metrics", timeout=10)  # as Prometheus waits

    assert answer.status_code == 503
    assert answer.json()["database"] == "unreachable"
    assert alive.text == "alive"
    assert "croupier_append_waiting_commands 0.0" in figures.text
    assert "croupier_view_lag_events" not in figures.text
