"""Following a log: page after page, and then whatever comes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

from shared.eventstore.chain import GENESIS, verify_chain
from shared.eventstore.rejections import Archived
from shared.eventstore.store import EventStore, Recorded

Wake: TypeAlias = Callable[[int, float], Awaitable[object]]
"""`wake(after, timeout_seconds)` returns when there may be a position > `after`, or in time."""


async def poll(after: int, timeout_seconds: float) -> None:
    """The wake-up without anything to wake us: look again when the time is over."""
    await asyncio.sleep(timeout_seconds)


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
        records = await store.read_log(house, position, page)
        if records:
            position, chain = verify_chain(records, position, chain)
            woken = False
            yield records
        else:
            # Woken for nothing: whoever woke us knows another log, so do not believe it again.
            await (poll if woken else wake)(position, look_again_seconds)
            woken = not woken


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
