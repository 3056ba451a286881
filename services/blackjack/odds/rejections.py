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


class OddsBusy(Rejected):
    """Too many odds are being worked out.

    Wait for `retry_after` seconds, then ask again. What was worked out is kept for a while.
    """

    status = 503

    def __init__(self, detail: str, retry_after: int = 5) -> None:
        super().__init__(detail, retry_after=retry_after)


class NoExactOdds(Rejected):
    """This game has no exact odds.

    They are sums over all hands that its cards can make. Where many ranks count little, or hands
    bust late, those are too many. It is played like any other; computer players of the level `hard`
    play it as `normal` ones do, and nobody holds its returns against what they should be.
    """

    status = 422
