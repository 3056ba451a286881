"""What is judged of a part of a log, and that no verdict says more than what was looked at."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner, Result

from services.blackjack.domain import commands as c
from services.cli import app
from shared.eventstore.exports import Form, Scope
from tests.audit.exported import judged, rewritten, take
from tests.audit.log import Log, a_log, data
from tests.audit.test_rulebook import LATER, OWN

LOG = a_log()
RECORDS = LOG.records
LAST = len(RECORDS)
OPENED = {r.stream: r.position for r in RECORDS if r.version == 1}
CLASSIC = Scope(first_position=OPENED["table-classic"])


def verify(directory: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["verify", str(directory), "--processes", "1", *options])


def verdict(directory: Path, *options: str) -> str:
    said = verify(directory, *options)
    assert said.exit_code == 0, said.output
    return said.stdout.splitlines()[-1]


# A range.


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@pytest.mark.parametrize("processes", [1, 2])
def test_a_table_that_is_opened_within_a_range_is_played_again(
    form: Form, processes: int, tmp_path: Path
) -> None:
    take(RECORDS, tmp_path / "true", form, CLASSIC)
    report = judged(tmp_path / "true", processes)
    assert (report.faults, report.rounds) == ((), 4)
    assert report.in_part == {"vaults": 2}

    settled = [r for r in RECORDS[CLASSIC.first_position :] if r.type == "blackjack.hand_settled"]
    at = settled[0].position
    take(data(RECORDS, at, payout=7), tmp_path / "false", form, CLASSIC)
    worst = judged(tmp_path / "false", processes).faults[0]
    assert (worst.kind, worst.position) == ("payout", at)


def test_a_table_that_was_opened_before_a_range_is_not(tmp_path: Path) -> None:
    take(RECORDS, tmp_path, scope=Scope(first_position=OPENED["table-coinlounge"] + 1))

    report = judged(tmp_path)
    assert (report.faults, report.rounds) == ((), 4)
    assert report.in_part == {"tables": 1, "vaults": 2}


def test_a_vault_that_begins_within_a_range_is_held_to_what_it_has(tmp_path: Path) -> None:
    log = Log()
    log.grant("bob", 100)
    log.open("t", c.Open("a2g"))
    log.grant("ada", 100)
    for seat, player in enumerate(("ada", "bob"), 1):
        log.play("t", c.Sit(seat, player, 101))
    take(log.records, tmp_path, scope=Scope(first_position=2))

    (fault,) = judged(tmp_path).faults
    assert fault.what == "player/ada/vault fell to -1; its floor is 0."


@pytest.mark.parametrize("first", [2, 3])
def test_a_game_that_was_registered_before_a_range_is_taken_as_it_is(
    first: int, tmp_path: Path
) -> None:
    log = Log()
    for each in OWN, LATER:
        log.register(each)
    log.open("t", c.Open("own"), OWN.ruleset())
    log.grant("ada", 100)
    log.arrive("t", 1, "ada", 100)
    log.play_round("t", 20)
    take(log.records, tmp_path, scope=Scope(first_position=first))

    report = judged(tmp_path)
    assert (report.faults, report.rounds) == ((), 1)


def test_no_version_is_left_out_within_a_range_though_the_first_are_not_there(
    tmp_path: Path,
) -> None:
    at = next(r.position for r in RECORDS if r.position > 50 and r.type.endswith("hand_settled"))
    stream = RECORDS[at - 1].stream
    skipped = [
        replace(r, version=r.version + 1) if r.stream == stream and r.position >= at else r
        for r in RECORDS
    ]
    take(skipped, tmp_path, scope=Scope(first_position=45))

    (fault,) = judged(tmp_path).faults
    assert (fault.position, fault.field) == (at, "version")


# What is said.


def test_of_all_of_a_log_it_is_said_that_all_of_it_holds(tmp_path: Path) -> None:
    take(RECORDS, tmp_path)

    assert verdict(tmp_path).startswith("All of it holds. Whether the log went on after that")


def test_of_hashes_alone_it_is_said_that_nothing_else_was_judged(tmp_path: Path) -> None:
    take(data(RECORDS, RECORDS[-2].position, stack=7), tmp_path)
    assert verify(tmp_path).exit_code == 1

    said = verify(tmp_path, "--hashes")
    read, verdict = said.stdout.splitlines()
    assert said.exit_code == 0
    assert verdict == "Its hashes hold; no command, card or chip was judged (--hashes)."
    assert "dealt" not in read
    report = json.loads(verify(tmp_path, "--hashes", "--json").stdout)
    assert (report["holds"], report["checked"]) == (True, "hashes")


def test_of_a_range_it_is_said_which_and_what_began_before(tmp_path: Path) -> None:
    take(RECORDS, tmp_path, scope=Scope(45, LAST - 1))

    said = verdict(tmp_path)
    first, last = (
        json.loads((tmp_path / "manifest.json").read_text())["parts"][0][end]
        for end in ("first_position", "last_position")
    )
    assert said == (
        f"All of what the export has holds: positions {first} to {last}. 1 table is not there from "
        "its first event on: its rounds were not dealt again. 2 vaults are not there from their "
        "first event on: their balances were not judged. Whether the log was written anew, only a "
        "seal over an export of all of it can tell."
    )
    assert verdict(tmp_path, "--hashes") == (
        f"The hashes of what the export has hold: positions {first} to {last}; no command, card or "
        "chip was judged (--hashes)."
    )
    report = json.loads(verify(tmp_path, "--json").stdout)
    assert (report["checked"], report["in_part"]) == ("all", {"tables": 1, "vaults": 2})


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        (
            Scope(table="a2g", streams=("table-a2g",)),
            "All of what the export has holds: the table a2g. 2 vaults are not there from",
        ),
        (
            Scope(player="bob", streams=("vault-bob", "table-a2g", "table-coinlounge")),
            "All of what the export has holds: the player bob, with 2 tables. 1 vault is not",
        ),
    ],
)
def test_of_a_table_or_a_player_it_is_said_whose(scope: Scope, said: str, tmp_path: Path) -> None:
    take(RECORDS, tmp_path, scope=scope)

    assert verdict(tmp_path).startswith(said)


def test_of_what_was_cut_it_is_said_what_was_read(tmp_path: Path) -> None:
    manifest = take(RECORDS, tmp_path)
    rewritten(tmp_path, lambda lines: lines[:60])

    said = verify(tmp_path)
    assert said.exit_code == 1
    read = next(line for line in said.stdout.splitlines() if line.startswith("local: "))
    assert "60 events" in read
    assert f"up to position 60, chained to {RECORDS[59].chain.hex()};" in read
    assert manifest.parts[-1].chain not in read


def test_one_fault_is_one_fault(tmp_path: Path) -> None:
    take(data(RECORDS, 1, ruleset_sha256="00" * 32), tmp_path)

    assert verify(tmp_path).stdout.splitlines()[-1] == "It does not hold: 1 fault."
