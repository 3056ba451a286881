"""What a house may register, and what is nonsense."""

import pytest
from msgspec import ValidationError, json
from msgspec.structs import asdict, replace

from services.blackjack.domain.events import RulesetRegistered
from services.blackjack.domain.register import (
    MOST_VERSIONS,
    Proposal,
    register,
    registered,
    version_of,
)
from services.blackjack.domain.rejections import (
    RulesetNonsense,
    RulesetPublished,
    RulesetVersionTaken,
    TooManyRulesets,
    UnknownRuleset,
)
from services.blackjack.domain.rules import BetLimits, Clocks, Ruleset, fingerprint
from services.blackjack.domain.rulesets import A2G, CLASSIC, COINLOUNGE, PUBLISHED
from tests.domain.story import rows


def proposal(parent: Ruleset = A2G, **changes) -> Proposal:
    return Proposal(**{**asdict(parent), "name": "own", **changes})


def versions(*names: str) -> tuple[Ruleset, ...]:
    """A ruleset that has had these versions."""
    there: tuple[Ruleset, ...] = ()
    for name in names:
        event = register(there, proposal(version=name))
        assert event
        there = registered(there, event)
    return there


@pytest.mark.parametrize("game", sorted(PUBLISHED))
def test_every_published_game_can_be_registered_under_another_name(game):
    ruleset = replace(PUBLISHED[game], name="own")
    expected = RulesetRegistered(ruleset, fingerprint(ruleset))
    assert register((), proposal(PUBLISHED[game])) == expected


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_the_names_of_published_games_are_taken(name):
    with pytest.raises(RulesetPublished, match=f"{name} is one of a2g, coinlounge"):
        register((), proposal(name=name))


def test_the_same_again_changes_nothing():
    assert register(versions("1.0.0", "1.1.0"), proposal(version="1.0.0")) is None
    assert register(versions("1.0.0", "1.1.0"), proposal(version="1.1.0")) is None


@rows("""
    version   seats   accepted
    1.1.1     7       yes
    1.2.0     6       yes
    1.10.0    7       yes
    2.0.0     7       yes
    1.1.0     6       no
    1.0.0     6       no
    1.0.9     7       no
    0.9.9     7       no
""")
def test_other_rules_take_a_later_version(version, seats, accepted):
    there = versions("1.0.0", "1.1.0")
    if accepted == "yes":
        assert register(there, proposal(version=version, seats=seats))
        return
    with pytest.raises(RulesetVersionTaken, match=r"has come to version 1\.1\.0") as refused:
        register(there, proposal(version=version, seats=seats))
    assert refused.value.facts == {"newest": "1.1.0"}


def test_a_ruleset_has_a_hundred_versions_at_most():
    there = versions(*(f"1.0.{number}" for number in range(MOST_VERSIONS)))
    with pytest.raises(TooManyRulesets):
        register(there, proposal(version="1.1.0"))


def test_every_version_is_found_and_the_newest_without_saying():
    there = versions("1.0.0", "1.1.0")
    assert version_of("own", there) == there[1]
    assert version_of("own", there, "1.0.0") == there[0]
    with pytest.raises(UnknownRuleset, match=r"no version 3\.0\.0; there are 1\.0\.0, 1\.1\.0"):
        version_of("own", there, "3.0.0")
    with pytest.raises(UnknownRuleset, match="There is no 'own'; there are a2g, coinlounge"):
        version_of("own", ())


NO_HURRY = Clocks()
NONSENSE = {
    "a shoe that can run out": (A2G, {"decks": 1}, "188 cards|may need"),
    "no bet at all": (A2G, {"bet": BetLimits(min=10, step=2, max=8)}, "less than the least bet"),
    "bets without an end": (A2G, {"bet": BetLimits(min=2, step=2)}, "give a max"),
    "rounding unsaid, by the least bet": (
        A2G,
        {"bet": BetLimits(min=3, step=2, max=9)},
        "exact 3:2 needs an even least bet",
    ),
    "rounding unsaid, by the step": (
        A2G,
        {"bet": BetLimits(min=2, step=1, max=9)},
        "an even step",
    ),
    "a surrender that gives nothing": (
        CLASSIC,
        {"bet": BetLimits(min=1, max=9)},
        "Let bets begin at 2",
    ),
    "insurance for nothing": (
        COINLOUNGE,
        {"bet": BetLimits(min=1, max=1)},
        "Allow larger bets",
    ),
    "insurance after the peek": (
        COINLOUNGE,
        {"insurance": "on_turn", "clock": Clocks(betting_seconds=9, action_seconds=9)},
        "insurance before_play, or let the dealer peek never",
    ),
    "insurance before a peek that never comes": (
        A2G,
        {"insurance": "before_play", "clock": NO_HURRY},
        "needs a dealer who peeks",
    ),
    "naturals before a peek that never comes": (
        A2G,
        {"naturals_settle": "before_play"},
        "only when the dealer peeks",
    ),
    "hands without a split": (A2G, {"split": "none", "double_after_split": False}, "say 1 for"),
    "a split without hands": (A2G, {"hands_per_seat": 1}, "say 2 to 4"),
    "after a split that never comes": (
        A2G,
        {"split": "none", "hands_per_seat": 1},
        "say false for double_after_split",
    ),
    "a host who goes away": (COINLOUNGE, {"clock": NO_HURRY}, "give betting_seconds"),
    "an absent bettor": (A2G, {"clock": Clocks(action_seconds=20)}, "give betting_seconds"),
    "an absent player": (A2G, {"clock": Clocks(betting_seconds=20)}, "give action_seconds"),
    "absent on insurance": (
        COINLOUNGE,
        {"clock": Clocks(betting_seconds=20)},
        "give insurance_seconds and action_seconds",
    ),
    "an insurance clock that never runs": (
        A2G,
        {"clock": Clocks(betting_seconds=9, insurance_seconds=9, action_seconds=9)},
        "Leave insurance_seconds away",
    ),
    "a betting clock that never runs": (A2G, {"seats": 1}, "Leave betting_seconds away"),
}


@pytest.mark.parametrize(("parent", "changes", "says"), NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_refused_and_told_what_would_be_accepted(parent, changes, says):
    with pytest.raises(RulesetNonsense, match=says):
        register((), proposal(parent, **changes))


@pytest.mark.parametrize(
    ("field", "value", "at"),
    [
        ("name", "High Rollers", "$.name"),
        ("title", "", "$.title"),
        ("title", "x" * 101, "$.title"),
        *(("title", f"a{one}b", "$.title") for one in "\0\t\n\x1b\x7f\x9b\ufffe"),
        ("title", "a game\n", "$.title"),
        ("version", "1.0", "$.version"),
        ("version", "01.0.0", "$.version"),
        ("version", "1.0.0\n", "$.version"),
        ("seats", 8, "$.seats"),
        ("decks", 0, "$.decks"),
        ("hands_per_seat", 5, "$.hands_per_seat"),
        ("peek", "sometimes", "$.peek"),
        ("surrender", "late", "$.surrender"),
        ("bet", {"min": 0}, "$.bet.min"),
        ("clock", {"action_seconds": 0}, "$.clock.action_seconds"),
        ("house_edge", "", "$.house_edge"),
        ("house_edge", "0.5 %\0", "$.house_edge"),
        ("colour", "green", "colour"),
    ],
)
def test_a_bad_shape_is_told_by_its_field(field, value, at):
    body = json.encode({**asdict(proposal()), field: value})
    with pytest.raises(ValidationError) as refused:
        json.decode(body, type=Proposal)
    assert at in str(refused.value)
