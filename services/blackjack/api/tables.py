"""Routes of tables and rounds, all but the hot one."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response

from services.blackjack.api import examples
from services.blackjack.application.answers import Answer
from services.blackjack.application.reading import Reading
from services.blackjack.application.tables import Tables
from services.blackjack.domain.commands import Command, Open
from services.blackjack.domain.rejections import (
    UnknownRound,
    UnknownTable,
    UnknownVersion,
)
from services.blackjack.domain.view import Phase, TableView
from services.blackjack.projections.rounds import Rounds
from services.blackjack.projections.tables import TableList, TablePage
from shared.eventstore.checkpoints import ViewBehind
from shared.eventstore.rejections import Archived
from shared.http.auth import Caller, Forbidden, Unauthenticated, caller_with
from shared.http.openapi import answers, refuses
from shared.http.paging import AfterName, WaitFor
from shared.http.places import RoundId, TableId
from shared.http.problems import Malformed
from shared.http.requests import etag
from shared.http.responses import Json
from shared.kernel.ids import ID_PATTERN

MOST_TABLES_A_PAGE: Final = 100

Reader = Annotated[Caller, caller_with("read")]
Player = Annotated[Caller, caller_with("play")]
_REFUSED = refuses(Unauthenticated, Forbidden, Malformed)


PUBLISHED: Final[dict[str, Any]] = {
    cls.__name__: cls for cls in (Answer, Open, TablePage, TableView)
} | {"Command": Command}


def routes(tables: Tables, past: Reading, listed: TableList, rounds: Rounds) -> APIRouter:
    """The routes over the tables of a service; `past` reads what will not change any more."""
    router = APIRouter(prefix="/v1", default_response_class=Response)
    _list(router, listed)
    _look(router, tables, past)
    _rounds(router, past, rounds)
    return router


def _list(router: APIRouter, listed: TableList) -> None:
    @router.get(
        "/tables",
        tags=["Tables"],
        summary="All tables",
        responses=answers("TablePage", "By id.", examples.TABLES) | _REFUSED | refuses(ViewBehind),
    )
    async def every_table(
        caller: Reader,
        phase: Annotated[Phase | None, Query(description="Only tables that wait for this.")] = None,
        ruleset: Annotated[
            str | None,
            Query(pattern=ID_PATTERN, description="Only tables of this game.", examples=["a2g"]),
        ] = None,
        after: AfterName = "",
        limit: Annotated[
            int, Query(ge=1, le=MOST_TABLES_A_PAGE, description="How many at most.")
        ] = 20,
        wait_for: WaitFor = 0,
    ) -> Response:
        """The tables of the house at a glance. The list is a moment behind the tables themselves:
        `position` says how far it has come."""
        page = await listed.page(
            caller.house, after, limit, phase=phase, ruleset=ruleset, wait_for=wait_for
        )
        return Json(page)


def _look(router: APIRouter, tables: Tables, past: Reading) -> None:
    @router.get(
        "/tables/{table}",
        tags=["Tables"],
        summary="A table",
        responses=answers("TableView", "The table.", examples.TABLE)
        | _REFUSED
        | refuses(UnknownTable, Archived, UnknownVersion),
    )
    async def one_table(
        caller: Reader,
        table: TableId,
        version: Annotated[
            int | None, Query(ge=1, le=2**53, description="A past version, to see it again.")
        ] = None,
    ) -> Response:
        """A table with its legal moves: now, or as it was at any version."""
        reading = tables.reading if version is None else past
        found = await reading.table(caller.house, table, version)
        return Json(found, headers=_tag(found))


def _rounds(router: APIRouter, past: Reading, rounds: Rounds) -> None:
    @router.get(
        "/rounds/{round}",
        tags=["Rounds"],
        summary="A round",
        responses=answers("Answer", "The round.", examples.ANSWER)
        | _REFUSED
        | refuses(UnknownRound, Archived),
    )
    async def one_round(
        caller: Reader,
        round: RoundId,
    ) -> Response:
        """The table as the round left it, or is now, with all that happened since the first bet."""
        table, _, number = round.rpartition(".")
        span = await rounds.round(caller.house, table, int(number))
        if span is None:
            raise UnknownRound(f"There is no round {round}.")
        return Json(await past.span(caller.house, table, *span))


def _tag(table: TableView) -> dict[str, str]:
    return {"ETag": etag(table.version)}
