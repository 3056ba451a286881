"""A world in one thread: the service's own application over the log in memory.

Its time and chance are given, so that equal seeds give equal logs, byte for byte. Processes are
applications over one store; a killed one loses its caches, its connections and what it was asked.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import httpx
from fastapi import FastAPI

from services.blackjack.api import commands as play_api
from services.blackjack.api import tables as tables_api
from services.blackjack.application.clocks import Clocks
from services.blackjack.application.computers import BestTables, Computers
from services.blackjack.application.odds import OddsDesk
from services.blackjack.application.shoes import Shoes
from services.blackjack.application.tables import Tables
from services.blackjack.domain.events import REGISTRY as BLACKJACK_EVENTS
from services.ledger import api as ledger_api
from services.ledger.application import REGISTRY as LEDGER_EVENTS
from services.ledger.application import Ledger
from shared.eventstore.batcher import Batcher
from shared.eventstore.codec import Codec
from shared.eventstore.memory import MemoryStore
from shared.eventstore.rejections import Unreachable
from shared.http import feed, parameters, problems
from shared.http.auth import Caller, Unauthenticated
from shared.http.front import Front
from shared.http.keys import SCOPES
from shared.http.limits import Limits
from tests.simulation.plan import Fault, Plan
from tests.simulation.world import Answer, Gone, Request

HOUSE = "simulated"
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
TRAVEL_SECONDS, SLOW_SECONDS = 0.002, 0.2
"""At most, one way between a process and the store."""

MOST_UNDER_WAY = 20
"""Commands at once in one process, so few that some are told to come again."""

WORKER_SECONDS = 0.1
"""Between two looks for clocks that have run out."""

_CODEC = Codec.of(Codec(BLACKJACK_EVENTS), Codec(LEDGER_EVENTS))
_KEY = b"Bearer the only one"


class MemoryWorld:
    """See World. Runs in a TimelessLoop."""

    def __init__(self, plan: Plan) -> None:
        self._store = MemoryStore(HOUSE)
        self._chance = Random(f"world/{plan.seed}")
        self._processes = [Process(self._store, skew, self._chance) for skew in plan.skews]
        self.processes = len(self._processes)

    async def __aenter__(self) -> "MemoryWorld":
        for process in self._processes:
            await process.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        for process in self._processes:
            await process.stop()

    async def ask(self, process: int, request: Request) -> Answer:
        return await self._processes[process].ask(request)

    async def news(self, process: int, table: str, version: int) -> None:
        await asyncio.sleep(self._chance.uniform(0.01, 0.2))

    async def hurt(self, fault: Fault, over: Callable[[], Awaitable[None]]) -> None:
        process = self._processes[fault.process]
        match fault.kind:
            case "kill":
                await process.kill()
            case "terminate":
                process.link.break_off()
            case "cut":
                process.link.cut = True
                await over()
                process.link.cut = False
            case "slow":
                process.link.travel_seconds = SLOW_SECONDS
                await over()
                process.link.travel_seconds = TRAVEL_SECONDS
            case "restart":
                await self._restart()

    async def _restart(self) -> None:
        """The store is away for everybody. Nobody is answered: only time can mend it."""
        for process in self._processes:
            process.link.away = True
        await asyncio.sleep(self._chance.uniform(0.1, 8))
        for process in self._processes:
            process.link.away = False

    async def log(self) -> list[bytes]:
        feeds = feed.Feeds(self._store, _no_news)
        return [line async for chunk in await feeds.lines(HOUSE, 0) for line in chunk.splitlines()]

    async def balances(self) -> dict[str, int]:
        lines = [
            line
            for record in await self._store.read_log(HOUSE, limit=10**9)
            for line in _CODEC.envelope(record).postings
        ]
        accounts = sorted({line.account for line in lines})
        return {account: await self._store.balance(HOUSE, account) for account in accounts}

    async def amiss(self) -> list[str]:
        """Nothing is kept but the log and the balances."""
        return []


class Link:
    """The way from a process to the store: it takes time, and may break before or after the store
    has done what it was asked. What is on its way there arrives."""

    def __init__(self, store: MemoryStore, chance: Random) -> None:
        self._store, self._chance = store, chance
        self.travel_seconds = TRAVEL_SECONDS
        self.cut = self.away = False
        self._breaks = 0

    def break_off(self) -> None:
        """No answer that is on its way arrives; what is asked next is answered again."""
        self._breaks += 1

    def __getattr__(self, name: str) -> Any:
        """Every method of the store, from afar."""
        method = getattr(self._store, name)

        async def from_afar(*args: Any, **named: Any) -> Any:
            breaks = self._breaks
            self._must_hold(breaks)
            await self._travel()
            answer = await method(*args, **named)
            await self._travel()
            self._must_hold(breaks)
            return answer

        return from_afar

    def _must_hold(self, breaks: int) -> None:
        if self.cut or self.away or breaks != self._breaks:
            raise Unreachable("The connection to the store is broken.")

    async def _travel(self) -> None:
        await asyncio.sleep(self.travel_seconds * self._chance.random())


class Process:
    """An application with a clock that is off by some seconds, and a worker beside it."""

    def __init__(self, store: MemoryStore, skew_seconds: float, chance: Random) -> None:
        self._store, self._skew, self._chance = store, timedelta(seconds=skew_seconds), chance
        self.link: Any = None
        self._asked: dict[int, asyncio.Task[httpx.Response]] = {}
        self._count = 0

    async def start(self) -> None:
        self.link = Link(self._store, self._chance)
        self._batcher = Batcher(self.link)
        shoes = Shoes({"simulated": bytes(32)}, "simulated", self._chance.randbytes)
        tables = Tables(self.link, self._batcher, _CODEC, shoes, self._clock)
        ledger = Ledger(self._batcher, _CODEC, self._clock)
        self._http = httpx.AsyncClient(
            transport=httpx.ASGITransport(app(self.link, tables, ledger)),
            base_url="http://croupier",
            headers={b"Authorization": _KEY},
        )
        best = BestTables.from_desk(OddsDesk())
        computers = Computers(tables, best, self._clock)
        clocks = Clocks(self.link, tables, computers, self._clock, lambda lateness: None)
        await self._batcher.__aenter__()
        self._working = asyncio.create_task(_work(clocks))

    async def stop(self) -> None:
        self._working.cancel()
        await self._batcher.__aexit__()

    async def kill(self) -> None:
        """Whoever waits for an answer never gets it; a new process takes the address."""
        self.link.cut = True
        for task in list(self._asked.values()):
            task.cancel()
        dying = self.stop()
        await self.start()
        await dying

    async def ask(self, request: Request) -> Answer:
        self._count += 1
        number, task = self._count, asyncio.ensure_future(self._request(request))
        self._asked[number] = task
        await asyncio.wait({task})
        del self._asked[number]
        if task.cancelled():
            raise Gone
        answer = task.result()
        return Answer(answer.status_code, dict(answer.headers), answer.content)

    async def _request(self, request: Request) -> httpx.Response:
        method, path, headers = request.method, request.path, request.headers
        return await self._http.request(method, path, content=request.body, headers=headers)

    def _clock(self) -> datetime:
        return BEGINNING + timedelta(seconds=asyncio.get_running_loop().time()) + self._skew


async def _work(clocks: Clocks) -> None:
    """As the worker does."""
    while True:
        with suppress(Unreachable):
            await clocks.fire_due(HOUSE)
        await asyncio.sleep(WORKER_SECONDS)


def app(store: Any, tables: Tables, ledger: Ledger) -> FastAPI:
    """What plays and grants, over any store. Lists and past rounds are questions for Postgres."""
    keys: Any = _OneKey()
    books: Any = _Books(store)
    no_views: Any = None
    app = FastAPI()
    app.state.keys = keys
    app.state.limits = limits = Limits()
    problems.install(app)
    parameters.install(app)
    app.include_router(tables_api.routes(tables, tables.reading, no_views, no_views))
    app.include_router(ledger_api.routes(books))
    entrances = *play_api.entrances(tables, MOST_UNDER_WAY), *ledger_api.entrances(ledger, books)
    app.add_middleware(Front, keys=keys, limits=limits, entrances=entrances)
    return app


class _OneKey:
    async def authenticate(self, authorization: bytes | None, _: object) -> Caller:
        if authorization != _KEY:
            raise Unauthenticated("This key is unknown, expired or revoked.")
        return Caller(HOUSE, "key/simulation", frozenset(SCOPES))


class _Books:
    """The one question of the ledger that a grant's answer asks."""

    def __init__(self, store: Any) -> None:
        self._store = store

    async def balance_at(self, house: str, account: str, position: int) -> int:
        return sum(
            line.amount
            for record in await self._store.read_log(house, limit=position)
            for line in _CODEC.envelope(record).postings
            if line.account == account
        )


async def _no_news(house: str, after: int, seconds: float) -> bool:
    """Nobody waits for news here."""
    return False
