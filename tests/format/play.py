"""Whole logs of random play, of every game and with everything that a table can do, from a seed."""

from collections.abc import Sequence
from datetime import timedelta
from random import Random

from msgspec import convert
from msgspec.structs import replace

from services.blackjack.api.examples import OTHER_RULESETS
from services.blackjack.domain import commands as c
from services.blackjack.domain import modifiers as m
from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.items import Item, Modify, Redraw, Shield
from services.blackjack.domain.moves import Move, legal_moves
from services.blackjack.domain.register import Proposal
from services.blackjack.domain.rules import BetLimits, Ruleset
from services.blackjack.domain.rulesets import PUBLISHED
from services.blackjack.domain.table import Closed, Round
from shared.kernel.rejected import Rejected
from tests.audit.log import Log
from tests.domain.every_command import amounts_of, as_command

PEOPLE = ("ada", "bob", "cyd", "dan")
SHOP = (
    Item("again", 1, Redraw()),
    Item("shield", 2, Shield()),
    Item("no-pairs", 2, Modify(m.InstantBust(m.Pair()))),
    Item("tens-are-nines", 2, Modify(m.RankValue("T", 9))),
)
MODIFIERS: Sequence[m.Modifier] = (
    m.RankValue("7", 9),
    m.FixedAce(5),
    m.BustLimit(25),
    m.InstantBust(m.Holds("K")),
    m.InstantBust(m.TotalFrom(12, 16)),
    m.ReverseBust(),
)
OWN = [convert(each, Proposal) for each in OTHER_RULESETS.values()]
SEED_CHARACTERS = "abcXYZ0189_-"
WEIGHTS = {
    **{"bet": 9, "deal": 9, "split": 20, "use_item": 9, "hit": 5, "insure": 5},
    **{"decline_insurance": 5, "buy_in": 0.3, "cash_out": 0.3, "withdraw_bet": 0.3, "leave": 0.5},
    **{"sit_out": 0.3, "surrender": 0.5, "apply_modifier": 0.5, "close": 0},
}
"""How often a move is made where it is legal; others at 1. What is rare should come too."""


class Evening:
    """Tables of a house, at which everything happens that may; all chance is from one seed."""

    def __init__(self, seed: int) -> None:
        self.chance, self.log = Random(f"evening {seed}"), Log(seed)

    def play(self, games: Sequence[str], happenings: int) -> Log:
        """So many happenings at a table of each of the games, side by side."""
        for player in PEOPLE:
            self.log.grant(player, 10**6)
        for proposal in OWN:
            if proposal.name in games:
                self.log.register(proposal)
        tables = [self._open(game) for game in games]
        for _ in range(happenings * len(tables)):
            self._happen(self.chance.choice(tables))
        for table in tables:
            self._finish(table)
        return self.log

    def _open(self, game: str) -> str:
        chance, own = self.chance, {each.name: each.ruleset() for each in OWN}.get(game)
        rules: Ruleset = own or PUBLISHED[game]
        several = chance.sample(MODIFIERS, chance.randrange(3)) if rules.modifiers else ()
        command = c.Open(
            game,
            host=chance.choice((None, *PEOPLE)),
            bet=chance.choice((None, BetLimits(min=10, step=10, max=50))),
            seats=chance.choice((None, min(3, rules.seats))),
            environment=tuple(several),
            items=chance.choice((None, SHOP)) if rules.items else None,
        )
        table = f"{game}-{len(self.log.tables) + 1}"
        self.log.open(table, command, own)
        return table

    def _happen(self, table: str) -> None:
        self.log.now += timedelta(milliseconds=self.chance.randrange(1, 400))
        self.log.traceparent = self.chance.choice((None, None, f"00-{'5c' * 16}-{'a7' * 8}-01"))
        if self.chance.random() < 0.03 and self._time_out(table):
            return
        if self.chance.random() < 0.05 and self._seat_a_computer(table):
            return
        self._move(table)

    def _move(self, table: str) -> None:
        moves = legal_moves(self.log.tables[table])
        weights = [WEIGHTS.get(move.type, 1) for move in moves]
        if any(weights):
            [move] = self.chance.choices(moves, weights)
            self._try(table, self._command(move))

    def _command(self, move: Move) -> c.Command:
        chance, amount = self.chance, None
        if move.min is not None:
            within = amounts_of(move)
            amount = chance.choice(within[: 1 + 100 // within.step])
        command = as_command(move, amount, chance.choice(PEOPLE), chance.choice(MODIFIERS))
        if isinstance(command, c.Bet) and chance.random() < 0.6:
            seed = "".join(chance.choices(SEED_CHARACTERS, k=chance.choice((1, 9, 64))))
            return replace(command, client_seed=seed)
        return command

    def _time_out(self, table: str) -> bool:
        wait = waits_for(self.log.tables[table])
        if wait is None:
            return False
        self.log.now += timedelta(hours=1)
        self.log.actor = "clock"
        self.log.play(table, c.TimeOut(wait.turn))
        self.log.actor = "key/test/0"
        return True

    def _seat_a_computer(self, table: str) -> bool:
        state = self.log.tables[table]
        free = [number for number, seat in enumerate(state.seats, 1) if seat is None]
        if not free or not state.rules.computers:
            return False
        level = self.chance.choice(state.rules.computers)
        return self._try(table, c.SeatComputer(self.chance.choice(free), level, 200, rounds=9))

    def _try(self, table: str, command: c.AnyCommand) -> bool:
        """Some moves depend on who makes them: those that are refused are not recorded."""
        try:
            self.log.play(table, command)
        except Rejected:
            return False
        return True

    def _finish(self, table: str) -> None:
        """The round is played to its end, and mostly the table is closed."""
        while isinstance(self.log.tables[table].stage, Round):
            moves = legal_moves(self.log.tables[table])
            names = ("decline_insurance", "stand")
            self.log.play(table, as_command(next(move for move in moves if move.type in names)))
        closed = isinstance(self.log.tables[table].stage, Closed)
        if not closed and self.chance.random() < 0.8:
            self.log.play(table, c.Close())


ALL_GAMES = ("a2g", "coinlounge", "classic", "european", *(each.name for each in OWN))


def an_evening(seed: int, games: Sequence[str] = ALL_GAMES, happenings: int = 60) -> Log:
    """A log of random play."""
    return Evening(seed).play(games, happenings)
