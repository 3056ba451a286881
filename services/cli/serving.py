"""Serving until somebody says stop: `up` with everything it needs, `serve` with what is set."""

import gc
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import Annotated

import psycopg
import uvicorn
from rich.console import Console
from typer import Option

from services.cli.database import prepare, ready_to_play
from services.cli.embedded import everything
from services.cli.refused import Refused
from services.cli.working import a_worker_beside
from services.settings import Settings
from shared.http import keys
from shared.http.keys import SCOPES
from shared.local.process import keep

_DRAIN_SECONDS = 10
_STOP = (signal.SIGINT, signal.SIGTERM)


def up() -> None:
    """Start everything, and serve until Ctrl-C.

    Starts a Postgres and a Valkey where DATABASE_URL and REDIS_URL are not set, migrates, opens
    the house, and keeps an API key for local use in `dev.key` beside the data.
    """
    settings = Settings.from_environment()
    with until_told_to_stop(), listen(settings) as listener, everything(settings) as complete:
        prepare(complete)
        key = local_key(complete)
        with a_worker_beside(complete):
            _serve(complete, listener, lambda: _welcome(complete, key))


def serve(
    work: Annotated[bool, Option("--work", help="Also run a worker, as `croupier work`.")] = False,
) -> None:
    """Only serve, from a database that is migrated already, with keys that are set."""
    settings = ready_to_play(Settings.from_environment())
    worker = a_worker_beside(settings) if work else nullcontext()
    with until_told_to_stop(), listen(settings) as listener, worker:
        _serve(settings, listener, lambda: print(f"Serving on {address(settings)}", flush=True))


@contextmanager
def until_told_to_stop() -> Iterator[None]:
    """SIGINT, SIGTERM and a closed terminal end the block, and all in it is put away in peace."""

    def stop(number: int, frame: FrameType | None) -> None:
        for each in _STOP:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(0)

    before = {each: signal.signal(each, stop) for each in _STOP}
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def listen(settings: Settings) -> socket.socket:
    """The address we serve on, taken before anything is started. Raises `Refused`."""
    host, port = settings.host, settings.port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        raise Refused(
            f"{host}:{port} cannot be listened on: {error.strerror}. "
            "Set CROUPIER_PORT to a free port, or CROUPIER_HOST to an address of this machine."
        ) from None
    return listener


def local_key(settings: Settings) -> str:
    """The key in `dev.key`, with all scopes; a new one when the database does not know it."""
    file = settings.home / "dev.key"
    token = file.read_text().strip() if file.exists() else ""
    with psycopg.connect(settings.owner_url, autocommit=True) as owner:
        if not keys.works(owner, settings.house, token):
            token = keys.create(owner, settings.house, "dev", SCOPES)
            keep(file, token)
    return token


def _serve(settings: Settings, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serves until a signal: then it takes no more, answers what it has, and ends the app."""
    from services.app import create_app  # Slow to import, and the other commands need none of it.

    app = create_app(settings)
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="on",
        access_log=False,
        log_level="warning",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )
    _Server(config, ready, app.state.stop_waiting).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Tells when it is ready, and whoever waits for news when it is about to end.

    What stands when it is ready stays for good, and requests leave few cycles behind: the garbage
    collector need not look at the former again, and seldom at the rest.
    """

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], stop_waiting: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._stop_waiting = stop_waiting

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stop_waiting()
        await super().shutdown(sockets)


def _welcome(settings: Settings, key: str) -> None:
    where, file = address(settings), settings.home / "dev.key"
    Console(highlight=False, soft_wrap=True).print(
        f"\n[bold]Croupier plays on {where}[/bold]\n"
        f"  What it can do:  {where}/docs\n"
        f"  Your API key:    {key}\n"
        f"  It is kept in    {file}\n\n"
        "Try it:\n"
        f'  curl -H "Authorization: Bearer $(cat {file})" {where}/v1/rulesets\n\n'
        "Ctrl-C stops everything. The next start finds all data."
    )


def address(settings: Settings) -> str:
    """Where these settings serve."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"
