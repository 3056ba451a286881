"""SECURITY.md promises tests: they exist, and where there is none it says so."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text()
THREATS = PAGE.partition("## Threats")[2].partition("\n## ")[0]
ADMITTED = PAGE.partition("## What nothing stops")[2]
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)

TO_BE_NAMED = (
    *("Forged command", "Replayed command", "Stolen key", "Curious database administrator"),
    *("Dishonest operator", "Dishonest dealer", "Flooding client", "Poisoned input"),
    *("Lost Redis", "Lost Postgres"),
)


@cache
def named_in(file: str) -> set[str]:
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    nodes = ast.walk(ast.parse((ROOT / file).read_text()))
    return {node.name for node in nodes if isinstance(node, functions)}


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_test_that_is_named_exists(file: str, name: str) -> None:
    assert name.startswith("test_")
    assert name in named_in(file)


def test_every_threat_has_a_row_and_every_row_a_test() -> None:
    rows = [row.split(" | ") for row in THREATS.splitlines() if row.startswith("| ")][2:]

    assert len(rows) >= len(TO_BE_NAMED)
    for row in rows:
        threat, _, shown_by = row
        assert re.search(r"`tests/[\w/]+\.py::test_\w+`", shown_by), threat
    for threat in TO_BE_NAMED:
        assert f"| **{threat}**" in THREATS


def test_what_nothing_stops_is_said() -> None:
    assert len(re.findall(r"^- \*\*", ADMITTED, re.M)) >= 10
    assert "`tests/" not in ADMITTED


def test_nobody_is_sent_to_an_address_that_was_made_up() -> None:
    assert not re.search(r"\S+@\S+|https?://", PAGE)
