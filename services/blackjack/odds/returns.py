"""What a game returns, exactly: one number for the best play, one for careless play."""

from typing import Final

from services.blackjack.odds.facing import Facing
from services.blackjack.odds.figures import Strategy
from services.blackjack.odds.game import Game
from services.blackjack.odds.hands import hands_of, kinds_of
from services.blackjack.odds.luck import Exact
from services.blackjack.odds.play import best_by_composition
from services.blackjack.odds.solve import expectation, expectation_of

_TOTALS: Final = range(2, 22)


def exact_returns(game: Game) -> Exact:
    """What comes back for each chip bet, by the best play and by play like the dealer's."""
    hands = hands_of(game, kinds_of(game))
    upcards = range(len(hands.kinds))
    best = [best_by_composition(Facing(game, hands, upcard)) for upcard in upcards]
    careless = _as_the_dealer([kind.name for kind in hands.kinds])
    return Exact(1 + expectation(best), 1 + expectation_of(game, careless))


def _as_the_dealer(names: list[str]) -> Strategy:
    """Hit below 17, never double or split."""
    rows = {total: ("H" if total < 17 else "S",) * len(names) for total in _TOTALS}
    pairs = {name: ("-",) * len(names) for name in names}
    return Strategy(upcards=tuple(names), hard=rows, soft=rows, pairs=pairs)
