"""Between policies and printed tables: what a table tells a player to do, and the reverse."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from services.blackjack.odds.facing import Facing, Policy
from services.blackjack.odds.figures import CODES, Row, Strategy
from services.blackjack.odds.hands import Bools
from services.blackjack.odds.kinds import Kind
from services.blackjack.odds.play import Against
from services.blackjack.odds.rejections import StrategyIncomplete

_CODE_OF: Final = {plan: code for code, plan in CODES.items()}


def strategy_of(played: Sequence[Against]) -> Strategy:
    """The table that policies by total follow, one for each upcard."""
    hands = played[0].facing.hands
    kinds = hands.kinds
    columns = sorted(played, key=lambda against: against.facing.upcard or len(kinds))
    decided = ~played[0].facing.closed & (hands.size > 1)

    def rows(soft: bool) -> dict[int, Row]:
        totals = sorted({int(total) for total in hands.total[decided & (hands.soft == soft)]})
        return {total: tuple(_code(column, total, soft) for column in columns) for total in totals}

    return Strategy(
        upcards=tuple(kinds[column.facing.upcard].name for column in columns),
        hard=rows(soft=False),
        soft=rows(soft=True),
        pairs={
            _name(kinds, *two): tuple("P" if c.policy.split[two] else "-" for c in columns)
            for two in columns[0].facing.deals
            if any(not np.isnan(column.moves.split[two]) for column in columns)
        },
    )


def _code(against: Against, total: int, soft: bool) -> str:
    hands, policy = against.facing.hands, against.policy
    row = (hands.total == total) & (hands.soft == soft)
    two = row & (hands.size == 2)
    hit = bool(policy.hit[row].any())
    return _CODE_OF[hit, bool(policy.double[two].any()), bool(policy.surrender[two].any())]


def policy_of(strategy: Strategy, facing: Facing) -> Policy:
    """How the table says to play against an upcard. It never insures.

    Raises StrategyIncomplete when it does not say.
    """
    hands, kinds = facing.hands, facing.hands.kinds
    column = _column(strategy, kinds[facing.upcard])
    plan = np.zeros((3, hands.number), dtype=bool)
    for soft, rows in ((False, strategy.hard), (True, strategy.soft)):
        for total in sorted({int(total) for total in hands.total[hands.soft == soft]}):
            these = (hands.total == total) & (hands.soft == soft)
            if (these & ~facing.closed & (hands.size > 1)).any():
                name = f"{'soft' if soft else 'hard'} {total}"
                code = _cell(rows.get(total, ()), column, CODES.__contains__, name)
                plan[:, these] = np.array(CODES[code])[:, None]
    game, two_cards = facing.game, (hands.size == 2) & ~facing.closed
    return Policy(
        hit=plan[0] & ~facing.closed,
        double=plan[1] & two_cards & game.double,
        surrender=plan[2] & two_cards & (game.surrender_refund is not None),
        split=_splits(strategy, facing, column),
    )


def _splits(strategy: Strategy, facing: Facing, column: int) -> Bools:
    kinds = facing.hands.kinds
    splits = np.zeros((len(kinds), len(kinds)), dtype=bool)
    for (first, second), deal in facing.deals.items():
        if deal.pairs:
            name = _name(kinds, first, second)
            row = strategy.pairs.get(name, ())
            code = _cell(row, column, ("P", "-").__contains__, f"a pair of {name}")
            splits[first, second] = splits[second, first] = code == "P"
    return splits


def _name(kinds: Sequence[Kind], first: int, second: int) -> str:
    """`T` for two of a kind, `TK` when a modifier has made one of them another."""
    return kinds[first].name + kinds[second].name * (first != second)


def _column(strategy: Strategy, upcard: Kind) -> int:
    if upcard.name not in strategy.upcards:
        raise StrategyIncomplete(f"It has no column for the upcard {upcard.name}.")
    return strategy.upcards.index(upcard.name)


def _cell(row: Row, column: int, known: Callable[[str], bool], name: str) -> str:
    if column >= len(row) or not known(row[column]):
        raise StrategyIncomplete(f"It has no known code for {name} in column {column + 1}.")
    return row[column]
