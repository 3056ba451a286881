"""A table with a long past, as real play leaves it in the log: events, postings, snapshots."""

import secrets
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import cycle

from services.blackjack.application.reading import TABLES, table_stream
from services.blackjack.domain.cards import total
from services.blackjack.domain.commands import Bet, Hit, Stand, StartRun
from services.blackjack.domain.decide import decide
from services.blackjack.domain.events import REGISTRY, Event
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.settlement import postings
from services.blackjack.domain.table import Round, Table
from shared.eventstore.codec import Codec
from shared.eventstore.loader import Loaded, Loader
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.store import Append, Appended, NewEvent
from shared.kernel.chips import ISSUANCE, Posting
from shared.kernel.moments import milliseconds
from tests.benchmarks.engine import LONG_RUN, PreparedSeed, open_long, prepared_rounds
from tests.benchmarks.peers import STAND_AT
from tests.benchmarks.servers import HOUSE

CODEC = Codec(REGISTRY)
COMMANDS_A_BATCH = 64
ROUNDS = tuple(map(PreparedSeed, prepared_rounds(500)))
NOW = datetime(2025, 1, 31, 12, tzinfo=UTC)

Step = tuple[Table, tuple[NewEvent, ...]]
"""A table after a command, and the sealed events of the command."""


async def write(store: PostgresStore, table_id: str, events: int) -> int:
    """Play at a new table until it has at least so many events; how many it has then."""
    stream, version = table_stream(table_id), 0
    loader = Loader(store, CODEC, TABLES)
    game = _game(table_id)
    while version < events:
        steps = [next(game) for _ in range(COMMANDS_A_BATCH)]
        answers = await store.append_batch(HOUSE, _appends(stream, version, steps))
        last = answers[-1]
        assert isinstance(last, Appended), last
        version = last.version
        loader.remember(HOUSE, stream, Loaded(steps[-1][0], version, last.last_position))
        await loader.settle()
    return version


def _appends(stream: str, version: int, steps: Sequence[Step]) -> list[Append]:
    appends = []
    for _, sealed in steps:
        appends.append(Append(secrets.token_hex(8), bytes(32), stream, version, sealed))
        version += len(sealed)
    return appends


def _game(table_id: str) -> Iterator[Step]:
    """A player with many chips who bets ten, hits below 17, and never leaves."""
    opened = open_long(table_id, PreparedSeed(()).sealed)
    table = evolve(None, opened)
    yield table, _sealed(None, (opened,), table_id)
    move: StartRun | Bet | Hit | Stand = LONG_RUN
    for seed in cycle(ROUNDS):
        while True:
            decision = decide(table, move, seed, milliseconds(NOW))
            yield decision.table, _sealed(table, decision.events, table_id)
            table = decision.table
            if not isinstance(table.stage, Round):
                break
            move = Hit(1) if total(table.seat(1).hands[0].cards) < STAND_AT else Stand(1)
        move = Bet(1, 10)


def _sealed(table: Table | None, events: Sequence[Event], table_id: str) -> tuple[NewEvent, ...]:
    """Chips that the player brings come from nowhere: there is no vault in this game."""
    legs = []
    for event in events:
        lines = postings(table, event) if table else ()
        if brought := sum(line.amount for line in lines):
            lines = (*lines, Posting(ISSUANCE, -brought))
        legs.append((table_stream(table_id), event, lines))
        table = evolve(table, event, milliseconds(NOW))
    return CODEC.seal(
        legs, house=HOUSE, command_id=secrets.token_hex(8), command=None, actor="ada", time=NOW
    )
