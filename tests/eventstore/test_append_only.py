"""What is recorded stays as it is: for the role that serves, and for the owner."""

import psycopg
import pytest
from psycopg.errors import CheckViolation, InsufficientPrivilege

from shared.eventstore.postgres import PostgresStore
from shared.kernel.chips import ISSUANCE, bank, floor, in_play, stack, vault
from tests.conftest import Database
from tests.eventstore.appends import ADA, HOUSE, a_command, a_grant, an_event

RECORDS = ("event_log", "event_log_0", "posting", "command_outcome")
CHANGES = [
    statement.format(table)
    for table in RECORDS
    for statement in ("UPDATE {} SET house = 'x'", "DELETE FROM {}", "TRUNCATE {} CASCADE")
]
INSERTS = [f"INSERT INTO {table} SELECT * FROM {table}" for table in RECORDS]
FORGERIES = [
    "UPDATE account SET balance = 1000000",
    "UPDATE log_head SET position = 0",
    "DELETE FROM stream_head",
    "SELECT open_house('mine')",
    "UPDATE deadline SET due_at = NULL",
    "INSERT INTO deadline VALUES ('local', 'table-t', 'x', now())",
    "DELETE FROM deadline",
]


@pytest.fixture
async def recorded(postgres: PostgresStore) -> PostgresStore:
    await postgres.append_batch(HOUSE, [a_grant("grant", ADA, 100)])
    return postgres


@pytest.mark.parametrize("url", ["app_url", "owner_url"])
async def test_serving_connections_change_nothing_that_counts(
    recorded: PostgresStore, database: Database, url: str
) -> None:
    async with PostgresStore(getattr(database, url)) as store:
        for statement in (*CHANGES, *INSERTS, *FORGERIES):
            async with store.readers.connection() as connection:
                with pytest.raises(InsufficientPrivilege, match="permission denied"):
                    await connection.execute(statement)


async def test_not_even_the_owner_changes_a_record(
    recorded: PostgresStore, database: Database
) -> None:
    before = await recorded.read_log(HOUSE)

    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        for statement in CHANGES:
            with pytest.raises(InsufficientPrivilege, match="is append-only"):
                owner.execute(statement)

    assert await recorded.read_log(HOUSE) == before


async def test_no_floor_is_crossed_by_hand(recorded: PostgresStore, database: Database) -> None:
    with (
        psycopg.connect(database.owner_url) as owner,
        pytest.raises(CheckViolation, match="account_floor"),
    ):
        owner.execute("UPDATE account SET balance = -1 WHERE account = %s", (ADA,))


async def test_the_database_and_the_program_agree_on_floors(postgres: PostgresStore) -> None:
    accounts = [
        ISSUANCE,
        vault("ada"),
        stack("t", "ada"),
        in_play("t"),
        bank("t"),
        "a/vault/b",
        "x",
    ]
    async with postgres.readers.connection() as connection:
        for account in accounts:
            row = await connection.execute("SELECT account_floor(%s)", (account,))
            assert await row.fetchone() == (floor(account),), account


async def test_snapshots_are_disposable(recorded: PostgresStore) -> None:
    async with recorded.readers.connection() as connection:
        await connection.execute("DELETE FROM snapshot")


async def test_every_posting_is_kept_with_the_balance_after_it(postgres: PostgresStore) -> None:
    refused = a_command("no", an_event("t", ADA, -500, "x", 500))
    twice = a_command("twice", an_event("t", ADA, -10, "x", 10), an_event("t", "x", -4, ADA, 4))
    await postgres.append_batch(HOUSE, [a_grant("grant", ADA, 100), refused, twice])

    async with postgres.readers.connection() as connection:
        rows = await connection.execute(
            "SELECT position, line, account, amount, balance_after FROM posting ORDER BY 1, 2"
        )
        assert await rows.fetchall() == [
            (1, 0, ISSUANCE, -100, -100),
            (1, 1, ADA, 100, 100),
            (2, 0, ADA, -10, 90),
            (2, 1, "x", 10, 10),
            (3, 0, "x", -4, 6),
            (3, 1, ADA, 4, 94),
        ]
