"""Routes of statements: what a player and the bank of a table had, got and paid, line by line."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse

from services.audit.api import statements_examples as examples
from services.audit.api.ranges import From, To, moment
from services.audit.api.statement_pages import CSV, HTML, Statement, as_csv, as_html
from services.audit.projections.statements import (
    BadRange,
    BankStatement,
    PlayerStatement,
    Range,
    Statements,
)
from shared.eventstore.checkpoints import ViewBehind
from shared.eventstore.rejections import UnknownPosition
from shared.http.auth import Caller, Forbidden, Unauthenticated, caller_with
from shared.http.openapi import Responses, answers, refuses
from shared.http.paging import MOST_A_PAGE, After, Limit, WaitFor
from shared.http.places import PlayerId, TableId
from shared.http.problems import Malformed
from shared.http.responses import Json

PUBLISHED: Final[dict[str, Any]] = {cls.__name__: cls for cls in (PlayerStatement, BankStatement)}

Accountant = Annotated[Caller, caller_with("ledger")]
Read: TypeAlias = Callable[[Range, int, int, int], Awaitable[Statement]]
"""A part of a statement: its range, after which position, how many lines, what to wait for."""

_REFUSED = refuses(Unauthenticated, Forbidden, UnknownPosition, BadRange, Malformed, ViewBehind)


_DOCUMENTS: Final = {
    "player_statement": ("A player's statement", examples.PLAYER_CSV),
    "bank_statement": ("The statement of a table's bank", examples.BANK_CSV),
}


class _Asked(NamedTuple):
    """Of what house, which part of a statement, and what to wait for."""

    house: str
    range: Range
    wait_for: int


async def _asked(
    caller: Accountant, first: From = None, to: To = None, wait_for: WaitFor = 0
) -> _Asked:
    return _Asked(caller.house, Range(moment("from", first), moment("to", to)), wait_for)


Asked = Annotated[_Asked, Depends(_asked)]


def routes(statements: Statements) -> APIRouter:
    """The routes over the statements of a service."""
    router = APIRouter(prefix="/v1", tags=["Ledger"], default_response_class=Response)
    _of_a_player(router, statements)
    _of_a_bank(router, statements)
    return router


def _of_a_player(router: APIRouter, statements: Statements) -> None:
    async def reading(caller: Accountant, player: PlayerId) -> Read:
        return partial(statements.of_a_player, caller.house, player)

    Reads = Annotated[Read, Depends(reading)]

    @router.get(
        "/players/{player}/statement",
        summary="A player's statement of account",
        responses=_shapes("PlayerStatement", examples.PLAYER) | _REFUSED,
    )
    async def player_statement(
        request: Request, read: Reads, asked: Asked, after: After = 0, limit: Limit = 100
    ) -> Response:
        """Every movement of a player's chips with the balance after it: what was granted, brought
        to tables and home, bet, won and lost. The account is all that the player can dispose of,
        in the vault and in stacks at tables. A bet leaves it and is `at_risk`, a payout comes
        back to it; a hand that is lost brings 0. Chips that go from the vault to a table are two
        lines of one command, one into the stack and one out of the vault.

        `opening.balance` and all amounts add up to `closing.balance`. A range has whole commands at
        its ends, and is the same for ever: ask for the rest of it, and for copies of it, with the
        `first_position` and `last_position` of the answer. All lines at once, as a table or to
        print, for `Accept: text/csv` or `text/html`."""
        return await _answer(request, read, asked, after, limit)

    _documents(router, "/players/{player}/statement", "player_statement", reading)


def _of_a_bank(router: APIRouter, statements: Statements) -> None:
    async def reading(caller: Accountant, table: TableId) -> Read:
        return partial(statements.of_a_bank, caller.house, table)

    Reads = Annotated[Read, Depends(reading)]

    @router.get(
        "/tables/{table}/statement",
        summary="The statement of a table's bank",
        responses=_shapes("BankStatement", examples.BANK) | _REFUSED,
    )
    async def bank_statement(
        request: Request, read: Reads, asked: Asked, after: After = 0, limit: Limit = 100
    ) -> Response:
        """Every chip that the bank of a table took (+) or paid (−), with its balance after that:
        what the house has won or lost there so far. A hand that pushes moves nothing and has no
        line. `opening` and all amounts add up to `closing`; ranges are as in a player's statement.
        Empty for an unknown table."""
        return await _answer(request, read, asked, after, limit)

    _documents(router, "/tables/{table}/statement", "bank_statement", reading)


def _documents(
    router: APIRouter, path: str, name: str, reading: Callable[..., Awaitable[Read]]
) -> None:
    """The same as whole documents."""
    Reads = Annotated[Read, Depends(reading)]
    title, csv = _DOCUMENTS[name]

    @router.get(
        f"{path}.csv",
        name=f"{name}_table",
        summary=f"{title}, as a table",
        responses=_document(CSV, csv) | _REFUSED,
    )
    async def as_a_table(read: Reads, asked: Asked) -> Response:
        """All lines of the statement as CSV, between one for the opening balance and one for the
        closing. What ends without a closing line was cut off on its way."""
        return await _whole(CSV, read, asked)

    @router.get(
        f"{path}.html",
        name=f"{name}_page",
        summary=f"{title}, to print",
        responses=_document(HTML, examples.PAGE) | _REFUSED,
    )
    async def to_print(read: Reads, asked: Asked) -> Response:
        """All lines of the statement as a page that prints well and needs no other file."""
        return await _whole(HTML, read, asked)


async def _answer(request: Request, read: Read, asked: _Asked, after: int, limit: int) -> Response:
    """A page of it as JSON, or all of it in the shape that the request names first."""
    if shape := _wanted(request):
        return await _whole(shape, read, asked)
    return Json(await read(asked.range, after, limit, asked.wait_for))


async def _whole(media_type: str, read: Read, asked: _Asked) -> StreamingResponse:
    """All of a statement, page by page. What is refused is refused before the first."""
    first = await read(asked.range, 0, MOST_A_PAGE, asked.wait_for)

    async def more(after: int) -> Statement:
        return await read(Range(first.first_position, first.last_position), after, MOST_A_PAGE, 0)

    write = as_csv if media_type == CSV else as_html
    return StreamingResponse(write(asked.house, first, more), media_type=media_type)


def _wanted(request: Request) -> str | None:
    """The shape that the request names first, if it is another than JSON."""
    first = request.headers.get("accept", "").strip()
    return next((each for each in (CSV, HTML) if first.startswith(each)), None)


def _document(media_type: str, example: str) -> Responses:
    shown = {"schema": {"type": "string"}, "example": example}
    return {200: {"description": "All lines.", "content": {media_type: shown}}}


def _shapes(schema: str, example: Any) -> Responses:
    shapes = answers(schema, "Oldest first.", example)
    csv = examples.PLAYER_CSV if schema == "PlayerStatement" else examples.BANK_CSV
    shapes[200]["content"] |= _document(CSV, csv)[200]["content"]
    shapes[200]["content"] |= _document(HTML, examples.PAGE)[200]["content"]
    return shapes
