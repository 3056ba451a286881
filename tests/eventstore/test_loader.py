"""States from the cache, a snapshot, or the log: always the same state."""

import pytest
from msgspec import Struct

from shared.eventstore.codec import Codec
from shared.eventstore.loader import SNAPSHOT_EVERY, Loaded, Loader
from shared.eventstore.memory import MemoryStore
from shared.eventstore.store import Append, EventStore, Recorded, Snapshot
from shared.kernel.decider import Decider
from shared.kernel.moments import milliseconds
from tests.eventstore.appends import HOUSE, NOW


class Added(Struct, frozen=True):
    number: int


class Sum(Struct, frozen=True):
    stream: str
    total: int = 0
    last: int = 0
    """When a number was added last, in milliseconds since the epoch."""


CODEC = Codec({"test.added": (1, Added)})
SUMS: Decider[Sum, Added] = Decider(
    initial=Sum,
    evolve=lambda state, event, at: Sum(state.stream, state.total + event.number, at),
    state_type=Sum,
    format="sum.1",
)


class Counting(MemoryStore):
    """Tells how many events were read, and may refuse snapshots."""

    events_read = 0
    snapshots_fail = False

    async def read_stream(
        self, house: str, stream: str, after: int = 0, limit: int = 1000
    ) -> list[Recorded]:
        page = await super().read_stream(house, stream, after, limit)
        self.events_read += len(page)
        return page

    async def write_snapshot(
        self, house: str, stream: str, format: str, snapshot: Snapshot
    ) -> None:
        if self.snapshots_fail:
            raise OSError("disk full")
        await super().write_snapshot(house, stream, format, snapshot)


async def test_a_stream_never_written_is_at_its_beginning(store: EventStore) -> None:
    assert await Loader(store, CODEC, SUMS).load(HOUSE, "sum-a") == Loaded(Sum("sum-a"), 0, 0)


async def test_a_state_is_the_fold_of_its_events(store: EventStore) -> None:
    await add(store, "sum-b", 1)
    await add(store, "sum-a", 2500)

    loaded = await Loader(store, CODEC, SUMS).load(HOUSE, "sum-a")

    assert loaded == Loaded(Sum("sum-a", total(2500), milliseconds(NOW)), 2500, 2501)


@pytest.mark.parametrize("version", [0, 1, 199, 200, 201, 399, 400, 450])
async def test_any_past_version_from_whatever_is_near(store: EventStore, version: int) -> None:
    await add(store, "sum-a", 450)
    loader = Loader(store, CODEC, SUMS)
    for at in (200, 400):
        await keep_snapshot(store, at)

    loaded = await loader.load(HOUSE, "sum-a", at_version=version)

    last = milliseconds(NOW) if version else 0
    assert loaded == Loaded(Sum("sum-a", total(version), last), version, version)
    assert (await loader.load(HOUSE, "sum-a")).version == 450


async def test_a_version_not_yet_there_gives_the_newest(store: EventStore) -> None:
    await add(store, "sum-a", 3)

    assert (await Loader(store, CODEC, SUMS).load(HOUSE, "sum-a", at_version=9)).version == 3


async def test_what_is_remembered_is_not_read_again() -> None:
    store = Counting(HOUSE)
    loader = Loader(store, CODEC, SUMS)
    await add(store, "sum-a", 5)
    await loader.load(HOUSE, "sum-a")
    await add(store, "sum-a", 2)

    assert (await loader.load(HOUSE, "sum-a")).version == 5
    assert (await loader.load(HOUSE, "sum-a", fresh=True)).version == 7
    assert (await loader.load(HOUSE, "sum-a")).version == 7
    assert store.events_read == 7


async def test_after_an_append_its_state_is_remembered() -> None:
    store = Counting(HOUSE)
    loader = Loader(store, CODEC, SUMS)
    await add(store, "sum-a", 1)
    loader.remember(HOUSE, "sum-a", Loaded(Sum("sum-a", 1), 1, 1))
    loader.remember(HOUSE, "sum-a", Loaded(Sum("sum-a", 0), 0, 0))

    assert (await loader.load(HOUSE, "sum-a")).version == 1
    assert store.events_read == 0


