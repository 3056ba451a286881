"""The background process: what has to be done beside serving, until it is told to stop."""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Final, TypeAlias

from redis.asyncio import Redis

from services.audit.projections import ALL as VIEWS_OF_THE_AUDITOR
from services.blackjack.application.clocks import Clocks
from services.blackjack.application.computers import (
    BestTables,
    Computers,
    announced_to,
    calls_of,
)
from services.blackjack.application.odds import OddsDesk
from services.blackjack.application.plays import Plays
from services.blackjack.application.shoes import Shoes
from services.blackjack.application.tables import Tables
from services.blackjack.domain.events import REGISTRY as BLACKJACK_EVENTS
from services.blackjack.projections import ALL as VIEWS_OF_PLAY
from services.blackjack.projections.curves import Curves
from services.blackjack.projections.monitor import Monitor
from services.ledger.application import REGISTRY as LEDGER_EVENTS
from services.ledger.projections import Books
from services.settings import Settings
from shared import spans
from shared.eventstore.batcher import Batcher
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.codec import Codec
from shared.eventstore.partitions import keep_ahead
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.projection import Pages, Projector
from shared.eventstore.replica import ReplicaStore
from shared.eventstore.wakeups import Wakeups
from shared.seals.sealing import Policy, Sealer
from shared.seals.shelf import Directory
from shared.telemetry import observe_lateness, show_imbalance, shown_on

Duty: TypeAlias = Callable[[], Awaitable[float]]
"""Does what is to be done now, and says for how many seconds there will be nothing more."""

VIEWS: Final = (*VIEWS_OF_PLAY, *VIEWS_OF_THE_AUDITOR)
"""All that follow the log. One page of it serves them all."""

_LOOK_AGAIN_SECONDS: Final = 0.05
_CLOCK_SECONDS: Final = 0.1
"""How late a clock may be fired when there is nothing else to do."""

_ROOM_SECONDS: Final = 60.0
"""How often we look for the next partition: filling one takes a quarter of an hour at best."""

_SEAL_SECONDS: Final = 0.25
"""How often we look whether a log is to be sealed."""

_RETURNS_SECONDS: Final = 60.0
"""How often returns are held against the odds: a round more or less changes little."""

_LEDGER_SECONDS: Final = 60.0
"""How often ledgers are added up, if that is quick."""

_TROUBLE_SECONDS: Final = 1.0
"""How long a duty that failed is left alone."""

_log = logging.getLogger(__name__)


