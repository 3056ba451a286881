"""An event loop whose time passes only while everybody waits: exact, repeatable, and immediate."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Stuck(AssertionError):
    """Everybody waits, and nothing is due: no time will help."""


class TimelessLoop(asyncio.SelectorEventLoop):
    """Sleeping takes no time, and whoever sleeps shorter wakes first, on any machine."""

    def __init__(self) -> None:
        self._selector_of_ours = _Selector()
        super().__init__(self._selector_of_ours)

    def time(self) -> float:
        return self._selector_of_ours.now


class _Selector(selectors.DefaultSelector):
    """Instead of waiting for a file, moves the time on. Nothing here comes from outside."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise Stuck("Everybody waits for somebody else.")
        self.now += max(timeout, 0)
        return super().select(0)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs to the end in a time of its own, which begins at 0."""
    with asyncio.Runner(loop_factory=TimelessLoop) as runner:
        return runner.run(main)
