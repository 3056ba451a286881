"""One Croupier that runs for the whole session, and a house of its own for every test."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.api.croupier import PATIENCE_SECONDS, Croupier, House
from tests.api.routes import begun
from tests.conftest import Cluster


@contextmanager
def a_croupier(cluster: Cluster, **environment: str) -> Iterator[Croupier]:
    """One on a database of its own."""
    database = cluster.create()
    running = Croupier(database)
    running.environment |= environment
    with running:
        yield running
    cluster.drop(database)


@pytest.fixture(scope="session")
def croupier(cluster: Cluster) -> Iterator[Croupier]:
    with a_croupier(cluster) as running:
        yield running


@pytest.fixture(scope="session")
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as client:
        yield client


@pytest.fixture
def house(croupier: Croupier, http: httpx.Client) -> House:
    return House(croupier, http)


@pytest.fixture
def playing(house: House) -> House:
    """As `routes` has it."""
    return begun(house)


@pytest.fixture(scope="module")
def quiet(croupier: Croupier, http: httpx.Client) -> House:
    """The same for all who only look, or are refused."""
    return begun(House(croupier, http))


@pytest.fixture
def other_house(croupier: Croupier, http: httpx.Client) -> House:
    return House(croupier, http)
