"""Commands where there is nothing yet: no data, no migrations, no place for either."""

import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from services.cli import app
from services.cli.refused import Refused
from services.settings import Settings, variable
from tests.conftest import Database

COMMANDS = (
    "keys list",
    "keys create till --scopes read",
    "check",
    "seed-keys list",
    "partitions list",
    "partitions ahead",
    "export out",
    "replay oak",
    "rebuild tables",
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, with no setting at all."""
    for field in Settings.model_fields:
        monkeypatch.delenv(variable(field), raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(words: str) -> str:
    ended = CliRunner().invoke(app, words.split())
    if words == "check":  # with 1 it would say that something does not hold
        assert ended.exit_code == 2
        return ended.stderr
    refused = ended.exception
    assert isinstance(refused, Refused), repr(refused)
    return str(refused)


@pytest.mark.parametrize("words", COMMANDS)
def test_without_a_database_none_is_made(words: str, elsewhere: Path) -> None:
    assert refusal(words).startswith("There is no database in .croupier. Set CROUPIER_HOME or")
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("words", COMMANDS)
def test_a_database_that_was_never_migrated_is_said_to_be_such(
    words: str, bare: Database, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", bare.owner_url)

    assert refusal(words).startswith("This database was never migrated; run `croupier migrate`")
    assert list(elsewhere.iterdir()) == []


def test_to_look_at_the_ring_of_seed_keys_makes_none(
    database: Database, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", database.app_url)

    assert CliRunner().invoke(app, ["seed-keys", "list"]).exit_code == 0
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("words", ["up", "migrate"])
@pytest.mark.parametrize("home", ["/proc/nope", "file", "file/below"])
def test_a_home_that_cannot_be_one_is_refused(
    words: str, home: str, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / "file").write_text("mine")
    monkeypatch.setenv("CROUPIER_HOME", home)
    with socket.create_server(("127.0.0.1", 0)) as free:
        monkeypatch.setenv("CROUPIER_PORT", str(free.getsockname()[1]))

    assert refusal(words).startswith(f"{home} cannot be worked in: ")


def test_the_demo_finds_no_key_in_what_is_no_home(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / "file").write_text("mine")
    monkeypatch.setenv("CROUPIER_HOME", "file")

    assert "There is no API key in" in refusal("demo")
