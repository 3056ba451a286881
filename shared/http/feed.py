"""The log, to take out: pages of records in order, as JSON or a line each."""

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from time import monotonic
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from msgspec import Meta, Raw, Struct

from shared.eventstore.envelope import Envelope
from shared.eventstore.rejections import Archived, UnknownPosition
from shared.eventstore.store import EventStore, Recorded
from shared.eventstore.subscription import pages
from shared.http.auth import Caller, Forbidden, Unauthenticated, caller_with
from shared.http.fanout import Fanout, Inbox, LogInDoubt, Stopping, TooSlow, WaitForNews
from shared.http.openapi import answers, refuses
from shared.http.paging import After, Limit
from shared.http.places import TableId
from shared.http.problems import Malformed
from shared.http.responses import Json

MOST_WAIT_SECONDS: Final = 30
JSON_LINES: Final = "application/jsonl"

_LINES_A_READ: Final = 1000

Wait = Annotated[
    int,
    Query(
        ge=0,
        le=MOST_WAIT_SECONDS,
        description="How many seconds to wait for news when there is nothing yet.",
    ),
]


class FeedEntry(Struct, frozen=True):
    """A record of the log. `event` is the envelope, byte for byte as it was hashed:

    leaf = SHA-256(0x00 ‖ event), chain = SHA-256(chain before ‖ leaf), both in hex.
    """

    position: int
    stream: str
    version: int
    leaf: str
    chain: str
    event: Annotated[Raw, Meta(extra_json_schema={"$ref": "#/components/schemas/Envelope"})]


class Feed(Struct, frozen=True):
    """A part of the log, in order. `next` continues it, also after the newest record."""

    data: list[FeedEntry]
    next: int


PUBLISHED: Final[dict[str, Any]] = {"Feed": Feed, "FeedEntry": FeedEntry, "Envelope": Envelope}

EXAMPLE: Final[dict[str, Any]] = {
    "position": 241,
    "stream": "table-3",
    "version": 17,
    "leaf": "5d0f…",
    "chain": "9a41…",
    "event": {
        "actor": "key/local/3f2a9c0d1e",
        "command": {"amount": 20, "seat": 1, "type": "bet"},
        "data": {"amount": 20, "client_seed": None, "seat": 1},
        "id": "5f0c6a1e-bet-1.0",
        "postings": [["table/table-3/player/ada/stack", -20], ["table/table-3/in_play", 20]],
        "schemaversion": 1,
        "source": "/houses/local",
        "specversion": "1.0",
        "subject": "table-table-3",
        "time": "2026-01-31T12:00:00.000000Z",
        "type": "blackjack.bet_placed",
    },
}
_RESPONSES = answers("Feed", "In order.", {"data": [EXAMPLE], "next": 241}) | refuses(
    Unauthenticated, Forbidden, Archived, Malformed
)
_LINES = {
    200: {
        "description": "A record a line.",
        "content": {
            JSON_LINES: {
                "schema": {"type": "string"},
                "example": msgspec.json.encode(EXAMPLE).decode(),
            }
        },
    }
} | refuses(Unauthenticated, Forbidden, Archived, UnknownPosition, Malformed)


