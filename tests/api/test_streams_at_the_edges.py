"""What a running service seldom meets: streams over a log in memory, served by the test itself."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager

import httpx
import pytest
import uvicorn
from msgspec import structs
from starlette.types import Receive, Scope, Send

from services.cli.server import give_up_on
from shared.eventstore.memory import MemoryStore
from shared.eventstore.rejections import Unreachable
from shared.eventstore.store import Recorded
from shared.eventstore.wakeups import Wakeups
from shared.http.auth import Unauthenticated
from shared.http.fanout import Fanout, Listener
from shared.http.stream import Admit, Streams, frame
from shared.logs import TRACE
from tests.api.croupier import PATIENCE_SECONDS
from tests.api.listening import hear, ids, listening
from tests.eventstore.appends import HOUSE, a_command, an_event

AN_HOUR = 3600.0
OAK, ELM = "table-oak", "table-elm"


async def welcome() -> None:
    """Everybody may listen."""


class Log(MemoryStore):
    """A log in memory that tells when it has grown."""

    def __init__(self) -> None:
        super().__init__(HOUSE)
        self.wakeups = Wakeups()

    async def record(self, *streams: str) -> None:
        for stream in streams:
            position = (await self.head(HOUSE)).position + 1
            append = a_command(f"{position}", an_event(stream))
            await self.append_batch(HOUSE, [append])
            self.wakeups.announce(HOUSE, position)


@asynccontextmanager
async def served(streams: Streams, admit: Admit = welcome) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server that has the log at `/log` and the stream of a table at its name."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["path"].removeprefix("/")
        if name == "log":
            answer = await streams.log(HOUSE, 0, admit)
        else:
            answer = await streams.stream(HOUSE, name, 0, admit)
        await answer(scope, receive, send)

    server = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", log_level="warning"))
    listener = server.config.bind_socket()
    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as group:
        group.create_task(server.serve(sockets=[listener]))
        address = "http://{}:{}".format(*listener.getsockname())
        async with httpx.AsyncClient(base_url=address, trust_env=False) as client:
            yield client
        streams.close()
        server.should_exit = True


async def test_silence_is_broken_by_comments_so_that_nobody_takes_it_for_the_end() -> None:
    log = Log()
    streams = Streams(log, log.wakeups.wait, keep_alive_seconds=0.01)

    async with served(streams) as http, listening(http, "/log") as stream:
        comments = 0
        while comments < 3:
            comments += (await anext(stream)).comment == "still here"
        await log.record(OAK)
        async for each in stream:
            if each.type:
                break

    assert each.id == 1


async def test_a_key_that_was_revoked_hears_no_more() -> None:
    """Whether the keys can be looked up or not just now does not matter: it is asked again."""
    log = Log()
    streams = Streams(log, log.wakeups.wait, keep_alive_seconds=0.01)
    answers = [Unreachable("The database does not answer."), None, Unauthenticated("Revoked.")]

    async def admit() -> None:
        if answer := answers.pop(0):
            raise answer

    async with served(streams, admit) as http:
        (last,) = await hear(http, "/log", until=lambda each: each.id is None)
        assert (last.type, last.data["type"]) == ("dropped", "/problems/unauthenticated")

    assert (streams.clients, streams.dropped, answers) == (0, 1, [])


async def test_what_happens_after_a_key_was_revoked_is_not_told_to_it() -> None:
    log, revoked = Log(), asyncio.Event()
    await log.record(OAK)
    streams = Streams(log, log.wakeups.wait, keep_alive_seconds=AN_HOUR)

    async def admit() -> None:
        if revoked.is_set():
            raise Unauthenticated("Revoked.")

    async with served(streams, admit) as http, listening(http, "/log") as stream:
        assert [(await anext(stream)).id, (await anext(stream)).id] == [None, 1]
        revoked.set()
        await log.record(OAK, ELM)
        last = await anext(stream)

    assert (last.id, last.type) == (None, "dropped")


async def test_who_listens_is_counted_and_who_leaves_is_not_waited_for() -> None:
    log = Log()
    await log.record(OAK)
    streams = Streams(log, log.wakeups.wait)

    async with served(streams) as http:
        for _ in range(3):
            async with listening(http, "/log") as one, listening(http, f"/{OAK}") as other:
                for stream in (one, other):
                    assert [(await anext(stream)).id, (await anext(stream)).id] == [None, 1]
                assert streams.clients == 2
        while streams.clients:  # noqa: ASYNC110 (nobody is told when somebody has left)
            await asyncio.sleep(0)

    assert streams.dropped == 0


class Spoiled(Log):
    """A log whose third event is spoiled on its way to the reader."""

    def __init__(self, spoil: Callable[[Recorded], list[Recorded]]) -> None:
        super().__init__()
        self._spoil = spoil

    async def read_log(self, house: str, after: int = 0, limit: int = 1000) -> list[Recorded]:
        page = await super().read_log(house, after, limit)
        third = [self._spoil(record) if record.position == 3 else [record] for record in page]
        return [record for records in third for record in records]


@pytest.mark.parametrize("live", [True, False], ids=["live", "behind"])
async def test_a_log_with_a_gap_is_told_no_further(live: bool) -> None:
    log = Spoiled(lambda record: [])
    await log.record(*[OAK] * (1 if live else 5))
    streams = Streams(log, log.wakeups.wait)

    async with served(streams) as http, listening(http, "/log") as stream:
        heard = [await anext(stream), await anext(stream)]
        if live:
            await log.record(*[OAK] * 4)
        heard += [each async for each in stream]

    *told, last = [each for each in heard if each.type]
    assert (last.type, last.data["type"]) == ("dropped", "/problems/log-in-doubt")
    assert set(ids(told)) <= {1, 2}


async def test_a_live_event_that_breaks_the_chain_is_not_told() -> None:
    log = Spoiled(lambda record: [structs.replace(record, chain=bytes(32))])
    await log.record(OAK)
    streams = Streams(log, log.wakeups.wait)

    async with served(streams) as http, listening(http, "/log") as stream:
        heard = [await anext(stream), await anext(stream)]
        await log.record(OAK, OAK, OAK)
        heard += [each async for each in stream]

    *told, last = [each for each in heard if each.type]
    assert (last.type, last.data["type"]) == ("dropped", "/problems/log-in-doubt")
    assert 3 not in ids(told)


class Behind(Log):
    """A log of which the first look at a stream is an old one, as by a replica that lags."""

    looks = 0

    async def read_stream(
        self, house: str, stream: str, after: int = 0, limit: int = 1000
    ) -> list[Recorded]:
        self.looks += limit > 1
        page = await super().read_stream(house, stream, after, limit)
        return page[:1] if self.looks == 1 else page


async def test_an_event_that_an_old_look_did_not_have_is_read_again() -> None:
    log = Behind()
    await log.record(OAK, ELM, OAK, OAK)
    streams = Streams(log, log.wakeups.wait)

    async with served(streams) as http, listening(http, f"/{OAK}") as stream:
        heard = [await anext(stream), await anext(stream)]
        await log.record(ELM, OAK)
        heard += [await anext(stream) for _ in range(3)]

    assert ids(heard) == [None, 1, 3, 4, 6]


async def test_an_event_is_encoded_once_for_all_and_not_at_all_for_nobody() -> None:
    """And when the last listener leaves, nothing is read any more."""
    log, encoded = Log(), list[int]()

    def encode(record: Recorded) -> bytes:
        encoded.append(record.position)
        return frame(record)

    fanout = Fanout(log, log.wakeups.wait, encode)
    before = asyncio.all_tasks()
    async with asyncio.timeout(PATIENCE_SECONDS):
        with ExitStack() as room:
            listeners = [
                room.enter_context(fanout.listener(HOUSE, OAK, 0, head=0)) for _ in range(50)
            ]
            for listener in listeners:
                assert await listener.next(AN_HOUR) == []
            await log.record(ELM, OAK, ELM, OAK)
            heard = {await _next_two(listener) for listener in listeners}
        await asyncio.wait(asyncio.all_tasks() - before)

    assert encoded == [2, 4]
    assert len(heard) == 1


async def _next_two(listener: Listener) -> tuple[bytes, ...]:
    frames: list[bytes] = []
    while len(frames) < 2:
        frames += await listener.next(AN_HOUR)
    return tuple(frames)


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="This system cannot.")
def test_who_takes_nothing_any_more_is_hung_up_on() -> None:
    """It would never hear that it was dropped."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        give_up_on(listener, unread_seconds=1)
        with socket.create_connection(listener.getsockname()), listener.accept()[0] as ours:
            ours.settimeout(None)
            with pytest.raises(TimeoutError):
                ours.sendall(bytes(64 * 1024 * 1024))


async def test_who_follows_a_log_for_all_is_in_nobodys_trace() -> None:
    """Else its lines would name the request of the first who listened, for as long as any does."""
    traces = asyncio.Queue[str]()

    async def wait(house: str, after: int, seconds: float) -> bool:
        traces.put_nowait(TRACE.get())
        await asyncio.sleep(PATIENCE_SECONDS)
        return False

    TRACE.set("4bf92f3577b34da6a3ce929d0e0e4736")
    fanout = Fanout(MemoryStore(HOUSE), wait, lambda record: b"")
    with fanout.listener(HOUSE, None, 0, head=0):
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await traces.get() == ""
