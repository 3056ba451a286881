"""Through real HTTP: Croupier beside the naive service, with 64 and 256 players on keep-alive
connections; and beside the floor.

Both serve with one worker process on uvloop and httptools, each from a database of its own in the
same Postgres; the load is the same process with the same players. Both stay up all the time, the
load visits them in turns. No Redis: neither needs one to serve.
"""

import secrets
import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from math import nan
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import msgspec
import psycopg

from shared.http import keys
from tests.benchmarks import floor
from tests.benchmarks.load import Visit
from tests.benchmarks.measure import Meter, Run, in_turns, ratio
from tests.benchmarks.report import Goal, Part, row
from tests.benchmarks.servers import HOUSE, Postgres, croupier_database, naive_database
from tests.benchmarks.serving import Served, Service

CONNECTIONS = (64, 256)
WANTED_OF_NAIVE = {64: 10.0, 256: 14.0}
WANTED_OF_FLOOR = {64: 0.70, 256: 0.85}
WANTED_CPU, WANTED_TAIL = 13.0, 2.5
CROUPIER = str(Path(sys.executable).with_name("croupier"))
NAIVE = ("-m", "uvicorn", "tests.benchmarks.naive:app", "--port={port}", "--http=httptools")
QUIET = ("--no-access-log", "--log-level=warning")


def compare(postgres: Postgres, quick: bool) -> Part:
    """Commands a second of both services and of the floor, in turns."""
    seconds, repetitions = (2.0, 2) if quick else (6.0, 5)
    with ExitStack() as stack:
        floor_url = stack.enter_context(postgres.database("bench_floor"))
        floor.create(floor_url)
        clients = floor.best_client_count(floor_url, seconds)
        ground = f"floor, pgbench {clients}"
        services = {"croupier": croupier(postgres), "naive": naive(postgres)}
        sides = {ground: partial(floor.run, floor_url, clients, seconds, postgres.pid)}
        for name, context in services.items():
            served = stack.enter_context(stack.enter_context(context).serve())
            for players in CONNECTIONS:
                sides[f"{name}, {players}"] = partial(load, served, postgres, players, seconds)
        runs = in_turns(sides, repetitions)
    plain = {players: runs[f"naive, {players}"] for players in CONNECTIONS}
    rows = [
        row(name, of, floor=runs[ground], naive=plain[256 if name.endswith(", 256") else 64])
        for name, of in runs.items()
    ]
    return Part("http, by connections", rows, list(_goals(runs, ground)), "ratio_to_naive")


def _goals(runs: Mapping[str, Sequence[Run]], ground: str) -> Iterator[Goal]:
    for players in CONNECTIONS:
        ours, plain = runs[f"croupier, {players}"], runs[f"naive, {players}"]
        reached = ratio(ours, plain)
        yield Goal(f"http ÷ naive, {players} connections", reached, WANTED_OF_NAIVE[players])
        reached = ratio(ours, runs[ground])
        yield Goal(f"http ÷ floor, {players} connections", reached, WANTED_OF_FLOOR[players])
    ours, plain = runs["croupier, 64"], runs["naive, 64"]
    reached = ratio(plain, ours, "all_cpu_us")
    yield Goal("CPU a command of naive ÷ ours, 64 connections", reached, WANTED_CPU)
    tail = median((run.p99_ms or nan) / (run.p50_ms or nan) for run in ours)
    yield Goal("p99 ÷ p50, 64 connections", tail, WANTED_TAIL, at_most=True)


def load(served: Served, postgres: Postgres, players: int, seconds: float) -> Run:
    """Visit a service with all players once. Raises when it refuses any of them."""
    meter = Meter(postgres.pid, served.pid)
    command = [sys.executable, "-m", "tests.benchmarks.load", served.url, served.key]
    command += [f"--connections={players}", f"--seconds={seconds}"]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    found = msgspec.json.decode(said, type=Visit)
    return meter.run(found.played, found.per_second, p50_ms=found.p50_ms, p99_ms=found.p99_ms)


def profile(postgres: Postgres, quick: bool) -> Part:
    """Where the time of the serving process goes, as a tree."""
    with croupier(postgres) as service, TemporaryDirectory() as directory:
        file = Path(directory, "profile.txt")
        with service.serve(profile=file) as served:
            run = load(served, postgres, CONNECTIONS[0], 2.0 if quick else 6.0)
        rows = [row("croupier, profiled", [run])]
        return Part("profile", rows, [], "commands_per_second", file.read_text())


@contextmanager
def croupier(postgres: Postgres, *options: str) -> Iterator[Service]:
    """`croupier serve` with an empty database."""
    with croupier_database(postgres) as url:
        yield croupier_on(url, *options)


def croupier_on(url: str, *options: str) -> Service:
    """`croupier serve` as an operator would run it."""
    with psycopg.connect(url) as owner:
        key = keys.create(owner, HOUSE, "bench", keys.SCOPES)
    seed_key = urlsafe_b64encode(secrets.token_bytes(32)).decode()
    environment = {
        "DATABASE_URL": url,
        "CROUPIER_HOUSE": HOUSE,
        "CROUPIER_PORT": "{port}",
        "CROUPIER_LOG_LEVEL": "warning",  # as the others: no line for each request
        "CROUPIER_SEED_KEYS": f"bench:{seed_key}",
    }
    return Service((CROUPIER, "serve", *options), environment, key)


@contextmanager
def naive(postgres: Postgres) -> Iterator[Service]:
    """The naive service, with an empty database."""
    with naive_database(postgres) as url:
        key = secrets.token_hex(16)
        environment = {"NAIVE_DATABASE_URL": url, "NAIVE_KEY": key}
        yield Service((*NAIVE, *QUIET), environment, key)
