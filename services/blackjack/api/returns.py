"""Routes of the return monitor: what a game or a table returned beside its exact odds."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Request, Response
from msgspec import Struct

from services.blackjack.api import examples
from services.blackjack.api.returns_plot import plot
from services.blackjack.api.rulesets import Name, VersionWanted
from services.blackjack.application.odds import OddsDesk
from services.blackjack.application.reading import table_stream
from services.blackjack.application.tables import Tables
from services.blackjack.domain.rejections import UnknownRuleset, UnknownTable
from services.blackjack.domain.rules import Ruleset
from services.blackjack.odds.luck import CONFIDENCE, Exact, Judged, Verdict, judge
from services.blackjack.odds.rejections import NoExactOdds, OddsBusy
from services.blackjack.projections.curves import ALL_TABLES, Curve, Curves
from shared.eventstore.checkpoints import ViewBehind
from shared.eventstore.rejections import Archived
from shared.http.auth import Caller, Forbidden, Unauthenticated, caller_with
from shared.http.openapi import Responses, answers, refuses
from shared.http.paging import WaitFor
from shared.http.places import TableId
from shared.http.problems import Malformed
from shared.http.responses import Json, Svg

Accountant = Annotated[Caller, caller_with("ledger")]
_REFUSED = refuses(Unauthenticated, Forbidden, Malformed, ViewBehind, NoExactOdds, OddsBusy)


class Band(Struct, frozen=True):
    """Where an honest return is, in all rounds at once, with the stated confidence."""

    low: float
    high: float


class CurvePoint(Struct, frozen=True):
    """The return after the first `rounds`, and its band there."""

    rounds: int
    realised: float
    low: float
    high: float


class Realised(Struct, frozen=True):
    """What a game returned, at one table or (`table` null) at all, beside what it should.

    `realised` is 1 + (`payout` − `stake`) / `bet`, all chips back for each chip of the opening
    bets; `exact` the same for the best play, computed, and `careless` for play like the dealer's:
    hit below 17, never double, split or insure. `rounding` is the share that rounding took.

    `band`: low is `careless` − `rounding` − u, high is `exact` − `rounding` + u, where
    u = √(V·(1 + r/n)·(2 ln(1/α) + ln(1 + n/r))) / `bet` with n rounds, V the sum of the squares of
    their nets and of the mean bet, r = 100 and α = 1 − `confidence`. With that confidence an
    honest return never leaves the band, however often it is looked at. Rounds with a modifier or
    an item have other odds and are not counted. Outside of the band is an alarm:
    `too_much`, or `too_little`; what only better play could mend is `below_best_play`.
    """

    ruleset: str
    version: str
    table: str | None
    verdict: Verdict
    alarm: bool
    confidence: float
    rounds: int
    bet: int
    stake: int
    payout: int
    realised: float | None
    exact: float
    careless: float
    rounding: float
    band: Band | None
    curve: list[CurvePoint]
    position: int


PUBLISHED: Final[dict[str, Any]] = {cls.__name__: cls for cls in (Realised, Band, CurvePoint)}


def routes(tables: Tables, curves: Curves, desk: OddsDesk) -> APIRouter:
    """The routes over the tables and curves of a service, and a desk that knows the odds."""
    router = APIRouter(prefix="/v1", tags=["Ledger"], default_response_class=Response)
    _of_a_game(router, tables, curves, desk)
    _of_a_table(router, tables, curves, desk)
    return router


def _of_a_game(router: APIRouter, tables: Tables, curves: Curves, desk: OddsDesk) -> None:
    async def answer(
        caller: Caller, name: str, version: str | None, wait_for: int, as_picture: bool
    ) -> Response:
        rules = await tables.rulesets.find(caller.house, name, version)
        curve = await curves.of(
            caller.house, rules.name, rules.version, ALL_TABLES, wait_for=wait_for
        )
        return await _answer(desk, rules, None, curve, as_picture)

    @router.get(
        "/rulesets/{name}/returns",
        summary="What a game returned",
        responses=_either() | _REFUSED | refuses(UnknownRuleset),
    )
    async def ruleset_returns(
        request: Request,
        caller: Accountant,
        name: Name,
        version: VersionWanted = None,
        wait_for: WaitFor = 0,
    ) -> Response:
        """All that was played of a game in the house, beside its exact odds. A picture for
        `Accept: image/svg+xml`. The first answer of a game takes a second, or some where an
        environment makes many hands."""
        return await answer(caller, name, version, wait_for, _wants_a_picture(request))

    @router.get(
        "/rulesets/{name}/returns.svg",
        summary="What a game returned, as a picture",
        responses=_picture() | _REFUSED | refuses(UnknownRuleset),
    )
    async def ruleset_returns_picture(
        caller: Accountant, name: Name, version: VersionWanted = None, wait_for: WaitFor = 0
    ) -> Response:
        """The realised return over the rounds in its narrowing band, by all tables of the game."""
        return await answer(caller, name, version, wait_for, True)


def _of_a_table(router: APIRouter, tables: Tables, curves: Curves, desk: OddsDesk) -> None:

    async def answer(caller: Caller, table: str, wait_for: int, as_picture: bool) -> Response:
        loaded = await tables.reading.loader.load(caller.house, table_stream(table))
        if loaded.state is None:
            raise UnknownTable(f"{table} was never opened.")
        rules = loaded.state.rules
        curve = await curves.of(caller.house, rules.name, rules.version, table, wait_for=wait_for)
        return await _answer(desk, rules, table, curve, as_picture)

    @router.get(
        "/tables/{table}/returns",
        summary="What a table returned",
        responses=_either() | _REFUSED | refuses(UnknownTable, Archived),
    )
    async def table_returns(
        request: Request, caller: Accountant, table: TableId, wait_for: WaitFor = 0
    ) -> Response:
        """All that was played at a table, beside the exact odds of its game. A picture for
        `Accept: image/svg+xml`."""
        return await answer(caller, table, wait_for, _wants_a_picture(request))

    @router.get(
        "/tables/{table}/returns.svg",
        summary="What a table returned, as a picture",
        responses=_picture() | _REFUSED | refuses(UnknownTable, Archived),
    )
    async def table_returns_picture(
        caller: Accountant, table: TableId, wait_for: WaitFor = 0
    ) -> Response:
        """The realised return over the table's rounds in its narrowing band."""
        return await answer(caller, table, wait_for, True)


