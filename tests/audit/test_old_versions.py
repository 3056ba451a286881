"""A log with events of older versions, which are read as what they say by the newer rules."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec import json
from msgspec.structs import replace

from services.audit.domain import differences, lines
from services.audit.domain.verify import verify
from services.blackjack.domain import events as e
from shared.eventstore.codec import Codec
from shared.eventstore.envelope import canonical
from shared.eventstore.store import Recorded
from tests.audit.log import a_log, data, facts, find, rehashed

REVEALED, SETTLED = "blackjack.seed_revealed", "blackjack.hand_settled"


def renamed(old: str, new: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda told: {new if name == old else name: value for name, value in told.items()}


@pytest.fixture(autouse=True, scope="module")
def bumped() -> Iterator[None]:
    """As if two events had had other names for a member, and none at all for another."""
    registry = lines.CODEC.registry | {REVEALED: (2, e.SeedRevealed), SETTLED: (2, e.HandSettled)}
    upcasters = {(REVEALED, 1): renamed("cards", "drawn"), (SETTLED, 1): renamed("paid", "payout")}
    codec = Codec(registry, upcasters)
    names = {cls: (name, version) for name, (version, cls) in codec.registry.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "CODEC", codec)
        patch.setattr(lines, "NAMES", names)
        patch.setattr(differences, "NAMES", names)
        yield


def aged(record: Recorded, newest: int) -> Recorded:
    """A record as it was before, up to a position; then as it is."""
    old = {REVEALED: renamed("drawn", "cards"), SETTLED: renamed("payout", "paid")}
    if record.type not in old:
        return record
    told = json.decode(record.envelope)
    if record.position > newest:
        told["schemaversion"] = 2
    else:
        told["data"] = old[record.type](told["data"])
    return replace(record, envelope=canonical(told), schema_version=told["schemaversion"])


def an_old_log(newest: int = 10**6) -> list[Recorded]:
    return rehashed([aged(record, newest) for record in a_log(("a2g", "european")).records])


@pytest.mark.parametrize("newest", [10**6, 40, 0])
def test_it_holds(newest: int) -> None:
    report = verify(an_old_log(newest))

    assert report.faults == ()
    assert report.rounds == 4


def test_another_payout() -> None:
    records = an_old_log()
    at = find(records, "hand_settled")
    found = [fault for fault in verify(data(records, at, paid=1000)).faults if fault.position == at]

    assert [(fault.kind, fault.field) for fault in found] == [("payout", "data.payout")]


def test_what_no_version_ever_said() -> None:
    records = an_old_log()
    at = find(records, "seed_revealed")
    (fault,) = verify(data(records, at, more=1)).faults

    assert (fault.position, fault.kind, fault.field) == (at, "seed", "data.more")
    told = json.decode(records[at - 1].envelope)["data"]
    (fault,) = verify(data(records, at, next=told["next"] | {"more": 1})).faults
    assert (fault.position, fault.kind, fault.field) == (at, "seed", "data.next")


def test_a_version_that_nobody_knows() -> None:
    records = an_old_log()
    at = find(records, "hand_settled")
    found = verify(facts(records, at, schemaversion=3)).faults

    assert at in {fault.position for fault in found}
