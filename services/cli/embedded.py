"""What is not set is there all the same: servers of our own, and keys kept beside their data."""

import fcntl
import logging
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psycopg

from services.cli.refused import Refused
from services.settings import SeedKey, Settings, fresh_seed_key, parse_seed_keys
from shared.local.postgres import LocalPostgres
from shared.local.process import CannotStart, keep, kept, password
from shared.local.valkey import LocalValkey
from shared.seals.keyfile import BadKeyFile, add_key, read_keys
from shared.seals.notes import public_of

_NAME = "croupier"
"""The embedded database, and the login that serves from it."""

_LOOK_SECONDS = 0.5

_log = logging.getLogger(__name__)


@contextmanager
def everything(settings: Settings) -> Iterator[Settings]:
    """Settings in which nothing is missing; the servers of our own stop at the end.

    Raises `Refused` when another process keeps its servers in the same directory.
    """
    with ExitStack() as running:
        if not running.enter_context(alone_in(settings.home)):
            raise Refused(
                f"A croupier runs on {settings.home} already. Stop it first, or set CROUPIER_HOME "
                "to another directory."
            )
        found: dict[str, Any] = {"seed_keys": settings.seed_keys or local_seed_keys(settings.home)}
        found["seals"] = settings.seals or settings.home / "seals"
        found["seal_key"] = settings.seal_key or local_seal_key(settings)
        if not settings.database_url:
            found |= running.enter_context(_postgres(settings.home, stop=True, watch=True))
        if not settings.redis_url:
            found |= running.enter_context(_valkey(settings.home))
        yield settings.model_copy(update=found)


@contextmanager
def a_database(settings: Settings, *, new: bool = False) -> Iterator[Settings]:
    """Settings with a database: of our own, when none is set. One that already runs is shared.

    Raises `Refused` where none was made yet, or none was ever migrated, unless it may be `new`.
    """
    with _set_or_own(settings, new) as found:
        if not new:
            _insist_on_migrations(found.database_url)
        yield found


@contextmanager
def _set_or_own(settings: Settings, new: bool) -> Iterator[Settings]:
    if settings.database_url:
        yield settings
        return
    if not new and not os.path.isdir(settings.home / "postgres" / "data"):
        raise Refused(
            f"There is no database in {settings.home}. Set CROUPIER_HOME or DATABASE_URL, or begin "
            "one with `croupier up`."
        )
    with (
        alone_in(settings.home) as alone,
        _postgres(settings.home, stop=alone) as found,
    ):
        yield settings.model_copy(update=found)


def _insist_on_migrations(url: str) -> None:
    with psycopg.connect(url, connect_timeout=5) as connection:
        there = connection.execute("SELECT to_regclass('alembic_version') IS NOT NULL").fetchone()
    if there != (True,):
        raise Refused("This database was never migrated; run `croupier migrate`, or `croupier up`.")


@contextmanager
def alone_in(home: Path) -> Iterator[bool]:
    """Whether no other process works in this directory; until the end, or our death, none will.

    Raises `Refused` for what is no directory, or cannot be written in.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = (home / "lock").open("w")
    except OSError as error:
        raise Refused(
            f"{home} cannot be worked in: {error.strerror}. Set CROUPIER_HOME to a directory that "
            "can be written in, or made."
        ) from None
    with opened as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def local_seed_keys(home: Path) -> tuple[SeedKey, ...]:
    """The keys that seal seeds on this machine, made when there are none."""
    made = partial(fresh_seed_key, f"local-{secrets.token_hex(3)}")
    keys = parse_seed_keys(kept(home / "seed.keys", made))
    assert isinstance(keys, tuple)
    return keys


def local_seal_key(settings: Settings) -> Path:
    """The key that seals logs on this machine, made when there is none, with its public key in
    `seal.pub` beside it. Raises `Refused`.

    Another process makes and reads it: a child that ends here. We are about to serve, and whoever
    serves must not have it, not even in a corner of its memory.
    """
    file = settings.home / "seal.key"
    name = f"{settings.seal_origin}/{settings.house}"
    fork = get_context("fork")
    heard, said = fork.Pipe(duplex=False)
    child = fork.Process(target=_publish, args=(file, public_key(settings), name, said))
    child.start()
    said.close()
    child.join()
    if child.exitcode:
        try:
            raise Refused(heard.recv())
        except EOFError:
            raise Refused(f"The process that reads {file} ended with {child.exitcode}.") from None
    return file


def public_key(settings: Settings) -> Path:
    """Where the public key of the local seals lies, for those who check them."""
    return settings.home / "seal.pub"


def _publish(file: Path, public: Path, name: str, failed: Connection) -> None:
    try:
        keys = read_keys(file) if file.exists() else add_key(file)
        keep(public, "\n".join(str(public_of(key, name)) for key in keys))
    except BadKeyFile as bad:
        failed.send(f"{file} holds no key that seals: {bad} Put it back, or set CROUPIER_SEAL_KEY.")
        sys.exit(1)
    except OSError as error:
        failed.send(f"The key that seals cannot be kept: {error}.")
        sys.exit(1)


@contextmanager
def _postgres(home: Path, *, stop: bool, watch: bool = False) -> Iterator[dict[str, str]]:
    """A database and two roles: its owner, who migrates, and a login that only serves."""
    server = LocalPostgres(home / "postgres")
    try:
        server.start()
        secret = kept(home / "postgres" / "serving.password", password)
        with psycopg.connect(server.url(), autocommit=True) as owner:
            if not owner.execute("SELECT FROM pg_roles WHERE rolname = %s", (_NAME,)).rowcount:
                owner.execute(f"CREATE ROLE {_NAME} LOGIN PASSWORD '{secret}'".encode())
            if not owner.execute("SELECT FROM pg_database WHERE datname = %s", (_NAME,)).rowcount:
                owner.execute(f"CREATE DATABASE {_NAME}".encode())
        serving = f"postgresql://{_NAME}:{secret}@127.0.0.1:{server.port}/{_NAME}"
        with _started_again("Postgres", server) if watch else nullcontext():
            yield {"database_url": serving, "migration_url": server.url(_NAME)}
    finally:
        if stop:
            server.stop()


@contextmanager
def _valkey(home: Path) -> Iterator[dict[str, str]]:
    server = LocalValkey(home / "valkey")
    try:
        server.start()
        with _started_again("Valkey", server):
            yield {"redis_url": server.url()}
    finally:
        server.stop()


@contextmanager
def _started_again(name: str, server: LocalPostgres | LocalValkey) -> Iterator[None]:
    """Whenever it dies, until the end of the block."""
    over = Event()

    def watch() -> None:
        while not over.wait(_LOOK_SECONDS):
            if server.has_died():
                _log.warning("%s has died and is started again; see %s", name, server.log)
                server.stop()
                with suppress(CannotStart):
                    server.start()

    watching = Thread(target=watch, name=f"watches {name}")
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
