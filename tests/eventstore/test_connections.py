"""Connections to Postgres: those that broke are replaced, and nothing is asked again in vain."""

import psycopg
import pytest

from shared.eventstore.postgres import PostgresStore
from shared.eventstore.rejections import Unreachable
from tests.conftest import Database


async def test_those_that_were_closed_while_they_lay_idle_are_given_to_nobody(
    postgres: PostgresStore, database: Database
) -> None:
    await postgres.readers.resize(4, 4)
    await postgres.readers.wait()
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND backend_type = 'client backend'"
        )

    for _ in range(4):
        async with postgres.readers.connection() as connection:
            await connection.execute("SELECT")


async def test_a_statement_that_fails_is_not_tried_again(database: Database) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("CREATE SEQUENCE tries")
        owner.execute("GRANT USAGE ON SEQUENCE tries TO croupier_app")
        owner.execute(f"ALTER DATABASE {owner.info.dbname} SET statement_timeout = '50ms'".encode())
        async with PostgresStore(database.app_url) as store:
            with pytest.raises(Unreachable, match="could not do that now"):
                await store.rows("SELECT nextval('tries'), pg_sleep(60)", ())

        assert owner.execute("SELECT last_value FROM tries").fetchone() == (1,)
