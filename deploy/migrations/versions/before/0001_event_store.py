"""The event log, the ledger on it, and the function that writes both."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Runs the statements beside this file as they stand."""
    for name in ("0001_event_store.sql", "0001_append_batch.sql"):
        op.get_bind().exec_driver_sql(Path(__file__).with_name(name).read_text())
