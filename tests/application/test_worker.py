"""The worker, told to stop: what records is finished, what only looks is broken off."""

import asyncio

from services.settings import Settings, parse_seed_keys
from services.worker import Worker
from tests.api.croupier import PATIENCE_SECONDS
from tests.conftest import Database


async def test_what_records_is_finished_and_what_looks_is_broken_off(database: Database) -> None:
    keys = parse_seed_keys("test:" + "A" * 43)
    worker = Worker(Settings(database_url=database.app_url, seed_keys=keys))
    busy, told = asyncio.Barrier(3), asyncio.Event()
    finished = []

    async def record() -> float:
        await busy.wait()
        await told.wait()
        finished.append("recorded")
        return 0.0

    async def look() -> float:
        await busy.wait()
        await asyncio.Event().wait()
        return 0.0

    worker.duties, worker.looks = {"recording": record}, {"looking": look}
    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as running:
        running.create_task(worker.run())
        await busy.wait()
        worker.stop()
        await asyncio.sleep(0)
        assert finished == []
        told.set()

    assert finished == ["recorded"]
