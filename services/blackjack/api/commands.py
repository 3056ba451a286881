"""The hot routes, `POST /v1/tables/{table}/commands` and its plural: plain ASGI before the app.

Everything else is ordinary FastAPI. Here a request costs a regular expression, a dict look-up for
the key, one decode and one encode; the same types describe it in the OpenAPI document.
"""

import logging
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from services.blackjack.api import many
from services.blackjack.api.examples import ANSWER, COMMANDS
from services.blackjack.application.shoes import SeedUnreadable
from services.blackjack.application.tables import Tables
from services.blackjack.domain import rejections as no
from services.blackjack.domain.commands import Command
from shared.eventstore.cause import Cause, StaleVersion
from shared.eventstore.rejections import (
    InsufficientChips,
    KeyReused,
    Overloaded,
    VersionConflict,
    WaitedTooLong,
)
from shared.http import problems
from shared.http.auth import Caller, Forbidden, Keys, Unauthenticated
from shared.http.openapi import answers, refuses, takes
from shared.http.problems import BodyTooLarge, Malformed, MethodNotAllowed, Unexpected
from shared.http.requests import (
    IDEMPOTENCY,
    IF_MATCH,
    cause,
    decode,
    etag,
    header_map,
    read_body,
)
from shared.kernel.ids import ID_PATTERN
from shared.kernel.rejected import Rejected

TABLE_PARAMETER: Final = {
    "name": "table",
    "in": "path",
    "required": True,
    "description": "The table's id.",
    "schema": {"type": "string", "pattern": ID_PATTERN},
    "example": "table-3",
}
_ONE: Final = re.compile("/v1/tables/([^/]+)/commands")
_MANY: Final = "/v1/commands"
_ID: Final = re.compile(ID_PATTERN)
_HINT: Final = f"The types are {', '.join(COMMANDS)}."
_read_one: Final = msgspec.json.Decoder(Command)
_read_many: Final = msgspec.json.Decoder(many.TableCommands)
_encoder: Final = msgspec.json.Encoder()
_log = logging.getLogger(__name__)


class Commands:
    """Serves the hot routes and leaves every other request to the app behind it."""

    def __init__(self, app: ASGIApp, tables: Tables, keys: Keys, most_under_way: int) -> None:
        """`most_under_way`: how many commands may be, at once; more are Overloaded."""
        self._app = app
        self._tables = tables
        self._keys = keys
        self._most_under_way = most_under_way
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        one = _ONE.fullmatch(path)
        if not one and path != _MANY:
            await self._app(scope, receive, send)
            return
        try:
            if scope["method"] != "POST":
                raise MethodNotAllowed(["POST"])
            headers = header_map(scope)
            caller = (await self._keys.authenticate(headers.get(b"authorization"))).require("play")
            if one:
                await self._play(one[1], cause(caller, headers), receive, send)
            else:
                await self._play_many(caller, headers, receive, send)
        except Rejected as refusal:
            await problems.response(refusal)(scope, receive, send)
        except Exception:
            _log.exception("A command has failed.")
            await problems.response(Unexpected())(scope, receive, send)

    async def _play(self, table: str, why: Cause, receive: Receive, send: Send) -> None:
        if not _ID.fullmatch(table):
            raise Malformed(f"path.table: A table's id matches {ID_PATTERN}.")
        command = decode(await read_body(receive), _read_one, _HINT)
        self._make_room(1)
        try:
            answered = await self._tables.play(why, table, command)
        finally:
            self._under_way -= 1
        headers = [(b"etag", etag(answered.answer.table.version).encode())]
        if answered.replayed:
            headers.append((b"idempotent-replayed", b"true"))
        await _answer(send, answered.answer, headers)

    async def _play_many(
        self, caller: Caller, headers: Mapping[bytes, bytes], receive: Receive, send: Send
    ) -> None:
        if b"idempotency-key" in headers or b"if-match" in headers:
            raise Malformed(
                "Idempotency-Key and If-Match are for one command: send key, if_version."
            )
        body = await read_body(receive, many.MOST_BODY_BYTES)
        commands = decode(body, _read_many, _HINT).commands
        why = cause(caller, headers)
        self._make_room(len(commands))
        try:
            outcomes = await many.play_all(self._tables, why, commands)
        finally:
            self._under_way -= len(commands)
        await _answer(send, outcomes, [])

    def _make_room(self, commands: int) -> None:
        """Counts commands as under way. Raises Overloaded when they would be too many."""
        if self._under_way + commands > self._most_under_way:
            raise Overloaded(f"{self._under_way} commands are under way already.")
        self._under_way += commands


async def _answer(send: Send, answer: object, headers: list[tuple[bytes, bytes]]) -> None:
    body = _encoder.encode(answer)
    headers += (
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
    )
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _description() -> dict[str, Any]:
    refusals = refuses(
        *(Unauthenticated, Forbidden, BodyTooLarge, Malformed, StaleVersion, KeyReused),
        *(InsufficientChips, VersionConflict, Overloaded, WaitedTooLong, SeedUnreadable),
        *(cls for cls in vars(no).values() if isinstance(cls, type) and cls is not Rejected),
    )
    responses = answers("Answer", "The command happened.", ANSWER) | refusals
    return {
        "tags": ["Tables"],
        "summary": "Play",
        "operationId": "play",
        "description": "One command at a table. It happens wholly or not at all. The answer has "
        "the table after it, what it caused, and everything that may be done next: each legal "
        "move is a command as it stands; `min`, `max` and `step` bound the amount that you add.",
        "security": [{"api_key": []}],
        "parameters": [TABLE_PARAMETER, *IDEMPOTENCY["parameters"], IF_MATCH],
        **takes("Command", COMMANDS),
        "responses": {str(status): content for status, content in responses.items()},
    }


DESCRIPTION: Final = {
    "/v1/tables/{table}/commands": {"post": _description()},
    **many.DESCRIPTION,
}
