"""Whatever is done to an export, by somebody who also makes its manifest fit, is found where it is.

Every case is drawn from a seed by Hypothesis, which prints the smallest that fails.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from services.audit.domain.faults import Fault
from services.audit.domain.verify import verify
from services.blackjack.domain import commands as c
from shared.eventstore.exports import Form
from shared.eventstore.parquet import SCHEMA
from tests.audit.exported import judged, made_to_fit, rewritten, take
from tests.audit.log import Log, a_log

RECORDS = a_log().records
LAST = len(RECORDS)
PLACES = st.integers(1, LAST)
SOME = settings(max_examples=40, deadline=None)


@contextmanager
def an_export(form: Form = "jsonl") -> Iterator[Path]:
    with TemporaryDirectory() as directory:
        take(RECORDS, Path(directory), form)
        yield Path(directory)


def faults(directory: Path) -> tuple[Fault, ...]:
    made_to_fit(directory)
    return judged(directory).faults


def flipped(text: bytes, bit: int) -> bytes:
    changed = bytearray(text)
    changed[bit // 8 % len(text)] ^= 1 << bit % 8
    return bytes(changed)


@SOME
@given(at=PLACES, bit=st.integers(0, 10**5))
@example(at=1, bit=0)
def test_any_bit_of_any_line(at: int, bit: int) -> None:
    with an_export() as export:
        rewritten(
            export, lambda lines: [*lines[: at - 1], flipped(lines[at - 1], bit), *lines[at:]]
        )
        found = faults(export)

    assert any(at <= fault.position <= at + 1 for fault in found), found


@SOME
@given(at=PLACES, bit=st.integers(0, 10**5), column=st.sampled_from(SCHEMA.names))
def test_any_bit_of_any_column(at: int, bit: int, column: str) -> None:
    with an_export("parquet") as export:
        moved = _flip_a_cell(export, at, bit, column)
        found = faults(export)

    assert {fault.position for fault in found} & {at, at + 1, moved}, found


def _flip_a_cell(export: Path, at: int, bit: int, column: str) -> int:
    """Changes one cell of the row at a position; returns the position it has now."""
    for file in export.glob("shard=*/*.parquet"):
        rows = parquet.read_table(file, partitioning=None).to_pylist()
        for row in rows:
            if row["position"] == at:
                row[column] = _flipped_cell(row[column], bit)
                parquet.write_table(pyarrow.Table.from_pylist(rows, SCHEMA), file)
                return int(row["position"])
    raise AssertionError(f"no row at {at}")


def _flipped_cell(cell: Any, bit: int) -> Any:
    match cell:
        case str():  # ASCII stays ASCII, or it would be no text
            return flipped(cell.encode(), bit - bit % 8 + bit % 7).decode()
        case bytes():
            return flipped(cell, bit)
        case int():
            return cell ^ 1 << bit % 31
    return cell + timedelta(microseconds=2 ** (bit % 40))


CHANGES: dict[str, Callable[[list[bytes], int], list[bytes]]] = {
    "deleted": lambda lines, at: [*lines[: at - 1], *lines[at:]],
    "repeated": lambda lines, at: [*lines[:at], *lines[at - 1 :]],
    "inserted": lambda lines, at: [*lines[: at - 1], lines[-1], *lines[at - 1 :]],
    "swapped": lambda lines, at: [*lines[: at - 2], lines[at - 1], lines[at - 2], *lines[at:]],
    "cut": lambda lines, at: lines[: at - 1],
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("at", [2, 17, LAST // 2, LAST - 1, LAST])
def test_any_row(change: str, at: int) -> None:
    with an_export() as export:
        rewritten(export, lambda lines: CHANGES[change](lines, at))
        found = faults(export)

    around = {at - 1, at, at + 1} | ({LAST} if change == "inserted" else set())
    assert {fault.position for fault in found} & around, found


def test_a_tail_cut_off_with_all_counts_made_to_fit_is_a_whole_log_that_was_shorter() -> None:
    """Only a seal of the longer log, kept elsewhere, can tell."""
    shorter = next(n for n in range(LAST // 2, LAST) if RECORDS[n].envelope.find(b'.0","pos') > 0)

    assert verify(RECORDS[:shorter]).holds


def test_a_tail_that_was_honestly_played_anew_is_another_honest_log() -> None:
    """Other choices from some point on, with the cards of the same seeds: nothing in the log can
    tell which of the two came first. Only a seal can."""
    logs = []
    for stand in (True, False):
        log = Log()
        log.open("t", c.Open("european"))
        log.play("t", c.Sit(1, "ada", 1000))
        log.play("t", c.Bet(1, 20))
        log.play("t", c.Stand(1) if stand else c.Hit(1))
        logs.append(log.records)
    one, two = logs

    assert one[:4] == two[:4] != one[-4:]
    assert verify(one).holds
    assert verify(two).holds
