"""`croupier export`, `verify` and `replay` on a house that is really played in."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from services.cli import app
from services.cli.refused import Refused
from shared.eventstore.exports import read_manifest
from tests.api.croupier import House


def run(*words: str | int | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def played(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    """Two tables with some rounds behind them, one in mid-round, and a player at neither."""
    monkeypatch.setenv("DATABASE_URL", house.croupier.database.app_url)
    monkeypatch.setenv("CROUPIER_HOUSE", house.name)
    house.grant("gus", 10)
    house.seat("oak", "ada", "bob")
    house.seat("elm", "cyd")
    for table, bets in (("oak", (20, 20)), ("elm", (20,)), ("oak", (20, 20))):
        house.deal(table, *bets)
        house.finish(table)
    house.deal("elm", 20)
    return house


@pytest.mark.parametrize("form", [(), ("--zstd",), ("--format", "parquet")])
def test_what_was_played_is_taken_out_and_holds(
    form: tuple[str, ...], played: House, tmp_path: Path
) -> None:
    taken = run("export", tmp_path / "export", *form)

    assert taken.exit_code == 0, taken.output
    assert read_manifest(tmp_path / "export").events == played.head()
    judged = run("verify", tmp_path / "export", "--json")
    assert judged.exit_code == 0, judged.output
    report = json.loads(judged.stdout)
    assert (report["events"], report["faults"]) == (played.head(), [])
    assert report["rounds"] >= 3  # the last one may have ended with a natural
    accounts = {a["account"]: a["balance"] for a in played.walk("/v1/ledger/accounts", limit=100)}
    assert {a: b for a, b in report["balances"].items() if b} == {
        a: b for a, b in accounts.items() if b
    }


@pytest.mark.parametrize(
    ("scope", "streams"),
    [
        (("--table", "oak"), {"table-oak", "vault-ada", "vault-bob"}),
        (("--player", "cyd"), {"table-elm", "vault-cyd"}),
        (("--player", "gus"), {"vault-gus"}),
        (("--to", "3"), {"vault-gus", "table-oak", "vault-ada"}),
    ],
)
def test_a_part_of_it_holds_by_itself(
    scope: tuple[str, str], streams: set[str], played: House, tmp_path: Path
) -> None:
    taken = run("export", tmp_path / "export", *scope)
    assert taken.exit_code == 0, taken.output

    file = tmp_path / "export" / read_manifest(tmp_path / "export").parts[0].files[0].path
    found = {json.loads(line)["stream"] for line in file.read_text().splitlines()}
    assert found <= streams
    assert run("verify", tmp_path / "export").exit_code == 0


def test_a_finished_export_is_left_alone(played: House, tmp_path: Path) -> None:
    run("export", tmp_path / "export")

    assert "Name another directory" in str(run("export", tmp_path / "export").exception)


def test_a_table_is_rebuilt_as_it_was(played: House, tmp_path: Path) -> None:
    run("export", tmp_path / "export")
    last = played.get("/v1/tables/elm")
    for version in (1, 5, last["version"]):
        seen = played.get("/v1/tables/elm", version=version)
        for source in ((), ("--export", tmp_path / "export")):
            told = run("replay", "elm", "--version", str(version), "--json", *source)
            assert json.loads(told.stdout) == seen

    events = played.get("/v1/events", limit=1000)["data"]
    at = next(e for e in events if e["stream"] == "table-elm" and e["version"] == 1)
    early = run("replay", "elm", "--time", at["event"]["time"], "--json")
    assert json.loads(early.stdout)["version"] == 1
    assert "elm at version" in run("replay", "elm").stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("replay", "nowhere"), "There is no table nowhere then."),
        (("replay", "elm", "--version", "999"), "The table elm has versions 1 to "),
        (("replay", "elm", "--version", "999", "--export", "whole"), "has versions 1 to "),
        (("replay", "oak", "--export", "late"), "does not have the table from its first event on"),
        (("export", "out", "--house", "nobody"), "is not open"),
        (("export", "out", "--table", "nope"), "has no table nope."),
        (("export", "out", "--player", "nobody"), "has no player nobody."),
        (("export", "out", "--from", "9999"), "ends at position "),
        (("export", "out", "--from", "5", "--to", "5"), "belongs to the one from 4 to 5"),
    ],
)
def test_what_is_not_there_is_said(
    words: tuple[str, ...], sentence: str, played: House, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if "--export" in words:
        assert run("export", "whole").exit_code == run("export", "late", "--from", 9).exit_code == 0
    refused = run(*words).exception

    assert isinstance(refused, Refused)
    assert sentence in str(refused)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("export", "out", "--table", "oak", "--player", "ada"),
        ("export", "out", "--table", "oak", "--to", "3"),
        ("export", "out", "--from", "500", "--to", "20"),
        ("replay", "oak", "--version", "3", "--time", "2025-01-31T12:00:00Z"),
        ("replay", "oak", "--time", "noon"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: tuple[str, ...]) -> None:
    assert run(*words).exit_code == 2
