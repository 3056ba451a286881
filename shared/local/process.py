"""Servers as processes: started, found again after our own death, stopped, watched until gone."""

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from signal import Signals

from shared.eventstore.files import settle

PATIENCE_SECONDS = 60.0
"""How long a server may take to answer, or to stop, before we give up on it."""

_GLANCE_SECONDS = 0.01


class CannotStart(RuntimeError):
    """A local server cannot run here. The message is one sentence that says what to do."""


def spawn(
    command: Sequence[str | Path], log: Path, account: int | None = None
) -> subprocess.Popen[bytes]:
    """Starts a direct child that writes to `log`, as another account if one is given.

    A direct child can be waited for, so it leaves no zombie. In a session of its own it does not
    hear the terminal's Ctrl-C: whoever started it stops it, when the last request is answered.
    """
    with log.open("wb") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env={name: value for name, value in os.environ.items() if not name.startswith("PG")},
            start_new_session=True,
            user=account,
            group=account,
            extra_groups=None if account is None else (),
        )


def until(done: Callable[[], bool], patience_seconds: float = PATIENCE_SECONDS) -> bool:
    """Looks again and again until `done()`, or until patience ends; says which it was."""
    deadline = time.monotonic() + patience_seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(_GLANCE_SECONDS)
    return True


def end(pid: int, signal: Signals) -> None:
    """Signals a process, ours or adopted, and waits until it is gone."""
    try:
        os.kill(pid, signal)
    except ProcessLookupError:
        return
    if not until(lambda: not command_of(pid)):
        raise CannotStart(f"Process {pid} does not stop; end it by hand and try again.")


def command_of(pid: int) -> str:
    """The command line of a living process; empty when it is gone or a zombie.

    One that is just ending, and may still hold its port, has only its name left: `(postgres)`.
    """
    if not Path("/proc/self").exists():
        return _asked_of_ps(pid)
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    name, _, state = stat.partition("(")[2].rpartition(") ")
    return "" if state[0] in "ZX" else command or f"({name})"


def _asked_of_ps(pid: int) -> str:
    """The same without /proc, as on macOS."""
    ps = ("ps", "-ww", "-o", "stat=,command=", "-p", str(pid))
    answer = subprocess.run(ps, capture_output=True, text=True, check=False).stdout
    state, _, command = answer.strip().partition(" ")
    return "" if state.startswith("Z") else command.strip()


def kept(file: Path, make: Callable[[], str]) -> str:
    """What the file says; made and written, readable by its owner alone, when there is none."""
    if not file.exists():
        keep(file, make())
    return file.read_text().strip()


def keep(file: Path, text: str) -> None:
    """Writes a private file in one step: after a crash, or a power cut, it is there whole, or as it
    was."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    unfinished.touch(mode=0o600)
    unfinished.write_text(f"{text}\n")
    settle(unfinished, file)


def password() -> str:
    """A fresh secret that needs no quoting in a URL, a shell or a configuration file."""
    return secrets.token_hex(16)


def port_for(file: Path) -> int:
    """The port remembered in the file if it is free on loopback, else a new one, remembered."""
    remembered = int(kept(file, lambda: "0"))
    port = _free_port(remembered) or _free_port(0)
    keep(file, str(port))
    return port


def _free_port(wanted: int) -> int:
    """`wanted` if nobody listens on it (any free one for 0), else 0."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError:
            return 0
        port: int = probe.getsockname()[1]
        return port
