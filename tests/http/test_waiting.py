"""Waiting for news: however busy the house is, who waits for a quiet table costs it nothing."""

import asyncio

from shared.eventstore.store import Recorded
from shared.http.feed import Feeds
from tests.api.test_streams_at_the_edges import ELM, HOUSE, OAK, Log


class Watched(Log):
    """A log that counts how often somebody looks for the events of a stream."""

    looks = 0

    async def read_stream(
        self, house: str, stream: str, after: int = 0, limit: int = 1000
    ) -> list[Recorded]:
        self.looks += 1
        return await super().read_stream(house, stream, after, limit)


async def test_who_waits_for_a_quiet_table_does_not_look_for_what_happens_at_others() -> None:
    log = Watched()
    waiting = asyncio.create_task(Feeds(log, log.wakeups.wait).stream(HOUSE, OAK, 0, 10, 30))
    for _ in range(100):
        await log.record(ELM)
        await asyncio.sleep(0.001)
    looks = log.looks
    await log.record(OAK)

    assert [entry.stream for entry in (await waiting).data] == [OAK]
    assert looks == 2


async def test_who_was_told_of_what_is_not_there_does_not_look_for_it_again_and_again() -> None:
    """A database that was brought back ends before what was heard of it, and so does another one
    that shares a Redis."""
    log = Watched()
    log.wakeups.announce(HOUSE, 1_000_000)

    feed = await Feeds(log, log.wakeups.wait).stream(HOUSE, OAK, 0, 10, 1)

    assert (feed.data, feed.next) == ([], 0)
    assert log.looks <= 3


async def test_whoever_waits_is_answered_when_the_process_is_about_to_end() -> None:
    log = Watched()
    feeds = Feeds(log, log.wakeups.wait)
    waiting = asyncio.create_task(feeds.log(HOUSE, 0, 10, 30))
    await asyncio.sleep(0.05)
    feeds.close()

    assert (await waiting).data == []
    assert (await feeds.log(HOUSE, 0, 10, 30)).data == []
