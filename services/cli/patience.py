"""Clients that are slow to ask: given up after a while, without a timer for each request."""

from collections.abc import Iterable
from typing import Any

from services.cli.wire import give_up


class Patience:
    """Remembers since when each connection has been waited for.

    A look costs well under a microsecond a connection, and nobody pays for it who asks in time.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: dict[Any, tuple[object, float]] = {}

    def look(self, connections: Iterable[Any], now: float) -> None:
        """Hangs up on those that have not sent what they owe us for too long."""
        waiting = {}
        for connection in list(connections):
            owed = _owed(connection)
            if owed is None:
                continue
            before, since = self._waiting.get(connection, (None, now))
            if before is not owed:
                since = now
            if now - since > self._seconds:
                give_up(connection, "RequestTooSlow")
            else:
                waiting[connection] = owed, since
        self._waiting = waiting


def _owed(connection: Any) -> Any:
    """What a client has to send: the same object as long as it is the same; None for nothing.

    Whoever has been answered and says nothing is the affair of uvicorn's keep-alive.
    """
    if connection.transport.is_closing() or connection.pipeline or connection.flow.read_paused:
        return None  # it is we who do not read
    cycle = connection.cycle
    if cycle is None:
        return connection  # its first head
    if cycle.more_body:
        return cycle
    if cycle.response_complete and connection.timeout_keep_alive_task is None:
        return cycle.message_event  # the rest of its next head
    return None
