"""What an auditor says of the games that a house has registered and plays."""

import pytest
from msgspec.structs import replace

from services.audit.domain.rulebook import Rulebook
from services.blackjack.domain.events import RulesetRegistered, TableOpened
from services.blackjack.domain.rules import BetLimits, Clocks, Ruleset, fingerprint
from services.blackjack.domain.rulesets import A2G
from services.blackjack.domain.shoe import SealedSeed

OWN = replace(A2G, name="own")
LATER = replace(OWN, version="1.1.0", surrender=True)


def registered(ruleset: Ruleset) -> RulesetRegistered:
    return RulesetRegistered(ruleset, fingerprint(ruleset))


def opened(ruleset: Ruleset) -> TableOpened:
    seed = SealedSeed(commitment="", key_id="", box="")
    return TableOpened("oak", ruleset, fingerprint(ruleset), None, seed)


@pytest.fixture
def rulebook() -> Rulebook:
    """Two versions of `own` are registered."""
    rulebook = Rulebook()
    assert not [*rulebook.registered(registered(OWN)), *rulebook.registered(registered(LATER))]
    return rulebook


@pytest.mark.parametrize("ruleset", [OWN, LATER, A2G, replace(A2G, version="0.9.0")])
def test_tables_play_what_is_published_or_registered(rulebook: Rulebook, ruleset: Ruleset) -> None:
    assert not [*rulebook.opened(opened(ruleset))]


def test_a_table_has_limits_of_its_own(rulebook: Rulebook) -> None:
    limited = replace(OWN, bet=BetLimits(min=4, step=2), clock=Clocks(), seats=2)
    assert not [*rulebook.opened(opened(limited))]


@pytest.mark.parametrize(
    ("ruleset", "fault"),
    [
        (replace(OWN, decks=5), "The table plays other rules than own 1.0.0 registered."),
        (replace(OWN, surrender=True), "The table plays other rules than own 1.0.0 registered."),
        (replace(OWN, version="2.0.0"), "own 2.0.0 was never registered."),
        (replace(OWN, name="other"), "other 1.0.0 was never registered."),
    ],
)
def test_other_rules_are_a_fault(rulebook: Rulebook, ruleset: Ruleset, fault: str) -> None:
    assert [*rulebook.opened(opened(ruleset))] == [fault]


@pytest.mark.parametrize(
    ("event", "fault"),
    [
        (registered(replace(OWN, decks=5)), "own 1.0.0 was registered before."),
        (registered(A2G), "a2g is the name of a published game."),
        (RulesetRegistered(replace(OWN, version="2.0.0"), "00"), "has the hash"),
    ],
)
def test_a_false_registration_is_a_fault(
    rulebook: Rulebook, event: RulesetRegistered, fault: str
) -> None:
    [told] = rulebook.registered(event)
    assert fault in told
