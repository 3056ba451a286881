"""Random play in a real log, and the views of it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from random import Random
from secrets import token_bytes
from types import MappingProxyType
from typing import Any

from services.blackjack.application.plays import Moment, Plays
from services.blackjack.application.shoes import Shoes
from services.blackjack.application.tables import Tables
from services.blackjack.domain.commands import Command, Open
from services.blackjack.domain.events import REGISTRY
from services.blackjack.domain.moves import legal_moves
from services.ledger.application import REGISTRY as LEDGER_EVENTS
from services.ledger.application import Grant, Ledger
from services.worker import VIEWS
from shared.eventstore.batcher import Batcher
from shared.eventstore.cause import Cause
from shared.eventstore.codec import Codec
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.projection import Pages, Projection, Projector
from shared.eventstore.store import Recorded
from tests.application.processes import Clock
from tests.domain.every_command import amounts_of, as_command
from tests.projections.naive import NaiveViews

CODEC = Codec.of(Codec(REGISTRY), Codec(LEDGER_EVENTS))
HOUSE = "local"
SEED_KEY = bytes(32)
GAMES = ("a2g", "coinlounge", "classic", "european")
PLAYERS = tuple(f"player-{number}" for number in range(8))
_RARELY = {"leave", "close", "cash_out", "sit_out", "withdraw_bet", "buy_in"}


@dataclass
class Evening:
    """Tables of all games, and players who make any legal move. An hour passes now and then."""

    store: PostgresStore
    batcher: Batcher
    clock: Clock
    chance: Random
    house: str = HOUSE
    _commands: "count[int]" = field(default_factory=count)

    def __post_init__(self) -> None:
        shoes = Shoes({"k": SEED_KEY}, "k", token_bytes)
        self.tables = Tables(self.store, self.batcher, CODEC, shoes, self.clock)
        self.ledger = Ledger(self.batcher, CODEC, self.clock)

    async def begins(self) -> None:
        for player in PLAYERS:
            await self.ledger.grant(self._cause(), player, Grant(1_000_000))
        for game in GAMES:
            await self.tables.open(self._cause(), game, Open(game, host=PLAYERS[0]))

    async def goes_on(self, commands: int) -> None:
        for _ in range(commands):
            await self._somebody_moves(self.chance.choice(GAMES))

    async def _somebody_moves(self, name: str) -> None:
        loaded = await self.tables.reading.loader.load(self.house, f"table-{name}", fresh=True)
        table = loaded.state
        assert table is not None
        often = [move for move in legal_moves(table) if move.type not in _RARELY]
        rarely = [move for move in legal_moves(table) if move.type in _RARELY - {"close"}]
        moves = rarely if not often or (rarely and self.chance.random() < 0.05) else often
        move = self.chance.choice(moves)
        seated = {seat.player for _, seat in table.seated()}
        arrives = move.type in ("sit", "start_run") and move.player is None
        player = self.chance.choice(sorted({*PLAYERS} - seated)) if arrives else None
        amount = None if move.min is None else self.chance.choice(amounts_of(move)[:500])
        await self.play(name, as_command(move, amount, player or move.player))

    async def play(self, table: str, command: Command) -> int:
        """The position of the command's last event."""
        self.clock.goes_on(self.chance.choice([1, 1, 1, 1, 3600]))
        return (await self.tables.play(self._cause(), table, command)).answer.table.position

    def _cause(self) -> Cause:
        return Cause(house=self.house, actor="key/test", id=f"command-{next(self._commands)}")


@asynccontextmanager
async def an_evening(url: str, seed: int) -> AsyncIterator[Evening]:
    """Printed when a test fails: the seed plays the same again, but for the cards."""
    print(f"evening {seed}")
    clock = Clock()
    async with PostgresStore(url) as store, Batcher(store) as batcher:
        evening = Evening(store, batcher, clock, Random(seed))
        await evening.begins()
        yield evening


def a_projector(
    store: PostgresStore, page: int = 1000, views: Sequence[Projection[Moment]] = VIEWS
) -> Projector[Moment]:
    """What a worker has, with nothing remembered."""
    return Projector(Pages(store, Plays(store, CODEC).open), views, page=page)


async def until_up_to_date(store: PostgresStore, page: int = 1000) -> None:
    async with a_projector(store, page) as projector:
        while await projector.advance():
            pass


async def positions(store: PostgresStore) -> dict[str, int]:
    """How far each view has come."""
    async with store.readers.connection() as connection:
        found = await connection.execute("SELECT name, position FROM projection_checkpoint")
        return dict(await found.fetchall())


async def the_views_are_right(
    store: PostgresStore, generations: Mapping[str, int] = MappingProxyType({})
) -> None:
    """All of them, at the end of the log. The generation is 1 unless said."""
    records = list[Recorded]()
    while page := await store.read_log(HOUSE, len(records)):
        records += page
    naive = NaiveViews(records)
    for view in VIEWS:
        found = await rows(store, view, generations.get(view.name, 1))
        assert found == naive.view(view.name), view.name
    assert await positions(store) == {view.name: len(records) for view in VIEWS}


async def rows(
    store: PostgresStore, view: Projection[Moment], generation: int = 1
) -> list[tuple[Any, ...]]:
    """All of a view, in the order of its key."""
    query = f"""SELECT {view.columns} FROM {view.table}
                 WHERE house = '{HOUSE}' AND generation = {generation}"""
    async with store.readers.connection() as connection:
        found = await (await connection.execute(query.encode())).fetchall()
        return sorted(found, key=lambda row: row[:4])
