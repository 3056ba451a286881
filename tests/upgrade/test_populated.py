"""Every migration finds a database in which much was played, and leaves all of it as it was."""

import asyncio
from collections.abc import Iterator
from itertools import pairwise

import psycopg
import pytest
from alembic import command
from psycopg import sql

from services.audit.application.database import check_now
from services.worker import VIEWS
from shared.eventstore.migrate import Revision, alembic, current, head, revisions, upgrade
from shared.eventstore.postgres import PostgresStore
from tests.audit.played import HOUSE, Owner, unstopped
from tests.conftest import Cluster, Database
from tests.projections.evening import until_up_to_date

GONE = {("event_log", "recorded_at"): "now()"}
"""What a column held that was taken away since."""
NOT_POURED = {"alembic_version", "schema_floor"}
ITS_OWN = {"projection_checkpoint"}
"""Who writes a view, and until when: of the process that does."""


@pytest.fixture(scope="module")
def full(cluster: Cluster, template: Database) -> Iterator[Database]:
    """At the newest revision; every view is at the end of the log."""
    database = cluster.copy(template)
    asyncio.run(views_follow(database))
    yield database
    cluster.drop(database)


async def views_follow(database: Database) -> None:
    async with PostgresStore(database.app_url) as store:
        await until_up_to_date(store)


def columns(owner: Owner) -> dict[str, list[str]]:
    """The columns of every table."""
    found = owner.execute(
        "SELECT c.relname, array_agg(a.attname ORDER BY a.attname) "
        "  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
        " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') "
        "   AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped GROUP BY 1"
    )
    return dict(found.fetchall())


def rows(owner: Owner, table: str, names: list[str]) -> Iterator[bytes]:
    """The rows of a table, in the order of all they say."""
    said = sql.SQL(", ").join(
        sql.SQL(GONE[table, name]) if (table, name) in GONE else sql.Identifier(name)
        for name in names
    )
    query = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(said, sql.Identifier(table))
    with owner.cursor() as cursor, cursor.copy(query) as copy:
        return iter(sorted(map(bytes, copy)))


def pour(of: Owner, into: Owner) -> set[str]:
    """Fills the tables of an older schema; returns their names."""
    newest, older = columns(of), columns(into)
    for table in (filled := older.keys() & newest.keys() - NOT_POURED):
        names = [n for n in older[table] if n in newest[table] or (table, n) in GONE]
        query = sql.SQL("COPY {} ({}) FROM STDIN").format(
            sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, names))
        )
        with into.cursor() as cursor, cursor.copy(query) as copy:
            for row in rows(of, table, names):
                copy.write(row)
    kept = [view.name for view in VIEWS if view.table in filled]
    if "projection_checkpoint" in filled:
        into.execute("DELETE FROM projection_checkpoint WHERE name <> ALL(%s)", (kept,))
    return filled


@pytest.mark.parametrize(
    ("before", "revision"),
    list(pairwise(revisions())),
    ids=lambda revision: revision.name,
)
async def test_what_was_played_survives(
    before: Revision, revision: Revision, full: Database, bare: Database
) -> None:
    command.upgrade(alembic(bare.owner_url), before.name)
    with unstopped(full) as of, unstopped(bare) as into:
        filled = pour(of, into)

    command.upgrade(alembic(bare.owner_url), revision.name)
    upgrade(bare.owner_url, after=True)

    assert current(bare.owner_url) == head()
    await views_follow(bare)
    with unstopped(full) as of, unstopped(bare) as now:
        shape = columns(of)
        assert columns(now) == shape
        for table in (filled | {view.table for view in VIEWS}) - ITS_OWN:
            assert list(rows(now, table, shape[table])) == list(rows(of, table, shape[table])), (
                table
            )
        with now.transaction():
            report = check_now(now, HOUSE)
    assert report.faults == ()
    assert report.rounds >= 18


def test_no_words_in_an_envelope_stop_a_migration(bare: Database) -> None:
    """Older releases took any title. Postgres cannot make a text of every JSON string."""
    command.upgrade(alembic(bare.owner_url), "0007")
    envelope = rb'{"data":{"next":{"box":"","key_id":"one"},"ruleset":{"title":"a\u0000b"}}}'
    with psycopg.connect(bare.owner_url) as owner:
        owner.execute(
            "INSERT INTO event_log VALUES ('local', 1, 'table-oak', 1, 'blackjack.table_opened', "
            "1, 'one', %b, '', '', now())",
            (envelope,),
        )
        owner.execute(
            "INSERT INTO projected_table (house, generation, id, ruleset, phase, seats, players, "
            "rounds, version, position) "
            "VALUES ('local', 1, 'oak', 'own', 'betting', 1, '{}', 0, 1, 1)"
        )

    command.upgrade(alembic(bare.owner_url), "0008")

    with psycopg.connect(bare.owner_url) as owner:
        assert owner.execute("SELECT seed_key FROM projected_table").fetchall() == [("one",)]
