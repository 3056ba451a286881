"""The odds, the engine and the ledger say the same, to twelve digits."""

import dataclasses
from itertools import cycle

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from services.blackjack.domain.cards import RANKS
from services.blackjack.domain.modifiers import (
    BustLimit,
    FixedAce,
    Holds,
    InstantBust,
    Modifier,
    Modifiers,
    Pair,
    RankValue,
    ReverseBust,
    TotalFrom,
)
from services.blackjack.domain.rejections import RulesetNonsense
from services.blackjack.domain.rules import BetLimits, Ruleset, validate
from services.blackjack.domain.rulesets import CLASSIC, PUBLISHED
from services.blackjack.odds.game import game_of, plain_bet
from services.blackjack.odds.play import Against, as_played
from services.blackjack.odds.solve import expectation, solve
from tests.odds.branching import EveryRound, Left, ShoeRanOut


def shoe(cards: str) -> Left:
    """`AA5588`: so many cards of each rank."""
    return tuple(map(cards.count, RANKS))


FOUR_EIGHTS = shoe("AAAA 55 8888 99 TTTT")
"""16 cards: eights are split into up to four hands, aces once."""
TWO_TENS = shoe("AAAA 66 77 TTTT KKKK")
"""16 cards, half of them tens of two ranks: insurance pays, and T K is a pair by value alone."""
SMALL = shoe("AA 66 777 TTT KKK")


def agree(rules: Ruleset, bet: int, cards: Left, *, by_total: bool = False) -> None:
    """Every round of the engine, weighed by its probability, wins what the solver says."""
    solution = solve(replace(game_of(rules, bet), shoe=cards))
    played = solution.by_total if by_total else solution.by_composition

    net = EveryRound(rules, bet, played).net(cards)

    assert float(net) / bet == pytest.approx(expectation(played), abs=1e-12)


@pytest.mark.parametrize(
    ("ruleset", "bet", "by_total"),
    [
        ("a2g", 2, True),
        ("coinlounge", 3, True),
        ("classic", 6, True),
        ("classic", 7, False),
    ],
)
def test_published_rulesets(ruleset: str, bet: int, by_total: bool) -> None:
    agree(PUBLISHED[ruleset], bet, FOUR_EIGHTS, by_total=by_total)


@pytest.mark.parametrize(("ruleset", "bet"), [("a2g", 2), ("coinlounge", 2), ("classic", 7)])
def test_when_insurance_pays(ruleset: str, bet: int) -> None:
    agree(replace(PUBLISHED[ruleset], hands_per_seat=2), bet, TWO_TENS)


def test_european_pairs_by_value() -> None:
    """Tens and kings are split alike, and again."""
    agree(replace(PUBLISHED["european"], hands_per_seat=3), 2, SMALL)


ENVIRONMENTS: dict[str, Modifiers] = {
    "sevens count 5": (RankValue("7", 5),),
    "kings count 9": (RankValue("K", 9),),
    "two ranks count alike": (RankValue("6", 8), RankValue("7", 8)),
    "aces count 1": (FixedAce(1),),
    "aces count 11": (FixedAce(11),),
    "bust over 20": (BustLimit(20),),
    "bust over 22": (BustLimit(22),),
    "bust over 24": (BustLimit(24),),
    "pairs bust": (InstantBust(Pair()),),
    "kings bust": (InstantBust(Holds("K")),),
    "16 and 17 bust": (InstantBust(TotalFrom(16, 17)),),
    "a bust pushes": (ReverseBust(),),
    "two kinds of bust": (InstantBust(Holds("6")), InstantBust(Pair()), RankValue("K", 7)),
    "all at once": (
        *(BustLimit(23), RankValue("7", 11), FixedAce(1), InstantBust(Holds("6"))),
        *(ReverseBust(), RankValue("T", 5), FixedAce(11), BustLimit(22)),
    ),
}


@pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_environments(environment: Modifiers) -> None:
    agree(replace(PUBLISHED["classic"], environment=environment), 7, TWO_TENS, by_total=True)


@pytest.mark.parametrize(
    ("name", "ruleset"), list(zip(ENVIRONMENTS, cycle(["european", "coinlounge", "a2g"])))
)
def test_environments_with_splits(name: str, ruleset: str) -> None:
    rules = replace(PUBLISHED[ruleset], environment=ENVIRONMENTS[name], hands_per_seat=2)
    agree(rules, 2, SMALL)


def test_pairs_of_different_cards() -> None:
    """Ten and king are a pair by what is printed, whatever they count, and split again in order;
    here whoever may split does."""
    rules = replace(PUBLISHED["european"], environment=(RankValue("K", 7),), hands_per_seat=3)
    game = replace(game_of(rules, 2), shoe=shoe("AA 9999 TTT KKK"))
    played = [splitting(against) for against in solve(game).by_composition]

    net = EveryRound(rules, 2, played).net(game.shoe)

    assert float(net) / 2 == pytest.approx(expectation(played), abs=1e-12)


def splitting(against: Against) -> Against:
    """The same, but splits whatever may be split."""
    everything = np.isfinite(against.moves.split)
    return as_played(against.facing, dataclasses.replace(against.policy, split=everything))


@pytest.mark.parametrize("ruleset", ["classic", "a2g"])
@pytest.mark.parametrize(
    "modifier",
    [RankValue("K", 7), FixedAce(11), BustLimit(22), InstantBust(Pair()), ReverseBust()],
)
def test_a_modifier_of_the_round(ruleset: str, modifier: Modifier) -> None:
    """Applied before the first decision, it is as good as one of the environment."""
    rules = replace(PUBLISHED[ruleset], modifiers=True, hands_per_seat=2)
    bet = plain_bet(rules)
    solution = solve(replace(game_of(rules, bet, (modifier,)), shoe=SMALL))

    net = EveryRound(rules, bet, solution.by_total, modifier).net(SMALL)

    assert float(net) / bet == pytest.approx(expectation(solution.by_total), abs=1e-12)


def test_long_hands() -> None:
    """Sixteen cards with low ones: long hands, and the dealer draws up to five."""
    agree(CLASSIC, 7, shoe("AAA 222 444 777 TTTT"))


totals = st.lists(st.integers(4, 22), min_size=2, max_size=2).map(sorted)
modifiers = st.one_of(
    st.builds(RankValue, st.sampled_from("56789TK"), st.integers(4, 11)),
    st.builds(FixedAce, st.sampled_from([1, 6, 11])),
    st.builds(BustLimit, st.integers(17, 24)),
    st.builds(InstantBust, totals.map(lambda two: TotalFrom(*two))),
    st.builds(InstantBust, st.builds(Holds, st.sampled_from("A789TK"))),
    st.just(InstantBust(Pair())),
    st.just(ReverseBust()),
)


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
        environment=tuple(draw(st.lists(modifiers, max_size=4))),
    )
    try:
        return validate(rules)
    except RulesetNonsense:
        assume(False)
        raise


@st.composite
def shoes(draw: st.DrawFn) -> Left:
    """Twelve to fourteen cards of five ranks, none of which makes very long hands: with two more,
    three hands of tens and kings take a minute."""
    low = draw(st.permutations("56789"))
    cards = "AA" + low[0] * 3 + low[1] * 2 + "TTT" + "KK"
    return shoe(cards + draw(st.sampled_from(["", "A", "T", "K", "AT", "TK"])))


@given(rulesets(), shoes(), st.integers(1, 9), st.booleans())
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
def test_any_ruleset(rules: Ruleset, cards: Left, bet: int, by_total: bool) -> None:
    """An example takes up to three seconds, and minutes to shrink: it is told as it was drawn."""
    try:
        agree(rules, bet, cards, by_total=by_total)
    except ShoeRanOut:
        assume(False)
