"""`croupier odds`: what it prints is what the solver says, and what it refuses is a sentence."""

from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from typer.testing import CliRunner

from services.blackjack.odds.solve import odds_of
from services.cli import app
from services.cli.refused import Refused
from tests.odds.games import solved


def croupier(*words: str) -> str:
    result = CliRunner().invoke(app, ["odds", *words], env={"COLUMNS": "100"})
    if isinstance(result.exception, Refused):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_all_games_at_a_glance() -> None:
    lines = [line for line in croupier().splitlines() if " %" in line]

    assert [line.split("│")[1].strip() for line in lines] == [
        "a2g",
        "coinlounge",
        "classic",
        "european",
    ]
    assert [line.split("│")[4].strip() for line in lines] == [
        "0.5141 %",
        "0.5788 %",
        "0.3099 %",
        "0.5141 %",
    ]


def test_one_game_with_its_table() -> None:
    said = croupier("coinlounge")

    assert "about 0.6 %" in said
    assert "0.5819 %" in said
    assert "Pair 6 6" in said
    assert "double, else hit" in said


@pytest.mark.parametrize(
    ("words", "edge"),
    [
        ("classic --decks 6", "0.8924 %"),
        ("classic --decks 6 --bet 5", "1.4246 %"),
        ("european --peek", "0.4029 %"),
        ("european --peek --no-das", "0.5446 %"),
        ("european --peek --surrender", "0.3303 %"),
        ("european --peek --ace-hands 4", "0.3340 %"),
        ("european --peek --h17", "0.6154 %"),
        ("european --peek --no-das --hands 2 --decks 1", "-0.0243 %"),
    ],
)
def test_what_if_the_rules_were_others(words: str, edge: str) -> None:
    assert edge in croupier(*words.split())


def test_the_moves_of_a_hand() -> None:
    (line,) = (line for line in croupier("a2g", "--hand", "88").splitlines() if "│ A " in line)

    assert "-0.664681" in line
    assert "-0.922317" in line


def test_the_worth_of_a_table(tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    file.write_bytes(msgspec.json.encode(odds_of(solved("european")).strategy))

    assert "The house keeps 0.5176 %" in croupier("european", "--table", str(file))


def test_the_chart(tmp_path: Path) -> None:
    file = tmp_path / "chart.svg"
    croupier("classic", "--chart", str(file))

    assert ElementTree.parse(file).getroot().tag.endswith("svg")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("nowhere", "there are a2g, coinlounge, classic, european"),
        ("a2g --bet 3", "Bet from 2 to 500 in steps of 2"),
        ("a2g --hand AK", "AK against"),
        ("a2g --hand ZZ", "No card of the shoe has the rank 'Z'"),
        ("a2g --table /nowhere.json", "/nowhere.json is no table in JSON"),
    ],
)
def test_what_it_refuses(words: str, sentence: str) -> None:
    """Before it has said anything else."""
    result = CliRunner().invoke(app, ["odds", *words.split()])

    assert isinstance(result.exception, Refused)
    assert sentence in str(result.exception)
    assert result.stdout == ""