async def test_the_cache_forgets_what_was_not_used_for_longest() -> None:
    store = Counting(HOUSE)
    loader = Loader(store, CODEC, SUMS, cache_size=2)
    for stream in ("sum-a", "sum-b", "sum-c"):
        await add(store, stream, 1)
    for stream in ("sum-a", "sum-b", "sum-a", "sum-c", "sum-a"):
        await loader.load(HOUSE, stream)
    assert store.events_read == 3

    await loader.load(HOUSE, "sum-b")
    assert store.events_read == 4


async def test_a_snapshot_spares_the_way_from_the_beginning() -> None:
    store = Counting(HOUSE)
    await add(store, "sum-a", SNAPSHOT_EVERY + 3)
    first = Loader(store, CODEC, SUMS)
    await first.load(HOUSE, "sum-a")
    await first.settle()
    store.events_read = 0
    await add(store, "sum-a", 2)

    loaded = await Loader(store, CODEC, SUMS).load(HOUSE, "sum-a")

    assert loaded.state.total == total(SNAPSHOT_EVERY + 3) + total(2)
    assert store.events_read == 2


async def test_a_snapshot_is_written_when_appends_pass_a_multiple() -> None:
    store = MemoryStore(HOUSE)
    loader = Loader(store, CODEC, SUMS)
    for version in (SNAPSHOT_EVERY - 1, SNAPSHOT_EVERY + 1, SNAPSHOT_EVERY + 2):
        loader.remember(HOUSE, "sum-a", Loaded(Sum("sum-a", 7), version, version))
    await loader.settle()

    found = await store.read_snapshot(HOUSE, "sum-a", "sum.1")

    assert found
    assert found.version == SNAPSHOT_EVERY + 1


@pytest.mark.parametrize("state", [b"", b"rubbish", b"\x90"])
async def test_an_unreadable_snapshot_is_no_harm(store: EventStore, state: bytes) -> None:
    await add(store, "sum-a", 10)
    await store.write_snapshot(HOUSE, "sum-a", "sum.1", Snapshot(5, 5, state))

    assert (await Loader(store, CODEC, SUMS).load(HOUSE, "sum-a")).state.total == total(10)


async def test_a_snapshot_of_another_format_is_ignored(store: EventStore) -> None:
    await add(store, "sum-a", 10)
    await store.write_snapshot(HOUSE, "sum-a", "sum.0", Snapshot(5, 5, b"\x81\xa1x\x01"))

    assert (await Loader(store, CODEC, SUMS).load(HOUSE, "sum-a")).state.total == total(10)


async def test_a_snapshot_that_cannot_be_written_is_no_harm() -> None:
    store = Counting(HOUSE)
    store.snapshots_fail = True
    await add(store, "sum-a", SNAPSHOT_EVERY)
    loader = Loader(store, CODEC, SUMS)

    assert (await loader.load(HOUSE, "sum-a")).version == SNAPSHOT_EVERY
    await loader.settle()


async def keep_snapshot(store: EventStore, version: int) -> None:
    """As a loader does on its way."""
    writer = Loader(store, CODEC, SUMS)
    past = await writer.load(HOUSE, "sum-a", at_version=version)
    writer.remember(HOUSE, "sum-a", Loaded(Sum("sum-a"), version - 1, 0))
    writer.remember(HOUSE, "sum-a", past)
    await writer.settle()


async def add(store: EventStore, stream: str, events: int) -> None:
    """Add 1, 2, 3, … to a stream."""
    command_id = f"{stream} after {(await store.head(HOUSE)).position}"
    sealed = CODEC.seal(
        [(stream, Added(number), ()) for number in range(1, events + 1)],
        house=HOUSE,
        command_id=command_id,
        command=None,
        actor="test",
        time=NOW,
    )
    await store.append_batch(HOUSE, [Append(command_id, b"", stream, None, sealed)])


def total(events: int) -> int:
    return events * (events + 1) // 2
