"""Pieces of an export judged by a Dask cluster, on as many machines as it has.

A piece that was with a worker who died is given to another, by the scheduler: it depends on nothing
but its files, which every worker has to see under the same path.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Final
from uuid import uuid4

from distributed import Client, Future, KilledWorker, get_worker

from services.audit.application.engines import Engine, Found, Piece, Task
from services.audit.application.pieces import Tell
from shared.eventstore.exports import CannotRead

_PATIENCE_SECONDS: Final = 30
"""How long we wait for a scheduler to answer, for the first worker to come, and for another when
all have gone."""


@contextmanager
def cluster(address: str, tell: Tell) -> Iterator[Engine]:
    """The workers of the scheduler at an address like tcp://host:8786. Raises CannotRead."""
    try:
        client = Client(address, timeout=_PATIENCE_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        why = f"No Dask scheduler answers at {address}: {error}"
        raise CannotRead(why) from None
    with client:
        _insist_on_workers(client, f"The Dask scheduler at {address} has no workers.")
        yield _Cluster(client, tell)


class _Cluster:
    def __init__(self, client: Client, tell: Tell) -> None:
        self.width = max(1, sum(client.ncores().values()))
        self._client, self._tell = client, tell

    def each(self, task: Task[Piece, Found], pieces: Sequence[Piece]) -> Iterator[Found]:
        topic, read = f"croupier-verify-{uuid4()}", [0] * len(pieces)

        def hear(event: tuple[float, tuple[int, int]]) -> None:
            _, (number, events) = event
            # A piece that was begun again has to catch up first.
            self._tell(max(0, events - read[number]))
            read[number] = max(read[number], events)

        self._client.subscribe_topic(topic, hear)
        numbers = range(len(pieces))
        tasks = [task] * len(pieces)
        futures = self._client.map(_on_a_worker, tasks, pieces, numbers, topic=topic, pure=False)
        try:
            for future in futures:
                yield self._result(future)
                future.release()
        except KilledWorker as error:
            raise CannotRead(f"A piece of the export has ended several workers: {error}") from None
        except (CancelledError, OSError) as error:
            raise CannotRead(f"The Dask cluster broke off: {error!r}") from None
        finally:
            self._client.unsubscribe_topic(topic)

    def _result(self, future: "Future[Found]") -> Found:
        """Waits as long as there are workers."""
        while True:
            try:
                return future.result(timeout=_PATIENCE_SECONDS)
            except TimeoutError:
                if future.done():  # it came just now, or the piece itself ran out of time
                    return future.result()
            _insist_on_workers(self._client, "All workers of the Dask scheduler have gone.")


def _insist_on_workers(client: Client, otherwise: str) -> None:
    """Returns when there is one. Raises CannotRead, which says `otherwise`, when none comes."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE_SECONDS)
    except TimeoutError:
        raise CannotRead(otherwise) from None


def _on_a_worker(task: Task[Piece, Found], piece: Piece, number: int, topic: str) -> Found:
    worker, read = get_worker(), 0
    if not piece.directory.is_dir():
        raise CannotRead(
            f"There is no {piece.directory} where {worker.address} is; every worker needs the "
            "export under the same path."
        )

    def tell(events: int) -> None:
        nonlocal read
        read += events
        worker.log_event(topic, (number, read))

    return task(piece, tell)
