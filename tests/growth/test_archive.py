"""Sealed partitions leave the database: proven by their files alone, missed by nobody who plays."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import httpx
import psycopg
import pytest

from shared.eventstore.exports import read_manifest
from tests.api.croupier import PATIENCE_SECONDS, Croupier, House, Json
from tests.conftest import Cluster
from tests.growth.small import EVENTS, cli, make_small, partitions_cli

PLACE = "https://archive.example/croupier/"


class Desk:
    """A house with a long past on a log in small partitions, and its operator."""

    def __init__(self, croupier: Croupier, http: httpx.Client, exports: Path) -> None:
        self.croupier, self.exports = croupier, exports
        self.house = House(croupier, http, "grand")
        self.small = House(croupier, http, "petit")

    def operate(self, *words: str, ends: int = 0) -> str:
        done = partitions_cli(self.croupier.database, *words)
        assert done.returncode == ends, done.stdout + done.stderr
        return done.stdout + done.stderr

    def play(self, until: int) -> None:
        while self.house.head() < until:
            self.house.deal("long", 20)
            self.house.finish("long")
        for path in ("/v1/tables", "/v1/tables/long/rounds", "/v1/players/ada/hands"):
            self.house.get(path, wait_for=self.house.head())  # what reads the log has read it

    def take_out(self, *names: str) -> None:
        for name in names:
            self.operate("export", name, str(self.exports))
            self.operate("detach", name, str(self.exports), "--place", PLACE)

    def lines(self) -> list[Json]:
        answer = self.house.ask("GET", "/v1/events.jsonl")
        return [json.loads(line) for line in answer.text.splitlines()]

    def table(self, name: str) -> Json:
        return self.house.get(f"/v1/tables/{name}")


class Before:
    """What was to be seen while everything was still there."""

    def __init__(self, desk: Desk) -> None:
        self.tables = {name: desk.table(name) for name in ("idle", "long")}
        self.entries = list(desk.house.walk("/v1/ledger/entries", account="table/long/bank"))
        self.lines = desk.lines()


@contextmanager
def a_desk(cluster: Cluster, exports: Path) -> Iterator[Desk]:
    """The house has passed two partitions, the small one none. `idle` has not moved since the
    first, and has no snapshot of its own."""
    database = cluster.create()
    make_small(database)
    with (
        Croupier(database) as croupier,
        httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as http,
    ):
        desk = Desk(croupier, http, exports)
        desk.small.seat("corner", "zoe")
        desk.house.seat("idle", "bob")
        desk.house.seat("long", "ada", buy_in=1000)
        desk.play(until=2 * EVENTS + 20)
        yield desk
    cluster.drop(database)


@pytest.fixture(scope="module")
def desk(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with a_desk(cluster, tmp_path_factory.mktemp("exports")) as desk:
        yield desk


@pytest.fixture(scope="module")
def before(desk: Desk) -> Before:
    return Before(desk)


@pytest.fixture(scope="module")
def taken(desk: Desk, before: Before) -> Desk:
    desk.take_out("event_log_0", "event_log_1")
    return desk


def test_a_partition_that_is_not_sealed_is_not_exported(desk: Desk) -> None:
    said = desk.operate("export", "event_log_2", str(desk.exports), ends=1)

    assert said == "No house has passed event_log_2 yet: it ends at 300.\n"


def test_an_export_holds_the_very_lines_of_the_feed(taken: Desk, before: Before) -> None:
    lines = [
        json.loads(line)
        for file in sorted(taken.exports.glob("grand-*.jsonl.gz"))
        for line in gzip.decompress(file.read_bytes()).splitlines()
    ]

    assert lines == before.lines[: 2 * EVENTS]


def test_the_files_alone_prove_what_they_hold(taken: Desk) -> None:
    said = taken.operate("verify", str(taken.exports))

    assert said.startswith("grand: positions up to 200, chain ")
    assert "rounds judged" in said


def test_what_remains_continues_the_chain_of_the_files(taken: Desk, before: Before) -> None:
    said = taken.operate("verify", str(taken.exports), "--log")

    assert f"positions up to {taken.house.head()}, chain " in said
    assert before.lines[-1]["chain"] in said or taken.house.head() > len(before.lines)


@pytest.mark.parametrize("path", ["/v1/events", "/v1/events.jsonl", "/v1/events/stream"])
@pytest.mark.parametrize("after", [0, 50, EVENTS, 2 * EVENTS - 1])
def test_a_feed_from_what_is_gone_says_where_it_is(taken: Desk, path: str, after: int) -> None:
    answer = taken.house.ask("GET", path, params={"after": after})

    last = EVENTS if after < EVENTS else 2 * EVENTS
    assert answer.status_code == 410
    assert answer.json()["type"] == "/problems/archived"
    assert answer.json()["last_position"] == last
    assert answer.json()["place"] == f"{PLACE}grand-{last - 99:012}-{last:012}.jsonl.gz"


def test_the_whole_log_is_taken_out_from_the_archive_and_what_is_left(
    taken: Desk, before: Before, tmp_path: Path
) -> None:
    database, out = taken.croupier.database, tmp_path / "whole"
    refused = cli(database, "export", str(out), "--house", "grand")
    assert refused.returncode == 1
    assert "Fetch those files with their manifests" in refused.stderr

    words = "--house", "grand", "--archived", str(taken.exports)
    done = cli(database, "export", str(out), *words, "--zstd")
    assert done.returncode == 0, done.stderr
    judged = cli(database, "verify", str(out))
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert read_manifest(out).events >= len(before.lines)
    gone = cli(database, "replay", "long", "--house", "grand", "--version", "20")
    assert "with --export" in gone.stderr
    found = cli(database, "replay", "long", "--export", str(out), "--version", "20")
    assert "long at version 20" in found.stdout


def test_a_house_is_checked_from_the_archive_and_what_is_left(taken: Desk) -> None:
    house = "--house", taken.house.name
    alone = cli(taken.croupier.database, "check", *house)
    assert alone.returncode == 2
    assert "--archived" in alone.stderr

    checked = cli(taken.croupier.database, "check", *house, "--archived", str(taken.exports))

    assert checked.returncode == 0, checked.stdout
    assert "All of it holds." in checked.stdout


def test_a_house_is_not_checked_without_all_of_its_archive(taken: Desk, tmp_path: Path) -> None:
    def check(archived: Path) -> str:
        words = "check", "--house", taken.house.name, "--archived", str(archived)
        checked = cli(taken.croupier.database, *words)
        assert checked.returncode == 2, checked.stdout
        return checked.stderr

    assert "begins at 1." in check(tmp_path / "nowhere")
    for file in taken.exports.glob("grand-*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    first, second = sorted(tmp_path.glob("grand-*.json"))
    held = second.read_bytes()
    second.unlink()
    assert "begins at 101." in check(tmp_path)
    second.write_bytes(held)
    first.unlink()
    assert "begins at 1." in check(tmp_path)


def test_a_feed_goes_on_where_the_archive_ends(taken: Desk, before: Before) -> None:
    page = taken.house.get("/v1/events", after=2 * EVENTS, limit=20)

    assert page["data"] == before.lines[2 * EVENTS : 2 * EVENTS + 20]


def test_tables_are_as_they_were_and_play_on(taken: Desk, before: Before) -> None:
    for name in ("idle", "long"):
        assert taken.table(name) == before.tables[name]
    taken.croupier.end()
    taken.croupier.start()  # nobody remembers anything
    for name in ("idle", "long"):
        assert taken.table(name) == before.tables[name]
        taken.house.deal(name, 20)
        taken.house.finish(name)


def test_a_past_version_that_is_gone_says_where_it_is(taken: Desk) -> None:
    answer = taken.house.ask("GET", "/v1/tables/long", params={"version": 5})
    events = taken.house.ask("GET", "/v1/tables/long/events")
    recall = taken.house.ask("GET", "/v1/rounds/long.1/recall")

    for each in (answer, events, recall):
        assert (each.status_code, each.json()["type"]) == (410, "/problems/archived"), each.text


def test_the_ledger_is_whole(taken: Desk, before: Before) -> None:
    entries = list(taken.house.walk("/v1/ledger/entries", account="table/long/bank"))
    books = taken.house.get("/v1/ledger/trial-balance")

    known = entries[: len(before.entries)]
    assert [without(e, "type") for e in known] == [without(e, "type") for e in before.entries]
    assert books["balanced"]
    for position in range(1, 40):
        then = taken.house.get("/v1/ledger/trial-balance", position=position)
        assert (then["balanced"], then["position"] >= position) == (True, True)


def test_a_house_that_has_not_passed_it_keeps_its_events(taken: Desk) -> None:
    feed = taken.small.get("/v1/events")["data"]

    assert [event["position"] for event in feed] == list(range(1, taken.small.head() + 1))
    taken.small.deal("corner", 20)
    assert taken.small.finish("corner")["phase"] == "betting"
    with psycopg.connect(taken.croupier.database.owner_url) as owner:
        assert owner.execute("SELECT FROM event_log_rest").rowcount == 0


def test_an_export_that_was_touched_is_found_out(taken: Desk, tmp_path: Path) -> None:
    for file in taken.exports.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    data = sorted(tmp_path.glob("grand-*.jsonl.gz"))[1]
    data.write_bytes(gzip.compress(gzip.decompress(data.read_bytes()).replace(b"ada", b"eve")))

    said = taken.operate("verify", str(tmp_path), ends=1)

    assert f"{data} has the SHA-256" in said


def test_an_export_that_says_it_is_of_another_house(taken: Desk, tmp_path: Path) -> None:
    for file in taken.exports.glob("grand-*"):
        text = file.read_bytes()
        if file.suffix == ".json":
            text = text.replace(b'"house": "grand"', b'"house": "other"')
        (tmp_path / file.name).write_bytes(text)

    said = taken.operate("verify", str(tmp_path), ends=1)

    assert "other: At position 1: The command is of another house, or of none." in said


def test_all_of_it_can_be_put_back(cluster: Cluster, tmp_path: Path) -> None:
    with a_desk(cluster, tmp_path) as desk:
        before = Before(desk)
        desk.take_out("event_log_0", "event_log_1")
        first, second = sorted(tmp_path.glob("grand-*.json"))

        assert "what was taken out of grand last" in desk.operate("restore", str(first), ends=1)
        forged = with_another_stream(second, tmp_path / "forged")
        assert "what was taken out of grand last" in desk.operate("restore", str(forged), ends=1)
        for manifest in (second, first):
            assert "100 events are back" in desk.operate("restore", str(manifest))

        assert desk.lines() == before.lines
        assert desk.house.get("/v1/rounds/long.1/recall")["steps"]
        assert desk.house.get("/v1/tables/long", version=5)["version"] == 5


def with_another_stream(manifest: Path, directory: Path) -> Path:
    """The same export, its events in the stream of another table: of a line that is no hash."""
    directory.mkdir()
    said = json.loads(manifest.read_bytes())
    lines = gzip.decompress(manifest.with_name(said["file"]).read_bytes())
    data = gzip.compress(lines.replace(b'"stream":"table-long"', b'"stream":"table-idle"'))
    (directory / said["file"]).write_bytes(data)
    said["sha256"] = sha256(data).hexdigest()
    forged = directory / manifest.name
    forged.write_text(json.dumps(said))
    return forged


def without(record: Json, name: str) -> Json:
    return {key: value for key, value in record.items() if key != name}
