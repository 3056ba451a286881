"""Appends without `recorded_at`, and the oldest release that a schema is for."""

from pathlib import Path

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Runs the statements beside this file as they stand."""
    for name in ("0009_append_batch.sql", "0009_schema_floor.sql"):
        op.get_bind().exec_driver_sql(Path(__file__).with_name(name).read_text())
