"""Odds for callers: worked out in a process of their own, one at a time, and kept for a while."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import Final

import msgspec

from services.blackjack.domain.rules import Ruleset
from services.blackjack.odds.figures import Hand, Odds, Strategy
from services.blackjack.odds.game import Game, game_of, plain_bet
from services.blackjack.odds.kinds import MOST_EFFORT, effort
from services.blackjack.odds.luck import Exact
from services.blackjack.odds.questions import (
    AboutGame,
    AboutHand,
    AboutReturns,
    AboutStrategy,
    Answer,
    Question,
)
from services.blackjack.odds.rejections import (
    BetNotPlayed,
    NoExactOdds,
    NoSuchHand,
    OddsBusy,
    StrategyIncomplete,
)
from shared.kernel.chips import MOST_CHIPS
from shared.kernel.rejected import Rejected

PROGRAM: Final = "services.blackjack.application.computing"
MOST_KEPT: Final = 256
MOST_WAITING: Final = 16
MOST_SECONDS: Final = 60.0
"""A question about a plain game takes a second, the longest that is asked about ten: this is
for a machine that has no time at all."""
GIVEN_UP_SECONDS: Final = 600.0
"""How long what took too long is not tried again."""

_REFUSALS: Final[dict[str, type[Rejected]]] = {
    cls.__name__: cls for cls in (NoExactOdds, NoSuchHand, StrategyIncomplete)
}


class OddsDesk:
    """Answers by game: rulesets and bets that come to the same game share them.

    Whatever is asked, a game that would take too long is refused as NoExactOdds, before it is tried
    or, where `most_seconds` have shown it, for a while by the `clock`.
    """

    def __init__(
        self, most_seconds: float = MOST_SECONDS, clock: Callable[[], float] = monotonic
    ) -> None:
        self._most_seconds = most_seconds
        self._clock = clock
        self._kept: OrderedDict[bytes, Answer] = OrderedDict()
        self._given_up: dict[bytes, float] = {}
        self._asked: dict[bytes, asyncio.Task[Answer]] = {}
        self._one_at_a_time = asyncio.Lock()

    async def odds(self, game: Game) -> Odds:
        """All figures of a game. Raises NoExactOdds, OddsBusy."""
        answer = await self._ask(AboutGame(game))
        assert answer.odds is not None
        return answer.odds

    async def hand(self, game: Game, cards: str, upcard: str) -> Hand:
        """The moves of a hand against an upcard. Raises NoSuchHand, NoExactOdds, OddsBusy."""
        answer = await self._ask(AboutHand(game, cards, upcard))
        assert answer.hand is not None
        return answer.hand

    async def worth(self, game: Game, strategy: Strategy) -> float:
        """Bets won a round with a table. Raises StrategyIncomplete, NoExactOdds, OddsBusy."""
        answer = await self._ask(AboutStrategy(game, strategy))
        assert answer.bets is not None
        return answer.bets

    async def returns(self, rules: Ruleset) -> Exact:
        """What a game returns with bets of which nothing is rounded.

        Raises NoExactOdds, OddsBusy.
        """
        answer = await self._ask(AboutReturns(game_of(rules, bet=2)))
        assert answer.returns is not None
        return answer.returns

    async def close(self) -> None:
        """Nobody waits for an answer any more."""
        for task in [*self._asked.values()]:
            task.cancel()
        await asyncio.gather(*self._asked.values(), return_exceptions=True)

    async def _ask(self, question: Question) -> Answer:
        key = msgspec.json.encode(question)
        answer = self._kept.get(key)
        if answer is None:
            self._refuse_the_endless(question.game, key)
            answer = await asyncio.shield(self._computing(key))
        else:
            self._kept.move_to_end(key)
        if answer.refusal is not None:
            raise _REFUSALS[answer.refusal](answer.detail)
        return answer

    def _refuse_the_endless(self, game: Game, key: bytes) -> None:
        if effort(game) > MOST_EFFORT:
            raise NoExactOdds(
                "Its cards make too many hands to add up: let fewer ranks count little, or hands "
                "bust earlier."
            )
        if self._clock() < self._given_up.get(key, 0):
            raise NoExactOdds(self._took_too_long())

    def _computing(self, key: bytes) -> "asyncio.Task[Answer]":
        """Whoever asks the same waits for the same answer."""
        if (task := self._asked.get(key)) is None:
            if len(self._asked) >= MOST_WAITING:
                raise OddsBusy(f"{len(self._asked)} other questions wait already.")
            task = self._asked[key] = asyncio.create_task(self._compute(key))
            task.add_done_callback(lambda _: self._asked.pop(key))
        return task

    async def _compute(self, key: bytes) -> Answer:
        async with self._one_at_a_time:
            try:
                answer = await _worked_out(key, self._most_seconds)
            except TimeoutError:
                now = self._clock()
                known = {each: until for each, until in self._given_up.items() if now < until}
                self._given_up = known | {key: now + GIVEN_UP_SECONDS}
                return Answer(refusal=NoExactOdds.__name__, detail=self._took_too_long())
        self._kept[key] = answer
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return answer

    def _took_too_long(self) -> str:
        return (
            f"They were not worked out in {self._most_seconds:g} seconds. Whoever asks after "
            f"{GIVEN_UP_SECONDS / 60:g} minutes has them tried again."
        )


async def _worked_out(question: bytes, most_seconds: float) -> Answer:
    """The answer of a process of its own. Raises TimeoutError."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", PROGRAM), stdin=PIPE, stdout=PIPE, start_new_session=True
    )
    try:
        written, _ = await asyncio.wait_for(process.communicate(question), most_seconds)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise RuntimeError(f"{PROGRAM} ended with {process.returncode}")
    return msgspec.json.decode(written, type=Answer)


def bet_and_game(rules: Ruleset, bet: int | None) -> tuple[int, Game]:
    """The bet, or the plain one, and the game that it makes.

    Raises BetNotPlayed when nobody can place it.
    """
    placed = plain_bet(rules) if bet is None else bet
    bets = rules.bets(2 * MOST_CHIPS)
    if placed not in bets:
        raise BetNotPlayed(
            f"Bet from {bets[0]} to {bets[-1]} in steps of {bets.step}; {placed} is not one.",
            min=bets[0],
            max=bets[-1],
            step=bets.step,
        )
    return placed, game_of(rules, placed)
