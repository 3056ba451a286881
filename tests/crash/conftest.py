"""A Croupier on a Postgres that keeps its promises (fsync on), and ways to kill both.

Both are killed many times and started again: the tests share them, each with a house of its own.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from signal import SIGKILL

import httpx
import psycopg
import pytest

from tests.api.croupier import PATIENCE_SECONDS, Croupier, House
from tests.conftest import Mortal, a_mortal


@pytest.fixture(scope="session")
def mortal() -> Iterator[Mortal]:
    with a_mortal() as mortal:
        yield mortal


@pytest.fixture(scope="session")
def croupier(mortal: Mortal) -> Iterator[Croupier]:
    with Croupier(mortal.database) as running:
        yield running


@pytest.fixture
def house(croupier: Croupier) -> Iterator[House]:
    with httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as http:
        yield House(croupier, http)


def kill_postgres(mortal: Mortal) -> None:
    """The server and all its backends at once, none with the time to say a word or end a write."""
    with psycopg.connect(mortal.database.owner_url) as owner:
        backends = [pid for (pid,) in owner.execute("SELECT pid FROM pg_stat_activity")]
    for pid in (mortal.postgres.pid, *backends):
        with suppress(ProcessLookupError):  # the one that answered us has left by now
            os.kill(pid, SIGKILL)
    mortal.kill()
