"""Whatever is changed in the database, by somebody who owns it, is found at its position: in the
log, and in everything that is kept beside it."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from psycopg import errors, sql
from typer.testing import CliRunner

from services.audit.application.database import check, check_now
from services.audit.domain.faults import Fault
from services.cli import app
from services.cli.refused import Refused
from shared.eventstore import archive
from shared.eventstore.store import Recorded
from tests.audit.log import data, facts, renumbered
from tests.audit.played import HOUSE, Owner, a_copy, unstopped, write
from tests.conftest import Cluster, Database

FOLLOWS = (
    "event_log",
    "log_head",
    "stream_head",
    "command_outcome",
    "account",
    "posting",
    "snapshot",
    "deadline",
)
"""The log, and what has to be what it gives: every bit of every column of every row."""

SAYS_NOTHING = {
    ("deadline", "claimed_until"): "for how long a worker has taken it on; it is taken on again",
    ("snapshot", "house"): "one that is gone spares no time, and changes nothing",
    ("snapshot", "format"): "one of another format is of another release, and never read",
}
FOLLOWS_NOT = {
    "alembic_version": "which migrations have run",
    "api_key": "who may call; nothing that was played follows from it, or leads to it",
    "api_key_use": "likewise",
    "archive": "what left the database: `croupier partitions verify` reads those files",
    "archived_stream": "likewise",
    "projection_checkpoint": "how far each view is; `croupier rebuild` makes it anew",
    "projected_curve": "a view: `croupier rebuild` compares it with the log, row by row",
    "projected_hand": "likewise",
    "projected_return": "likewise",
    "projected_round": "likewise",
    "projected_run": "likewise",
    "projected_significant": "likewise",
    "projected_statement": "likewise",
    "projected_table": "likewise",
    "schema_floor": "which releases may run",
    "seal": "a copy of what is kept outside, and signed: `croupier verify --seal` reads that",
    "seal_cosignature": "signed by others",
    "seal_fault": "what was found before",
    "seal_head": "how far the worker is; it holds all against the seal outside before the next",
    "seal_key": "a copy of what is kept outside",
    "seal_tile": "the worker holds it against the seal outside before it makes the next",
}


def test_what_was_played_holds(owner: Owner) -> None:
    with owner.transaction():
        report = check_now(owner, HOUSE)

    assert report.faults == ()
    assert report.rounds >= 18
    for table in FOLLOWS:
        (count,) = owner.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() or (0,)
        assert count, table


def test_every_table_is_spoken_of(owner: Owner) -> None:
    tables = owner.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
        "AND relkind IN ('r', 'p') AND NOT relispartition"
    )
    assert {name for (name,) in tables} == {*FOLLOWS, *FOLLOWS_NOT}


def columns(owner: Owner, table: str) -> list[str]:
    found = owner.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
        "AND NOT attisdropped "
        "ORDER BY attnum",
        (table,),
    )
    return [name for (name,) in found if (table, name) not in SAYS_NOTHING]


class Cell(NamedTuple):
    place: str
    position: int | None
    value: Any


def rows_of(owner: Owner, table: str, column: str) -> list[Cell]:
    """A column of a table, with the place of each row and the position that it is of."""
    names = columns(owner, table)
    at = next((n for n in ("position", "first_position") if n in names), "NULL::bigint")
    query = f"SELECT ctid::text, {at}, {column} FROM {table} WHERE house = %s ORDER BY 1"
    return [Cell(*row) for row in owner.execute(query.encode(), (HOUSE,))]


def flipped(value: Any, bit: int) -> Any:
    match value:
        case str():  # of ASCII, which stays ASCII, or it would be no text
            changed = bytearray(value or " ", "utf-8")
            changed[bit // 7 % len(changed)] ^= 1 << bit % 7
            text = changed.decode(errors="replace")
            assume("\0" not in text)
            return text
        case bytes():
            changed = bytearray(value)
            changed[bit // 8 % len(changed)] ^= 1 << bit % 8
            return bytes(changed)
        case int():
            return value ^ 1 << bit % 31
        case datetime():
            return value + timedelta(microseconds=2 ** (bit % 40))
        case None:
            return bit
    raise AssertionError(value)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(row=st.integers(0, 10**6), bit=st.integers(0, 10**6))
@pytest.mark.parametrize("table", FOLLOWS)
def test_any_bit_of_any_column(table: str, owner: Owner, row: int, bit: int) -> None:
    for column in columns(owner, table):
        cells = rows_of(owner, table, column)
        cell = cells[row % len(cells)]
        with owner.transaction(force_rollback=True):
            if flip(owner, table, column, cell, bit):
                found = check_now(owner, HOUSE).faults
                assert is_told(table, column, cell, found), (column, cell, bit, found)


def flip(owner: Owner, table: str, column: str, cell: Cell, bit: int) -> bool:
    """Changes a bit of a cell, and says whether Postgres lets that happen."""
    if cell.value is None and column != "floor":
        return False
    change = sql.SQL("UPDATE {} SET {} = %s WHERE house = %s AND ctid = %s::tid")
    words = flipped(cell.value, bit), HOUSE, cell.place
    try:
        with owner.transaction():
            owner.execute(change.format(sql.Identifier(table), sql.Identifier(column)), words)
    except (errors.CheckViolation, errors.UniqueViolation):
        return False
    return True


def is_told(table: str, column: str, cell: Cell, found: Sequence[Fault]) -> bool:
    """Whether a fault names the place: in the log the position, elsewhere table and column."""
    if table == "event_log":
        assert cell.position
        return bool({cell.position, cell.position + 1} & {fault.position for fault in found})
    return bool({table, f"{table}.{column}"} & {fault.field for fault in found})


# Taken out by `croupier export`, and judged by `croupier verify`.


def export(database: Database, directory: Path, form: str) -> str:
    """Takes the log out; what the export itself refuses, if it does."""
    environment = {"DATABASE_URL": database.app_url, "CROUPIER_HOUSE": HOUSE}
    words = ["export", str(directory), "--format", form]
    taken = CliRunner().invoke(app, words, env=environment)
    assert taken.exit_code == 0 or isinstance(taken.exception, Refused), taken.exception
    return str(taken.exception or "")


def verify(directory: Path, *options: str) -> list[Fault]:
    words = ["verify", str(directory), "--processes", "1", "--json", *options]
    judged = CliRunner().invoke(app, words)
    assert judged.exit_code in (0, 1), judged.output
    return msgspec.convert(json.loads(judged.stdout)["faults"], list[Fault])


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_what_was_played_is_taken_out_and_holds(
    form: str, cluster: Cluster, template: Database
) -> None:
    with a_copy(cluster, template) as (database, directory):
        assert export(database, directory, form) == ""
        assert verify(directory) == []


EXPORTED = ("stream", "version", "envelope", "leaf", "chain")
"""Columns that every export has; Parquet also has those that an envelope says as well."""


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    column=st.sampled_from((*EXPORTED, "position", "type", "schema_version", "command_id")),
    row=st.integers(0, 10**6),
    bit=st.integers(0, 10**6),
    form=st.sampled_from(["jsonl", "parquet"]),
)
def test_any_bit_of_the_log_taken_out(
    cluster: Cluster, template: Database, column: str, row: int, bit: int, form: str
) -> None:
    form = form if column in EXPORTED else "parquet"
    with a_copy(cluster, template) as (database, directory):
        with unstopped(database) as owner:
            cells = rows_of(owner, "event_log", column)
            cell = cells[row % len(cells)]
            assume(flip(owner, "event_log", column, cell, bit))
        refused = export(database, directory, form)
        assert cell.position
        if refused:
            assert f"{cell.position:,}" in refused
        else:
            assert is_told("event_log", column, cell, verify(directory))


def has_legs(record: Recorded) -> bool:
    ends = {account.rpartition("/")[2] for account, _ in json.loads(record.envelope)["postings"]}
    return {"stack", "bank"} <= ends


def at_a_payout(records: list[Recorded], at: int) -> list[Recorded]:
    """A payout changed, with its postings in step, and all hashes made to fit."""
    told = json.loads(records[at - 1].envelope)
    told["data"]["payout"] += 2
    for account, more in (("/stack", 2), ("/bank", -2)):
        leg = next(leg for leg in told["postings"] if leg[0].endswith(account))
        leg[1] += more
    return facts(records, at, data=told["data"], postings=told["postings"])


def at_a_seed(records: list[Recorded], at: int) -> list[Recorded]:
    return data(records, at, seed="00" * 32)


def rewritten(records: list[Recorded], at: int) -> list[Recorded]:
    """Somebody else has bet, and every hash from there on fits."""
    return data(records, at, amount=json.loads(records[at - 1].envelope)["data"]["amount"] + 1)


CHANGES: dict[str, tuple[str, Callable[[list[Recorded], int], list[Recorded]]]] = {
    "deleted": ("", lambda records, at: [*records[: at - 1], *records[at:]]),
    "deleted, and made to fit": (
        "", lambda records, at: renumbered([*records[: at - 1], *records[at:]])
    ),
    "repeated": ("", lambda records, at: shifted([*records[:at], *records[at - 1 :]])),
    "inserted": ("", lambda records, at: shifted([*records[:at], records[0], *records[at:]])),
    "swapped": (
        "", lambda records, at: shifted(
            [*records[: at - 2], records[at - 1], records[at - 2], *records[at:]]
        ),
    ),
    "a payout": ("hand_settled", at_a_payout),
    "a seed": ("seed_revealed", at_a_seed),
    "the tail": ("bet_placed", rewritten),
}  # fmt: skip


def shifted(records: list[Recorded]) -> list[Recorded]:
    """At the places where they are now, with the hashes that they had."""
    return [replace(record, position=place) for place, record in enumerate(records, 1)]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.integers(0, 10**6))
def test_whatever_is_done_to_rows(
    change: str, form: str, cluster: Cluster, template: Database, place: int
) -> None:
    type, changed = CHANGES[change]
    with a_copy(cluster, template) as (database, directory):
        with unstopped(database) as owner:
            records = list(archive.present(owner, HOUSE, 0))
            places = [r.position for r in records[2:-1] if r.type.endswith(type)]
            if changed is at_a_payout:
                places = [at for at in places if has_legs(records[at - 1])]
            at = places[place % len(places)]
            write(owner, changed(records, at))
        assert export(database, directory, form) == ""
        found = {fault.position for fault in verify(directory)}

    around = {at - 1, at, at + 1}
    assert found & around, (at, found)


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_tail_that_is_cut_is_found_by_the_seal(
    form: str, cluster: Cluster, template: Database
) -> None:
    """With every table made to fit: then the log is a whole one, which was shorter."""
    with a_copy(cluster, template) as (database, directory):
        with unstopped(database) as owner:
            seals = kept_by_somebody(owner, directory.parent)
            records = list(archive.present(owner, HOUSE, 0))
            last = max(r.position for r in records[:-20] if b'.0","pos' in r.envelope) - 1
            write(owner, records[:last])
            owner.execute(
                "UPDATE log_head SET position = %s, chain = %s WHERE house = %s",
                (last, records[last - 1].chain, HOUSE),
            )
            stale = check(owner, HOUSE).faults
        assert export(database, directory, form) == ""
        assert verify(directory) == []
        (fault,) = verify(directory, *seals)

    assert (fault.position, fault.kind) == (last + 1, "seal")
    assert {"posting", "stream_head.version"} <= {each.field for each in stale}


def kept_by_somebody(owner: Owner, home: Path) -> tuple[str, ...]:
    """Options: the newest seal, and the key, from before."""
    (note,) = owner.execute("SELECT note FROM seal ORDER BY size DESC LIMIT 1").fetchone() or ("",)
    (key,) = owner.execute("SELECT public_key FROM seal_key").fetchone() or ("",)
    (home / "seal").write_text(note)
    (home / "key").write_text(key)
    return "--seal", str(home / "seal"), "--public-key", str(home / "key")
