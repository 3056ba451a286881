"""Working until somebody says stop: `work` alone, or as a child of `up` and `serve`."""

import asyncio
import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread

import uvloop

from services.cli.database import ready_to_play
from services.settings import Settings
from shared import logs, spans

_DRAIN_SECONDS = 10.0
_RESTART_SECONDS = 1.0

_log = logging.getLogger(__name__)


def work() -> None:
    """Only do what has to be done beside serving. Run as many as you like on one database.

    Needs what `croupier serve` needs. Ctrl-C or SIGTERM ends it in peace.
    """
    settings = ready_to_play(Settings.from_environment())
    uvloop.run(_working(settings, (signal.SIGINT, signal.SIGTERM), "Working until Ctrl-C\n"))


@contextmanager
def a_worker_beside(settings: Settings) -> Iterator[None]:
    """A worker in a process of its own: its computing delays no answer of ours.

    One that dies is started again. It ends with the block, and with us, however we end.
    """
    over, end = get_context("spawn").Pipe(duplex=False)
    attendant = Thread(target=_attend, args=(settings, over), name="attends to the worker")
    attendant.start()
    try:
        yield
    finally:
        end.close()
        attendant.join()
        over.close()


def _attend(settings: Settings, over: Connection) -> None:
    """Keeps a child working until the other end of `over` is closed."""
    while True:
        child = get_context("spawn").Process(target=work_for_parent, args=(settings,))
        child.start()
        if over in wait([child.sentinel, over]):
            child.terminate()
            child.join(_DRAIN_SECONDS)
            child.kill()
            child.join()
            return
        child.join()
        _log.warning("The worker has ended with %s; another takes its place.", child.exitcode)
        if wait([over], _RESTART_SECONDS):
            return


def work_for_parent(settings: Settings) -> None:
    """Ctrl-C in a terminal reaches us too, but it is the parent who says when to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    uvloop.run(_working(settings, (signal.SIGTERM,)))


async def _working(
    settings: Settings, obeyed: tuple[signal.Signals, ...], greeting: str = ""
) -> None:
    from services.worker import Worker  # Slow to import, and the other commands need none of it.

    logs.begin(settings.log, settings.log_level)
    worker, loop = Worker(settings), asyncio.get_running_loop()
    for each in obeyed:
        loop.add_signal_handler(each, worker.stop)

    def alone(sentinel: int) -> None:
        loop.remove_reader(sentinel)  # it would tell us again and again while we end
        loop.call_later(_DRAIN_SECONDS, os._exit, 1)  # an orphan lives no longer, come what may
        worker.stop()

    if parent := parent_process():
        loop.add_reader(parent.sentinel, alone, parent.sentinel)
    print(greeting, end="", flush=True)
    with spans.sent("croupier-worker"):
        await worker.run()
