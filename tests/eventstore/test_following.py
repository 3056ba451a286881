"""Following a log, and being woken when it grows."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing

import pytest
from msgspec import structs
from redis.asyncio import Redis

from shared.eventstore.chain import ChainBroken
from shared.eventstore.memory import MemoryStore
from shared.eventstore.store import EventStore, Fact, Recorded
from shared.eventstore.subscription import follow, pages, version_at
from shared.eventstore.wakeups import Wakeups
from shared.local.process import until
from tests.eventstore.appends import HOUSE, a_command, an_event

AN_HOUR = 3600.0


class Spoiled(MemoryStore):
    """A store in memory whose third record is spoiled on its way to the reader."""

    def __init__(self, house: str, spoil: Callable[[Recorded], list[Recorded]]) -> None:
        super().__init__(house)
        self._spoil = spoil

    async def read_log(self, house: str, after: int = 0, limit: int = 1000) -> list[Recorded]:
        page = await super().read_log(house, after, limit)
        third = [self._spoil(r) if r.position == 3 else [r] for r in page]
        return [record for records in third for record in records]


async def test_a_follower_sees_what_is_there_and_what_comes(store: EventStore) -> None:
    await append(store, range(5))
    wakeups = Wakeups()
    async with asyncio.timeout(10):
        following = asyncio.create_task(positions(store, wakeups, until=8))
        await append(store, range(5, 8))
        wakeups.announce(HOUSE, 8)
        assert await following == [1, 2, 3, 4, 5, 6, 7, 8]


async def test_a_follower_takes_up_where_it_left(store: EventStore) -> None:
    await append(store, range(5))

    async for page in follow(store, HOUSE, after=2, page=2):
        assert [record.position for record in page] == [3, 4]
        break


@pytest.mark.parametrize(
    ("after", "until", "found", "reads"),
    [
        (0, None, [[1, 2], [3, 4], [5]], 3),
        (1, None, [[2, 3], [4, 5]], 3),
        (5, None, [], 1),
        (0, 4, [[1, 2], [3, 4]], 2),
        (0, 3, [[1, 2], [3]], 2),
        (0, 9, [[1, 2], [3, 4], [5]], 3),
        (3, 3, [], 0),
    ],
)
async def test_pages_end_where_they_shall_or_where_the_log_does(
    after: int, until: int | None, found: list[list[int]], reads: int, store: EventStore
) -> None:
    await append(store, range(5))
    asked: list[tuple[int, int]] = []

    async def read(after: int, limit: int) -> Sequence[Fact]:
        asked.append((after, limit))
        return await store.log_facts(HOUSE, after, limit)

    seen = [[fact.position for fact in page] async for page in pages(read, after, until, size=2)]

    assert seen == found
    assert len(asked) == reads


async def test_the_next_page_is_under_way_while_a_full_one_is_looked_at(store: EventStore) -> None:
    await append(store, range(3))
    asked: list[int] = []

    async def read(after: int, limit: int) -> Sequence[Fact]:
        asked.append(after)
        return await store.log_facts(HOUSE, after, limit)

    async with aclosing(pages(read, 0, size=2)) as reading:
        async for _ in reading:
            assert asked == [0, 2]
            break


async def test_a_follower_from_beyond_the_end_is_mistaken(store: EventStore) -> None:
    with pytest.raises(ValueError, match="ends before position 7"):
        await anext(follow(store, HOUSE, after=7))


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda record: [], "a gap"),
        (lambda record: [record, record], "a gap"),
        (lambda record: [structs.replace(record, envelope=b"{}")], "the envelope"),
        (lambda record: [structs.replace(record, chain=bytes(32))], "the chain"),
    ],
)
async def test_a_follower_stops_where_the_log_is_not_what_was_recorded(
    spoil: Callable[[Recorded], list[Recorded]], fault: str
) -> None:
    store = Spoiled(HOUSE, spoil)
    await append(store, range(5))
    pages = follow(store, HOUSE, page=2)
    await anext(pages)

    with pytest.raises(ChainBroken, match=rf"At position [34]: {fault}"):
        await anext(pages)


async def test_without_a_wake_up_a_follower_looks_by_itself(store: EventStore) -> None:
    pages = follow(store, HOUSE, look_again_seconds=0.001)
    first = asyncio.ensure_future(anext(pages))
    await append(store, range(1))

    async with asyncio.timeout(10):
        assert [record.position for record in await first] == [1]


async def test_wake_ups_for_another_log_are_not_believed_twice(store: EventStore) -> None:
    asked: list[int] = []

    async def liar(after: int, timeout_seconds: float) -> bool:
        asked.append(after)
        if len(asked) == 3:
            await append(store, range(1))
        return True

    async with asyncio.timeout(10):
        await anext(follow(store, HOUSE, wake=liar, look_again_seconds=0.001))
    assert asked == [0, 0, 0]


async def test_after_a_quiet_while_a_follower_still_listens_for_wake_ups(
    store: EventStore,
) -> None:
    """Only whoever woke it for nothing is not believed: time that runs out is no lie."""
    wakes = iter([False, False, False, True])

    async def quiet_at_first(after: int, timeout_seconds: float) -> bool:
        woken = next(wakes)
        if woken:
            await append(store, range(1))
        return woken

    async with asyncio.timeout(10):
        await anext(follow(store, HOUSE, wake=quiet_at_first, look_again_seconds=AN_HOUR))


@pytest.mark.parametrize("length", [0, 1, 2, 7])
async def test_the_version_of_a_stream_at_any_position_is_found(
    length: int, store: EventStore
) -> None:
    """The stream is every third event, from the second on."""
    streams = ["table-t" if n % 3 == 1 else "table-other" for n in range(length * 3)]
    for number, stream in enumerate(streams):
        await store.append_batch(HOUSE, [a_command(f"{number}", an_event(stream))])

    found = [await version_at(store, HOUSE, "table-t", at) for at in range(len(streams) + 3)]

    assert found == [streams[:at].count("table-t") for at in range(len(streams) + 3)]


async def test_waiting_ends_with_growth_or_with_time() -> None:
    wakeups = Wakeups()
    wakeups.announce(HOUSE, 4)

    assert await wakeups.wait(HOUSE, 3, AN_HOUR) is True
    assert await wakeups.wait(HOUSE, 4, 0.001) is False
    assert await wakeups.wait("elsewhere", 0, 0.001) is False

    async with asyncio.timeout(10):
        waiting = [asyncio.create_task(wakeups.wait(HOUSE, 4, AN_HOUR)) for _ in range(3)]
        await asyncio.sleep(0)
        wakeups.announce("elsewhere", 9)
        wakeups.announce(HOUSE, 5)
        assert await asyncio.gather(*waiting) == [True, True, True]


async def test_growth_is_heard_in_another_process_through_redis(valkey_url: str) -> None:
    async with (
        asyncio.timeout(10),
        Redis.from_url(valkey_url) as one,
        Redis.from_url(valkey_url) as other,
        Wakeups(one) as here,
        Wakeups(other) as there,
    ):
        position, heard = 0, False
        while not heard:  # until the other one listens
            position += 1
            here.announce(HOUSE, position)
            heard = await there.wait(HOUSE, position - 1, 0.05)
        assert there.connected


async def test_what_is_published_in_another_database_of_a_redis_is_not_of_ours(
    valkey_url: str,
) -> None:
    async with (
        asyncio.timeout(10),
        Redis.from_url(f"{valkey_url}?db=14") as other,
        Redis.from_url(f"{valkey_url}?db=15") as ours,
        Wakeups(other) as there,
        Wakeups(ours) as here,
    ):
        assert await asyncio.to_thread(until, lambda: here.connected and there.connected)
        await ours.publish("croupier:15:appended:" + HOUSE, "nonsense")
        there.announce(HOUSE, 77)
        position = 0
        while not await here.wait(HOUSE, 0, 0.05):  # until it has recovered from the nonsense
            position += 1
            await ours.publish("croupier:15:appended:" + HOUSE, position)
        assert here.newest([HOUSE])[HOUSE] <= position < 77


async def test_one_of_several_logs_is_enough_to_be_woken() -> None:
    async with asyncio.timeout(10), Wakeups() as wakeups:
        wakeups.announce("elsewhere", 3)
        known = wakeups.newest(["elsewhere", HOUSE])
        assert known == {"elsewhere": 3, HOUSE: 0}
        waiting = asyncio.create_task(wakeups.wait_for_any(known, AN_HOUR))
        await asyncio.sleep(0)
        wakeups.announce("elsewhere", 3)
        await asyncio.sleep(0)
        assert not waiting.done()
        wakeups.announce(HOUSE, 1)
        assert await waiting
        assert await wakeups.wait_for_any(known, 0), "and what came before"
        assert not await wakeups.wait_for_any(wakeups.newest([HOUSE]), 0)


async def test_whoever_leaves_while_still_connecting_gets_away(valkey_url: str) -> None:
    for moment in range(30):
        async with asyncio.timeout(10), Redis.from_url(valkey_url) as redis, Wakeups(redis):
            for _ in range(moment):
                await asyncio.sleep(0)


async def test_without_redis_nobody_who_plays_hears_of_a_fault(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Redis(host="127.0.0.1", port=1) as gone, Wakeups(gone) as wakeups:
        wakeups.announce(HOUSE, 1)
        assert await wakeups.wait(HOUSE, 0, AN_HOUR)
        assert not wakeups.connected
        assert await asyncio.to_thread(until, lambda: caplog.records != [])
        assert caplog.messages == ["Redis does not answer: news is late."]


async def append(store: EventStore, numbers: Sequence[int]) -> None:
    for number in numbers:
        await store.append_batch(HOUSE, [a_command(f"{number}", an_event("table-t"))])


async def test_leaving_is_possible_at_once(valkey_url: str) -> None:
    """Also in the middle of connecting, when the client forgets that it was cancelled."""

    async def visit(steps: int) -> None:
        async with Redis.from_url(valkey_url) as redis, Wakeups(redis):
            for _ in range(steps):
                await asyncio.sleep(0)

    for steps in range(30):
        _, there_still = await asyncio.wait([asyncio.create_task(visit(steps))], timeout=10)
        assert not there_still


async def positions(store: EventStore, wakeups: Wakeups, until: int) -> list[int]:
    async def wake(after: int, timeout_seconds: float) -> bool:
        return await wakeups.wait(HOUSE, after, timeout_seconds)

    seen: list[int] = []
    async for page in follow(store, HOUSE, wake=wake, look_again_seconds=AN_HOUR):
        seen += [record.position for record in page]
        if seen[-1] >= until:
            break
    return seen
