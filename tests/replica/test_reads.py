"""Readers go to the replica while it has everything, and never see less than was recorded."""

from collections.abc import AsyncIterator

import psycopg
import pytest

from shared.eventstore.postgres import PostgresStore
from shared.eventstore.replica import LEFT_ALONE_SECONDS, ReplicaStore
from shared.eventstore.store import HouseNotOpen, Snapshot
from tests.conftest import Database
from tests.eventstore.appends import ADA, HOUSE, a_grant
from tests.replica.standby import Standby


class Clock:
    """Stands still unless it is moved."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def reads(
    store: PostgresStore, standby: Standby, database: Database, clock: Clock
) -> AsyncIterator[ReplicaStore]:
    replica = ReplicaStore(store, standby.url(database.app_url), clock=clock)
    async with replica as reads:
        yield reads


async def test_what_the_standby_has_is_read_there(
    reads: ReplicaStore, standby: Standby, database: Database
) -> None:
    await grant(reads, 1)
    await reads.write_snapshot(HOUSE, "vault-house", "sum.1", Snapshot(1, 1, b"x"))
    standby.catch_up()

    log = await reads.read_log(HOUSE)
    stream = await reads.read_stream(HOUSE, "vault-house")
    snapshot = await reads.read_snapshot(HOUSE, "vault-house", "sum.1")

    assert [record.position for record in log] == [1]
    assert (stream, snapshot) == (log, Snapshot(1, 1, b"x"))
    assert (reads.from_replica, reads.from_primary) == (3, 0)
    with psycopg.connect(standby.url(database.owner_url)) as there:
        served = "SELECT FROM pg_stat_activity WHERE usename = %s AND query LIKE '%%snapshot%%'"
        assert there.execute(served, (_role(database),)).rowcount == 1


async def test_every_append_is_seen_in_the_next_read(reads: ReplicaStore) -> None:
    for number in range(1, 101):
        await grant(reads, number)
        assert (await reads.read_log(HOUSE, number - 1))[0].position == number

    assert reads.from_replica + reads.from_primary == 100


async def test_a_standby_that_lags_is_not_asked(reads: ReplicaStore, standby: Standby) -> None:
    await grant(reads, 1)
    standby.catch_up()
    standby.pause()
    await grant(reads, 2)

    assert [record.position for record in await reads.read_log(HOUSE)] == [1, 2]
    assert len(await reads.read_stream(HOUSE, "vault-house")) == 2
    assert (reads.from_replica, reads.from_primary) == (0, 2)

    standby.resume()
    standby.catch_up()
    assert len(await reads.read_log(HOUSE)) == 2
    assert (reads.from_replica, reads.from_primary) == (1, 2)


async def test_a_house_that_stands_still_is_read_while_another_is_ahead(
    reads: ReplicaStore, standby: Standby, database: Database
) -> None:
    with psycopg.connect(database.owner_url) as owner:
        owner.execute("SELECT open_house('other')")
    await grant(reads, 1)
    standby.catch_up()
    standby.pause()
    await reads.append_batch("other", [a_grant("o1", ADA, 1)])

    await reads.read_log("other")
    await reads.read_log(HOUSE)

    assert (reads.from_replica, reads.from_primary) == (1, 1)


async def test_a_standby_that_dies_is_replaced_by_the_primary(
    reads: ReplicaStore, standby: Standby, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    await grant(reads, 1)
    standby.catch_up()
    await reads.read_log(HOUSE)
    standby.kill()

    for _ in range(3):
        assert len(await reads.read_log(HOUSE)) == 1
    assert (reads.from_replica, reads.from_primary) == (1, 3)
    assert caplog.text.count("the primary is read") == 1

    standby.start()
    standby.catch_up()
    await reads.read_log(HOUSE)
    assert reads.from_primary == 4, "it is left alone for a while"
    clock.now += LEFT_ALONE_SECONDS
    await grant(reads, 2)
    standby.catch_up()
    while not reads.from_replica > 1:  # until the pool has found it again
        clock.now += LEFT_ALONE_SECONDS
        assert len(await reads.read_log(HOUSE)) == 2


async def test_one_that_was_never_there_is_no_harm(store: PostgresStore, clock: Clock) -> None:
    nowhere = "postgresql://nobody:nothing@127.0.0.1:1/none"
    async with ReplicaStore(store, nowhere, clock=clock) as reads:
        await grant(reads, 1)
        assert len(await reads.read_log(HOUSE)) == 1

    assert (reads.from_replica, reads.from_primary) == (0, 1)


async def test_without_one_the_primary_is_read(store: PostgresStore) -> None:
    async with ReplicaStore(store) as reads:
        await grant(reads, 1)
        assert len(await reads.read_log(HOUSE)) == 1
        with pytest.raises(HouseNotOpen):
            await reads.head("nowhere")


async def grant(reads: ReplicaStore, number: int) -> None:
    await reads.append_batch(HOUSE, [a_grant(f"g{number}", ADA, 1)])


def _role(database: Database) -> str:
    return database.app_url.partition("://")[2].partition(":")[0]
