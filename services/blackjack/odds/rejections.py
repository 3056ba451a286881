"""Why odds are refused."""

from shared.kernel.rejected import Rejected


class StrategyIncomplete(Rejected):
    """The table does not say how to play every hand.

    A strategy needs a code for each hard total, soft total and pair of the game against each
    upcard; `GET /v1/rulesets/{name}/strategy` shows one that is complete.
    """

    status = 422


class BetNotPlayed(Rejected):
    """Nobody can place this bet in this game.

    Bets begin at the ruleset's least and grow by its step, to its most.
    """

    status = 422


class NoSuchHand(Rejected):
    """This hand has no decision to make against this upcard.

    A hand is two or more ranks, such as `T6`, that are not bust, no natural, and in the shoe.
    """

    status = 422


class OddsNotReady(Rejected):
    """The odds of this game are still being computed.

    It takes some seconds, once for a game and process. Ask again after `retry_after` seconds.
    """

    status = 503
