"""A new version with a new schema takes over while everybody plays, and no request fails.

The next version is this one with two more migrations, which change the busiest table: one before
what runs already is replaced, and has to live with it, and one after.
"""

import asyncio
from pathlib import Path

import pytest

from shared.eventstore.migrate import head
from tests.api.croupier import House
from tests.containers.conftest import docker
from tests.containers.stack import PART, SERVICES, THOUGHT_SECONDS, WORKERS, Stack
from tests.crash.audit import nothing_is_lost_and_nothing_is_doubled
from tests.crash.load import Load

NEXT = "croupier:next"
MIGRATIONS = {
    "before": f"""
from alembic import op
revision = "next"
down_revision = "{head()}"
def upgrade():
    op.execute("ALTER TABLE event_log ADD COLUMN of_the_next_version text")
""",
    "after": """
from alembic import op
revision = "then"
down_revision = "next"
def upgrade():
    op.execute("ALTER TABLE event_log DROP COLUMN of_the_next_version")
""",
}
RECIPE = """
FROM croupier:test
USER 0
COPY *.py /migrations/
RUN python3 -c "from shared.eventstore.migrate import SCRIPTS as there; from shutil import copy; \
    [copy(f'/migrations/{k}.py', there / 'versions' / k) for k in ('before', 'after')]"
USER 65532
"""


@pytest.fixture(scope="module")
def next_image(image: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    context: Path = tmp_path_factory.mktemp("next")
    for kind, script in MIGRATIONS.items():
        (context / f"{kind}.py").write_text(script)
    (context / "Dockerfile").write_text(RECIPE)
    docker("build", "-t", NEXT, str(context))
    return NEXT


async def test_an_upgrade_under_load_fails_no_request(
    stack: Stack, house: House, next_image: str
) -> None:
    old = [stack.processes[name].address for name in SERVICES]
    load = Load(house, addresses=old[1:], thought_seconds=THOUGHT_SECONDS)
    async with load.running():
        await load.until_answered(PART)
        said = await asyncio.to_thread(stack.migrate, image=next_image)
        assert "revision next" in said
        assert "Migration then waits" in said
        await load.until_answered(PART)
        for number, leaving in enumerate(zip(SERVICES, WORKERS, strict=True), 1):
            await asyncio.to_thread(stack.work, f"next-worker-{number}", image=next_image)
            await asyncio.to_thread(stack.serve, f"next-{number}", image=next_image)
            begun = stack.processes[f"next-{number}"]
            old.pop(0)
            await load.go_to(begun.address, *(old or [stack.processes["next-1"].address]))
            for name in leaving:
                assert await asyncio.to_thread(stack.processes[name].stop) == 0
            await load.until_answered(PART)
        said = await asyncio.to_thread(stack.migrate, "--after", image=next_image)
        assert "revision then" in said
        await load.until_answered(PART)

    refused = await asyncio.to_thread(stack.begin, "old", "serve")
    assert refused.exit_code() == 1
    assert "of a later release" in refused.said()
    assert [each for each in load.troubles if "version-conflict" not in each] == []
    stack.front = "next-1"
    nothing_is_lost_and_nothing_is_doubled(load)