class Feeds:
    """Reads records in order, and waits for them when asked to."""

    def __init__(self, store: EventStore, wait_for_news: WaitForNews) -> None:
        self._store = store
        self._news = Fanout(store, wait_for_news, lambda _: b"")

    def close(self) -> None:
        """From now on everybody is answered with what there is: the process is about to end."""
        self._news.close()

    async def log(self, house: str, after: int, limit: int, wait_seconds: int) -> Feed:
        """The records of a house after a position. Raises Archived, UnknownPosition."""

        async def read() -> list[Recorded]:
            return await self._store.read_log(house, after, limit)

        if not (records := await read()):
            head = await insist_on(self._store, house, after)
            if wait_seconds:
                records = await self._wait(house, None, head, read, wait_seconds)
        return _feed(records, records[-1].position if records else after)

    async def stream(
        self, house: str, stream: str, after: int, limit: int, wait_seconds: int
    ) -> Feed:
        """The records of a stream after a version."""

        async def read() -> list[Recorded]:
            return await self._store.read_stream(house, stream, after, limit)

        if not (records := await read()) and wait_seconds:
            head = (await self._store.head(house)).position
            records = await self._wait(house, stream, head, read, wait_seconds)
        return _feed(records, records[-1].version if records else after)

    async def lines(self, house: str, after: int) -> AsyncIterator[bytes]:
        """All records of a house after a position, up to where the log ends now, a line each.

        Raises Archived and UnknownPosition before the first line rather than after some.
        """
        await self._store.read_log(house, after, 1)
        return self._lines(house, after, await insist_on(self._store, house, after))

    async def _lines(self, house: str, after: int, end: int) -> AsyncIterator[bytes]:
        read = partial(self._store.read_log, house)
        async for records in pages(read, after, end, size=_LINES_A_READ):
            yield b"".join(msgspec.json.encode(entry(record)) + b"\n" for record in records)

    async def _wait(
        self,
        house: str,
        stream: str | None,
        head: int,
        read: Callable[[], Awaitable[list[Recorded]]],
        wait_seconds: int,
    ) -> list[Recorded]:
        """What comes in time, of a stream or of the whole log, which ended at `head` just now.

        The log is looked at only when something has come there: what happens at other tables costs
        who waits nothing.
        """
        inbox, end = Inbox(), monotonic() + wait_seconds
        self._news.join(house, stream, inbox, head)
        try:
            inbox.open()
            while not (records := await read()) and (left := end - monotonic()) > 0:
                await inbox.take(left)
            return records
        except (Stopping, TooSlow, LogInDoubt):
            return await read()
        finally:
            self._news.leave(house, stream, inbox)


async def insist_on(store: EventStore, house: str, position: int) -> int:
    """Where the log of a house ends. Raises UnknownPosition when it ends before a position: who has
    one from a log that was longer would miss what was recorded in its place."""
    head = (await store.head(house)).position
    if position > head:
        raise UnknownPosition(position, head)
    return head


def routes(feeds: Feeds, table_stream: Callable[[str], str]) -> APIRouter:
    """The feeds of the whole log and of one table."""
    router = APIRouter(prefix="/v1", tags=["Events"], default_response_class=Response)

    @router.get("/events", summary="The log", responses=_RESPONSES | refuses(UnknownPosition))
    async def events(
        caller: Annotated[Caller, caller_with("audit")],
        after: After = 0,
        limit: Limit = 100,
        wait: Wait = 0,
    ) -> Response:
        """The events of the house in the order they were recorded. Cursors are positions."""
        return Json(await feeds.log(caller.house, after, limit, wait))

    @router.get("/events.jsonl", summary="The log, a line each", responses=_LINES)
    async def event_lines(
        caller: Annotated[Caller, caller_with("audit")], after: After = 0
    ) -> StreamingResponse:
        """Every event after a position up to the end of the log, as JSON Lines."""
        return StreamingResponse(await feeds.lines(caller.house, after), media_type=JSON_LINES)

    @router.get("/tables/{table}/events", summary="The events of a table", responses=_RESPONSES)
    async def table_events(
        caller: Annotated[Caller, caller_with("read")],
        table: TableId,
        after: After = 0,
        limit: Limit = 100,
        wait: Wait = 0,
    ) -> Response:
        """What happened at a table, in order. Cursors are versions; none for an unknown table."""
        return Json(await feeds.stream(caller.house, table_stream(table), after, limit, wait))

    return router


def _feed(records: list[Recorded], next: int) -> Feed:
    return Feed(list(map(entry, records)), next)


def entry(record: Recorded) -> FeedEntry:
    """A record as the feeds and streams show it."""
    return FeedEntry(
        record.position,
        record.stream,
        record.version,
        record.leaf.hex(),
        record.chain.hex(),
        Raw(record.envelope),
    )
