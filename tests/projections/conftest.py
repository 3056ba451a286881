import pytest

from shared.eventstore.migrate import open_house
from tests.conftest import Database
from tests.projections.evening import HOUSE


@pytest.fixture(autouse=True)
def _house(database: Database) -> None:
    open_house(database.owner_url, HOUSE)
