"""A service as a process of its own, from its first answer to its orderly end."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from signal import SIGINT

from msgspec import Struct

from shared.local.process import until

PATIENCE_SECONDS = 30.0


class Served(Struct, frozen=True):
    """A service that answers at `url` to callers with `key`."""

    url: str
    key: str
    pid: int


class Service(Struct, frozen=True):
    """How to start a service: what Python runs, and in which environment; `{port}` in both."""

    arguments: Sequence[str]
    environment: Mapping[str, str]
    key: str

    @contextmanager
    def serve(self, profile: Path | None = None) -> Iterator[Served]:
        """Runs while the context does; with `profile`, under pyinstrument and slower."""
        port = str(free_port())
        profiler = ["-m", "pyinstrument", "--renderer=text", f"--outfile={profile}"]
        arguments = [argument.format(port=port) for argument in self.arguments]
        command = [sys.executable, *(profiler if profile else ()), *arguments]
        settings = {name: value.format(port=port) for name, value in self.environment.items()}
        process = subprocess.Popen(
            command, env={**os.environ, **settings}, stdout=subprocess.DEVNULL
        )
        try:
            until(lambda: answers(int(port)) or process.poll() is not None, PATIENCE_SECONDS)
            if not answers(int(port)):
                raise ConnectionRefusedError(f"{self.arguments[0]} does not answer.")
            yield Served(f"http://127.0.0.1:{port}", self.key, process.pid)
        finally:
            process.send_signal(SIGINT)
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
