"""Who comes to one table at a time waits for the one before."""

from asyncio import CancelledError, Future, get_running_loop
from collections import deque
from collections.abc import Hashable


class Turns:
    """One at a time for each key, in the order they come. Nothing is kept of a key that is idle,
    so that taking a turn that is free costs one look into a dict."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, deque[Future[None]]] = {}

    async def take(self, key: Hashable) -> None:
        """Returns when it is our turn, which lasts until we `give` it on."""
        waiting = self._waiting.get(key)
        if waiting is None:
            self._waiting[key] = deque()
            return
        ours = get_running_loop().create_future()
        waiting.append(ours)
        try:
            await ours
        except CancelledError:
            if not ours.cancelled():  # it had just become our turn
                self.give(key)
            raise

    def give(self, key: Hashable) -> None:
        """The turn goes to whoever has waited longest."""
        waiting = self._waiting[key]
        while waiting:
            next = waiting.popleft()
            if not next.done():
                next.set_result(None)
                return
        del self._waiting[key]
