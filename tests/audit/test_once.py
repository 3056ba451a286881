"""An id names one command of a log: one that comes again is found, however well all else fits."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.audit.application import once
from services.audit.application.once import Once
from services.audit.domain.faults import Fault
from services.audit.domain.stretches import named
from services.blackjack.domain import commands as c
from shared.eventstore import exports
from shared.eventstore.exports import CannotRead, Form, Scope
from shared.eventstore.store import Recorded
from tests.audit.exported import judged, rewritten, take
from tests.audit.log import Log, a_log
from tests.format import naive

WHAT = "A command with this id was there before."


def again(log: Log, *players: str) -> list[Recorded]:
    """The log, and grants that say to be its last command."""
    for player in players:
        log.commands -= 1
        log.grant(player, 100)
    return log.records


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("events_a_part", [2, 100_000])
def test_a_grant_that_was_made_twice(
    form: Form, processes: int, events_a_part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "EVENTS_A_PART", events_a_part)
    log = Log()
    log.grant("ada", 100)
    log.open("oak", c.Open("a2g"))
    log.commands -= 2
    log.grant("ada", 100)
    take(log.records, tmp_path, form)

    found = judged(tmp_path, processes).faults

    assert Fault(3, WHAT, "order", field="command_id") in found
    if form == "jsonl":
        assert len(found) == 1
    assert naive.verify(tmp_path) == [naive.Fault(3, 1, "command-1 names two commands")]


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_one_that_follows_at_once(form: Form, tmp_path: Path) -> None:
    log = Log()
    log.grant("ada", 100)
    take(again(log, "bob"), tmp_path, form)

    assert (2, WHAT) in {(fault.position, fault.what) for fault in judged(tmp_path).faults}


def test_of_a_part_of_the_log(tmp_path: Path) -> None:
    log = a_log(("a2g",))
    before = len(log.records)
    log.commands = 0
    log.play("a2g", c.Close())
    streams = ("table-a2g",)
    taken = [r for r in log.records if r.stream in streams or r.position <= before]
    take(taken, tmp_path, scope=Scope(table="a2g", streams=streams))

    found = judged(tmp_path).faults

    assert [(fault.position, fault.what) for fault in found] == [(len(log.records), WHAT)]


@pytest.mark.parametrize("position", [-1, 2**64])
def test_a_position_that_is_none(position: int, tmp_path: Path) -> None:
    take(a_log(("a2g",)).records, tmp_path)
    told = b'"position":%d,' % position
    rewritten(tmp_path, lambda ls: [ls[0].replace(b'"position":1,', told), *ls[1:]])

    assert position in {fault.position for fault in judged(tmp_path).faults}


@settings(deadline=None)
@given(
    st.lists(st.lists(st.text("abc", max_size=3))),
    st.integers(0, 3_000_000),
    st.sampled_from([24, 1_000_000]),
)
def test_however_many_there_are(stretches: list[list[str]], events: int, held: int) -> None:
    position, seen, twice = 0, Counter[str](), list[int]()
    with pytest.MonkeyPatch.context() as patch, Once(events) as found:
        patch.setattr(once, "_HELD", held)
        for stretch in stretches:
            commands = bytearray()
            for command in stretch:
                position += 1
                seen[command] += 1
                if seen[command] > 1:
                    twice.append(position)
                commands += named(command, position)
            found.add(bytes(commands))
        faults = list(found.faults())

    assert sorted(fault.position for fault in faults) == twice


def test_without_room_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**words: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(once, "SpooledTemporaryFile", full)
    with pytest.raises(CannotRead, match="No space left on device"), Once(1):
        pass
