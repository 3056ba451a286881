"""One serving process: ready, serving, draining, gone."""

import asyncio
import gc
import logging
import resource
import signal
import socket
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

import uvicorn

from services.cli.patience import Patience
from services.cli.wire import OneWrite
from services.settings import Settings
from shared import spans

_FINISH_SECONDS = 10
"""How long the last requests may take once nobody new is let in."""

_LOOK_SECONDS = 0.02
_LOOKS_FOR_A_WORD = 50
"""For a second: how long whoever was let in at the last moment may take to say something."""

_IDLE_SECONDS = 75
"""How long a connection is kept on which nobody asks anything. Load balancers and clients keep
theirs for a minute at most, as a rule: had we the shorter patience, we would hang up just as one
of them sends its next request."""

_UNREAD_SECONDS = 120
"""How long a client may take nothing of what it asked for before it is taken for gone."""

_TICKS_BETWEEN_LOOKS = 5
"""Half a second between two looks for clients that are slow to ask."""

_CLOSE = (b"connection", b"close")


def serve(
    settings: Settings,
    listener: socket.socket,
    ready: Callable[[], None],
    parent: int | None = None,
    among: Sequence[socket.socket] = (),
    number: int = 0,
) -> None:
    """Serves on the listener until a signal, or until `parent`, a sentinel, says it has ended.

    One of several processes is told its number `among` them: a listener for each, for its figures.

    Calls `ready` once requests are answered. Ends in peace: see `Server.shutdown`.
    """
    from services.app import create_app  # Slow to import, and the other commands need none of it.

    _allow_many_files()
    give_up_on(listener, _UNREAD_SECONDS)
    app = create_app(settings, among, number)
    config = uvicorn.Config(
        app.state.front,
        http=OneWrite,
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        log_level=logging.getLogger().level,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=settings.proxies,
        server_header=False,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_FINISH_SECONDS,
    )
    patience = Patience(settings.request_seconds)
    server = Server(config, settings.drain_seconds, patience, ready, app.state, parent)
    with spans.sent("croupier-api"):
        server.run(sockets=[listener])


def give_up_on(listener: socket.socket, unread_seconds: int) -> None:
    """Hang up on whoever connects here and takes no byte for so long, where the system can.

    Else those who stopped reading, or were cut off from us, would be kept in memory for good.
    """
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        milliseconds = unread_seconds * 1000
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)


def _allow_many_files() -> None:
    """A stream keeps a file open for as long as somebody listens: as many as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems say more than they allow
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Server(uvicorn.Server):
    """Tells when it is ready, and lets nobody down when it is about to end.

    What stands when it is ready stays for good, and requests leave few cycles behind: the garbage
    collector need not look at the former again, and seldom at the rest.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        drain_seconds: float,
        patience: Patience,
        ready: Callable[[], None],
        state: Any,
        parent: int | None,
    ) -> None:
        """`state` has `drain` and `stop_waiting`, to be called when it is time for them."""
        super().__init__(config)
        self._drain_seconds = drain_seconds
        self._hurry = asyncio.Event()
        self._patience = patience
        self._ready = ready
        self._state = state
        self._parent = parent

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._parent is not None:
            asyncio.get_running_loop().add_reader(self._parent, self._orphaned, self._parent)
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        self._ready()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second, as long as we serve."""
        if counter % _TICKS_BETWEEN_LOOKS == 0:
            now = asyncio.get_running_loop().time()
            self._patience.look(self.server_state.connections, now)
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal begins the end; another one, and Ctrl-C, spare it the draining.

        None of them cuts off a request.
        """
        if self.should_exit or sig == signal.SIGINT:
            self._hurry.set()
        self._captured_signals.append(sig)
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drains, then stops: no request that reached us goes without its answer.

        First `/readyz` says so, and every answer asks its client to come back on a new connection,
        which a load balancer opens elsewhere, as soon as it has noticed: until the time for that is
        over, whoever it sends is served. Then nobody is let in any more, and what is under way is
        answered and recorded.
        """
        self._state.drain()
        self.server_state.default_headers.append(_CLOSE)
        known = set(self.server_state.connections)
        for connection in known:
            if not _is_idle(connection):
                connection.shutdown()  # asks the client to leave, once it has been answered
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), self._drain_seconds)
        await self._close_the_door(sockets or [])
        await self._hear(self.server_state.connections - known)
        self._state.stop_waiting()
        await super().shutdown(sockets)

    async def _hear(self, newcomers: Iterable[Any]) -> None:
        """Waits for the first word of those who have not said one."""
        silent = {each for each in newcomers if each.cycle is None}
        for _ in range(_LOOKS_FOR_A_WORD):
            if not silent & self.server_state.connections:
                return
            await asyncio.sleep(_LOOK_SECONDS)

    async def _close_the_door(self, listeners: Iterable[socket.socket]) -> None:
        """Lets in who has knocked, and then nobody: to close a listener resets those in its queue.

        The loop has accepted whom it has seen. Whoever came since is accepted here, through a
        second handle that keeps the queue alive.
        """
        queues = [listener.dup() for listener in listeners]
        for server in self.servers:
            server.close()
        speaker: Any = self.config.http_protocol_class
        protocol = partial(
            speaker,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        accepted = []
        for queue in queues:
            queue.setblocking(False)
            with queue, suppress(BlockingIOError):
                while True:
                    accepted.append(queue.accept()[0])
        for connection in accepted:
            await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)

    def _orphaned(self, parent: int) -> None:
        """Whoever would replace and stop us is gone: end like it, and free the address."""
        asyncio.get_running_loop().remove_reader(parent)
        self._hurry.set()
        self.should_exit = True


def _is_idle(connection: Any) -> bool:
    """Whether a connection waits for its client."""
    return connection.cycle is None or connection.cycle.response_complete
