"""However long a stream is, a load reads a snapshot and a short tail; few snapshots are kept."""

from random import Random

import psycopg
import pytest

from shared.eventstore.loader import SNAPSHOT_EVERY, Loader
from shared.eventstore.memory import MemoryStore
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.store import NEWEST_SNAPSHOTS, SNAPSHOTS_APART, EventStore, Snapshot
from tests.conftest import Database
from tests.eventstore.appends import HOUSE
from tests.eventstore.test_loader import CODEC, SUMS, total

ROWS_READ = """
    SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables
     WHERE relname LIKE 'event_log%' OR relname = 'snapshot'"""
WRITE_A_STREAM = """
    INSERT INTO event_log
    SELECT %(house)s, %(after)s + n, %(stream)s, n, 'test.added', 1, 'c',
           convert_to(format('{"data":{"number":%%s},"time":"2025-01-31T12:00:00Z"}', n), 'UTF8'),
           '', ''
      FROM generate_series(1, %(events)s) n"""


@pytest.mark.parametrize("events", [1_003, 100_003])
async def test_a_long_stream_is_read_from_its_snapshot_on(
    postgres: PostgresStore, database: Database, events: int
) -> None:
    last = events - events % SNAPSHOT_EVERY
    with psycopg.connect(database.owner_url) as owner:
        for after, stream in enumerate(("sum-a", "sum-b")):
            asked = {"house": HOUSE, "stream": stream, "events": events, "after": after * events}
            owner.execute(WRITE_A_STREAM, asked)
    loader = Loader(postgres, CODEC, SUMS)
    await loader.keep(HOUSE, "sum-b", last)
    before = rows_read(database)

    async with PostgresStore(database.app_url) as store:  # its statistics come when it leaves
        loaded = await Loader(store, CODEC, SUMS).load(HOUSE, "sum-b")

    assert (loaded.state.total, loaded.version, loaded.position) == (
        total(events),
        events,
        2 * events,
    )
    assert rows_read(database) - before == 1 + events - last


async def test_the_newest_are_kept_and_one_in_ten_thousand_versions(store: EventStore) -> None:
    versions = list(range(SNAPSHOT_EVERY, 3 * SNAPSHOTS_APART + 1, SNAPSHOT_EVERY))
    for version in versions:
        await store.write_snapshot(HOUSE, "sum-a", "sum.1", Snapshot(version, version, b"x"))
        await store.write_snapshot(HOUSE, "sum-b", "sum.1", Snapshot(200, 200, b"x"))

    sparse = [SNAPSHOT_EVERY, SNAPSHOTS_APART, 2 * SNAPSHOTS_APART]
    assert await kept(store, "sum-a", versions) == sparse + versions[-NEWEST_SNAPSHOTS:]
    assert await kept(store, "sum-b", versions) == [200]


async def test_both_stores_keep_the_same_ones_in_any_order(postgres: PostgresStore) -> None:
    memory, versions = MemoryStore(HOUSE), list(range(100, 45_000, 700))
    Random(7).shuffle(versions)
    for version in versions:
        snapshot = Snapshot(version, version, b"x")
        for store in (memory, postgres):
            await store.write_snapshot(HOUSE, "sum-a", "sum.1", snapshot)
        held = await kept(memory, "sum-a", sorted(versions))
        assert await kept(postgres, "sum-a", sorted(versions)) == held


async def kept(store: EventStore, stream: str, versions: list[int]) -> list[int]:
    """The versions of the snapshots there are, of those that may be."""
    found = set[int]()
    newest = await store.read_snapshot(HOUSE, stream, "sum.1", versions[-1])
    while newest:
        found.add(newest.version)
        newest = await store.read_snapshot(HOUSE, stream, "sum.1", newest.version - 1)
    return sorted(found)


def rows_read(database: Database) -> int:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        row = owner.execute(ROWS_READ).fetchone()
        return int(row[0]) if row else 0
