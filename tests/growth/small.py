"""A log in partitions of a hundred events, and what an operator does with them."""

import os
import subprocess
import sys

import psycopg

from services.settings import Settings, variable
from shared.eventstore.partitions import make_ahead
from tests.api.croupier import ROOT
from tests.conftest import Database

EVENTS = 100
_CROUPIER = (sys.executable, "-c", "from services.cli import main; main()")
_OURS = {variable(field) for field in Settings.model_fields}


def make_small(database: Database) -> None:
    """The partitions of an empty log, made anew in a size that a test can fill."""
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        for name in ("event_log_0", "event_log_1"):
            owner.execute(f"ALTER TABLE event_log DETACH PARTITION {name}")
            owner.execute(f"DROP TABLE {name}")
        owner.execute("CREATE TABLE event_log_0 (LIKE event_log INCLUDING ALL)")
        owner.execute(
            "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON event_log_0 "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
        owner.execute(
            "ALTER TABLE event_log ATTACH PARTITION event_log_0 "
            f"FOR VALUES FROM (MINVALUE) TO ({EVENTS + 1})"
        )
        make_ahead(owner, EVENTS, spare=3)


def partitions_cli(database: Database, *words: str) -> "subprocess.CompletedProcess[str]":
    """`croupier partitions …` as the owner of the database."""
    return cli(database, "partitions", *words)


def cli(database: Database, *words: str) -> "subprocess.CompletedProcess[str]":
    """`croupier …` as the owner of the database."""
    clean = {name: value for name, value in os.environ.items() if name not in _OURS}
    return subprocess.run(
        [*_CROUPIER, *words],
        env=clean
        | {"DATABASE_URL": database.app_url, "CROUPIER_MIGRATION_URL": database.owner_url},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
