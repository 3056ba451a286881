"""The runs of each player, as a view of the log."""

from pathlib import Path

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.execute(Path(__file__).with_suffix(".sql").read_text())
