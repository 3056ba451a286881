"""A Docker engine, and the images that the tests need: pulled, or else built on this machine.

Without an engine the tests are skipped, and fail where CROUPIER_NEEDS lists it.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.api.croupier import PATIENCE_SECONDS, House
from tests.conftest import not_here
from tests.containers.stack import IMAGE, POSTGRES, SERVICES, VALKEY, WORKERS, Stack

ROOT = Path(__file__).parents[2]
BASE = os.environ.get("BASE_IMAGE", "python:3.12-slim")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """These first: of many processes one takes them, and waits while the others do the rest."""
    items.sort(key=lambda item: Path(__file__).parent not in item.path.parents)


@pytest.fixture(scope="session")
def engine() -> None:
    """Skips, or fails, where no Docker engine answers."""
    if shutil.which("docker") and docker("version", check=False).returncode == 0:
        return
    not_here("docker", "Docker engine that answers")


@pytest.fixture(scope="session")
def image(engine: None) -> str:
    """The name of the image that deploy/Dockerfile builds from this checkout."""
    with one_at_a_time():
        if not all(is_here(needed) or pulled(needed) for needed in (BASE, POSTGRES, VALKEY)):
            script = Path(__file__).with_name("standins.sh")
            subprocess.run([script, sys.executable], cwd=ROOT, check=True, env=_with_our_code())
        base = f"BASE_IMAGE={BASE}"
        docker("build", "-f", "deploy/Dockerfile", "-t", IMAGE, "--build-arg", base, ".")
    return IMAGE


@pytest.fixture(scope="session")
def stack(image: str) -> Iterator[Stack]:
    """Postgres, Valkey, two services and two workers, each in a container of its own.

    One for all tests: each plays in a house of its own. The upgrade comes last, and leaves it to
    the next version.
    """
    with Stack() as stack:
        stack.migrate()
        stack.work(*WORKERS)
        stack.serve(*SERVICES)
        yield stack


@pytest.fixture
def house(stack: Stack) -> Iterator[House]:
    with httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as http:
        yield House(stack, http)


def docker(*words: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    """What the engine's command line says; when it fails, the test does, with the same words."""
    done = subprocess.run(["docker", *words], cwd=ROOT, capture_output=True, text=True)
    assert not check or done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done


def is_here(name: str) -> bool:
    return docker("image", "inspect", name, check=False).returncode == 0


def pulled(name: str) -> bool:
    return docker("pull", "--quiet", name, check=False).returncode == 0


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """The processes that test share the engine: one builds, the others find it built."""
    with Path(tempfile.gettempdir(), "croupier-images.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _with_our_code() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}
