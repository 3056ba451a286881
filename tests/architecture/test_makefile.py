"""The Makefile explains itself, and continuous integration runs what a developer runs."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)


def make(*arguments: str) -> str:
    command = ("make", "--no-print-directory", *arguments)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("target", TARGETS)
def test_make_alone_explains_every_target(target: str) -> None:
    assert re.search(rf"^  make {target} +[A-Z].{{10,}}$", make(), re.MULTILINE)


def test_continuous_integration_runs_the_test_command_of_the_readme() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    assert "make test" in (ROOT / "README.md").read_text()


def test_no_pin_names_a_package_index() -> None:
    for pins in (ROOT / "deploy").glob("requirements*.txt"):
        assert "://" not in pins.read_text(), pins
