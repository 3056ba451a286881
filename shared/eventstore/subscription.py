"""Reading a log page after page, and following it to whatever comes; from which place on."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import TypeAlias, TypeVar

from shared.eventstore.chain import GENESIS, verify_chain
from shared.eventstore.rejections import Archived
from shared.eventstore.store import EventStore, Fact, Recorded

Wake: TypeAlias = Callable[[int, float], Awaitable[bool]]
"""`wake(after, timeout_seconds)`: True when there may be a position > `after`, False in time."""

Page = TypeVar("Page", bound=Sequence[Fact])

Read: TypeAlias = Callable[[int, int], Awaitable[Page]]
"""`read(after, limit)`: what comes next after a place, such as `read_log` of a house."""


async def pages(
    read: Read[Page], after: int, until: int | None = None, *, size: int = 1000
) -> AsyncGenerator[Page, None]:
    """What there is now after a place, up to another if there is one, in pages of `size` records.

    While a full page is looked at, the database is already at work on the next.
    """
    limit = size if until is None else min(size, until - after)
    if limit <= 0:
        return
    page = await read(after, limit)
    while page:
        after += len(page)
        is_full = len(page) >= limit
        limit = size if until is None else min(size, until - after)
        if not is_full or limit <= 0:
            yield page
            return
        ahead = asyncio.ensure_future(read(after, limit))
        try:
            await asyncio.sleep(0)  # The statement is sent before the page keeps this thread busy.
            yield page
            page = await ahead
        finally:
            ahead.cancel()


async def poll(after: int, timeout_seconds: float) -> bool:
    """The wake-up without anything to wake us: look again when the time is over."""
    await asyncio.sleep(timeout_seconds)
    return False


async def follow(
    store: EventStore,
    house: str,
    after: int = 0,
    *,
    wake: Wake = poll,
    look_again_seconds: float = 1.0,
    page: int = 1000,
) -> AsyncIterator[list[Recorded]]:
    """Every event of a house with position > `after`, in order, each once, for ever.

    Every page is checked to continue the one before, in position and hash chain: raises
    ChainBroken rather than skip an event, Archived where events were taken out. Leave it by
    `break` or by cancellation.
    """
    position, chain = after, await _chain_at(store, house, after)
    woken = False
    while True:
        before = position
        async with aclosing(pages(partial(store.read_log, house), position, size=page)) as present:
            async for records in present:
                position, chain = verify_chain(records, position, chain)
                woken = False
                yield records
        if position == before:
            # Woken for nothing: whoever woke us knows another log, so do not believe it again.
            woken = await (poll if woken else wake)(position, look_again_seconds)


async def version_at(store: EventStore, house: str, stream: str, position: int) -> int:
    """The version a stream had when its log had come to a position; 0 before its first event.

    One read when the event there is the stream's own, as it is for whoever resumes after one.
    Else the place is found by doubling and halving: some 40 reads by key for a million events.
    Raises Archived.
    """
    try:
        for record in await store.read_log(house, max(position, 1) - 1, 1):
            if record.position == position and record.stream == stream:
                return record.version
    except Archived as archived:
        if archived.facts["last_position"] != position:
            raise

    async def is_later(version: int) -> bool:
        try:
            found = await store.read_stream(house, stream, version - 1, 1)
        except Archived:  # What was taken out came before all that is here.
            return False
        return not found or found[0].position > position

    later = 1
    while not await is_later(later):
        later *= 2
    version = later // 2
    while later - version > 1:
        between = (version + later) // 2
        if await is_later(between):
            later = between
        else:
            version = between
    return version


async def _chain_at(store: EventStore, house: str, position: int) -> bytes:
    if position == 0:
        return GENESIS
    try:
        for record in await store.read_log(house, position - 1, 1):
            return record.chain
    except Archived as archived:
        if archived.facts["last_position"] != position:
            raise
        return archived.chain
    raise ValueError(f"The log of {house} ends before position {position}.")
