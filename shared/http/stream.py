"""The log as it grows: server-sent events from any point on, each once and in order."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from random import randrange
from typing import Annotated, Final, TypeAlias

import msgspec
from fastapi import APIRouter, Header, Query, Request, Response
from starlette import types as asgi

from shared.eventstore.rejections import Archived, UnknownPosition, Unreachable
from shared.eventstore.store import EventStore, Recorded
from shared.eventstore.subscription import version_at
from shared.http import feed
from shared.http.auth import Caller, Forbidden, Unauthenticated, admitted, caller_with
from shared.http.fanout import Fanout, Listener, Stopping, TooSlow, WaitForNews
from shared.http.openapi import Responses, refuses
from shared.http.places import TableId
from shared.http.problems import Malformed, document
from shared.kernel.rejected import Rejected

EVENT_STREAM: Final = "text/event-stream"
KEEP_ALIVE_SECONDS: Final = 15.0
"""Shorter than what proxies take for dead; and how long a key that was revoked still listens, and
hears nothing."""

_KEEP_ALIVE: Final = b": still here\n\n"
_RETRY_MILLISECONDS: Final = (1000, 3000)
"""Each client is given another time, so that they do not all come back in one moment."""
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

Admit: TypeAlias = Callable[[], Awaitable[object]]
"""Raises Unauthenticated or Forbidden when the caller may listen no longer."""

After = Annotated[
    int,
    Query(
        ge=0,
        le=2**53,
        description="Begin after this position, such as the `position` of a table that was read; "
        "`Last-Event-ID` goes before it.",
    ),
]
LastEventId = Annotated[
    int | None,
    Header(
        ge=0,
        le=2**53,
        alias="Last-Event-ID",
        description="Continue after this `id`; browsers send it when they connect again.",
    ),
]


class Streams:
    """Tells whoever listens what is recorded, from any point on."""

    def __init__(
        self,
        store: EventStore,
        wait_for_news: WaitForNews,
        keep_alive_seconds: float = KEEP_ALIVE_SECONDS,
    ) -> None:
        self.clients = 0
        """How many listen now."""
        self.dropped = 0
        """How many were dropped since the start, for whatever reason but our stopping."""
        self._store = store
        self._fanout = Fanout(store, wait_for_news, frame)
        self._keep_alive_seconds = keep_alive_seconds

    @property
    def lag_seconds(self) -> float:
        """From its command's being decided to its being handed to all listeners, for the newest
        event."""
        return self._fanout.lag_seconds

    def close(self) -> None:
        """Ends every stream at once, and each that begins from now on."""
        self._fanout.close()

    async def log(self, house: str, after: int, admit: Admit) -> "EventStream":
        """The events of a house after a position. Raises Archived, HouseNotOpen, UnknownPosition,
        Unreachable."""
        await self._store.read_log(house, after, 1)
        head = await feed.insist_on(self._store, house, after)
        return self._answer(self._fanout.listener(house, None, after, head), admit)

    async def stream(self, house: str, stream: str, after: int, admit: Admit) -> "EventStream":
        """The events of one stream after a position of the log. Raises as `log`."""
        head = await feed.insist_on(self._store, house, after)
        version = await version_at(self._store, house, stream, after)
        return self._answer(self._fanout.listener(house, stream, version, head), admit)

    def _answer(self, listener: Listener, admit: Admit) -> "EventStream":
        return EventStream(self._told(listener, admit))

    async def _told(self, listener: Listener, admit: Admit) -> AsyncGenerator[bytes]:
        yield b"retry: %d\n\n" % randrange(*_RETRY_MILLISECONDS)
        self.clients += 1
        try:
            with listener:
                while True:
                    frames = await listener.next(self._keep_alive_seconds)
                    with suppress(Unreachable):
                        await admit()
                    yield b"".join(frames) or _KEEP_ALIVE
        except Rejected as why:
            self.dropped += not isinstance(why, Stopping)
            yield last_frame(why)
        finally:
            self.clients -= 1


class EventStream(Response):
    """An answer without end: over when there is nothing more to tell, or the client has gone."""

    def __init__(self, chunks: AsyncGenerator[bytes]) -> None:
        self.status_code = 200
        self.background = None
        self.media_type = EVENT_STREAM
        self.init_headers(_HEADERS)
        self._chunks = chunks

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        async with asyncio.TaskGroup() as both:
            telling = both.create_task(self._tell(send))
            while (await receive())["type"] != "http.disconnect":
                pass
            telling.cancel()

    async def _tell(self, send: asgi.Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        async with aclosing(self._chunks) as chunks:
            async for chunk in chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def frame(record: Recorded) -> bytes:
    """A record as a server-sent event. JSON and canonical envelopes have no line breaks."""
    entry = msgspec.json.encode(feed.entry(record))
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (record.position, record.type.encode(), entry)


def last_frame(why: Rejected) -> bytes:
    """Why there will be no more, as an event without `id`: the client's last one stays as it is."""
    name = b"stopping" if isinstance(why, Stopping) else b"dropped"
    return b"event: %b\ndata: %b\n\n" % (name, msgspec.json.encode(document(why)))


_TOLD: Final[Responses] = {
    200: {
        "description": "Server-sent events. `id` is the position, also at a table; `event` the "
        "type; `data` an entry as in the feed, on one line. Lines that begin with a colon keep "
        "the connection open. The last event has no `id`, and a problem document as `data`: "
        "`stopping` before the server stops, `dropped` when this client is, most often for "
        "reading too slowly. After either, connect again with the last `id` as `Last-Event-ID`.",
        "content": {
            EVENT_STREAM: {
                "schema": {"type": "string"},
                "example": "retry: 2000\n\n"
                "id: 241\nevent: blackjack.bet_placed\n"
                f"data: {msgspec.json.encode(feed.EXAMPLE).decode()}\n\n"
                f"{last_frame(TooSlow()).decode()}",
            }
        },
    }
}
_RESPONSES: Final = _TOLD | refuses(
    Unauthenticated, Forbidden, Archived, UnknownPosition, Malformed
)


def routes(streams: Streams, table_stream: Callable[[str], str]) -> APIRouter:
    """The streams of the whole log and of one table."""
    router = APIRouter(prefix="/v1", tags=["Events"], default_response_class=Response)

    @router.get("/events/stream", summary="The log as it grows", responses=_RESPONSES)
    async def event_stream(
        request: Request,
        caller: Annotated[Caller, caller_with("audit")],
        after: After = 0,
        last_event_id: LastEventId = None,
    ) -> Response:
        """Every event of the house after a position, then each as it is recorded."""
        start = after if last_event_id is None else last_event_id
        return await streams.log(caller.house, start, lambda: admitted(request, "audit"))

    @router.get(
        "/tables/{table}/events/stream", summary="A table as it is played", responses=_RESPONSES
    )
    async def table_event_stream(
        request: Request,
        caller: Annotated[Caller, caller_with("read")],
        table: TableId,
        after: After = 0,
        last_event_id: LastEventId = None,
    ) -> Response:
        """What happened at a table after a position, then what happens."""
        start = after if last_event_id is None else last_event_id
        return await streams.stream(
            caller.house, table_stream(table), start, lambda: admitted(request, "read")
        )

    return router
