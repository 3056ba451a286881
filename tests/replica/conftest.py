"""A primary of its own, a standby that streams from it, and a house on both."""

from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from shared.eventstore.migrate import open_house
from shared.eventstore.postgres import PostgresStore
from shared.local.postgres import LocalPostgres
from tests.conftest import Cluster, Database
from tests.eventstore.appends import HOUSE
from tests.replica.standby import Standby, a_standby


@pytest.fixture(scope="session")
def primary() -> Iterator[LocalPostgres]:
    with TemporaryDirectory(prefix="croupier-primary-") as home:
        server = LocalPostgres(Path(home))
        server.start()
        yield server
        server.stop()


@pytest.fixture(scope="session")
def following(primary: LocalPostgres) -> Iterator[Standby]:
    with a_standby(primary.url()) as standby:
        yield standby


@pytest.fixture(scope="session")
def followed(primary: LocalPostgres) -> Iterator[Cluster]:
    with closing(Cluster(primary.url())) as cluster:
        yield cluster


@pytest.fixture
def database(followed: Cluster) -> Iterator[Database]:
    database = followed.create()
    open_house(database.owner_url, HOUSE)
    yield database
    followed.drop(database)


@pytest.fixture
def standby(following: Standby, database: Database) -> Iterator[Standby]:
    """One that has the database; whatever was done to it, the next test finds it well."""
    following.catch_up()
    yield following
    following.start()
    following.resume()


@pytest.fixture
async def store(database: Database) -> AsyncIterator[PostgresStore]:
    async with PostgresStore(database.app_url) as store:
        yield store
