"""`croupier keys list`, however narrow it is."""

import psycopg
import pytest
from typer.testing import CliRunner

from services.cli import app
from shared.eventstore.migrate import open_house
from shared.http import keys
from shared.http.keys import SCOPES, split
from tests.conftest import Database


@pytest.mark.parametrize("width", ["80", "40"])
def test_the_prefix_by_which_a_key_is_revoked_is_never_cut(
    width: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_house(database.owner_url, "local")
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        made = [keys.create(owner, "local", f"till-{'x' * n}", SCOPES) for n in (1, 50)]
    monkeypatch.setenv("DATABASE_URL", database.owner_url)

    listed = CliRunner().invoke(app, ["keys", "list"], env={"COLUMNS": width}).output

    for key in made:
        prefix, _ = split(key) or ("", "")
        assert f" {prefix} " in listed
    assert "…" not in listed
    assert listed.count("x") == 1 + 50 + listed.count("prefix")
