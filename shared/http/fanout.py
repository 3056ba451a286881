"""One reader of a house's log for all who listen to it in this process.

Whoever is behind reads pages from the log; whoever has caught up is handed each event as it comes.
Going over from one to the other loses, doubles and reorders nothing, because an inbox is opened
*before* the page that turns out to be the last is read: what was recorded until that read is in the
page, what was recorded after it goes through the inbox, and what is in both is known by its place.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import Context
from datetime import UTC, datetime
from typing import Final, TypeAlias

from shared.eventstore.envelope import decided_at
from shared.eventstore.rejections import Unreachable
from shared.eventstore.store import EventStore, Recorded
from shared.eventstore.subscription import follow
from shared.kernel.rejected import Rejected

MOST_WAITING: Final = 2048
"""How many events wait for a listener at most. The bytes are the same for all listeners."""

PAGE: Final = 256
"""How many events are read at once: what a slow listener may keep in memory for itself."""

_AT_ONCE: Final = 64
_MOST_READING: Final = 2
_LOOK_AGAIN_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)

Encode: TypeAlias = Callable[[Recorded], bytes]
WaitForNews: TypeAlias = Callable[[str, int, float], Awaitable[bool]]
"""`(house, after, seconds)`: True when the log goes beyond a position, False when time is over."""
Item: TypeAlias = tuple[int, bytes]
"""A frame with its place: the version for who listens to a stream, else the position."""


class TooSlow(Rejected):
    """You read more slowly than the log grows.

    A stream keeps a bounded number of events for a client that does not take them, and then drops
    the client. Nothing is lost: connect again with the id of the last event you have as
    `Last-Event-ID`, as browsers do by themselves, and the stream continues there. If it happens
    again and again, follow single tables instead of the whole log.
    """

    status = 503


class Stopping(Rejected):
    """The server is about to stop.

    Connect again, to this address, with the id of the last event you have as `Last-Event-ID`, as
    browsers do by themselves: the stream continues there.
    """

    status = 503


class LogInDoubt(Rejected):
    """The log is not what was recorded.

    The next event is missing, or does not fit the hash chain. Streams end here rather than tell
    something wrong or skip it. The operator finds the position in the server's own log.
    """

    status = 500


class Inbox:
    """What has come for one listener and waits to be taken."""

    __slots__ = ("_arrived", "_open", "_waiting", "_why")

    def __init__(self) -> None:
        self._arrived = asyncio.Event()
        self._open = False
        self._waiting: deque[Item] = deque()
        self._why: Rejected | None = None

    def open(self) -> None:
        """From now on everything is kept. Raises the reason when it was ended."""
        if self._why:
            raise self._why
        self._empty()
        self._open = True

    def shut(self) -> None:
        """From now on nothing is kept: it will be read from the log."""
        self._empty()
        self._open = False

    def end(self, why: Rejected) -> None:
        """Nothing will come any more."""
        self.shut()
        self._why = why
        self._arrived.set()

    def put(self, item: Item) -> None:
        if not self._open:
            return
        if len(self._waiting) == MOST_WAITING:
            self.end(
                TooSlow(f"{MOST_WAITING} events were waiting for you. Continue after the last id.")
            )
            return
        self._waiting.append(item)
        self._arrived.set()

    async def take(self, within_seconds: float) -> list[Item]:
        """What has come, a write's worth at most; nothing when the time is over. Raises the
        reason when it was ended."""
        if not self._arrived.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(within_seconds):
                    await self._arrived.wait()
        if self._why:
            raise self._why
        taken = [self._waiting.popleft() for _ in range(min(_AT_ONCE, len(self._waiting)))]
        if not self._waiting:
            self._arrived.clear()
        return taken

    def _empty(self) -> None:
        self._waiting.clear()
        self._arrived.clear()


class Tail:
    """Follows the log of a house and hands each event to everybody whom it concerns.

    It is encoded once, and not at all when it concerns nobody: an event of a table to which
    nobody listens costs one look into a dict.
    """

    def __init__(
        self, store: EventStore, house: str, after: int, wait_for_news: WaitForNews, encode: Encode
    ) -> None:
        self.lag_seconds = 0.0
        """From its command's being decided to its being handed on, for the newest event."""
        self._store = store
        self._house = house
        self._position = after
        self._wait_for_news = wait_for_news
        self._encode = encode
        self._inboxes: dict[str | None, set[Inbox]] = {}
        self._why: Rejected | None = None
        nobodys = Context()  # and not that of the first listener's request
        self._following = asyncio.create_task(self._follow(), context=nobodys)

    def join(self, stream: str | None, inbox: Inbox) -> None:
        """To this inbox goes what happens in a stream, or in all of them."""
        self._inboxes.setdefault(stream, set()).add(inbox)
        if self._why:
            inbox.end(self._why)

    def leave(self, stream: str | None, inbox: Inbox) -> bool:
        """Whether that was the last one: then nobody is followed for any more."""
        self._inboxes[stream].discard(inbox)
        if not self._inboxes[stream]:
            del self._inboxes[stream]
        if not self._inboxes:
            self._following.cancel()
        return not self._inboxes

    def end(self, why: Rejected) -> None:
        """Nothing will be handed on any more."""
        self._why = why
        for inboxes in self._inboxes.values():
            for inbox in inboxes:
                inbox.end(why)

    async def _follow(self) -> None:
        try:
            while True:
                with suppress(Unreachable):
                    await self._hand_on_all()
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        except Exception:
            _log.exception(
                "The log of %s cannot be followed beyond %d", self._house, self._position
            )
            self.end(LogInDoubt())

    async def _hand_on_all(self) -> None:
        async def wake(after: int, timeout_seconds: float) -> bool:
            return await self._wait_for_news(self._house, after, timeout_seconds)

        pages = follow(
            self._store,
            self._house,
            self._position,
            wake=wake,
            look_again_seconds=_LOOK_AGAIN_SECONDS,
            page=PAGE,
        )
        async for page in pages:
            for record in page:
                self._hand_on(record)
            self._position = page[-1].position
            if decided := decided_at(page[-1].envelope):
                self.lag_seconds = (datetime.now(UTC) - decided).total_seconds()

    def _hand_on(self, record: Recorded) -> None:
        for_all, for_some = self._inboxes.get(None), self._inboxes.get(record.stream)
        if not for_all and not for_some:
            return
        frame = self._encode(record)
        for inbox in for_all or ():
            inbox.put((record.position, frame))
        for inbox in for_some or ():
            inbox.put((record.version, frame))


