"""`croupier work`: the process beside the serving one, and how both end."""

import socket
import subprocess
from signal import SIGINT, SIGKILL, SIGTERM, Signals

import httpx
import pytest

from shared.local.process import command_of, until
from tests.api.croupier import Croupier
from tests.cli.test_up import CROUPIER, ROOT, Desk, answers, desk, stop
from tests.conftest import Database

__all__ = ["desk"]


def children(pid: int) -> set[int]:
    """The worker beside a serving process, and whatever the interpreter keeps beside it."""
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True
    )
    pids = map(int, listed.stdout.split())
    return {child for child in pids if "multiprocessing" in command_of(child)}


@pytest.mark.parametrize("signal", [SIGINT, SIGTERM])
def test_it_works_until_it_is_told_to_stop(signal: Signals, database: Database) -> None:
    environment = Croupier(database).environment
    process = subprocess.Popen(
        [*CROUPIER, "work"], env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout
        assert process.stdout.readline() == "Working until Ctrl-C\n"

        assert stop(process, signal) == 0


def test_it_shows_its_figures_on_a_port_of_their_own(database: Database) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = Croupier(database).environment | {"CROUPIER_METRICS_PORT": str(port)}
    with subprocess.Popen(
        [*CROUPIER, "work"], env=environment, cwd=ROOT, stdout=subprocess.DEVNULL
    ) as process:
        assert until(lambda: answers(port))

        figures = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text

        assert "croupier_clock_lateness_seconds_count" in figures
        assert "croupier_view_page_events_count" in figures
        assert stop(process) == 0


def test_it_dies_with_the_process_that_it_works_beside(desk: Desk) -> None:
    with desk.up() as process:
        beside = children(process.pid)
        assert beside

        stop(process, SIGKILL)

        assert until(lambda: not any(map(command_of, beside)))
