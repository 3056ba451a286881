"""Processes beside each other in one test: each with connections, caches and clocks of its own."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from secrets import token_bytes

from msgspec import json

from services.blackjack.application.clocks import Clocks
from services.blackjack.application.computers import BestTables, Computers
from services.blackjack.application.reading import table_stream
from services.blackjack.application.shoes import Shoes
from services.blackjack.application.tables import Tables
from services.blackjack.domain.commands import AnyCommand
from services.blackjack.domain.events import REGISTRY
from services.blackjack.domain.table import Table
from services.blackjack.odds.figures import Strategy
from services.blackjack.odds.game import Game
from services.blackjack.players.basic import BASIC
from services.ledger.application import REGISTRY as LEDGER_EVENTS
from shared.eventstore.batcher import Batcher
from shared.eventstore.cause import Cause
from shared.eventstore.codec import Codec
from shared.eventstore.postgres import PostgresStore
from tests.conftest import Database
from tests.eventstore.appends import HOUSE, NOW

CODEC = Codec.of(Codec(REGISTRY), Codec(LEDGER_EVENTS))
KEY = token_bytes(32)


@dataclass
class Clock:
    """Time that passes when a test says so."""

    now: datetime = field(default_factory=lambda: NOW)

    def __call__(self) -> datetime:
        return self.now

    def goes_on(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class AtOnce(BestTables):
    """No test waits for a computation: everybody plays basic strategy."""

    def __init__(self) -> None:
        pass

    def of(self, game: Game) -> Strategy | None:
        return BASIC


@dataclass
class Process:
    """Tables, computer players and clocks over connections of their own.

    `late` has by how much each clock was late.
    """

    store: PostgresStore
    tables: Tables
    computers: Computers
    clocks: Clocks
    late: list[timedelta]
    _commands: Iterator[int]

    async def play(self, table: str, command: AnyCommand) -> Table:
        """A command that has to be accepted, and the table after it."""
        cause = Cause(house=HOUSE, actor="key/test", id=f"{table}-{next(self._commands)}")
        await self.tables.play(cause, table, command)
        return await self.state(table)

    async def state(self, table: str) -> Table:
        loaded = await self.tables.reading.loader.load(HOUSE, table_stream(table), fresh=True)
        assert loaded.state is not None
        return loaded.state


@asynccontextmanager
async def a_process(
    database: Database,
    clock: Callable[[], datetime],
    commands: Iterator[int],
    best: BestTables | None = None,
) -> AsyncIterator[Process]:
    async with PostgresStore(database.app_url) as store, Batcher(store) as batcher:
        late: list[timedelta] = []
        tables = Tables(store, batcher, CODEC, Shoes({"k": KEY}, "k", token_bytes), clock)
        computers = Computers(tables, best or AtOnce(), clock)
        clocks = Clocks(store, tables, computers, clock, late.append)
        yield Process(store, tables, computers, clocks, late, commands)


@dataclass(frozen=True)
class Told:
    """A command as the log has it."""

    table: str
    actor: str
    type: str
    turn: str | None


async def told(process: Process) -> list[Told]:
    """Every command in the log, in order."""
    commands, after = [], 0
    while page := await process.store.read_log(HOUSE, after):
        after = page[-1].position
        for record in page:
            envelope = CODEC.envelope(record)
            if envelope.command:
                command = json.decode(envelope.command)
                table = record.stream.removeprefix("table-")
                commands.append(Told(table, envelope.actor, command["type"], command.get("turn")))
    return commands
