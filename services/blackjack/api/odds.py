"""Routes of the odds: what a game is worth, what a hand is, and how to play."""

from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response
from msgspec import Struct

from services.blackjack.api import odds_examples as examples
from services.blackjack.api.rulesets import Name, VersionWanted
from services.blackjack.application.odds import OddsDesk, bet_and_game
from services.blackjack.application.rulesets import Rulesets
from services.blackjack.domain.rejections import UnknownRuleset
from services.blackjack.domain.rules import Ruleset
from services.blackjack.odds.chart import best_chart
from services.blackjack.odds.figures import MEANINGS, Hand, Odds, Strategy, Upcard
from services.blackjack.odds.rejections import (
    BetNotPlayed,
    NoExactOdds,
    NoSuchHand,
    OddsBusy,
    StrategyIncomplete,
)
from shared.http.auth import Caller, Forbidden, Unauthenticated, caller_with
from shared.http.openapi import Responses, answers, refuses, takes
from shared.http.problems import BodyTooLarge, Malformed
from shared.http.requests import decode, read_body
from shared.http.responses import Json, Svg
from shared.kernel.chips import MOST_CHIPS


class HouseEdge(Struct, frozen=True):
    """What the house keeps of each opening bet on average: published, and computed as a share.

    `source` is the game that the published figure is told of. `by_composition` is against the
    best play by all cards of the hand, `by_total` against the best single table.
    """

    published: str
    source: str
    by_composition: float
    by_total: float


class RulesetOdds(Struct, frozen=True):
    """The odds of a ruleset for a bet. All values are in bets: +0.5 wins half of the opening bet.

    `game` is the same for all that are equal in what moves the odds. `insurance` is what a chip of
    insurance wins when it is always bought, null where there is none. `hands` are all first two
    cards, `T` for each card of ten, with the value of each legal move.
    """

    ruleset: str
    version: str
    bet: int
    game: str
    house_edge: HouseEdge
    insurance: float | None
    upcards: list[Upcard]
    hands: list[Hand]


class RulesetStrategy(Struct, frozen=True):
    """The best table of a ruleset for a bet, and what the house keeps of a bet against it.

    `codes` explains the codes. Two cards of a pair are looked up in `pairs`, all other hands by
    their total.
    """

    ruleset: str
    version: str
    bet: int
    house_edge: float
    strategy: Strategy
    codes: dict[str, str]


class StrategyWorth(Struct, frozen=True):
    """What the house keeps of a bet against a table, beside the best one."""

    ruleset: str
    version: str
    bet: int
    house_edge: float
    best: float


PUBLISHED: Final[dict[str, Any]] = {
    cls.__name__: cls for cls in (Hand, RulesetOdds, RulesetStrategy, Strategy, StrategyWorth)
}

Reader = Annotated[Caller, caller_with("read")]
Cards = Annotated[
    str,
    Path(
        pattern="^[A2-9TJQK]{2,21}$",
        description="The hand, a letter or digit for each card.",
        examples=["T42"],
    ),
]
OpenCard = Annotated[
    str, Path(pattern="^[A2-9TJQK]$", description="The dealer's open card.", examples=["T"])
]
Bet = Annotated[
    int | None,
    Query(
        ge=1,
        le=MOST_CHIPS,
        description="The opening bet, where payouts are rounded down; without it the least even "
        "one, with which nothing is, or the least of all where every bet is odd.",
    ),
]
_REFUSED = refuses(
    Unauthenticated, Forbidden, UnknownRuleset, Malformed, BetNotPlayed, NoExactOdds, OddsBusy
)


def routes(rulesets: Rulesets, desk: OddsDesk) -> APIRouter:
    """The routes over the games of a service, and a desk that knows their odds."""
    router = APIRouter(
        prefix="/v1/rulesets/{name}", tags=["Rulesets"], default_response_class=Response
    )
    _odds(router, rulesets, desk)
    _strategy(router, rulesets, desk)
    _chart(router, rulesets, desk)
    return router