class Fanout:
    """The tails of all houses that somebody listens to."""

    def __init__(self, store: EventStore, wait_for_news: WaitForNews, encode: Encode) -> None:
        self.store = store
        self.encode = encode
        self.reading = asyncio.Semaphore(_MOST_READING)
        """However many are behind, they leave connections to those who play."""
        self._wait_for_news = wait_for_news
        self._tails: dict[str, Tail] = {}
        self._closing = False

    @property
    def lag_seconds(self) -> float:
        """The longest lag of a tail."""
        return max((tail.lag_seconds for tail in self._tails.values()), default=0.0)

    def listener(self, house: str, stream: str | None, after: int, head: int) -> "Listener":
        """Whoever listens to a stream, or to all, after a version or a position; `head` is where
        the log of the house ended just now."""
        return Listener(self, house, stream, after, head)

    def join(self, house: str, stream: str | None, inbox: Inbox, head: int) -> None:
        """To the tail there is, or to a new one that begins after what was the head."""
        tail = self._tails.get(house)
        if not tail:
            tail = Tail(self.store, house, head, self._wait_for_news, self.encode)
            self._tails[house] = tail
        tail.join(stream, inbox)
        if self._closing:
            tail.end(_stopping())

    def leave(self, house: str, stream: str | None, inbox: Inbox) -> None:
        """The last to leave a house turns off the light."""
        if self._tails[house].leave(stream, inbox):
            del self._tails[house]

    def close(self) -> None:
        """Everybody is told to connect again, for the process is about to stop."""
        self._closing = True
        for tail in self._tails.values():
            tail.end(_stopping())


class Listener:
    """One who hears every event once and in order: use it as `with listener`, then ask it for
    the `next`."""

    def __init__(
        self, fanout: Fanout, house: str, stream: str | None, after: int, head: int
    ) -> None:
        self._fanout = fanout
        self._house = house
        self._stream = stream
        self._place = after
        self._head = head
        self._inbox = Inbox()
        self._has_caught_up = False

    def __enter__(self) -> "Listener":
        self._fanout.join(self._house, self._stream, self._inbox, self._head)
        return self

    def __exit__(self, *_: object) -> None:
        self._fanout.leave(self._house, self._stream, self._inbox)

    async def next(self, within_seconds: float) -> list[bytes]:
        """The next frames; none when nothing came within that time.

        Raises TooSlow, Stopping and LogInDoubt when there will be no more, and Unreachable.
        """
        if not self._has_caught_up:
            return await self._read_on()
        new = [item for item in await self._inbox.take(within_seconds) if item[0] > self._place]
        if not new:
            return []
        if new[0][0] != self._place + 1:
            return await self._read_on()
        self._place = new[-1][0]
        return [frame for _, frame in new]

    async def _read_on(self) -> list[bytes]:
        self._inbox.open()
        async with self._fanout.reading:
            page = await self._read()
            frames = list(map(self._fanout.encode, page))
        self._has_caught_up = len(page) < PAGE
        if not self._has_caught_up:
            self._inbox.shut()
        if page:
            before, self._place = self._place, self._place_of(page[-1])
            if self._place != before + len(page):
                raise LogInDoubt
        return frames

    async def _read(self) -> list[Recorded]:
        store, house, after = self._fanout.store, self._house, self._place
        if self._stream is None:
            return await store.read_log(house, after, PAGE)
        return await store.read_stream(house, self._stream, after, PAGE)

    def _place_of(self, record: Recorded) -> int:
        return record.position if self._stream is None else record.version


def _stopping() -> Stopping:
    return Stopping("Connect again and continue after the last id.")