async def _answer(
    desk: OddsDesk, rules: Ruleset, table: str | None, curve: Curve, as_picture: bool
) -> Response:
    odds = await desk.returns(rules)
    if as_picture:
        where = f"{rules.title}, {rules.version}" + (f", at {table}" if table else "")
        return Svg(plot(where, curve.points, odds))
    return Json(_realised(rules, table, curve, odds))


def _realised(rules: Ruleset, table: str | None, curve: Curve, odds: Exact) -> Realised:
    judged = [judge(played, odds) for played in curve.points]
    last = curve.points[-1] if judged else None
    now = judged[-1] if judged else None
    return Realised(
        ruleset=rules.name,
        version=rules.version,
        table=table,
        verdict=now.verdict if now else "unplayed",
        alarm=now.alarm if now else False,
        confidence=CONFIDENCE,
        rounds=last.rounds if last else 0,
        bet=last.bet if last else 0,
        stake=last.stake if last else 0,
        payout=last.payout if last else 0,
        realised=_rounded(now.realised) if now else None,
        exact=_rounded(odds.best),
        careless=_rounded(odds.careless),
        rounding=_rounded(odds.best - now.best) if now else 0.0,
        band=Band(_rounded(now.low), _rounded(now.high)) if now else None,
        curve=[
            _point(played.rounds, each) for played, each in zip(curve.points, judged, strict=True)
        ],
        position=curve.position,
    )


def _point(rounds: int, judged: Judged) -> CurvePoint:
    return CurvePoint(
        rounds, _rounded(judged.realised), _rounded(judged.low), _rounded(judged.high)
    )


def _rounded(share: float) -> float:
    """To a millionth: nobody can use more, and it is the same on every machine."""
    return round(share, 6)


def _wants_a_picture(request: Request) -> bool:
    """Whether the picture is what the request names first."""
    return request.headers.get("accept", "").strip().startswith(Svg.media_type)


def _picture() -> Responses:
    shown = {"schema": {"type": "string"}, "example": "<svg xmlns=…>…</svg>"}
    return {200: {"description": "An SVG document.", "content": {Svg.media_type: shown}}}


def _either() -> Responses:
    both = answers("Realised", "The return and how it came about.", examples.REALISED)
    both[200]["content"] |= _picture()[200]["content"]
    return both
