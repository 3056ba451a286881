from collections.abc import AsyncIterator

import pytest

from shared.eventstore.memory import MemoryStore
from shared.eventstore.migrate import open_house
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.store import EventStore
from tests.conftest import Database
from tests.eventstore.appends import HOUSE


@pytest.fixture
async def postgres(database: Database) -> AsyncIterator[PostgresStore]:
    open_house(database.owner_url, HOUSE)
    async with PostgresStore(database.app_url) as store:
        yield store


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> EventStore:
    """Each of the stores in turn, with one open house."""
    if request.param == "memory":
        return MemoryStore(HOUSE)
    opened: EventStore = request.getfixturevalue("postgres")
    return opened
