"""From events to bytes and back: canonical JSON, envelopes, old versions, the chain."""

from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import UNSET, Struct

from shared.eventstore.chain import GENESIS, ChainBroken, leaf_of, link, verify_chain
from shared.eventstore.codec import Codec, UnknownEvent
from shared.eventstore.envelope import canonical, canonical_json, decided_at, rfc3339
from shared.eventstore.store import NewEvent, Recorded
from shared.kernel.chips import Posting
from tests.eventstore.appends import NOW

GOLDEN = Path(__file__).parent / "golden"


class BetPlaced(Struct, frozen=True):
    seat: int
    stake: int


class TableClosed(Struct, frozen=True):
    reason: str | None = None


CODEC = Codec(
    {"test.bet_placed": (3, BetPlaced), "test.table_closed": (1, TableClosed)},
    {
        ("test.bet_placed", 1): lambda data: {"box": data["box"], "amount": int(data["amount"])},
        ("test.bet_placed", 2): lambda data: {"seat": data["box"], "stake": data["amount"]},
    },
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": {"d": [], "c": {}}}, '{"a":{"c":{},"d":[]},"b":1}'),
        ({"10": 1, "1": 2, "B": 3, "a": 4, "_": 5}, '{"1":2,"10":1,"B":3,"_":5,"a":4}'),
        ([True, False, None], "[true,false,null]"),
        ([0, -1, 2**53, -(2**63)], "[0,-1,9007199254740992,-9223372036854775808]"),
        ('\b\t\n\f\r"\\', r'"\b\t\n\f\r\"\\"'),
        ("\x00\x0b\x1f\x7f", '"\\u0000\\u000b\\u001f\x7f"'),
        ("/ <é> € 😀 \u2028", '"/ <é> € 😀 \u2028"'),
        (BetPlaced(stake=5, seat=1), '{"seat":1,"stake":5}'),
        ((Posting("issuance", -5),), '[["issuance",-5]]'),
    ],
)
def test_canonical_json(value: Any, text: str) -> None:
    assert canonical(value).decode() == text


def test_any_document_becomes_canonical() -> None:
    assert (
        canonical_json(b'{ "b" : [1, 2],\n"a": "\\u00e9\\/" }') == '{"a":"é/","b":[1,2]}'.encode()
    )


@pytest.mark.parametrize("number", ["1.5", "1.0", "1e3", "-0.0"])
def test_a_fraction_has_no_canonical_form_here(number: str) -> None:
    with pytest.raises(ValueError, match="not a whole number"):
        canonical_json(f'{{"amount":{number}}}'.encode())


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (datetime(2025, 1, 31, 12, tzinfo=UTC), "2025-01-31T12:00:00.000000Z"),
        (datetime(2025, 1, 31, 12, 0, 0, 7, tzinfo=UTC), "2025-01-31T12:00:00.000007Z"),
        (
            datetime(2025, 1, 31, 1, 30, tzinfo=timezone(timedelta(hours=2))),
            "2025-01-30T23:30:00.000000Z",
        ),
    ],
)
def test_times_are_utc_with_microseconds(time: datetime, text: str) -> None:
    assert rfc3339(time) == text


def test_an_envelope_byte_for_byte() -> None:
    assert [event.envelope for event in sealed()] == (GOLDEN / "sealed.jsonl").read_bytes().split(
        b"\n"
    )[:-1]


def test_an_envelope_says_everything() -> None:
    first, second = (CODEC.envelope(recorded(event)) for event in sealed())

    assert (first.id, second.id) == ("c-1.0", "c-1.1")
    assert (first.source, first.subject, first.specversion) == ("/houses/local", "table-t", "1.0")
    assert bytes(first.command or b"") == b'{"amount":5,"type":"bet"}'
    assert second.command is UNSET
    assert first.postings == (Posting("a/stack", -5), Posting("a/in_play", 5))
    assert first.traceparent == "00-4bf9-00f0-01"


def test_events_come_back_as_they_were() -> None:
    assert [CODEC.open(recorded(event)) for event in sealed()] == [
        BetPlaced(seat=2, stake=5),
        TableClosed("é"),
    ]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_old_event_is_read_as_a_new_one(version: int) -> None:
    envelope = (GOLDEN / f"bet_placed.{version}.json").read_bytes().rstrip(b"\n")
    event = NewEvent("table-t", "test.bet_placed", version, envelope, ())

    assert CODEC.open(recorded(event)) == BetPlaced(seat=2, stake=50)


