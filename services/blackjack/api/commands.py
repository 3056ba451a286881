"""The hot route, `POST /v1/tables/{table}/commands`: a plain ASGI endpoint in front of the app.

Everything else is ordinary FastAPI. Here a request costs a regular expression, a dict look-up for
the key, one decode and one encode; the same types describe it in the OpenAPI document.
"""

import re
from typing import Any, Final

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from services.blackjack.api.examples import ANSWER, COMMANDS
from services.blackjack.application.shoes import SeedUnreadable
from services.blackjack.application.tables import Tables
from services.blackjack.domain import rejections as no
from services.blackjack.domain.commands import Command
from shared.eventstore.cause import StaleVersion
from shared.eventstore.rejections import (
    InsufficientChips,
    KeyReused,
    Overloaded,
    VersionConflict,
)
from shared.http import problems
from shared.http.auth import Forbidden, Keys, Unauthenticated
from shared.http.openapi import answers, refuses, takes
from shared.http.problems import BodyTooLarge, Malformed, MethodNotAllowed
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
_PATH: Final = re.compile("/v1/tables/([^/]+)/commands")
_ID: Final = re.compile(ID_PATTERN)
_HINT: Final = f"The types are {', '.join(COMMANDS)}."
_decoder: Final = msgspec.json.Decoder(Command)
_encoder: Final = msgspec.json.Encoder()


class Commands:
    """Serves the hot route and leaves every other request to the app behind it."""

    def __init__(self, app: ASGIApp, tables: Tables, keys: Keys) -> None:
        self._app = app
        self._tables = tables
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = scope["type"] == "http" and _PATH.fullmatch(scope["path"])
        if not found:
            await self._app(scope, receive, send)
            return
        try:
            if scope["method"] != "POST":
                raise MethodNotAllowed(["POST"])
            await self._play(found[1], scope, receive, send)
        except Rejected as refusal:
            await problems.response(refusal)(scope, receive, send)

    async def _play(self, table: str, scope: Scope, receive: Receive, send: Send) -> None:
        headers = header_map(scope)
        caller = await self._keys.authenticate(headers.get(b"authorization"))
        why = cause(caller.require("play"), headers)
        if not _ID.fullmatch(table):
            raise Malformed(f"path.table: A table's id matches {ID_PATTERN}.")
        answered = await self._tables.play(
            why, table, decode(await read_body(receive), _decoder, _HINT)
        )
        body = _encoder.encode(answered.answer)
        start = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"etag", etag(answered.answer.table.version).encode()),
        ]
        if answered.replayed:
            start.append((b"idempotent-replayed", b"true"))
        await send({"type": "http.response.start", "status": 200, "headers": start})
        await send({"type": "http.response.body", "body": body})


def _description() -> dict[str, Any]:
    refusals = refuses(
        *(Unauthenticated, Forbidden, BodyTooLarge, Malformed, StaleVersion, KeyReused),
        *(InsufficientChips, VersionConflict, Overloaded, SeedUnreadable),
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


DESCRIPTION: Final = {"/v1/tables/{table}/commands": {"post": _description()}}
