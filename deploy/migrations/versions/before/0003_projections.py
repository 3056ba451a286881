"""The views of play, kept up to date by the worker, and how far each has come."""

from pathlib import Path

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Runs the statements beside this file as they stand."""
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text())
