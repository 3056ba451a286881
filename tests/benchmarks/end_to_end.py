"""Through real HTTP: Croupier beside the naive service, 64 players on keep-alive connections.

Both serve with one worker process on uvloop and httptools, each from a database of its own in the
same Postgres; the load is the same process with the same players. Both stay up all the time, the
load visits them in turns. No Redis: neither needs one to serve.
"""

import secrets
import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import psycopg

from shared.http import keys
from tests.benchmarks.load import Visit
from tests.benchmarks.measure import Meter, Run, in_turns, ratio
from tests.benchmarks.report import Goal, Part, row
from tests.benchmarks.servers import HOUSE, Postgres, croupier_database, naive_database
from tests.benchmarks.serving import Served, Service

CONNECTIONS = 64
WANTED = 5.0
CROUPIER = str(Path(sys.executable).with_name("croupier"))
NAIVE = ("-m", "uvicorn", "tests.benchmarks.naive:app", "--port={port}", "--http=httptools")
QUIET = ("--no-access-log", "--log-level=warning")


def compare(postgres: Postgres, quick: bool, profile: bool) -> Part:
    """Commands a second of both services, and where Croupier spends its time."""
    seconds, repetitions = (2.0, 2) if quick else (6.0, 5)
    with ExitStack() as stack:
        services = {
            "croupier": stack.enter_context(croupier(postgres)),
            "naive": stack.enter_context(naive(postgres)),
        }
        with ExitStack() as serving:
            sides = {
                name: partial(load, serving.enter_context(service.serve()), postgres, seconds)
                for name, service in services.items()
            }
            runs = in_turns(sides, repetitions)
        text = profiled(services["croupier"], postgres, seconds) if profile else ""
    reached = ratio(runs["croupier"], runs["naive"])
    rows = [row(name, of, "naive", runs["naive"]) for name, of in runs.items()]
    return Part(
        f"http, {CONNECTIONS} connections", rows, [Goal("croupier ÷ naive", reached, WANTED)], text
    )


def load(served: Served, postgres: Postgres, seconds: float) -> Run:
    """Visit a service with all players once. Raises when it refuses any of them."""
    meter = Meter(postgres.pid, served.pid)
    command = [sys.executable, "-m", "tests.benchmarks.load", served.url, served.key]
    command += [f"--connections={CONNECTIONS}", f"--seconds={seconds}"]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    found = msgspec.json.decode(said, type=Visit)
    return meter.run(found.played, found.per_second, p50_ms=found.p50_ms, p99_ms=found.p99_ms)


def profiled(service: Service, postgres: Postgres, seconds: float) -> str:
    """Where the time of the serving process goes, as a tree."""
    with TemporaryDirectory() as directory:
        file = Path(directory, "profile.txt")
        with service.serve(profile=file) as served:
            load(served, postgres, seconds)
        return file.read_text()


@contextmanager
def croupier(postgres: Postgres) -> Iterator[Service]:
    """`croupier serve` as an operator would run it, with an empty database."""
    with croupier_database(postgres) as url:
        with psycopg.connect(url) as owner:
            key = keys.create(owner, HOUSE, "bench", keys.SCOPES)
        seed_key = urlsafe_b64encode(secrets.token_bytes(32)).decode()
        environment = {
            "DATABASE_URL": url,
            "CROUPIER_HOUSE": HOUSE,
            "CROUPIER_PORT": "{port}",
            "CROUPIER_SEED_KEYS": f"bench:{seed_key}",
        }
        yield Service((CROUPIER, "serve"), environment, key)


@contextmanager
def naive(postgres: Postgres) -> Iterator[Service]:
    """The naive service, with an empty database."""
    with naive_database(postgres) as url:
        key = secrets.token_hex(16)
        environment = {"NAIVE_DATABASE_URL": url, "NAIVE_KEY": key}
        yield Service((*NAIVE, *QUIET), environment, key)
