"""A service over real Postgres whose time passes when the story says so."""

from collections.abc import AsyncIterator
from itertools import count

import pytest

from services.blackjack.application.shoes import Shoes
from services.blackjack.domain.commands import Bet, Deal, Open, Sit
from services.blackjack.domain.table import Betting, Table
from services.ledger.application import Grant, Ledger
from shared.eventstore.batcher import Batcher
from shared.eventstore.cause import Cause
from shared.eventstore.migrate import open_house
from tests.application.processes import CODEC, KEY, Clock, Process, a_process
from tests.conftest import Database
from tests.eventstore.appends import HOUSE
from tests.stories.shoe_to_order import fitting

PLAYERS = ("ada", "bob")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def lounge(database: Database, clock: Clock) -> AsyncIterator[Process]:
    """Ada and bob have a hundred chips each."""
    open_house(database.owner_url, HOUSE)
    async with a_process(database, clock, count()) as process:
        async with Batcher(process.store) as batcher:
            ledger = Ledger(batcher, CODEC, clock)
            for player in PLAYERS:
                await ledger.grant(Cause(HOUSE, "key/test", f"for-{player}"), player, Grant(100))
        yield process


async def dealt_to_ada_and_bob(lounge: Process, table: str, cards: str) -> Table:
    """A round of CoinLounge with these cards in the order of the shoe, its bets 10 each."""
    opening = Cause(HOUSE, "key/test", f"open-{table}")
    await lounge.tables.open(opening, table, Open("coinlounge", host="ada"))
    for seat, player in enumerate(PLAYERS, 1):
        state = await lounge.play(table, Sit(seat, player, 100))
    assert isinstance(state.stage, Betting)
    shoes = Shoes({"k": KEY}, "k", bytes)
    secret = shoes.unseal(f"{HOUSE}/{table}.1".encode(), state.stage.next)
    seed = fitting(secret, state.rules.decks, f"{table}.1", cards)
    await lounge.play(table, Bet(1, 10, seed))
    await lounge.play(table, Bet(2, 10))
    return await lounge.play(table, Deal("ada"))
