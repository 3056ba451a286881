"""The routes that record, as plain ASGI endpoints in front of the app.

The app's routing, middleware and dependencies would be most of their time. Here a request costs a
regular expression, a look-up of the key, one decode and one encode; the types that decode describe
it in the OpenAPI document, as everywhere.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from shared.http import keys, problems
from shared.http.auth import Caller, Keys, admit
from shared.http.limits import Limit, Limits
from shared.http.problems import METHOD_IN_FRONT, HeadTooLarge, Malformed, Unexpected
from shared.http.requests import MOST_BODY_BYTES, etag, header_map, read_body
from shared.http.secured import LIMIT, SECURE, secured
from shared.kernel.ids import ID_PATTERN
from shared.kernel.rejected import Rejected

MOST_HEADERS: Final = 100

_ID: Final = re.compile(ID_PATTERN)
_encoder: Final = msgspec.json.Encoder()
_log = logging.getLogger(__name__)


class Asked(NamedTuple):
    """A request. `id` is the one in its path; `headers` have lower-case names.

    `limit` is what the caller is held to: one request is counted, further ones may be charged.
    """

    caller: Caller
    headers: Mapping[bytes, bytes]
    id: str
    body: bytes
    limit: Limit | None = None


class Reply(NamedTuple):
    """An answer to be encoded; with `version`, its entity tag. `replayed`: it was given before."""

    answer: object
    status: int = 200
    version: int | None = None
    replayed: bool = False


class Entrance(NamedTuple):
    """A route: `path` has one id in braces at most, `description` is its operation in OpenAPI."""

    method: str
    path: str
    scope: keys.Scope
    serve: Callable[[Asked], Awaitable[Reply]]
    description: dict[str, Any]
    most_body_bytes: int = MOST_BODY_BYTES


class Front:
    """Serves the entrances and leaves every other request to the app behind them."""

    def __init__(
        self, app: ASGIApp, keys: Keys, limits: Limits, entrances: Iterable[Entrance]
    ) -> None:
        """The first entrances are found soonest."""
        self.description: dict[str, dict[str, Any]] = {}
        self._app = app
        self._keys = keys
        self._limits = limits
        self._ways: list[tuple[re.Pattern[str], Entrance]] = []
        for entrance in entrances:
            path = re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", entrance.path)
            self._ways.append((re.compile(path), entrance))
            self.description[entrance.path] = {entrance.method.lower(): entrance.description}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            if len(scope["headers"]) > MOST_HEADERS:
                await problems.response(HeadTooLarge())(scope, receive, secured(send, scope))
                return
            for path, entrance in self._ways:
                if found := path.fullmatch(scope["path"]):
                    if scope["method"] == entrance.method:
                        scope["route"] = entrance
                        await self._serve(entrance, found, scope, receive, send)
                        return
                    scope[METHOD_IN_FRONT] = entrance.method
                    break
        await self._app(scope, receive, secured(send, scope))

    async def _serve(
        self, entrance: Entrance, found: re.Match[str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        try:
            headers = header_map(scope)
            authorization = headers.get(b"authorization")
            caller = await admit(self._keys, self._limits, scope, entrance.scope, authorization)
            limit = scope.get(LIMIT)
            for kind, value in found.groupdict().items():
                if not _ID.fullmatch(value):
                    raise Malformed.at(f"path.{kind}", f"The id of a {kind} matches {ID_PATTERN}.")
            body = await read_body(receive, entrance.most_body_bytes)
            name = found[found.lastindex or 0]
            reply = await entrance.serve(Asked(caller, headers, name, body, limit))
            await _answer(send, reply, limit)
        except Rejected as refusal:
            await problems.response(refusal)(scope, receive, secured(send, scope))
        except Exception:
            _log.exception("%s %s has failed.", entrance.method, entrance.path)
            await problems.response(Unexpected())(scope, receive, secured(send, scope))


async def _answer(send: Send, reply: Reply, limit: Limit | None) -> None:
    body = _encoder.encode(reply.answer)
    headers = [
        *SECURE,
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
    ]
    if reply.version is not None:
        headers.append((b"etag", etag(reply.version).encode()))
    if reply.replayed:
        headers.append((b"idempotent-replayed", b"true"))
    if limit:
        headers += limit.headers()
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
