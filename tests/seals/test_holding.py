"""Whoever kept a seal finds a log that was cut, or written anew with hashes that fit."""

from itertools import pairwise

import pytest

from shared.seals.holding import Holding, Spans, checkpoints, public_keys
from shared.seals.keyfile import read_keys
from shared.seals.notes import BadNote, public_of
from shared.seals.shelf import seal_name
from tests.eventstore.appends import HOUSE
from tests.seals.conftest import ORIGIN, Sealed

SIZES = (3, 300, 304)


async def held(sealed: Sealed, *sizes: int) -> list[tuple[int, str]]:
    """What an auditor finds who reads the whole log, and has kept some seals."""
    notes = [sealed.shelf.read(seal_name(HOUSE, size)) or b"" for size in sizes]
    holding = Holding(checkpoints(notes, sealed.known(), HOUSE))
    for record in await sealed.store.read_log(HOUSE, 0, 1000):
        holding.read(record.leaf)
    return [tuple(each) for each in holding.end()]


async def held_in_parts(sealed: Sealed, *starts: int, lost: int = 0) -> list[tuple[int, str]]:
    """The same, by whoever reads the parts of the log that start there one without the other."""
    notes = [sealed.shelf.read(seal_name(HOUSE, size)) or b"" for size in SIZES]
    log = await sealed.store.read_log(HOUSE, 0, 1000)
    holding = Holding(checkpoints(notes, sealed.known(), HOUSE))
    for start, end in pairwise([*starts, len(log)]):
        spans = Spans(start, SIZES)
        for record in log[start:end]:
            if record.position != lost:
                spans.read(record.leaf)
        for span in spans.found:
            holding.join(span)
    return [tuple(each) for each in holding.end()]


async def seal_thrice(sealed: Sealed) -> None:
    for events in (3, 297, 4):
        await sealed.record(events)
        await sealed.seal()
    await sealed.record(2)


async def test_a_log_that_only_grew_agrees_with_all_its_seals(sealed: Sealed) -> None:
    await seal_thrice(sealed)

    assert await held(sealed, *SIZES) == []
    assert await held(sealed, 300) == []
    assert await held(sealed) == []


async def test_a_tail_that_was_written_anew_consistently_is_found(sealed: Sealed) -> None:
    await seal_thrice(sealed)
    sealed.rewrite(200)

    found = await held(sealed, *SIZES)

    assert [position for position, _ in found] == [300, 304]
    assert "changed somewhere from 4 on" in found[0][1]
    assert await held(sealed, 3) == []


@pytest.mark.parametrize("starts", [(0,), (0, 3, 4), (0, 1, 2, 256, 303), (0, 302, 304)])
async def test_a_log_that_is_read_in_parts(starts: tuple[int, ...], sealed: Sealed) -> None:
    await seal_thrice(sealed)
    assert await held_in_parts(sealed, *starts) == []

    sealed.rewrite(200)
    assert await held_in_parts(sealed, *starts) == await held(sealed, *SIZES) != []


async def test_a_part_that_lost_an_event_ends_all_agreement(sealed: Sealed) -> None:
    await seal_thrice(sealed)

    found = await held_in_parts(sealed, 0, 302, lost=2)

    assert [position for position, _ in found] == [304]


async def test_a_tail_that_was_cut_is_found(sealed: Sealed) -> None:
    await seal_thrice(sealed)
    sealed.tamper("DELETE FROM event_log WHERE position > 301")

    assert await held(sealed, *SIZES) == [(302, "The log ends at 301, but was sealed up to 304.")]


async def test_only_seals_of_this_log_by_known_keys_count(sealed: Sealed) -> None:
    await seal_thrice(sealed)
    note = sealed.shelf.read(seal_name(HOUSE, 3)) or b""
    stranger = public_of(read_keys(sealed.key_file)[0], "croupier.example/else")

    for keys, house in (([stranger], HOUSE), (sealed.known(), "else"), ([], HOUSE)):
        with pytest.raises(BadNote):
            checkpoints([note], keys, house)


def test_public_keys_are_read_one_a_line(sealed: Sealed) -> None:
    key = public_of(read_keys(sealed.key_file)[0], ORIGIN)

    assert public_keys(f"{key}\n{key}\n".encode()) == [key, key]
    for wrong in (b"", b"\xff", b"nothing"):
        with pytest.raises(BadNote):
            public_keys(wrong)
