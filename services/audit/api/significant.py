"""The route of what an auditor looks at first: what is out of the ordinary."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response

from services.audit.api.ranges import From, To, moment
from services.audit.domain.significant import TYPES, SignificantType
from services.audit.projections.significant import Extraordinary, SignificantPage, Wanted
from shared.eventstore.checkpoints import ViewBehind
from shared.http.auth import Caller, Forbidden, Unauthenticated, caller_with
from shared.http.openapi import answers, refuses
from shared.http.paging import MOST_POSITION, Before, Limit, WaitFor
from shared.http.problems import Malformed
from shared.http.responses import Json
from shared.kernel.chips import MOST_CHIPS

PUBLISHED: Final[dict[str, Any]] = {"SignificantPage": SignificantPage}

_EVER: Final = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_EVENTS: Final[dict[str, Any]] = {
    "data": [
        {
            "position": 31,
            "time": "2026-01-31T12:00:00Z",
            "type": "adjustment",
            "text": "ada was granted 1000 chips by key/till/3f2a9c0d1e.",
            "table": None,
            "round": None,
            "player": "ada",
            "amount": 1000,
        },
        {
            "position": 12,
            "time": "2026-01-31T12:00:12Z",
            "type": "failed_check",
            "text": "The log ends at 11, but was sealed up to 16.",
            "table": None,
            "round": None,
            "player": None,
            "amount": 0,
        },
    ],
    "next": None,
    "position": 40,
}
Types = Annotated[
    list[SignificantType] | None,
    Query(
        alias="type",
        max_length=len(TYPES),
        description="Only of this type; given several times, of any of them.",
        examples=[["adjustment"]],
    ),
]
Least = Annotated[
    int, Query(ge=0, le=MOST_CHIPS, description="Only those about so many chips at least.")
]


def routes(extraordinary: Extraordinary) -> APIRouter:
    """The route over what was found."""
    router = APIRouter(prefix="/v1/audit", tags=["Events"], default_response_class=Response)

    @router.get(
        "/events",
        summary="What an auditor should know of",
        responses=answers("SignificantPage", "Newest first.", _EVENTS)
        | refuses(Unauthenticated, Forbidden, Malformed, ViewBehind),
    )
    async def significant_events(
        caller: Annotated[Caller, caller_with("audit")],
        types: Types = None,
        first: From = None,
        to: To = None,
        least: Least = 0,
        before: Before = MOST_POSITION,
        limit: Limit = 100,
        wait_for: WaitFor = 0,
    ) -> Response:
        """What is out of the ordinary, each in a sentence:

        - `adjustment`: chips granted by an operator. They can only be given, not taken.
        - `failed_check`: where the log was not what it was before, and so was not sealed.
        - `left_in_round`: a player left with chips at risk; the hands stood by themselves.
        - `rules_changed`: the platform applied a modifier to a round.
        - `run_won`: a run came to its goal.
        - `ruleset_registered`, `table_opened_with_rules`, `table_closed`: games and tables of the
          house's own.

        No round is ever voided: whatever happens to players, clocks and processes, it is played to
        its end and settled, and a table cannot be closed before. The largest wins are at
        `/v1/audit/wins`."""
        wanted = _wanted(types, moment("from", first), moment("to", to), least)
        return Json(await extraordinary.page(caller.house, wanted, before, limit, wait_for))

    return router


def _wanted(
    types: list[SignificantType] | None,
    first: int | datetime | None,
    last: int | datetime | None,
    least: int,
) -> Wanted:
    since, until = _EVER
    return Wanted(
        since=first if isinstance(first, datetime) else since,
        until=last if isinstance(last, datetime) else until,
        first=first if isinstance(first, int) else 0,
        last=last if isinstance(last, int) else MOST_POSITION,
        least=least,
        types=tuple(types or TYPES),
    )
