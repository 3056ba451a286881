"""The code from afar: who imports whom, how long things are, how rooms are named."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST_FUNCTION, LONGEST_FILE, WIDEST_LINE = 40, 400, 100
NAMES_THAT_SAY_NOTHING = {"base", "common", "helpers", "manager", "misc", "util", "utils"}


def files(*suffixes: str) -> Iterator[Path]:
    """Every tracked or new file of ours with one of these endings."""
    git = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    listed = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / line for line in listed.splitlines()]
    return (path for path in paths if path.suffix in suffixes and path.exists())


def too_long(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LONGEST_FUNCTION:
                yield f"{file.relative_to(ROOT)}:{node.lineno} {node.name} has {lines} lines"


def test_imports_point_down() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    linted = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)

    assert linted.returncode == 0, linted.stdout


def test_no_function_is_longer_than_a_screen() -> None:
    assert [line for file in files(".py") for line in too_long(file)] == []


def test_no_file_is_longer_than_one_sitting() -> None:
    lengths = {file: len(file.read_text().splitlines()) for file in files(".py", ".sql")}

    assert {str(file): n for file, n in lengths.items() if n > LONGEST_FILE} == {}


def test_no_line_is_wider_than_the_page() -> None:
    wide = [
        f"{file.relative_to(ROOT)}:{number} has {len(line)} columns"
        for file in files(".py", ".sql")
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if len(line) > WIDEST_LINE
    ]

    assert wide == []


def test_no_room_has_a_name_that_says_nothing() -> None:
    names = {part.removesuffix(".py") for f in files(".py") for part in f.relative_to(ROOT).parts}

    assert names & NAMES_THAT_SAY_NOTHING == set()


@pytest.mark.parametrize("module", ["services.cli", "services.app"])
def test_who_has_no_identity_provider_does_not_import_what_asks_one(module: str) -> None:
    """Every process that serves starts with this, and every command line."""
    look = f"import sys, {module}; print({{'httpx', 'jwt'}} & sys.modules.keys())"
    looked = subprocess.run([sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True)

    assert looked.stdout.strip() == "set()", looked.stderr
