"""Computer players at real tables: asked like anybody, they answer by the same commands.

A table that waits for one of them has a deadline that is due at once, written by the append that
asks. So nothing is forgotten when a process dies, and of many workers one at a time attends to it.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from services.blackjack.application.odds import OddsDesk
from services.blackjack.application.reading import table_id
from services.blackjack.application.tables import Tables
from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.commands import Command
from services.blackjack.domain.computers import asked
from services.blackjack.domain.reasons import check
from services.blackjack.domain.rules import Level, Ruleset
from services.blackjack.domain.table import Table
from services.blackjack.domain.view import TableView, view
from services.blackjack.odds.figures import Strategy
from services.blackjack.odds.game import Game, game_of, plain_bet
from services.blackjack.odds.kinds import names_of
from services.blackjack.odds.rejections import NoExactOdds
from services.blackjack.players.choose import Choose, cautious, easy, hard, moves_of, normal
from shared import spans
from shared.eventstore.cause import Cause
from shared.eventstore.store import Deadline
from shared.eventstore.wakeups import Wakeups
from shared.kernel.moments import milliseconds, moment
from shared.kernel.rejected import Rejected
from shared.tracing import named

_MOST_GAMES: Final = 256

_log = logging.getLogger(__name__)


class Computers:
    """Plays for whomever a table waits for. `clock` gives the time, in UTC."""

    def __init__(self, tables: Tables, best: "BestTables", clock: Callable[[], datetime]) -> None:
        self._tables = tables
        self._best = best
        self._clock = clock

    async def act(self, house: str, stream: str) -> Deadline | None:
        """Send the next command of the computer player that a table waits for, once.

        Does nothing when it waits for nobody of that kind any more, or its best table is not there
        yet. Returns the clock of the turn instead when that has run out by now.
        """
        loaded = await self._tables.reading.loader.load(house, stream, fresh=True)
        table, version = loaded.state, loaded.version
        number = table and asked(table)
        if not table or not number:
            return None
        wait = waits_for(table)
        if wait and wait.due <= milliseconds(self._clock()):
            return Deadline(stream, wait.turn, moment(wait.due))
        computer = table.seat(number).computer
        assert computer, "computers are asked, nobody else"
        seen = view(table, version, loaded.position)
        if command := self._choice(table, number, computer.level, seen):
            # The seat acts once at this version. No caller's key has a space, so none is this one.
            name, actor = f"computer at {stream} {version}", f"computer/{computer.level}"
            with suppress(Rejected):  # somebody was faster, or it is tried again after the claim
                cause = Cause(house, actor, name, version, named(house, name))
                with spans.span("computer plays", parent=cause.traceparent):
                    await self._tables.play(cause, table_id(stream), command)
        return None

    def _choice(self, table: Table, number: int, level: Level, seen: TableView) -> Command | None:
        """What the player wants to do, None when it does not know yet."""
        moves = moves_of(seen, number)
        try:
            choose = self._player(level, table.rules)
            if choose is None:
                return None
            command = choose(seen, moves)
            check(table, command)
            return command
        except Exception:
            _log.exception("The %s computer at %s fails and does the least.", level, table.id)
            return cautious(seen, moves)

    def _player(self, level: Level, rules: Ruleset) -> Choose | None:
        match level:
            case "easy":
                return easy
            case "normal":
                return normal
            case "hard":
                game = game_of(rules, plain_bet(rules))
                try:
                    best = self._best.of(game)
                except NoExactOdds:
                    return normal
                return hard(best, names_of(game)) if best else None


class BestTables:
    """The best table of each game, computed once, beside everything else that is done."""

    def __init__(self, compute: Callable[[Game], Coroutine[Any, Any, Strategy]]) -> None:
        self._compute = compute
        self._tables: dict[Game, asyncio.Task[Strategy]] = {}

    @classmethod
    def from_desk(cls, desk: OddsDesk) -> "BestTables":
        """The exact ones, which take a second, or some where an environment makes many hands."""

        async def strategy(game: Game) -> Strategy:
            return (await desk.odds(game)).strategy

        return cls(strategy)

    def of(self, game: Game) -> Strategy | None:
        """The best table of a game; None while it is being computed, or has to wait for that.

        Raises what its computation raised, such as NoExactOdds. It is tried again the next time;
        where there are no odds at once, so that the next one who asks knows it at once too.
        """
        if (found := self._tables.get(game)) is None:
            found = self._begin(game)
        if not found.done():
            return None
        if error := found.exception():
            del self._tables[game]
        if isinstance(error, NoExactOdds):
            self._begin(game)
            raise error
        with suppress(Rejected):
            return found.result()
        return None

    def _begin(self, game: Game) -> asyncio.Task[Strategy]:
        if len(self._tables) >= _MOST_GAMES:
            del self._tables[next(iter(self._tables))]
        found = self._tables[game] = asyncio.create_task(self._compute(game))
        return found

    async def settle(self) -> None:
        """Wait for all that is being computed."""
        await asyncio.gather(*self._tables.values(), return_exceptions=True)


def calls_of(house: str) -> str:
    """The name under which the wake-ups of a house's computer players are told: no house's own."""
    return f"{house} computers"


def announced_to(wakeups: Wakeups) -> Callable[[str, int], None]:
    """Wakes whoever plays for the computers of a house, here and in other processes."""
    return lambda house, position: wakeups.announce(calls_of(house), position)
