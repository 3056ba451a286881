"""A log taken out into files: whole or in part, gone on with, and judged from the files alone."""

import json
import os
import re
from contextlib import nullcontext
from pathlib import Path
from signal import SIGKILL
from threading import Thread

import duckdb
import polars
import pytest
from typer.testing import CliRunner, Result

from services.audit.application import engines
from services.audit.application.engines import local
from services.audit.application.pieces import Tell, ToHash, to_hash, to_try, tried
from services.audit.domain.faults import Fault
from services.cli import app
from shared.eventstore import exports
from shared.eventstore.exports import (
    SHARDS,
    CannotExport,
    CannotRead,
    Form,
    Scope,
    read_manifest,
    write_manifest,
)
from tests.audit.exported import judged, made_to_fit, rewritten, take
from tests.audit.log import NOON, a_log

LOG = a_log()
RECORDS = LOG.records
LAST = len(RECORDS)
FORMS: tuple[Form, ...] = ("jsonl", "jsonl.zst", "parquet")


def verify(directory: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["verify", str(directory), "--processes", "1", *options])


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a short log has several."""
    monkeypatch.setattr(exports, "EVENTS_A_PART", 30)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    take(RECORDS, tmp_path / "export")
    return tmp_path / "export"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("processes", [1, 3])
def test_every_form_holds_and_says_the_same(form: Form, processes: int, tmp_path: Path) -> None:
    manifest = take(RECORDS, tmp_path / form, form)
    report = judged(tmp_path / form, processes)

    assert report.faults == ()
    assert (manifest.events, report.events, report.position) == (LAST, LAST, LAST)
    assert (report.rounds, report.streams, report.commands) == (8, 6, LOG.commands)
    assert report.chain == RECORDS[-1].chain.hex()
    assert len(manifest.parts) > 3
    assert report.balances["table/a2g/in_play"] == sum(report.balances.values()) == 0


def test_a_line_is_a_line_of_the_feed(export: Path) -> None:
    file = export / read_manifest(export).parts[0].files[0].path
    line = json.loads(file.read_text().splitlines()[0])

    first = RECORDS[0]
    assert line.pop("event") == json.loads(first.envelope)
    hashes = {"leaf": first.leaf.hex(), "chain": first.chain.hex()}
    assert line == {"position": 1, "stream": first.stream, "version": 1} | hashes


def test_nothing_is_also_an_export(tmp_path: Path) -> None:
    take([], tmp_path)

    assert judged(tmp_path).holds
    assert verify(tmp_path).exit_code == 0


@pytest.mark.parametrize("first", [1, 7, 31, 60])
@pytest.mark.parametrize("last", [61, 90, 1000])
def test_a_range_has_whole_commands_and_holds(first: int, last: int, tmp_path: Path) -> None:
    manifest = take(RECORDS, tmp_path, scope=Scope(first, last))

    starts = [n for n, r in enumerate(RECORDS, 1) if r.envelope.find(b'.0","postings"') > 0]
    assert manifest.parts[0].first_position == min(n for n in starts if n >= first)
    end = min((n for n in starts if n > last), default=LAST + 1) - 1
    assert manifest.parts[-1].last_position == end
    report = judged(tmp_path)
    assert report.faults == ()
    kept = [r for r in RECORDS if manifest.parts[0].first_position <= r.position <= end]
    opened = {r.stream for r in kept if r.type == "blackjack.table_opened"}
    ended = [r.stream for r in kept if r.type == "blackjack.seed_revealed"]
    assert report.rounds == len([stream for stream in ended if stream in opened])


def test_a_table_is_judged_without_the_rest_of_the_log(tmp_path: Path) -> None:
    take(RECORDS, tmp_path, scope=Scope(table="european", streams=("table-european",)))
    report = judged(tmp_path)

    assert report.faults == ()
    assert report.rounds == 2
    at_table = [r for r in RECORDS if r.stream == "table-european"]
    assert report.events == len(at_table)  # its chips are of the session: no vault has a leg


def test_a_player_is_judged_with_the_tables_sat_at(tmp_path: Path) -> None:
    streams = "vault-bob", "table-a2g", "table-coinlounge"
    take(RECORDS, tmp_path, scope=Scope(player="bob", streams=streams))
    report = judged(tmp_path)

    assert report.faults == ()
    assert report.rounds == 4
    assert {"player/bob/vault", "table/a2g/bank"} <= set(report.balances)


@pytest.mark.parametrize("form", FORMS)
def test_what_was_interrupted_says_so_and_is_gone_on_with(form: Form, tmp_path: Path) -> None:
    with pytest.raises(ConnectionError):
        take(RECORDS, tmp_path / "export", form, until=70)

    begun = read_manifest(tmp_path / "export")
    assert not begun.finished
    assert 0 < begun.parts[-1].last_position <= 70
    said = verify(tmp_path / "export")
    assert said.exit_code == 2
    assert "The export was interrupted after position" in said.output

    take(RECORDS, tmp_path / "export", form)
    take(RECORDS, tmp_path / "at once", form)
    one, two = read_manifest(tmp_path / "export"), read_manifest(tmp_path / "at once")
    assert one == two
    assert not list((tmp_path / "export").rglob("*.unfinished"))
    assert judged(tmp_path / "export").holds


def test_an_export_of_something_else_is_left_alone(export: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotExport, match="something else"):
        take(RECORDS, export, "parquet")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("mine")
    with pytest.raises(CannotExport, match="not empty"):
        take(RECORDS, tmp_path / "other")


def die(piece: object, tell: object) -> None:
    os.kill(os.getpid(), SIGKILL)


def test_a_process_that_dies_is_said(export: Path) -> None:
    pieces = to_hash(export, read_manifest(export))

    with (
        local(2)(lambda events: None) as engine,
        pytest.raises(CannotRead, match="A process that judged the export died"),
    ):
        list(engine.each(die, pieces))


# What is told of exports that were tampered with.


def test_a_payout_that_was_changed_is_told_first(export: Path) -> None:
    rewritten(
        export,
        lambda lines: [line.replace(b'"payout":40', b'"payout":44', 1) for line in lines],
    )
    said = verify(export)

    assert said.exit_code == 1
    assert "was paid 44 instead of 40" in said.stdout.splitlines()[0]
    report = json.loads(verify(export, "--json").stdout)
    worst = report["faults"][0]
    assert (report["holds"], worst["kind"], worst["field"]) == (False, "payout", "data.payout")


def test_a_file_that_is_cut_or_gone(export: Path) -> None:
    manifest = read_manifest(export)
    first, second = (export / part.files[0].path for part in manifest.parts[:2])
    first.write_bytes(first.read_bytes()[:-100])
    second.unlink()
    said = verify(export)

    assert said.exit_code == 1
    assert f"{first.name} has another SHA-256 than the manifest says." in said.output
    assert f"{second.name} is not there." in said.output


def test_a_tail_cut_with_its_manifest_entry(export: Path) -> None:
    manifest = read_manifest(export)
    write_manifest(export, exports.replace(manifest, parts=manifest.parts[:-1]))
    (fault,) = [f for f in judged(export).faults if f.kind == "export"]

    assert fault.what.startswith(f"The log went on to position {LAST}; the export ends at")


def test_a_log_of_another_house(export: Path) -> None:
    write_manifest(export, exports.replace(read_manifest(export), house="another"))
    faults = judged(export).faults

    assert {fault.field for fault in faults} == {"source"}
    assert len(faults) == LOG.commands


def test_a_part_taken_from_the_middle(export: Path) -> None:
    manifest = read_manifest(export)
    without = exports.replace(manifest, parts=(manifest.parts[0], *manifest.parts[2:]))
    write_manifest(export, without)
    faults = [fault for fault in judged(export).faults if fault.kind == "export"]

    assert faults[0].what.startswith("After the part up to ")
    assert isinstance(faults[0], Fault)


def test_what_is_no_export_cannot_be_read(tmp_path: Path, export: Path) -> None:
    assert verify(tmp_path).exit_code == 2
    (export / "manifest.json").write_text('{"format": "another"}')
    assert verify(export).exit_code == 2


@pytest.mark.parametrize(
    ("says", "forged"),
    [
        (rb'"chain_before":\s*"[0-9a-f]{64}"', b'"chain_before": "zz"'),
        (rb'"path":\s*"[^"]+"', b'"path": "."'),
        (rb'"path":\s*"[^"]+"', b'"path": "../elsewhere"'),
        (rb'"path":\s*"[^"]+"', b'"path": "/dev/zero"'),
    ],
)
def test_a_manifest_that_leads_elsewhere_is_none(says: bytes, forged: bytes, export: Path) -> None:
    manifest = export / "manifest.json"
    text, changed = re.subn(says, forged, manifest.read_bytes())
    assert changed
    manifest.write_bytes(text)

    told = verify(export)

    assert told.exit_code == 2
    assert "cannot be read" in told.output


def test_hashes_alone_leave_the_play_aside(export: Path) -> None:
    assert verify(export, "--hashes").exit_code == 0
    rewritten(export, lambda lines: [lines[1], lines[0], *lines[2:]])
    assert verify(export, "--hashes").exit_code == 1


# Parquet, for those who ask questions.


@pytest.fixture
def parquet(tmp_path: Path) -> str:
    take(RECORDS, tmp_path, "parquet")
    return f"{tmp_path}/**/*.parquet"


def test_duckdb_reads_it(parquet: str) -> None:
    (payouts,) = duckdb.sql(
        f"""SELECT count(*), sum(CAST(envelope->>'$.data.payout' AS BIGINT)),
                   epoch(min(time)), bool_and(shard < {SHARDS})
              FROM read_parquet('{parquet}', hive_partitioning = true)
             WHERE type = 'blackjack.hand_settled'"""
    ).fetchall()

    settled = [json.loads(r.envelope)["data"]["payout"] for r in RECORDS if "settled" in r.type]
    assert payouts == (len(settled), sum(settled), NOON.timestamp(), True)


def test_polars_reads_it(parquet: str) -> None:
    frame = polars.read_parquet(parquet, hive_partitioning=True).sort("position")

    assert frame["position"].to_list() == list(range(1, LAST + 1))
    assert frame["leaf"].to_list() == [record.leaf for record in RECORDS]


def test_a_shard_has_whole_commands(parquet: str) -> None:
    shards = polars.read_parquet(parquet, hive_partitioning=True)

    assert shards.group_by("command_id").agg(polars.col("shard").n_unique())["shard"].max() == 1


def test_a_parquet_file_that_says_something_else(tmp_path: Path) -> None:
    take(RECORDS, tmp_path, "parquet")
    file = next(tmp_path.glob("shard=*/*.parquet"))
    polars.read_parquet(file, hive_partitioning=False).drop("time").write_parquet(file)
    made_to_fit(tmp_path)

    assert any("has other columns" in fault.what for fault in judged(tmp_path).faults)


def dies_while_it_tells(piece: ToHash, tell: Tell) -> int:
    """With all that it has to hold for that in its hands."""
    with getattr(engines._ear, "_wlock", nullcontext()):
        os.kill(os.getpid(), SIGKILL)
    return 0


def test_nobody_waits_for_a_process_that_was_killed_while_it_told(tmp_path: Path) -> None:
    pieces, ended = to_hash(tmp_path, take(RECORDS, tmp_path)), list[str]()

    def judge() -> None:
        with local(2)(lambda events: None) as engine:
            try:
                list(engine.each(dies_while_it_tells, pieces))
            except CannotRead as error:
                ended.append(str(error))

    judging = Thread(target=judge, daemon=True)
    judging.start()
    judging.join(60)

    assert not judging.is_alive()
    assert len(ended) == 1


def test_every_directory_of_parquet_is_a_shard_of_its_own(tmp_path: Path) -> None:
    manifest = take(RECORDS, tmp_path, "parquet")
    pieces = to_try(tmp_path, manifest, (), 2)

    found = [each for piece in pieces for each in tried(piece, lambda events: None)]

    assert [each.shard for each in found] == list(range(len(pieces)))
    assert len(pieces) > 2
