"""How alembic reaches the database: what `shared.eventstore.migrate` says, `-x url=…`, or
DATABASE_URL. Plain SQL, no models; all missing migrations in one transaction."""

import os
from pathlib import Path
from typing import Any

from alembic import context
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

url = (
    context.config.attributes.get("url")
    or context.get_x_argument(as_dictionary=True).get("url")
    or os.environ["DATABASE_URL"]
)
engine = create_engine(
    f"postgresql+psycopg://{url.partition('://')[2]}",
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
