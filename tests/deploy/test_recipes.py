"""Recipes for containers and shells: no mistake that a linter knows, and nothing of one machine."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SHELL = (
    ".ci/run",
    "deploy/secrets.sh",
    "tests/containers/standins.sh",
    *(f"deploy/backup/{name}.sh" for name in ("archive", "base", "restore", "drill", "lost")),
)
BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command", [("hadolint", "deploy/Dockerfile"), ("shellcheck", "--severity=style", *SHELL)]
)
def test_a_linter_finds_nothing(command: tuple[str, ...]) -> None:
    judged = subprocess.run(
        [BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True
    )

    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_the_image_needs_no_newer_builder_and_no_certain_registry() -> None:
    recipe = (ROOT / "deploy" / "Dockerfile").read_text()

    assert "# syntax=" not in recipe
    assert "ARG BASE_IMAGE=python:3.12-slim" in recipe
    assert "://" not in recipe


def test_the_version_in_the_label_is_that_of_the_project() -> None:
    version = next(
        line.split('"')[1]
        for line in (ROOT / "pyproject.toml").read_text().splitlines()
        if line.startswith("version")
    )

    assert f'image.version="{version}"' in (ROOT / "deploy" / "Dockerfile").read_text()


def test_the_image_has_the_versions_that_are_tested() -> None:
    def pinned(name: str) -> set[str]:
        lines = (ROOT / "deploy" / name).read_text().splitlines()
        return {line.split(" ")[0] for line in lines if "==" in line and line[0].isalpha()}

    assert pinned("requirements-image.txt") <= pinned("requirements.txt")
    assert pinned("requirements.txt") <= pinned("requirements-dev.txt")


def test_compose_publishes_on_loopback_alone() -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]

    published = [port for each in services.values() for port in each.get("ports", ())]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)
