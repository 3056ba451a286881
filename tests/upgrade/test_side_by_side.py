"""The release before this one, from the history, and this one serve the same tables while the
schema changes under both, and nobody who plays notices."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from signal import SIGTERM

import httpx
import pytest

from shared.eventstore.migrate import SCRIPTS, current, head, needed
from tests.api.croupier import ROOT, Croupier, House
from tests.conftest import Database
from tests.crash.audit import nothing_is_lost_and_nothing_is_doubled
from tests.crash.load import Load

PART = 80
"""Commands answered before the next step."""


@pytest.fixture(scope="module")
def release_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program as it was before it needed the newest revision."""
    (script,) = SCRIPTS.glob(f"versions/before/{needed()}_*.py")
    came = _git("log", "--format=%H", "--diff-filter=A", "--", f"*/{script.name}").stdout.split()
    place = tmp_path_factory.mktemp("before")
    commit = f"{came[-1]}^" if came else "HEAD"
    if _git("archive", "--format=tar", f"--output={place}/all.tar", commit).returncode:
        pytest.skip("Here is no history that reaches back to the release before.")
    subprocess.run(("tar", "-xf", "all.tar"), cwd=place, check=True)
    return place


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(("git", *words), cwd=ROOT, capture_output=True, text=True)


@pytest.fixture
def older(bare: Database, release_before: Path) -> Iterator[Croupier]:
    croupier = Croupier(bare, code=release_before)
    migrate(croupier)
    with croupier:
        yield croupier


def migrate(croupier: Croupier, *options: str) -> str:
    """`croupier migrate` of that release."""
    owner = {"CROUPIER_MIGRATION_URL": croupier.database.owner_url}
    done = subprocess.run(
        (sys.executable, "-c", "from services.cli import main; main()", "migrate", *options),
        cwd=croupier.code,
        env=croupier.environment | owner,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_two_releases_share_tables_while_the_schema_changes(
    older: Croupier, http: httpx.Client
) -> None:
    newer, url = older.twin(code=ROOT), older.database.owner_url
    house, begun = House(older, http), current(url)
    # A release before kept idle connections for five seconds: whoever does too is cut off.
    load = Load(house, idle_seconds=2.0)
    with ExitStack() as stack:
        async with load.running():
            await load.until_answered(PART)
            await asyncio.to_thread(migrate, newer)
            assert current(url) == needed() != begun
            await load.until_answered(PART)
            await asyncio.to_thread(stack.enter_context, newer)
            await load.go_to(older.address, newer.address)
            await load.until_answered(PART)
            await load.go_to(newer.address)
            await asyncio.to_thread(older.end, SIGTERM)
            await load.until_answered(PART)
            await asyncio.to_thread(migrate, newer, "--after")
            assert current(url) == head()
            await load.until_answered(PART)
        house.croupier = newer
        nothing_is_lost_and_nothing_is_doubled(load)

    assert [each for each in load.troubles if "version-conflict" not in each] == []
