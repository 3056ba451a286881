"""What an auditor says of the games that a house has registered and plays."""

import pytest
from msgspec import structs
from msgspec.structs import replace

from services.audit.domain.court import Court
from services.audit.domain.verify import verify
from services.blackjack.domain import commands as c
from services.blackjack.domain.register import Proposal
from services.blackjack.domain.rules import BetLimits, Clocks, Ruleset
from services.blackjack.domain.rulesets import A2G
from shared.eventstore.store import Recorded
from tests.audit.log import Log, data, facts, find

OWN = Proposal(**structs.asdict(replace(A2G, name="own")))
LATER = Proposal(**structs.asdict(replace(A2G, name="own", version="1.1.0", hit_on_21=True)))


def a_log(opened_with: Ruleset, **limits: object) -> Log:
    """Two versions of `own` are registered, and a table is opened with a game and played."""
    log = Log()
    log.register(OWN)
    log.register(LATER)
    log.open("oak", c.Open(opened_with.name, **limits), opened_with)  # type: ignore[arg-type]
    log.grant("ada", 2000)
    log.arrive("oak", 1, "ada", 1000)
    log.play_round("oak", 20)
    return log


def the_only(records: list[Recorded]) -> str:
    [fault] = verify(records).faults
    return fault.what


@pytest.mark.parametrize(
    "ruleset", [OWN.ruleset(), LATER.ruleset(), A2G, replace(A2G, version="0.9.0", decks=5)]
)
def test_tables_play_what_is_published_or_registered(ruleset: Ruleset) -> None:
    report = verify(a_log(ruleset).records)
    assert report.holds, report.faults
    assert report.rounds == 1


def test_a_table_has_limits_of_its_own() -> None:
    limits = {"bet": BetLimits(min=4, step=2), "clock": Clocks(), "seats": 2}
    report = verify(a_log(OWN.ruleset(), **limits).records)
    assert report.holds, report.faults


@pytest.mark.parametrize(
    ("ruleset", "fault"),
    [
        (replace(OWN.ruleset(), hit_on_21=True), "ruleset is"),
        (replace(OWN.ruleset(), version="2.0.0"), "ruleset is"),
        (replace(A2G, hit_on_21=True), "ruleset is"),
        (replace(A2G, name="other"), "There is no 'other'"),
    ],
    ids=["changed", "another version", "published", "never registered"],
)
def test_other_rules_are_a_fault(ruleset: Ruleset, fault: str) -> None:
    found = verify(a_log(ruleset).records).faults
    assert any(fault in each.what and each.stream == "table-oak" for each in found)
    assert {each.position for each in found} == {3}


@pytest.mark.parametrize(
    ("proposal", "fault"),
    [
        (OWN, "does not cause this event"),
        (replace(OWN, decks=5), "own has come to version 1.1.0"),
        (LATER, "does not cause this event"),
        (Proposal(**structs.asdict(A2G)), "a2g is one of"),
        (replace(OWN, version="2.0.0", peek="always"), "could only lose"),
    ],
    ids=["an old version", "an old version changed", "the same again", "published", "nonsense"],
)
def test_a_false_registration_is_a_fault(proposal: Proposal, fault: str) -> None:
    log = a_log(OWN.ruleset())
    log.forge(proposal)
    assert fault in the_only(log.records)


def test_a_registration_with_another_hash_or_other_rules_is_a_fault() -> None:
    records = a_log(A2G).records
    at = find(records, "ruleset_registered")
    assert "ruleset_sha256 is" in the_only(data(records, at, ruleset_sha256="00"))
    assert "cannot be read" in the_only(facts(records, at, command={"type": "nothing"}))


def test_of_what_is_not_there_a_table_is_believed() -> None:
    """An export of one table has not the rulesets of its house."""
    log = a_log(OWN.ruleset())
    court = Court(complete=lambda stream: stream == "table-oak")
    lines = [record for record in log.records if record.stream == "table-oak"]
    assert not [*court.read(lines[:1])]
