"""Several processes as one: a dead one is replaced, a signal stops them all."""

import gc
import logging
import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from time import monotonic, sleep
from typing import NamedTuple

from services.cli.refused import Refused

Job = Callable[[Callable[[], None], int], None]
"""`(ready, parent)`: what a process does, until SIGTERM or until the sentinel of its parent says
that it has ended. It calls `ready` once it does."""

_log = logging.getLogger(__name__)
_FORK = multiprocessing.get_context("fork")
_PAUSE_SECONDS = 1.0
"""Before a process is replaced that died before it was ready: the next may fare no better."""


class _Employed(NamedTuple):
    process: ForkProcess
    job: Job
    ready: Connection

    def is_ready(self) -> bool:
        """Waits until it is, or until it has died."""
        try:
            return bool(self.ready.recv_bytes())
        except EOFError:
            return False


class Supervisor:
    """Gives every job to a process of its own, and to another one when that has died."""

    def __init__(self, jobs: Sequence[Job], let_go: Callable[[], None], patience: float) -> None:
        """`let_go` gives up what is kept here for the processes, when they are about to stop;
        `patience` is for how many seconds they may take to do so before they are killed."""
        self._jobs = jobs
        self._let_go = let_go
        self._patience = patience
        self._employed: list[_Employed] = []

    def run(self, ready: Callable[[], None]) -> None:
        """Calls `ready` when all are, and goes on until an exception, such as a signal's, ends it.

        Raises `Refused` when one of them does not get ready.
        """
        gc.freeze()  # What is loaded is shared with all of them, and no collector shall touch it.
        try:
            for job in self._jobs:
                self._employ(job)
            if not all(each.is_ready() for each in self._employed):
                raise Refused("A process ended before it was ready.")
            ready()
            while True:
                wait([each.process.sentinel for each in self._employed])
                self._replace_the_dead()
        finally:
            self._stop()

    def _employ(self, job: Job) -> None:
        ours, theirs = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=_do, args=(job, theirs))
        process.start()
        theirs.close()  # When the process dies, nobody holds it any more.
        self._employed.append(_Employed(process, job, ours))

    def _replace_the_dead(self) -> None:
        for dead in [each for each in self._employed if not each.process.is_alive()]:
            self._employed.remove(dead)
            _log.warning(
                "A process has ended with %s; another takes its place.", dead.process.exitcode
            )
            if not dead.ready.poll() or not dead.is_ready():
                sleep(_PAUSE_SECONDS)
            dead.ready.close()
            self._employ(dead.job)

    def _stop(self) -> None:
        """All at once, each in peace; who has not ended in time is killed."""
        self._let_go()
        for each in self._employed:
            each.process.terminate()
        end = monotonic() + self._patience
        for each in self._employed:
            each.process.join(max(0.0, end - monotonic()))
            each.process.kill()
            each.process.join()


def _do(job: Job, ready: Connection) -> None:
    parent = multiprocessing.parent_process()
    assert parent
    job(lambda: ready.send_bytes(b"ready"), parent.sentinel)
