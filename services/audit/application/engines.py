"""Who judges the pieces of an export: this process, or several beside it."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from threading import Thread
from typing import Protocol, TypeAlias, TypeVar

from services.audit.application.pieces import Tell, ToHash, ToTry
from shared.eventstore.exports import CannotRead

Piece = TypeVar("Piece", bound=ToHash | ToTry)
Found = TypeVar("Found")
Task: TypeAlias = Callable[[Piece, Tell], Found]


class Engine(Protocol):
    """Does one task with many pieces. `width` is how many it takes at once."""

    width: int

    def each(self, task: Task[Piece, Found], pieces: Sequence[Piece]) -> Iterator[Found]:
        """What comes of every piece, in their order. Raises CannotRead."""
        ...


Started: TypeAlias = Callable[[Tell], AbstractContextManager[Engine]]
"""Starts an engine, which tells of all events that are read, and stops it."""


def local(processes: int) -> Started:
    """So many processes of this machine; one is this one."""
    return _alone if processes == 1 else partial(_side_by_side, processes)


class _Alone:
    width = 1

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def each(self, task: Task[Piece, Found], pieces: Sequence[Piece]) -> Iterator[Found]:
        for piece in pieces:
            yield task(piece, self._tell)


@contextmanager
def _alone(tell: Tell) -> Iterator[Engine]:
    yield _Alone(tell)


class _SideBySide:
    def __init__(self, pool: ProcessPoolExecutor, width: int) -> None:
        self._pool, self.width = pool, width

    def each(self, task: Task[Piece, Found], pieces: Sequence[Piece]) -> Iterator[Found]:
        try:
            yield from self._pool.map(partial(_in_process, task), pieces)
        except BrokenProcessPool:
            why = "A process that judged the export died; see what it said."
            raise CannotRead(why) from None


@contextmanager
def _side_by_side(processes: int, tell: Tell) -> Iterator[Engine]:
    context = multiprocessing.get_context("spawn")
    heard, told = context.Pipe(duplex=False)
    ear = Thread(target=_hear, args=(heard, tell), daemon=True)
    ear.start()
    pool = ProcessPoolExecutor(processes, context, _listened_to_by, (told,))
    try:
        yield _SideBySide(pool, processes)
    finally:
        pool.shutdown(cancel_futures=True)
        told.close()
        ear.join()


def _hear(heard: Connection, tell: Tell) -> None:
    """Until nobody can tell any more: the pool's processes have ended, and we have closed."""
    with heard, suppress(EOFError):
        while True:
            tell(heard.recv())


_ear: Connection
"""Of a process that judges pieces: who hears how far it is.

A pipe that all of them write to, without a lock, which whoever is killed could not give back: it
takes a number whole, since a number is a few bytes.
"""


def _listened_to_by(told: Connection) -> None:
    global _ear
    _ear = told


def _in_process(task: Task[Piece, Found], piece: Piece) -> Found:
    return task(piece, _ear.send)
