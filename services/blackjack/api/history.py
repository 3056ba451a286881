"""Routes of what was played: rounds of a table, hands and runs of a player, what games returned."""

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response
from pydantic import BeforeValidator

from services.blackjack.api import examples
from services.blackjack.projections.hands import HandPage, Hands, WinPage
from services.blackjack.projections.returns import ReturnPage, Returns
from services.blackjack.projections.rounds import RoundPage, Rounds
from services.blackjack.projections.runs import RunList, RunPage
from shared.eventstore.checkpoints import ViewBehind
from shared.http.auth import Caller, Forbidden, Unauthenticated, caller_with
from shared.http.openapi import answers, refuses
from shared.http.paging import MOST_POSITION, Before, Limit, WaitFor
from shared.http.places import PlayerId, TableId
from shared.http.problems import Malformed
from shared.http.responses import Json
from shared.kernel.moments import is_day

MOST_DAYS_A_PAGE: Final = 366
_MONTH: Final = timedelta(days=30)

PUBLISHED: Final[dict[str, Any]] = {
    cls.__name__: cls for cls in (RoundPage, HandPage, RunPage, ReturnPage, WinPage)
}


def _as_written(day: str) -> str:
    """pydantic alone takes a number too, as seconds since 1970."""
    if not is_day(day):
        raise ValueError("a day is written as 2025-01-31")
    return day


Day = Annotated[date, BeforeValidator(_as_written)]
Reader = Annotated[Caller, caller_with("read")]
_REFUSED = refuses(Unauthenticated, Forbidden, Malformed, ViewBehind)


def routes(rounds: Rounds, hands: Hands, runs: RunList, returns: Returns) -> APIRouter:
    """The routes over the views of a service."""
    router = APIRouter(prefix="/v1", default_response_class=Response)
    _rounds(router, rounds)
    _hands(router, hands)
    _wins(router, hands)
    _runs(router, runs)
    _returns(router, returns)
    return router


def _rounds(router: APIRouter, rounds: Rounds) -> None:
    @router.get(
        "/tables/{table}/rounds",
        tags=["Rounds"],
        summary="The rounds of a table",
        responses=answers("RoundPage", "Newest first.", examples.ROUNDS) | _REFUSED,
    )
    async def table_rounds(
        caller: Reader,
        table: TableId,
        before: Before = MOST_POSITION,
        limit: Limit = 100,
        wait_for: WaitFor = 0,
    ) -> Response:
        """What each round came to. Cursors are numbers of rounds; none for an unknown table."""
        return Json(await rounds.page(caller.house, table, before, limit, wait_for=wait_for))


def _hands(router: APIRouter, hands: Hands) -> None:
    @router.get(
        "/players/{player}/hands",
        tags=["Rounds"],
        summary="The hands of a player",
        responses=answers("HandPage", "Newest first.", examples.HANDS) | _REFUSED,
    )
    async def player_hands(
        caller: Reader,
        player: PlayerId,
        before: Before = MOST_POSITION,
        limit: Limit = 100,
        wait_for: WaitFor = 0,
    ) -> Response:
        """Every settled hand of a player at any table. Cursors are positions."""
        return Json(await hands.page(caller.house, player, before, limit, wait_for=wait_for))


def _wins(router: APIRouter, hands: Hands) -> None:
    @router.get(
        "/audit/wins",
        tags=["Events"],
        summary="The largest wins",
        responses=answers("WinPage", "The largest first.", examples.WINS) | _REFUSED,
    )
    async def largest_wins(
        caller: Annotated[Caller, caller_with("audit")],
        first: Annotated[
            Day | None,
            Query(alias="from", description="The first day (UTC); else 30 days before the last."),
        ] = None,
        to: Annotated[Day | None, Query(description="The last day (UTC); else today.")] = None,
        limit: Limit = 10,
        wait_for: WaitFor = 0,
    ) -> Response:
        """The hands that won most, by what came back beyond the stake, in at most 366 days."""
        last = to or datetime.now(UTC).date()
        begin = first or last - min(_MONTH, last - date.min)
        if not 0 <= (last - begin).days < MOST_DAYS_A_PAGE:
            raise Malformed.at(
                "query.from", f"From {begin} to {last} are not 1 to {MOST_DAYS_A_PAGE} days."
            )
        found = await hands.largest_wins(caller.house, begin, last, limit, wait_for=wait_for)
        return Json(found)


def _runs(router: APIRouter, runs: RunList) -> None:
    @router.get(
        "/players/{player}/runs",
        tags=["Rounds"],
        summary="The runs of a player",
        responses=answers("RunPage", "Newest first.", examples.RUNS) | _REFUSED,
    )
    async def player_runs(
        caller: Reader,
        player: PlayerId,
        before: Before = MOST_POSITION,
        limit: Limit = 100,
        wait_for: WaitFor = 0,
    ) -> Response:
        """Every run of a player at any table, by when it started. Cursors are positions."""
        return Json(await runs.page(caller.house, player, before, limit, wait_for=wait_for))


def _returns(router: APIRouter, returns: Returns) -> None:
    @router.get(
        "/ledger/returns",
        tags=["Ledger"],
        summary="What the games returned",
        responses=answers("ReturnPage", "Newest first.", examples.RETURNS) | _REFUSED,
    )
    async def game_returns(
        caller: Annotated[Caller, caller_with("ledger")],
        before: Annotated[
            Day | None,
            Query(description="Continue before this day: the `next` of the page before."),
        ] = None,
        days: Annotated[
            int, Query(ge=1, le=MOST_DAYS_A_PAGE, description="How many days at most.")
        ] = 31,
        wait_for: WaitFor = 0,
    ) -> Response:
        """What was staked and what came back, by day and ruleset: `payout` over `stake` is what a
        game really returned. Days without a settlement are left out."""
        return Json(await returns.page(caller.house, before, days, wait_for=wait_for))
