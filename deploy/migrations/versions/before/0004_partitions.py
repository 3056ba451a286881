"""Parts of the log that were taken out of the database, and where they are."""

from pathlib import Path

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.execute(Path(__file__).with_suffix(".sql").read_text())
