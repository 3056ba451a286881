"""The fixtures that every other test stands on."""

import psycopg
import pytest
import redis

from tests.conftest import Database, Mortal


def test_the_serving_role_owns_nothing(database: Database) -> None:
    with psycopg.connect(database.app_url) as app, pytest.raises(psycopg.Error):
        app.execute("CREATE TABLE public.mine ()")


@pytest.mark.parametrize("visit", [1, 2])
def test_a_database_is_new_for_each_test(database: Database, visit: int) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("CREATE TABLE visited ()")


@pytest.mark.parametrize("visit", [1, 2])
def test_a_valkey_is_empty_for_each_test(valkey_url: str, visit: int) -> None:
    with redis.Redis.from_url(valkey_url) as client:
        assert client.incr("visits") == 1


def test_what_a_killed_postgres_had_committed_is_there_again(mortal: Mortal) -> None:
    with psycopg.connect(mortal.database.owner_url, autocommit=True) as owner:
        owner.execute("CREATE TABLE kept AS SELECT 7 AS chips")

    mortal.kill()
    mortal.start()

    with psycopg.connect(mortal.database.owner_url) as owner:
        assert owner.execute("SELECT chips FROM kept").fetchone() == (7,)
