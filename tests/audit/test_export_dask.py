"""An export checked by a Dask cluster: worker processes on this machine, as real as on many."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from signal import SIGKILL

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from distributed import LocalCluster, Nanny
from msgspec import structs
from msgspec.structs import replace
from typer.testing import CliRunner

from services.audit.application import on_dask
from services.audit.application.offline import events_to_read, verify_export
from services.audit.application.on_dask import cluster
from services.audit.application.pieces import hashed, to_hash
from services.blackjack.domain import commands as c
from services.blackjack.domain.register import Proposal
from services.blackjack.domain.rulesets import A2G
from services.cli import app
from shared.eventstore import exports
from shared.eventstore.exports import CannotRead
from shared.eventstore.store import Recorded
from shared.seals.merkle import Tree
from shared.seals.notes import Checkpoint, public_of, sign
from tests.api.croupier import PATIENCE_SECONDS
from tests.audit.exported import take
from tests.audit.log import Log, a_log, columns, data, facts, find, rehashed, renumbered

OWN = Proposal(**structs.asdict(replace(A2G, name="own")))
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
ORIGIN = "croupier.example/local"


def a_house() -> Log:
    """Tables of all games and of a game of its own, with players who go from one to another."""
    log = a_log()
    log.register(OWN)
    log.open("own", c.Open("own"), OWN.ruleset())
    log.arrive("own", 1, "ada", 500)
    log.play_round("own", 20)
    return log


LOG = a_house()
RECORDS = rehashed(LOG.records)
MIDDLE = len(RECORDS) // 2


@pytest.fixture(scope="module")
def workers() -> Iterator[LocalCluster]:
    """Two processes, each with somebody who starts it again when it dies."""
    words = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with LocalCluster(**words, host="127.0.0.1", dashboard_address=":0") as running:
        yield running


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a short log has several."""
    monkeypatch.setattr(exports, "EVENTS_A_PART", 30)


def verify(directory: Path, *options: str) -> tuple[int, str]:
    words = ["verify", str(directory), "--json", *options]
    judged = CliRunner().invoke(app, words, catch_exceptions=False)
    return judged.exit_code, judged.stdout


def sealed(records: list[Recorded], home: Path) -> tuple[str, ...]:
    """Options: a seal over the log, and the key that signed it."""
    tree = Tree()
    for record in records:
        tree.append(record.leaf)
    (home / "seal").write_text(str(sign(Checkpoint(ORIGIN, tree.size, tree.root()), [KEY])))
    (home / "key").write_text(f"{public_of(KEY, ORIGIN)}\n")
    return "--seal", str(home / "seal"), "--public-key", str(home / "key")


def overdrawn(records: list[Recorded]) -> list[Recorded]:
    """The first grant gave less, and its postings say so too: a later table takes what is not
    there."""
    at = next(r.position for r in records if r.type == "ledger.chips_granted")
    postings = [
        {"account": "issuance", "amount": -10},
        {"account": "player/ada/vault", "amount": 10},
    ]
    return facts(data(records, at, amount=10), at, postings=postings)


TAMPERED: dict[str, Callable[[list[Recorded]], list[Recorded]]] = {
    "nothing": lambda records: records,
    "a payout": lambda records: data(records, find(records, "hand_settled"), payout=1000),
    "a vault": overdrawn,
    "a game": lambda records: data(records, find(records, "ruleset_registered"), version="2.0.0"),
    "a version": lambda records: columns(records, MIDDLE, version=1000),
    "a stream": lambda records: columns(records, MIDDLE, stream="table-a2g"),
    "a hash": lambda records: columns(records, MIDDLE, leaf=bytes(32)),
    "an event lost": lambda records: [*records[: MIDDLE - 1], *records[MIDDLE:]],
    "every hash": lambda records: [replace(record, chain=bytes(32)) for record in records],
    "a command twice": lambda records: renumbered([*records, records[1]]),
    "the tail": lambda records: records[:-1],
}


