"""The pure engine beside two blackjack packages: whole one-seat rounds a second on one core.

Croupier plays its `classic` rules through `decide`, which folds each event with `evolve`: every
round leaves eight or so immutable events and a new table behind, where the packages change
objects in place and keep no record. Same cards, same strategy; before anything is timed, the
results of all rounds are compared.

Those cards are prepared, so that nobody pays for a shoe. In the second comparison everybody does,
since a round begins with a fresh one: the packages shuffle a deck in their own way, Croupier
opens the sealed seed that it committed to, derives the cards, reveals it and seals the next.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from random import Random
from secrets import token_bytes
from statistics import median
from time import perf_counter
from typing import Protocol

import msgspec
from msgspec.structs import replace

from services.blackjack.application.shoes import Shoes
from services.blackjack.domain.cards import DECK, total
from services.blackjack.domain.commands import Bet, Hit, Open, Stand, StartRun
from services.blackjack.domain.decide import decide, open_table
from services.blackjack.domain.events import TableOpened
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.rules import Runs
from services.blackjack.domain.shoe import SealedSeed, Seed
from services.blackjack.domain.table import Round
from tests.benchmarks.measure import Run, in_turns, middle, ratio
from tests.benchmarks.peers import STAND_AT, Blackjack21, BlackjackApi, Cards
from tests.benchmarks.report import Goal, Part, Row
from tests.benchmarks.servers import HOUSE

OURS, WITH_SHOES = "croupier", ", with shoes"
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


def open_long(table_id: str, sealed: SealedSeed) -> TableOpened:
    """A `classic` table where runs may begin with so many chips that they never end."""
    opened = open_table(table_id, Open("classic"), sealed)
    runs = Runs(1, 10**12, goal_multiple=2, granted_stake=10, granted_goal=20)
    return replace(opened, ruleset=replace(opened.ruleset, run=runs))


class Croupier:
    """A player with many chips at a `classic` table, who always bets ten. Without prepared cards
    every round has a shoe of its own, committed to and revealed."""

    BET, HIT, STAND = Bet(seat=1, amount=10), Hit(seat=1), Stand(seat=1)

    def __init__(self, rounds: Sequence[Cards] = ()) -> None:
        self._prepared = [PreparedSeed(cards) for cards in rounds]
        self._shoes = Shoes({"k": bytes(32)}, "k", token_bytes)
        first = self._shoes.fresh(HOUSE, "table-1", 1)
        self._table = evolve(None, open_long("table-1", first))
        self._table = decide(self._table, LONG_RUN, self._seed(0)).table

    def _seed(self, number: int) -> Seed:
        return self._prepared[number] if self._prepared else self._shoes.of(HOUSE, self._table)

    def play(self, number: int) -> int:
        """Play the round; the half bets it won (+) or lost (−)."""
        seed, before = self._seed(number), self._table.seat(1).stack
        table = decide(self._table, self.BET, seed).table
        while isinstance(table.stage, Round):
            move = self.HIT if total(table.seat(1).hands[0].cards) < STAND_AT else self.STAND
            table = decide(table, move, seed).table
        self._table = table
        return (table.seat(1).stack - before) // 5


def compare(quick: bool) -> Part:
    """Rounds a second of all three engines, on prepared cards and with shoes, played in turns."""
    rounds = list(prepared_rounds(PREPARED_ROUNDS))
    makes: dict[str, Callable[..., Engine]] = {
        OURS: Croupier,
        "blackjack21": Blackjack21,
        "blackjack-api": BlackjackApi,
    }
    prepared = {name: make(rounds) for name, make in makes.items()}
    results = {name: play_all(engine) for name, engine in prepared.items()}
    engines = prepared | {name + WITH_SHOES: make() for name, make in makes.items()}
    passes, repetitions = (1, 3) if quick else (10, 7)
    sides = {name: partial(timed, engine, passes) for name, engine in engines.items()}
    runs = in_turns(sides, repetitions)
    rows: list[Row] = [
        {
            "side": name,
            "rounds_per_second": middle(of, "per_second"),
            "ratio_to_croupier": ratio(of, runs[OURS + WITH_SHOES * name.endswith(WITH_SHOES)]),
            "same_result_as_croupier": _agreement(results[OURS], results.get(name)),
        }
        for name, of in runs.items()
    ]
    reached = median(run.per_second for run in runs[OURS])
    goals = [Goal("croupier, rounds/s", reached, WANTED)]
    for peer in [name for name in makes if name != OURS]:
        reached = ratio(runs[OURS + WITH_SHOES], runs[peer + WITH_SHOES])
        goals.append(Goal(f"rounds{WITH_SHOES} ÷ {peer}", reached, 1.0))
    return Part("engine", rows, goals, "rounds_per_second")


def _agreement(ours: Sequence[int], theirs: Sequence[int] | None) -> float | None:
    return sum(map(int.__eq__, ours, theirs)) / len(ours) if theirs else None


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
