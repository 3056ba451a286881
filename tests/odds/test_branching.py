"""The odds, the engine and the ledger say the same, to twelve digits."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from services.blackjack.domain.cards import RANKS
from services.blackjack.domain.rejections import RulesetNonsense
from services.blackjack.domain.rules import BetLimits, Ruleset, validate
from services.blackjack.domain.rulesets import CLASSIC, PUBLISHED
from services.blackjack.odds.game import game_of
from services.blackjack.odds.solve import expectation, solve
from tests.odds.branching import EveryRound, Left, ShoeRanOut


def shoe(cards: str) -> Left:
    """`AA5588`: so many cards of each rank."""
    return tuple(map(cards.count, RANKS))


FOUR_EIGHTS = shoe("AAAA 55 8888 99 TTTT")
"""16 cards: eights are split into up to four hands, aces once."""
TWO_TENS = shoe("AAAA 66 77 TTTT KKKK")
"""16 cards, half of them tens of two ranks: insurance pays, and T K is a pair by value alone."""


def agree(rules: Ruleset, bet: int, cards: Left, *, by_total: bool = False) -> None:
    """Every round of the engine, weighed by its probability, wins what the solver says."""
    solution = solve(replace(game_of(rules, bet), shoe=cards))
    played = solution.by_total if by_total else solution.by_composition

    net = EveryRound(rules, bet, played).net(cards)

    assert float(net) / bet == pytest.approx(expectation(played), abs=1e-12)


@pytest.mark.parametrize("by_total", [False, True], ids=["by composition", "by total"])
@pytest.mark.parametrize(
    ("ruleset", "bet"),
    [("a2g", 2), ("coinlounge", 2), ("coinlounge", 3), ("classic", 6), ("classic", 7)],
)
@pytest.mark.parametrize("cards", [FOUR_EIGHTS, TWO_TENS], ids=["four eights", "two tens"])
def test_published_rulesets(ruleset: str, bet: int, cards: Left, by_total: bool) -> None:
    agree(PUBLISHED[ruleset], bet, cards, by_total=by_total)


@pytest.mark.parametrize("by_total", [False, True], ids=["by composition", "by total"])
def test_european(by_total: bool) -> None:
    agree(PUBLISHED["european"], 2, FOUR_EIGHTS, by_total=by_total)


def test_european_pairs_by_value() -> None:
    """Tens and kings are split alike, and again."""
    agree(PUBLISHED["european"], 2, shoe("AAA 7777 88 TTTT KK"))


def test_long_hands() -> None:
    """Nineteen cards with low ones: long hands, and the dealer draws up to five."""
    agree(CLASSIC, 7, shoe("AAA 222 4444 7777 TTTTT"))


@st.composite
def rulesets(draw: st.DrawFn) -> Ruleset:
    """Any ruleset that can be played, for one seat with any bet."""
    rules = Ruleset(
        name="random",
        title="Random",
        version="1.0.0",
        seats=1,
        decks=6,
        bet=BetLimits(min=1),
        clock=CLASSIC.clock,
        bankroll="vault",
        deals="server",
        peek=draw(st.sampled_from(["never", "ace_or_ten", "always"])),
        insurance=draw(st.sampled_from(["none", "on_turn", "before_play"])),
        naturals_settle=draw(st.sampled_from(["before_play", "at_resolution"])),
        natural_rounds_down=True,
        double_after_split=draw(st.booleans()),
        split=draw(st.sampled_from(["none", "same_rank", "same_value"])),
        hands_per_seat=draw(st.integers(1, 3)),
        surrender=draw(st.booleans()),
        hit_on_21=draw(st.booleans()),
        house_edge="computed",
    )
    try:
        return validate(rules)
    except RulesetNonsense:
        assume(False)
        raise


@st.composite
def shoes(draw: st.DrawFn) -> Left:
    """Fifteen to nineteen cards of five ranks, none of which makes very long hands."""
    low = draw(st.permutations("56789"))
    cards = "AAA" + low[0] * 4 + low[1] * 3 + "TTTT" + "K"
    return shoe(cards + draw(st.sampled_from(["", "A", "T", "K", "TK", "TTK", "TTKK"])))


@given(rulesets(), shoes(), st.integers(1, 9), st.booleans())
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_ruleset(rules: Ruleset, cards: Left, bet: int, by_total: bool) -> None:
    try:
        agree(rules, bet, cards, by_total=by_total)
    except ShoeRanOut:
        assume(False)