@pytest.mark.parametrize("tampered", TAMPERED)
def test_the_report_is_the_same_byte_for_byte(
    tampered: str, workers: LocalCluster, tmp_path: Path
) -> None:
    held = sealed(RECORDS, tmp_path)
    on_dask = ("--dask", workers.scheduler_address)
    for form, hands in (("parquet", on_dask), ("jsonl", ("--processes", "3"))):
        take(TAMPERED[tampered](RECORDS), tmp_path / form, form)

        alone, said = verify(tmp_path / form, "--processes", "1", *held)

        assert alone == (0 if tampered == "nothing" else 1), said
        assert verify(tmp_path / form, *hands, *held) == (alone, said)


@pytest.mark.parametrize("tampered", ["nothing", "a payout"])
def test_whatever_the_files_are(tampered: str, workers: LocalCluster, tmp_path: Path) -> None:
    on_dask = ("--dask", workers.scheduler_address)
    for form, hands in (("jsonl", on_dask), ("parquet", ("--processes", "3"))):
        take(TAMPERED[tampered](RECORDS), tmp_path / form, form)

        assert verify(tmp_path / form, *hands) == verify(tmp_path / form, "--processes", "1")


def test_a_file_that_is_gone_and_one_that_is_cut(workers: LocalCluster, tmp_path: Path) -> None:
    manifest = take(RECORDS, tmp_path, "parquet")
    gone, cut = (tmp_path / part.files[0].path for part in manifest.parts[:2])
    gone.unlink()
    cut.write_bytes(cut.read_bytes()[:-100])

    found = verify(tmp_path, "--dask", workers.scheduler_address)

    assert found == verify(tmp_path, "--processes", "1")
    assert found[0] == 1
    assert "is not there" in found[1]


@pytest.mark.parametrize("tampered", ["nothing", "a vault", "a payout"])
def test_a_worker_is_killed_in_the_middle(
    tampered: str, workers: LocalCluster, tmp_path: Path
) -> None:
    """Once while the parts are hashed, and once while the commands are tried."""
    manifest = take(TAMPERED[tampered](RECORDS), tmp_path, "parquet")
    due = verify_export(tmp_path)
    total, read, killed = events_to_read(manifest, hashes_alone=False), 0, set[int]()

    def kill(events: int) -> None:
        nonlocal read
        read += events
        if len(killed) < (1 if 2 * read <= total else 2):
            killed.update(a_death(workers))

    address = workers.scheduler_address
    report = verify_export(tmp_path, engine=partial(cluster, address), progress=kill)

    assert report == due
    assert len(killed) == 2
    assert read == total


def a_death(workers: LocalCluster) -> set[int]:
    """Kills a worker that works now, if any does; returns its process id."""
    pid = next((pid for pid in map(pid_of, workers.workers.values()) if pid), None)
    if pid:
        os.kill(pid, SIGKILL)
    return {pid} if pid else set()


def pid_of(nanny: Nanny) -> int:
    return nanny.pid or 0


def test_who_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_dask, "_PATIENCE_SECONDS", 1)
    take(RECORDS, tmp_path, "parquet")
    nobody = CliRunner().invoke(app, ["verify", str(tmp_path), "--dask", "tcp://127.0.0.1:9"])
    assert nobody.exit_code == 2
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in nobody.output

    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=":0") as empty:
        words = ["verify", str(tmp_path), "--dask", empty.scheduler_address]
        idle = CliRunner().invoke(app, words)
    assert idle.exit_code == 2
    assert "has no workers" in idle.output


def test_nobody_waits_for_workers_who_have_all_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_dask, "_PATIENCE_SECONDS", 1)
    take(RECORDS, tmp_path, "parquet")
    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=":0") as empty:
        address = empty.scheduler_address
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
        with subprocess.Popen(worker, stderr=subprocess.DEVNULL) as only:
            empty.wait_for_workers(1, timeout=PATIENCE_SECONDS)

            with pytest.raises(CannotRead, match="All workers of the Dask scheduler have gone"):
                verify_export(
                    tmp_path,
                    engine=partial(cluster, address),
                    progress=lambda _: only.kill(),
                )


def test_what_a_worker_does_not_see_is_said(workers: LocalCluster, tmp_path: Path) -> None:
    manifest = take(RECORDS, tmp_path, "parquet")
    pieces = to_hash(tmp_path / "elsewhere", manifest)

    with (
        cluster(workers.scheduler_address, lambda events: None) as engine,
        pytest.raises(CannotRead, match="needs the export under the same path"),
    ):
        list(engine.each(hashed, pieces))
