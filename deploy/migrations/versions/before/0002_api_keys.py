"""Who may call: API keys."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.execute(Path(__file__).with_suffix(".sql").read_text())