def test_what_this_program_cannot_know() -> None:
    (event, _) = sealed()

    with pytest.raises(UnknownEvent, match=r"version 4 at position 1 .* newest known version is 3"):
        CODEC.open(recorded(msgspec.structs.replace(event, schema_version=4)))
    with pytest.raises(UnknownEvent, match="version 0 at position 1 is unknown here"):
        CODEC.open(recorded(msgspec.structs.replace(event, schema_version=0)))
    with pytest.raises(UnknownEvent, match="never_heard version 3"):
        CODEC.open(recorded(msgspec.structs.replace(event, type="never_heard")))
    with pytest.raises(UnknownEvent, match="Other has no wire name"):
        seal(("table-t", msgspec.defstruct("Other", [])(), ()))


def test_a_version_without_a_way_to_the_newest_is_a_mistake_at_once() -> None:
    with pytest.raises(ValueError, match=r"test.bet_placed version 1 has no upcaster to 2"):
        Codec({"test.bet_placed": (2, BetPlaced)})


def test_codecs_of_several_contexts() -> None:
    bets, closings = Codec({"bet": (1, BetPlaced)}), Codec({"closed": (1, TableClosed)})

    assert Codec.of(bets, closings).registry == {"bet": (1, BetPlaced), "closed": (1, TableClosed)}
    with pytest.raises(ValueError, match=r"the same events: \['bet'\]"):
        Codec.of(bets, bets)


def test_the_chain_as_anybody_would_compute_it() -> None:
    one, two = (event.envelope for event in sealed())
    first = sha256(bytes(32) + sha256(b"\0" + one).digest()).digest()
    second = sha256(first + sha256(b"\0" + two).digest()).digest()

    assert verify_chain(a_log()) == (2, second)
    assert verify_chain(a_log()[1:], position=1, chain=first) == (2, second)


@pytest.mark.parametrize(
    ("spoil", "position", "fault"),
    [
        (lambda log: log.pop(0), 1, "a gap, the next event has 2"),
        (lambda log: log.reverse(), 1, "a gap, the next event has 2"),
        (lambda log: log.append(log[1]), 3, "a gap, the next event has 2"),
        (lambda log: change(log, 1, envelope=b"{}"), 2, "the envelope does not have"),
        (lambda log: change(log, 0, leaf=bytes(32)), 1, "the envelope does not have"),
        (lambda log: change(log, 1, envelope=b"{}", leaf=leaf_of(b"{}")), 2, "the chain does not"),
        (lambda log: change(log, 0, chain=bytes(32)), 1, "the chain does not"),
    ],
)
def test_a_spoiled_log_is_found_out_where_it_was_spoiled(
    spoil: Any, position: int, fault: str
) -> None:
    log = a_log()
    spoil(log)

    with pytest.raises(ChainBroken, match=f"At position {position}: {fault}") as broken:
        verify_chain(log)
    assert broken.value.position == position


def seal(*events: tuple[str, Struct, tuple[Posting, ...]]) -> tuple[NewEvent, ...]:
    return CODEC.seal(
        events,
        house="local",
        command_id="c-1",
        command=b'{"type": "bet", "amount": 5}',
        actor="key:arcade",
        time=NOW,
        traceparent="00-4bf9-00f0-01",
    )


def sealed() -> tuple[NewEvent, ...]:
    return seal(
        ("table-t", BetPlaced(seat=2, stake=5), (Posting("a/stack", -5), Posting("a/in_play", 5))),
        ("vault-a", TableClosed("é"), ()),
    )


def recorded(event: NewEvent, position: int = 1, previous: bytes = GENESIS) -> Recorded:
    leaf = leaf_of(event.envelope)
    return Recorded(
        position=position,
        stream=event.stream,
        version=position,
        type=event.type,
        schema_version=event.schema_version,
        command_id="c-1",
        envelope=event.envelope,
        leaf=leaf,
        chain=link(previous, leaf),
    )


@pytest.mark.parametrize(
    ("envelope", "decided"),
    [
        (canonical({"data": {}, "time": rfc3339(NOW)}), NOW),
        (b'{"time":"2025-01-31T12:00:00"}', None),
        (b'{"time":"2025-99-31T12:00:00Z"}', None),
        (b'{"time":7}', None),
        (b"{}", None),
        (b"\xff", None),
    ],
)
def test_when_a_command_was_decided_is_read_where_it_is_said(
    envelope: bytes, decided: datetime | None
) -> None:
    """A time without a zone is nobody's: it cannot be compared with ours."""
    assert decided_at(envelope) == decided


def a_log() -> list[Recorded]:
    one, two = sealed()
    first = recorded(one)
    return [first, recorded(two, 2, first.chain)]


def change(log: list[Recorded], at: int, **fields: bytes) -> None:
    log[at] = msgspec.structs.replace(log[at], **fields)
