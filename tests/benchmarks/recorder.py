"""The `eventsourcing` package: its recorder for Postgres as it comes, at its best.

A command is one call of `insert_events` with three events of the same size. The recorder numbers
them without gaps too, by locking its table, and keeps no ledger, outcome or hash. Threads share
it, each with a connection of its pool; the number of threads that is fastest here is taken.
"""

import secrets
from threading import Thread
from time import perf_counter
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from eventsourcing.persistence import StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore

from tests.benchmarks.floor import ENVELOPE_BYTES
from tests.benchmarks.measure import Meter, Run, percentile

THREADS = (1, 4, 16)
EVENTS_A_COMMAND = 3


def best_thread_count(url: str, seconds: float) -> int:
    """The number of threads with which the recorder is fastest here."""
    return max(THREADS, key=lambda threads: run(url, threads, seconds, None).per_second)


def run(url: str, threads: int, seconds: float, postgres: int | None) -> Run:
    """Commands a second of so many threads, each with a stream of its own."""
    with _datastore(url, threads) as datastore:
        recorder = PostgresApplicationRecorder(datastore)
        recorder.create_table()
        took: list[float] = []
        meter, begin = Meter(postgres, wal_of=url), perf_counter()
        crew = [
            Thread(target=_record, args=(recorder, begin + seconds, took)) for _ in range(threads)
        ]
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join()
        return meter.run(
            len(took),
            len(took) / (perf_counter() - begin),
            p50_ms=percentile(took, 0.5),
            p99_ms=percentile(took, 0.99),
        )


def _record(recorder: PostgresApplicationRecorder, end: float, took: list[float]) -> None:
    stream, version = uuid4(), 0
    state = secrets.token_bytes(ENVELOPE_BYTES)
    while (begin := perf_counter()) < end:
        recorder.insert_events(
            [
                StoredEvent(stream, version + line, "blackjack:CardDealt", state)
                for line in range(1, EVENTS_A_COMMAND + 1)
            ]
        )
        version += EVENTS_A_COMMAND
        took.append(1000 * (perf_counter() - begin))


def _datastore(url: str, threads: int) -> PostgresDatastore:
    place = urlsplit(url)
    return PostgresDatastore(
        dbname=place.path.strip("/"),
        host=place.hostname or "",
        port=place.port or 5432,
        user=place.username or "",
        password=unquote(place.password or ""),
        pool_size=threads,
    )
