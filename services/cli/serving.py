"""Serving until somebody says stop: `up` with everything it needs, `serve` with what is set."""

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from types import FrameType
from typing import Annotated

import psycopg
from rich.console import Console
from typer import Option

from services.cli import server
from services.cli.database import prepare, ready_to_play
from services.cli.embedded import everything, public_key
from services.cli.refused import Refused
from services.cli.seed_keys import check_ring
from services.cli.supervisor import Job, Supervisor
from services.cli.working import a_worker_beside, work_for_parent
from services.settings import Settings
from shared import logs
from shared.http import keys
from shared.http.keys import SCOPES
from shared.local.process import keep

_STOP_SECONDS = 30
"""How long a process may take to finish, besides the draining, before it is killed."""

_STOP = (signal.SIGINT, signal.SIGTERM)


def up() -> None:
    """Start everything, and serve until Ctrl-C.

    Starts a Postgres and a Valkey where DATABASE_URL and REDIS_URL are not set, migrates, opens
    the house, keeps an API key for local use in `dev.key` beside the data, and seals the log with a
    key of its own where CROUPIER_SEAL_KEY is not set.
    """
    settings = Settings.from_environment()
    with until_told_to_stop():
        listeners = listen(settings)
        with everything(settings) as complete:
            # Nobody else serves from a database of our own.
            prepare(complete, after=not settings.database_url)
            check_ring(complete)
            key = local_key(complete)
            seals = "" if settings.seal_key else f", with the key in {public_key(settings)}"
            _serve(complete, listeners, lambda: _welcome(complete, key, seals), work=True)


def serve(
    workers: Annotated[
        int | None, Option(min=1, max=256, help="How many processes serve; else CROUPIER_WORKERS.")
    ] = None,
    work: Annotated[bool, Option("--work", help="Also run a worker, as `croupier work`.")] = False,
) -> None:
    """Only serve, from a database that is migrated already, with keys that are set.

    Any number of processes, here and on other machines, may serve one database.
    """
    settings = Settings.from_environment()
    if workers:
        settings = settings.model_copy(update={"workers": workers})
    settings = ready_to_play(settings)
    with until_told_to_stop():
        where = address(settings)
        say = partial(print, f"Serving on {where}", flush=True)
        _serve(settings, listen(settings), say, work=work)


@contextmanager
def until_told_to_stop() -> Iterator[None]:
    """SIGINT, SIGTERM and a closed terminal end the block, and all in it is put away in peace."""

    def stop(number: int, frame: FrameType | None) -> None:
        for each in _STOP:
            signal.signal(each, lambda *_: None)
        raise SystemExit(0)

    before = {each: signal.signal(each, stop) for each in _STOP}
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def listen(settings: Settings) -> list[socket.socket]:
    """The address we serve on, taken before anything is started: once for every process.

    The kernel spreads connections over listeners that share an address. The first is bound as if
    it were alone, so that an address of somebody else is never shared. Raises `Refused`.
    """
    host, port = settings.host, settings.port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = found[0]
        listeners = [socket.socket(family, kind, protocol) for _ in range(settings.workers)]
        for number, listener in enumerate(listeners):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if number:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            listener.bind(address)
            if len(listeners) > 1:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    except OSError as error:
        raise Refused(
            f"{host}:{port} cannot be listened on: {error.strerror}. "
            "Set CROUPIER_PORT to a free port, or CROUPIER_HOST to an address of this machine."
        ) from None
    return listeners


def local_key(settings: Settings) -> str:
    """The key in `dev.key`, with all scopes; a new one when the database does not know it."""
    file = settings.home / "dev.key"
    token = file.read_text().strip() if file.exists() else ""
    with psycopg.connect(settings.owner_url, autocommit=True) as owner:
        if not keys.works(owner, settings.house, token):
            token = keys.create(owner, settings.house, "dev", SCOPES)
            keep(file, token)
    return token


def _serve(
    settings: Settings, listeners: list[socket.socket], ready: Callable[[], None], *, work: bool
) -> None:
    """Serves until a signal, by as many processes as there are listeners, and works if asked to.

    Of many processes this one supervises the others. It keeps all listeners open, so that whoever
    connects to one whose process has died waits for the next.
    """
    logs.begin(settings.log, settings.log_level)
    if len(listeners) == 1:
        with a_worker_beside(settings) if work else nullcontext():
            server.serve(settings, listeners[0], ready)
        return
    import services.app
    import services.worker  # noqa: F401  Slow, and the same for all processes.

    among = [socket.create_server(("127.0.0.1", 0)) for _ in listeners]

    def a_server(number: int, ready: Callable[[], None], parent: int) -> None:
        for place, other in enumerate(listeners):
            if place != number:
                other.close()
        server.serve(settings, listeners[number], ready, parent, among, number)

    def let_nobody_in() -> None:
        for listener in (*listeners, *among):
            listener.close()

    def a_worker(ready: Callable[[], None], parent: int) -> None:
        let_nobody_in()  # else callers would be taken by whoever never answers them
        ready()
        work_for_parent(settings)

    jobs: list[Job] = [partial(a_server, number) for number in range(len(listeners))]
    patience = settings.drain_seconds + _STOP_SECONDS
    Supervisor([*jobs, *([a_worker] if work else ())], let_nobody_in, patience).run(ready)


def _welcome(settings: Settings, key: str, seals: str) -> None:
    where, file = address(settings), settings.home / "dev.key"
    Console(highlight=False, soft_wrap=True).print(
        f"\n[bold]Croupier plays on {where}[/bold]\n"
        f"  What it can do:  {where}/docs\n"
        f"  Check a round:   {where}/verify{seals}\n"
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
