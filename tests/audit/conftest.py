from collections.abc import Iterator

import pytest

from tests.api.conftest import croupier, house, http, other_house
from tests.audit.played import Owner, played, unstopped
from tests.conftest import Cluster, Database

__all__ = ["croupier", "house", "http", "other_house"]


@pytest.fixture(scope="module")
def template(cluster: Cluster) -> Iterator[Database]:
    database = cluster.create()
    played(database)
    yield database
    cluster.drop(database)


@pytest.fixture(scope="module")
def owner(template: Database, cluster: Cluster) -> Iterator[Owner]:
    """Somebody whom no trigger stops; whatever is done is undone."""
    database = cluster.copy(template)
    with unstopped(database) as owner:
        yield owner
    cluster.drop(database)
