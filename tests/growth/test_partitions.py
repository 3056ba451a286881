"""Partitions are there before they are needed, made by the owner alone, and guarded."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from services.settings import Settings, parse_seed_keys
from services.worker import Worker
from shared.eventstore.migrate import open_house
from shared.eventstore.partitions import EVENTS, Partition, make_ahead, partitions
from shared.eventstore.postgres import PostgresStore
from tests.conftest import Database
from tests.eventstore.appends import ADA, HOUSE, a_grant
from tests.growth.small import partitions_cli

HERE = [
    Partition("event_log_0", 1, EVENTS),
    Partition("event_log_1", EVENTS + 1, 2 * EVENTS),
]
NEXT = Partition("event_log_2", 2 * EVENTS + 1, 3 * EVENTS)


def test_a_new_log_has_one_in_reserve(database: Database) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        assert partitions(owner) == HERE
        assert make_ahead(owner) == []


def test_the_next_is_made_when_the_last_is_begun_once(database: Database) -> None:
    reach(database, EVENTS + 1)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        assert make_ahead(owner) == [NEXT]
        assert make_ahead(owner) == []
        assert partitions(owner) == [*HERE, NEXT]


def test_two_at_once_make_it_once(database: Database) -> None:
    reach(database, EVENTS + 1)

    def make(_: int) -> list[Partition]:
        with psycopg.connect(database.owner_url, autocommit=True) as owner:
            return make_ahead(owner)

    with ThreadPoolExecutor() as crowd:
        made = list(crowd.map(make, range(4)))

    assert sorted(made) == [[], [], [], [NEXT]]


async def test_appends_go_on_from_one_partition_into_the_next(
    postgres: PostgresStore, database: Database
) -> None:
    reach(database, EVENTS - 1)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        make_ahead(owner)
        await postgres.append_batch(HOUSE, [a_grant(f"g{n}", ADA, 1) for n in range(3)])
        places = owner.execute("SELECT tableoid::regclass::text, position FROM event_log")

        assert places.fetchall() == [
            ("event_log_0", EVENTS),
            ("event_log_1", EVENTS + 1),
            ("event_log_1", EVENTS + 2),
        ]


async def test_what_ran_past_the_last_becomes_a_partition_of_its_own(
    postgres: PostgresStore, database: Database
) -> None:
    reach(database, 2 * EVENTS)
    await postgres.append_batch(HOUSE, [a_grant("late", ADA, 1)])
    before = await postgres.read_log(HOUSE, 2 * EVENTS)

    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        assert make_ahead(owner)[0] == NEXT
        assert owner.execute("SELECT FROM event_log_rest").rowcount == 0
        assert owner.execute("SELECT FROM event_log_2").rowcount == 1

    assert await postgres.read_log(HOUSE, 2 * EVENTS) == before
    assert len(before) == 1


def test_a_new_partition_refuses_changes_to_the_owner_too(database: Database) -> None:
    reach(database, 2 * EVENTS + 1)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        for made in make_ahead(owner):
            for change in ("UPDATE {} SET house = ''", "DELETE FROM {}", "TRUNCATE {}"):
                with pytest.raises(InsufficientPrivilege, match="append-only"):
                    owner.execute(change.format(made.name))


async def test_a_worker_that_may_makes_it(database: Database) -> None:
    reach(database, EVENTS + 1)
    keys = parse_seed_keys("test:" + "A" * 43)
    settings = Settings(database_url=database.app_url, seed_keys=keys)
    assert "partitions" not in Worker(settings).duties

    worker = Worker(settings.model_copy(update={"migration_url": database.owner_url}))
    await worker.duties["partitions"]()

    with psycopg.connect(database.owner_url) as owner:
        assert partitions(owner) == [*HERE, NEXT]


def test_who_serves_can_make_none(database: Database) -> None:
    reach(database, EVENTS + 1)
    with (
        psycopg.connect(database.app_url, autocommit=True) as server,
        pytest.raises(InsufficientPrivilege),
    ):
        make_ahead(server)


def test_the_operator_makes_them_by_one_command(database: Database) -> None:
    reach(database, EVENTS + 1)

    first, again = (partitions_cli(database, "ahead") for _ in range(2))

    assert (first.stdout, first.returncode) == ("Made event_log_2.\n", 0)
    assert (again.stdout, again.returncode) == ("Enough is there.\n", 0)
    assert "100,000,001" in partitions_cli(database, "list").stdout


def reach(database: Database, position: int) -> None:
    """As if the house had recorded so many events."""
    open_house(database.owner_url, HOUSE)
    with psycopg.connect(database.owner_url) as owner:
        owner.execute("UPDATE log_head SET position = %s WHERE house = %s", (position, HOUSE))
