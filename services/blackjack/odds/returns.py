"""What a game returns, exactly: one number for the best play, one for careless play."""

from services.blackjack.odds.dealer import STANDS_ON
from services.blackjack.odds.facing import Facing, hit_or_stand
from services.blackjack.odds.game import Game
from services.blackjack.odds.hands import hands_of
from services.blackjack.odds.luck import Exact
from services.blackjack.odds.play import as_played, best_by_composition
from services.blackjack.odds.solve import expectation


def exact_returns(game: Game) -> Exact:
    """What comes back for each chip bet, by the best play and by play like the dealer's: hit below
    17, never double, split, surrender or insure."""
    hands = hands_of(game)
    facings = [Facing(game, hands, upcard) for upcard in range(len(hands.kinds))]
    like_the_dealer = hit_or_stand(hands, hands.total < STANDS_ON)
    best = [best_by_composition(facing) for facing in facings]
    careless = [as_played(facing, like_the_dealer) for facing in facings]
    return Exact(best=1 + expectation(best), careless=1 + expectation(careless))
