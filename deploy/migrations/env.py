"""How alembic reaches the database, as `shared.eventstore.migrate` says. Plain SQL, no models; all
missing migrations in one transaction."""

from pathlib import Path
from typing import Any

from alembic import context
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

_, _, place = context.config.attributes["url"].partition("://")
engine = create_engine(
    f"postgresql+psycopg://{place}",
    poolclass=NullPool,
    execution_options={"no_parameters": True},  # A '%' in plain SQL is a '%'.
)


def keep_floor(*, ctx: Any, step: Any, **_: Any) -> None:
    """Says which migration has taken something away: releases that do not know it keep off."""
    if Path(step.up_revision.path).parent.name == "after":
        revision = step.up_revision_id
        ctx.connection.exec_driver_sql(f"UPDATE schema_floor SET revision = '{revision}'")


with engine.begin() as connection:
    # Of two that migrate at once, the second waits, and finds nothing left to do.
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('croupier migrations'))")
    # Behind a lock that waits, everybody waits. Rather give up and come again.
    connection.exec_driver_sql("SET LOCAL lock_timeout = '5s'")
    context.configure(connection=connection, on_version_apply=keep_floor)
    context.run_migrations()
