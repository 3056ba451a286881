"""How alembic reaches the database: what `shared.eventstore.migrate` says, `-x url=…`, or
DATABASE_URL. Plain SQL, no models; all missing migrations in one transaction."""

import os

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

with engine.begin() as connection:
    # Of two that migrate at once, the second waits, and finds nothing left to do.
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('croupier migrations'))")
    context.configure(connection=connection)
    context.run_migrations()
