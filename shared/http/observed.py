"""Around all that is served: a request is measured, told in a line, and part of a trace."""

import logging
from datetime import UTC, datetime
from time import perf_counter
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared import tracing
from shared.http.auth import CALLER
from shared.logs import OUTPUT, TRACE, Level, Served
from shared.telemetry import observe_request

_METHODS: Final = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}
_log = logging.getLogger(__name__)


class Observed:
    """Serves an app. To the app every request has a `traceparent` that is valid: its caller's, or
    one that was made for it; the answer says which.

    The app leaves in the scope what the line tells: its `route`, with a `path`, and the caller.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._fresh = tracing.fresh()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = perf_counter(), 500
        trace = self._trace_of(scope)
        trace_id = trace[3:35].decode()
        TRACE.set(trace_id)

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"traceparent", trace)]
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception:
            _log.exception("%s %s has failed.", scope["method"], _route(scope))
        finally:
            _told(scope, status, perf_counter() - began, trace_id)

    def _trace_of(self, scope: Scope) -> bytes:
        for name, value in scope["headers"]:
            if name == b"traceparent" and tracing.is_trace(value):
                trace: bytes = value
                return trace
        made = next(self._fresh)
        scope["headers"] = [*scope["headers"], (b"traceparent", made)]  # of two the last one counts
        return made


def _told(scope: Scope, status: int, seconds: float, trace_id: str) -> None:
    method, route = scope["method"], _route(scope)
    if method not in _METHODS:
        method = "_OTHER"
    observe_request(method, route, status, seconds)
    level: Level = "info" if status < 500 else "error" if status == 500 else "warning"
    if OUTPUT.level > _LEVELS[level]:
        return
    house, key = "", ""
    if caller := scope.get(CALLER):
        house, key = caller.house, caller.key
    now = datetime.now(UTC)
    OUTPUT.served(Served(now, level, method, route, status, seconds, trace_id, house, key))


def _route(scope: Scope) -> str:
    """The template of its address, '' for one that leads nowhere."""
    path: str = getattr(scope.get("route"), "path", "")
    return path


_LEVELS: Final[dict[Level, int]] = {
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