class Worker:
    """Attends to its duties side by side; any number of workers may share one database.

    A duty that fails is tried again and holds up no other. After `stop()` each finishes what it
    is doing, but for `looks`, which record nothing and are broken off: the odds of all games take
    seconds. Then what was recorded is flushed, and the connections are closed.
    """

    def __init__(self, settings: Settings) -> None:
        codec = Codec.of(Codec(BLACKJACK_EVENTS), Codec(LEDGER_EVENTS))
        self.settings = settings
        self.store = PostgresStore(settings.database_url)
        self.redis = Redis.from_url(settings.redis_url) if settings.redis_url else None
        self.wakeups = Wakeups(self.redis)
        self.batcher = Batcher(self.store, on_appended=self.wakeups.announce)
        ring = {key.id: key.key for key in settings.seed_keys}
        shoes = Shoes(ring, settings.seed_keys[0].id, secrets.token_bytes)
        ask = announced_to(self.wakeups)
        self.tables = Tables(self.store, self.batcher, codec, shoes, _now, ask)
        pages = Pages(self.store, Plays(self.store, codec).open)
        self.projector = Projector(pages, VIEWS)
        self.odds = OddsDesk()
        computers = Computers(self.tables, BestTables.from_desk(self.odds), _now)
        self.clocks = Clocks(self.store, self.tables, computers, _now, observe_lateness)
        curves = Curves(self.store.readers, Checkpoints(self.store.readers))
        self.monitor = Monitor(curves, self.tables.rulesets, self.odds.returns)
        self.reads = ReplicaStore(self.store, settings.replica_url)
        self.books = Books(self.reads)
        self.duties: dict[str, Duty] = {"clocks": self._fire, "projections": self._project}
        self.looks: dict[str, Duty] = {"returns": self._monitor, "ledger": self._balance}
        if settings.migration_url:
            self.duties["partitions"] = partial(_make_room, settings.migration_url)
        if settings.seals and settings.seal_key:
            policy = Policy(settings.seal_origin, settings.seal_events, settings.seal_seconds)
            sealer = Sealer(self.store, Directory(settings.seals), settings.seal_key, policy)
            self.duties["seals"] = partial(_seal, sealer)
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Returns after `stop()`, when everything is put away."""
        async with AsyncExitStack() as stack:
            if port := self.settings.metrics_port:
                stack.enter_context(shown_on(self.settings.host, port))
            if self.redis:
                stack.push_async_callback(self.redis.aclose)
            await stack.enter_async_context(self.store)
            await stack.enter_async_context(self.reads)
            await stack.enter_async_context(self.wakeups)
            await stack.enter_async_context(self.batcher)
            await stack.enter_async_context(self.projector)
            stack.push_async_callback(self.odds.close)
            async with asyncio.TaskGroup() as attending:
                for name, duty in self.duties.items():
                    attending.create_task(self._attend(name, duty))
                looking = [
                    attending.create_task(self._attend(name, look))
                    for name, look in self.looks.items()
                ]
                await self._stopping.wait()
                for task in looking:
                    task.cancel()
            await self.tables.reading.loader.settle()

    def stop(self) -> None:
        """Begin nothing more."""
        self._stopping.set()

    async def houses(self) -> list[str]:
        """Every house whose log is open."""
        async with self.store.readers.connection() as connection:
            rows = await connection.execute("SELECT house FROM log_head ORDER BY house")
            return [house for (house,) in await rows.fetchall()]

    async def _fire(self) -> float:
        """Says that time is out wherever it is, in all houses, and plays for the computers.

        Those are not kept waiting: whoever asks one of them wakes us.
        """
        houses = await self.houses()
        heard = self.wakeups.newest(map(calls_of, houses))
        due = await self.store.houses_due(_now())
        fired = [await self.clocks.fire_due(house) for house in due]
        if not any(fired):
            await self.wakeups.wait_for_any(heard, _CLOCK_SECONDS)
        return 0.0

    async def _project(self) -> float:
        """Looks often rather than waits to be woken: what came meanwhile makes a page together."""
        return 0.0 if await self.projector.advance() else _LOOK_AGAIN_SECONDS

    async def _monitor(self) -> float:
        """Holds what was played against the odds."""
        with spans.span("look at returns"):
            await self.monitor.look(await self.houses())
        return _RETURNS_SECONDS

    async def _balance(self) -> float:
        """Adds up every account of every house, a tenth of the time at most."""
        began = monotonic()
        with spans.span("add up ledgers"):
            off = [abs(await self.books.imbalance(house)) for house in await self.houses()]
        show_imbalance(sum(off))
        return max(_LEDGER_SECONDS, 9 * (monotonic() - began))

    async def _attend(self, name: str, duty: Duty) -> None:
        while not self._stopping.is_set():
            try:
                pause = await duty()
            except Exception as error:
                _log.warning("The duty %r failed and is tried again: %r", name, error)
                pause = _TROUBLE_SECONDS
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)


async def _seal(sealer: Sealer) -> float:
    return 0.0 if await sealer.seal_due() else _SEAL_SECONDS


async def _make_room(owner_url: str) -> float:
    """Makes partitions ahead, as the role that may; without it `croupier partitions ahead` does."""
    made = await asyncio.to_thread(keep_ahead, owner_url)
    if made:
        _log.info("Made %s.", ", ".join(partition.name for partition in made))
    return _ROOM_SECONDS


def _now() -> datetime:
    return datetime.now(UTC)
