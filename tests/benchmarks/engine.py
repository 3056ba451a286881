"""The pure engine beside two blackjack packages: whole one-seat rounds a second on one core.

Croupier plays its `classic` rules through `decide`, which folds each event with `evolve`: every
round leaves eight or so immutable events and a new table behind, where the packages change
objects in place and keep no record. Same cards, same strategy; before anything is timed, the
results of all rounds are compared.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from random import Random
from statistics import median
from time import perf_counter
from typing import Protocol

import msgspec
from msgspec.structs import replace

from services.blackjack.domain.cards import DECK, total
from services.blackjack.domain.commands import Bet, Hit, Open, Stand, StartRun
from services.blackjack.domain.decide import decide, open_table
from services.blackjack.domain.events import TableOpened
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.rules import Runs
from services.blackjack.domain.shoe import SealedSeed
from services.blackjack.domain.table import Round
from tests.benchmarks.measure import Run, in_turns, middle, ratio
from tests.benchmarks.peers import STAND_AT, Blackjack21, BlackjackApi, Cards
from tests.benchmarks.report import Goal, Part, Row

WANTED = 40_000
PREPARED_ROUNDS = 2000
CARDS_A_ROUND = 24
"""More than hits below 17 can use up, twice."""


class Engine(Protocol):
    def play(self, number: int) -> int:
        """Play the prepared round of this number; the half bets it won (+) or lost (−)."""


class PreparedSeed(msgspec.Struct, frozen=True):
    """Chance without chance: the cards as they were prepared."""

    cards: Cards
    secret: bytes = b"prepared"
    sealed: SealedSeed = SealedSeed(commitment="", key_id="", box="")

    def successor(self) -> SealedSeed:
        return self.sealed

    def shoe(self, decks: int, round_id: str, client_seeds: tuple[str, ...]) -> Cards:
        return self.cards


LONG_RUN = StartRun(1, "ada", 10**12)


def open_long(table_id: str) -> TableOpened:
    """A `classic` table where runs may begin with so many chips that they never end."""
    sealed = PreparedSeed(()).sealed
    opened = open_table(table_id, Open("classic"), sealed)
    runs = Runs(1, 10**12, goal_multiple=2, granted_stake=10, granted_goal=20)
    return replace(opened, ruleset=replace(opened.ruleset, run=runs))


class Croupier:
    """A player with many chips at a `classic` table, who always bets ten."""

    BET, HIT, STAND = Bet(seat=1, amount=10), Hit(seat=1), Stand(seat=1)

    def __init__(self, rounds: Sequence[Cards]) -> None:
        self._seeds = [PreparedSeed(cards) for cards in rounds]
        table = evolve(None, open_long("table-1"))
        self._table = decide(table, LONG_RUN, self._seeds[0]).table

    def play(self, number: int) -> int:
        """Play the round; the half bets it won (+) or lost (−)."""
        seed, before = self._seeds[number], self._table.seat(1).stack
        table = decide(self._table, self.BET, seed).table
        while isinstance(table.stage, Round):
            move = self.HIT if total(table.seat(1).hands[0].cards) < STAND_AT else self.STAND
            table = decide(table, move, seed).table
        self._table = table
        return (table.seat(1).stack - before) // 5


def compare(quick: bool) -> Part:
    """Rounds a second of all three engines, played in turns."""
    rounds = list(prepared_rounds(PREPARED_ROUNDS))
    engines: dict[str, Engine] = {
        "croupier": Croupier(rounds),
        "blackjack21": Blackjack21(rounds),
        "blackjack-api": BlackjackApi(rounds),
    }
    results = {name: play_all(engine) for name, engine in engines.items()}
    passes, repetitions = (1, 3) if quick else (10, 7)
    sides = {name: partial(timed, engine, passes) for name, engine in engines.items()}
    runs = in_turns(sides, repetitions)
    ours = results["croupier"]
    rows: list[Row] = [
        {
            "side": name,
            "rounds_per_second": middle(of, "per_second"),
            "ratio_to_croupier": ratio(of, runs["croupier"]),
            "same_result_as_croupier": sum(map(int.__eq__, ours, results[name])) / len(ours),
        }
        for name, of in runs.items()
    ]
    reached = median(run.per_second for run in runs["croupier"])
    goal = Goal("croupier, rounds/s", reached, WANTED)
    return Part("engine", rows, [goal], "rounds_per_second")


def prepared_rounds(count: int) -> Iterable[Cards]:
    """The first cards of `count` freshly shuffled decks, the same in every run."""
    chance = Random(21)
    return (tuple(chance.sample(DECK, CARDS_A_ROUND)) for _ in range(count))


def play_all(engine: Engine) -> list[int]:
    """The result of every prepared round."""
    return [engine.play(number) for number in range(PREPARED_ROUNDS)]


def timed(engine: Engine, passes: int) -> Run:
    """All prepared rounds, several times over."""
    begin = perf_counter()
    for _ in range(passes):
        play_all(engine)
    return Run(passes * PREPARED_ROUNDS / (perf_counter() - begin))