def _odds(router: APIRouter, rulesets: Rulesets, desk: OddsDesk) -> None:
    @router.get(
        "/odds",
        summary="The odds of a game",
        responses=answers("RulesetOdds", "The odds.", examples.ODDS) | _REFUSED,
    )
    async def odds(
        caller: Reader, name: Name, version: VersionWanted = None, bet: Bet = None
    ) -> Response:
        """What a round is worth, exactly, with the best play of this ruleset: the house edge beside
        the published one, each upcard, and each move of each hand. A stack that covers every
        move is assumed. The first answer takes a second, or some where an environment makes many
        hands; a game with too many has no exact odds."""
        rules = await rulesets.find(caller.house, name, version)
        placed, game = bet_and_game(rules, bet)
        return Json(_of(rules, placed, await desk.odds(game)))

    @router.get(
        "/odds/{cards}/{upcard}",
        summary="The odds of a hand",
        responses=answers("Hand", "The moves.", examples.HAND)
        | _REFUSED
        | refuses(Malformed, BetNotPlayed, NoExactOdds, NoSuchHand),
    )
    async def hand_odds(
        caller: Reader,
        name: Name,
        cards: Cards,
        upcard: OpenCard,
        version: VersionWanted = None,
        bet: Bet = None,
    ) -> Response:
        """What each move of a hand that was not split is worth, for any number of cards. Where the
        dealer peeks, there is no natural any more."""
        rules = await rulesets.find(caller.house, name, version)
        _, game = bet_and_game(rules, bet)
        return Json(await desk.hand(game, cards, upcard))


def _strategy(router: APIRouter, rulesets: Rulesets, desk: OddsDesk) -> None:
    decoder = msgspec.json.Decoder(Strategy)

    @router.get(
        "/strategy",
        summary="The best table",
        responses=answers("RulesetStrategy", "The table.", examples.STRATEGY) | _REFUSED,
    )
    async def strategy(
        caller: Reader, name: Name, version: VersionWanted = None, bet: Bet = None
    ) -> Response:
        """The best table of this ruleset: one move for each hard total, soft total and pair against
        each upcard."""
        rules = await rulesets.find(caller.house, name, version)
        placed, game = bet_and_game(rules, bet)
        odds = await desk.odds(game)
        found = RulesetStrategy(
            rules.name, rules.version, placed, -odds.by_total, odds.strategy, MEANINGS
        )
        return Json(found)

    @router.post(
        "/strategy",
        summary="The worth of a table",
        responses=answers("StrategyWorth", "Its worth.", examples.WORTH)
        | _REFUSED
        | refuses(BodyTooLarge, Malformed, BetNotPlayed, NoExactOdds, StrategyIncomplete),
        openapi_extra=takes("Strategy", {"best": examples.TABLE}),
    )
    async def strategy_worth(
        request: Request, caller: Reader, name: Name, version: VersionWanted = None, bet: Bet = None
    ) -> Response:
        """What the house keeps of a bet when all hands are played by a table of your own. Nothing
        is recorded."""
        rules = await rulesets.find(caller.house, name, version)
        table = decode(await read_body(request.receive), decoder)
        placed, game = bet_and_game(rules, bet)
        worth, odds = await desk.worth(game, table), await desk.odds(game)
        return Json(StrategyWorth(rules.name, rules.version, placed, -worth, -odds.by_total))


def _chart(router: APIRouter, rulesets: Rulesets, desk: OddsDesk) -> None:
    drawn: Responses = {200: {"content": {Svg.media_type: {"example": examples.CHART}}}}

    @router.get(
        "/strategy.svg",
        summary="The best table as a chart",
        responses=drawn | _REFUSED,
    )
    async def strategy_chart(
        caller: Reader, name: Name, version: VersionWanted = None, bet: Bet = None
    ) -> Response:
        """The best table to look at and to print: hard totals, soft totals and pairs against each
        upcard, a letter and a colour for each move."""
        rules = await rulesets.find(caller.house, name, version)
        placed, game = bet_and_game(rules, bet)
        odds = await desk.odds(game)
        return Svg(best_chart(rules, placed, odds))


def _of(rules: Ruleset, bet: int, odds: Odds) -> RulesetOdds:
    edge = HouseEdge(rules.house_edge, rules.title, -odds.by_composition, -odds.by_total)
    return RulesetOdds(
        ruleset=rules.name,
        version=rules.version,
        bet=bet,
        game=odds.game,
        house_edge=edge,
        insurance=odds.insurance,
        upcards=odds.upcards,
        hands=odds.hands,
    )
