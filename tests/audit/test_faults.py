"""Of many faults the most serious are named, whoever finds them and in whichever order."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.audit.domain import faults
from services.audit.domain.faults import Fault, Faults, most_serious_first
from services.audit.domain.verify import verify
from tests.audit.log import a_log, columns, data, find

KINDS = st.sampled_from(["seal", "seed", "payout", "hash", "form"])
FOUND = st.lists(st.builds(Fault, st.integers(1, 5), st.text("ab", max_size=2), KINDS))


@pytest.fixture(autouse=True, scope="module")
def few() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faults, "MOST_FAULTS", 5)
        yield


@given(st.lists(FOUND))
def test_those_of_several_are_the_most_serious_of_all(found: list[list[Fault]]) -> None:
    total = Faults()
    for each in found:
        theirs = Faults()
        theirs.add(each)
        total.join(theirs)
    every = [fault for each in found for fault in each]

    assert total.named == most_serious_first(every)[:5]
    assert total.count == len(every)


@given(FOUND)
def test_no_more_than_twice_as_many_are_held(found: list[Fault]) -> None:
    collected = Faults()
    for fault in found:
        collected.add([fault])
        assert len(vars(collected)["_kept"]) < 10

    assert collected.named == most_serious_first(found)[:5]


def test_a_payout_is_named_however_many_hashes_were_wrong_before_it() -> None:
    records = a_log(("a2g",)).records
    at = find(records, "hand_settled")
    tampered = data(records, at, payout=1000)
    for position in range(1, at):
        tampered = columns(tampered, position, leaf=b"")
    report = verify(tampered)

    assert (report.faults[0].position, report.faults[0].kind) == (at, "payout")
    assert len(report.faults) == 5
