"""Around all that is served: a request is measured, told in a line, and part of a trace."""

import logging
from datetime import UTC, datetime
from time import perf_counter
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared import spans, tracing
from shared.http.auth import CALLER
from shared.http.requests import TRACEPARENT
from shared.logs import OUTPUT, TRACE, Level, Served
from shared.telemetry import observe_request

_METHODS: Final = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}
_log = logging.getLogger(__name__)


class Observed:
    """Serves an app. Every request has a `traceparent` that is valid in its scope: its caller's, or
    one that was made for it, or that of its span where spans are collected. The answer says which.

    The app leaves in the scope what the line tells: its `route`, with a `path`, and the caller.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._fresh = tracing.fresh()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        trace = _callers_trace(scope)
        if not spans.are_sent():
            await self._watch(scope, receive, send, trace or next(self._fresh))
            return
        parent = trace.decode() if trace else None
        with spans.span("request", kind="SERVER", parent=parent) as span:
            status = await self._watch(scope, receive, send, spans.traceparent(span))
            spans.answered(span, _method(scope), _route(scope), status)

    async def _watch(self, scope: Scope, receive: Receive, send: Send, trace: bytes) -> int:
        """Serves a request in a trace. Returns the status of its answer."""
        began, status = perf_counter(), 500
        scope[TRACEPARENT] = trace
        trace_id = trace[3:35].decode()
        TRACE.set(trace_id)

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"].append((b"traceparent", trace))
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception:
            _log.exception("%s %s has failed.", _method(scope), _route(scope))
        finally:
            _told(scope, status, perf_counter() - began, trace_id)
        return status


def _callers_trace(scope: Scope) -> bytes | None:
    for name, value in scope["headers"]:
        if name == b"traceparent" and tracing.is_trace(value):
            trace: bytes = value
            return trace
    return None


def _told(scope: Scope, status: int, seconds: float, trace_id: str) -> None:
    method, route = _method(scope), _route(scope)
    observe_request(method, route, status, seconds)
    level: Level = "info" if status < 500 else "error" if status == 500 else "warning"
    if OUTPUT.level > _LEVELS[level]:
        return
    house, key = "", ""
    if caller := scope.get(CALLER):
        house, key = caller.house, caller.key
    now = datetime.now(UTC)
    OUTPUT.served(Served(now, level, method, route, status, seconds, trace_id, house, key))


def _method(scope: Scope) -> str:
    """Its method, of which there are only so many."""
    method: str = scope["method"]
    return method if method in _METHODS else "_OTHER"


def _route(scope: Scope) -> str:
    """The template of its address, '' for one that leads nowhere."""
    path: str = getattr(scope.get("route"), "path", "")
    return path


_LEVELS: Final[dict[Level, int]] = {
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
