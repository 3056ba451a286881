"""The event log, the ledger on it, and the function that writes both."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Runs the statements beside this file as they stand."""
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text())
