"""`python -m`: one question about a game on stdin, its answer on stdout."""

import os
import sys
from typing import assert_never

import msgspec

from services.blackjack.odds.questions import (
    AboutGame,
    AboutHand,
    AboutReturns,
    AboutStrategy,
    Answer,
    Question,
)
from services.blackjack.odds.rejections import NoSuchHand, StrategyIncomplete
from services.blackjack.odds.returns import exact_returns
from services.blackjack.odds.solve import expectation_of, hand_of, odds_of, solve


def answer(question: Question) -> Answer:
    """Work it out: a second for a plain game, some for one of `MOST_EFFORT`."""
    try:
        match question:
            case AboutGame(game):
                return Answer(odds=odds_of(solve(game)))
            case AboutHand(game, cards, upcard):
                return Answer(hand=hand_of(game, cards, upcard))
            case AboutStrategy(game, strategy):
                return Answer(bets=expectation_of(game, strategy))
            case AboutReturns(game):
                return Answer(returns=exact_returns(game))
            case _:
                assert_never(question)
    except (NoSuchHand, StrategyIncomplete) as refusal:
        return Answer(refusal=type(refusal).__name__, detail=refusal.detail)


def main() -> None:
    os.nice(10)  # whoever plays goes first
    question = msgspec.json.decode(sys.stdin.buffer.read(), type=Question)
    sys.stdout.buffer.write(msgspec.json.encode(answer(question)))


if __name__ == "__main__":
    main()
