"""States of streams: from the cache, else from a snapshot, else from the beginning."""

import asyncio
import logging
from collections import OrderedDict
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from shared.eventstore.codec import Codec
from shared.eventstore.store import EventStore, Snapshot
from shared.eventstore.subscription import pages
from shared.kernel.decider import Decider

State = TypeVar("State")

SNAPSHOT_EVERY = 200
"""Events between two snapshots of a stream: keeps the longest load near a millisecond."""

_MOST_SNAPSHOTS_AT_ONCE = 4

_log = logging.getLogger(__name__)


class Loaded(Struct, Generic[State], frozen=True):
    """The state of a stream at a version; `position` is that of its last event, 0 before it."""

    state: State
    version: int
    position: int


class Loader(Generic[State]):
    """Loads states and remembers the newest of the streams that were used last."""

    def __init__(
        self,
        store: EventStore,
        codec: Codec,
        decider: Decider[State, Any],
        *,
        cache_size: int = 20_000,
    ) -> None:
        self._store = store
        self._codec = codec
        self._decider = decider
        self._cache_size = cache_size
        self._cache: OrderedDict[tuple[str, str], Loaded[State]] = OrderedDict()
        self._writing: set[asyncio.Task[None]] = set()

    async def load(
        self, house: str, stream: str, at_version: int | None = None, *, fresh: bool = False
    ) -> Loaded[State]:
        """The state now, or at a version (the newest when there is no such version yet).

        A remembered state may be behind what another process appended. That is safe before an
        append, which checks the version; `fresh` reads on to the end of the stream in any case.
        """
        known = self._cache.get((house, stream))
        if known and (known.version == at_version or (at_version is None and not fresh)):
            self._cache.move_to_end((house, stream))
            return known
        if not known or (at_version is not None and at_version < known.version):
            known = await self._snapshot(house, stream, at_version)
        loaded = await self._read_on(house, stream, known, at_version)
        if at_version is None:
            self._keep_snapshot(house, stream, known.version, loaded)
            self._keep(house, stream, loaded)
        return loaded

    async def keep(self, house: str, stream: str, at_version: int) -> None:
        """Write a snapshot of the state at a version, and return when it is there."""
        await self._write(house, stream, await self.load(house, stream, at_version))

    def remember(self, house: str, stream: str, loaded: Loaded[State]) -> None:
        """Keep the state after an append that was accepted."""
        known = self._cache.get((house, stream))
        if known:
            self._keep_snapshot(house, stream, known.version, loaded)
        self._keep(house, stream, loaded)

    async def settle(self) -> None:
        """Wait for the snapshots that are being written."""
        await asyncio.gather(*self._writing)

    def _keep(self, house: str, stream: str, loaded: Loaded[State]) -> None:
        known = self._cache.get((house, stream))
        if known and known.version > loaded.version:
            return
        self._cache[house, stream] = loaded
        self._cache.move_to_end((house, stream))
        if len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)

    async def _snapshot(self, house: str, stream: str, at_version: int | None) -> Loaded[State]:
        decider = self._decider
        found = await self._store.read_snapshot(house, stream, decider.format, at_version)
        if found:
            try:
                state = msgspec.msgpack.decode(found.state, type=decider.state_type)
                return Loaded(state, found.version, found.position)
            except msgspec.DecodeError:
                _log.warning("The snapshot of %s at %s is unreadable.", stream, found.version)
        return Loaded(decider.initial(stream), 0, 0)

    async def _read_on(
        self, house: str, stream: str, known: Loaded[State], at_version: int | None
    ) -> Loaded[State]:
        state, version, position = known.state, known.version, known.position
        told, evolve = self._codec.told, self._decider.evolve
        read = partial(self._store.stream_facts, house, stream)
        async for page in pages(read, version, at_version):
            for record in page:
                state = evolve(state, *told(record))
            version, position = page[-1].version, page[-1].position
        return Loaded(state, version, position)

    def _keep_snapshot(self, house: str, stream: str, before: int, loaded: Loaded[State]) -> None:
        """Write one in the background when a multiple of SNAPSHOT_EVERY was passed."""
        passed = before // SNAPSHOT_EVERY < loaded.version // SNAPSHOT_EVERY
        if passed and len(self._writing) < _MOST_SNAPSHOTS_AT_ONCE:
            task = asyncio.create_task(self._write_snapshot(house, stream, loaded))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    async def _write_snapshot(self, house: str, stream: str, loaded: Loaded[State]) -> None:
        try:
            await self._write(house, stream, loaded)
        except Exception as error:  # a snapshot only spares time
            _log.warning("No snapshot of %s at %s: %s", stream, loaded.version, error)

    async def _write(self, house: str, stream: str, loaded: Loaded[State]) -> None:
        state = msgspec.msgpack.encode(loaded.state)
        snapshot = Snapshot(loaded.version, loaded.position, state)
        await self._store.write_snapshot(house, stream, self._decider.format, snapshot)
