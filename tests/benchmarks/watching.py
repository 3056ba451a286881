"""What it costs to be watched: the same requests to the front, alone, measured, and told in lines.

In one process and without a network, so that nothing else is in the time: µs of CPU a request.
Requests come 64 at a time, as they do where a flush answers many; lines go to a pipe that somebody
reads.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from threading import Thread
from time import thread_time
from typing import Any, Final

from shared import logs
from shared.http.auth import Caller, Client
from shared.http.front import Asked, Entrance, Front, Reply
from shared.http.limits import Limits
from shared.http.observed import Observed
from tests.benchmarks.measure import in_turns
from tests.benchmarks.report import Goal, Part, Row

AT_ONCE: Final = 64
WANTED_US: Final = 3.0
"""What the figures of a request may cost, in µs."""

_ANSWER: Final = {"table": {"id": "table-3", "version": 17}}
_SCOPE: Final = {
    "type": "http",
    "method": "POST",
    "path": "/v1/tables/table-3/commands",
    "client": ("127.0.0.1", 4711),
    "headers": [
        (b"host", b"127.0.0.1:8000"),
        (b"authorization", b"Bearer ck_abcdefgh_secret"),
        (b"content-type", b"application/json"),
        (b"idempotency-key", b"table-3.17"),
        (b"content-length", b"22"),
    ],
}


class _Keys:
    async def authenticate(self, authorization: bytes | None, client: Client) -> Caller:
        return Caller("local", "key/bench/abcdefgh", frozenset({"play"}))


async def _serve(asked: Asked) -> Reply:
    return Reply(_ANSWER, version=17)


async def _receive() -> dict[str, Any]:
    return {"type": "http.request", "body": b'{"type":"hit","seat":1}'}


async def _send(message: Any) -> None:
    assert message.get("status", 200) == 200, "what is measured is no answer"


def measure(quick: bool) -> Part:
    """The front alone and watched, in turns."""
    requests, repetitions = (20_000, 3) if quick else (100_000, 9)
    entrance = Entrance("POST", "/v1/tables/{table}/commands", "play", _serve, {})
    front = Front(_serve, _Keys(), Limits(), [entrance])  # type: ignore[arg-type]
    watched = Observed(front)
    sides: dict[str, Callable[[], float]] = {
        "alone": partial(_microseconds, front, requests),
        "measured": partial(_microseconds, watched, requests),
        "measured and told": partial(_told, watched, requests),
    }
    runs = in_turns(sides, repetitions)
    alone = runs["alone"]
    more = {
        name: median(each - plain for each, plain in zip(of, alone, strict=True))
        for name, of in runs.items()
    }
    rows: list[Row] = [
        {"side": name, "cpu_us": median(of), "more_us": more[name]} for name, of in runs.items()
    ]
    goal = Goal("µs to measure a request", more["measured"], WANTED_US, at_most=True)
    return Part("watching", rows, [goal], "cpu_us")


def _microseconds(app: Any, requests: int) -> float:
    logs.OUTPUT.level = 100
    return asyncio.run(_ask(app, requests))


def _told(app: Any, requests: int) -> float:
    with _standard_error_read():
        logs.OUTPUT.level, logs.OUTPUT.kind = 0, "json"
        return asyncio.run(_ask(app, requests))


async def _ask(app: Any, requests: int) -> float:
    began = thread_time()
    for _ in range(requests // AT_ONCE):
        asking = (app(dict(_SCOPE), _receive, _send) for _ in range(AT_ONCE))
        await asyncio.gather(*asking)
    return 1e6 * (thread_time() - began) / requests


@contextmanager
def _standard_error_read() -> Iterator[None]:
    """A pipe for standard error, and a thread that takes what comes."""
    reading, writing = os.pipe()
    reader = Thread(target=_read_all, args=(reading,))
    reader.start()
    before = sys.stderr
    with open(writing, "w") as sys.stderr:
        try:
            yield
        finally:
            sys.stderr = before
    reader.join()


def _read_all(file: int) -> None:
    with open(file, "rb", buffering=0) as pipe:
        while pipe.read(65536):
            pass
