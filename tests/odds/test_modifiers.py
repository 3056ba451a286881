"""Modified games against a naive second opinion, and what a modifier does to a known game."""

from itertools import combinations_with_replacement
from typing import Any

import pytest
from msgspec.structs import replace

from services.blackjack.domain.cards import RANKS
from services.blackjack.domain.modifiers import (
    BustLimit,
    FixedAce,
    Holds,
    InstantBust,
    Modifiers,
    Pair,
    RankValue,
    ReverseBust,
    TotalFrom,
    scoring,
)
from services.blackjack.domain.rulesets import PUBLISHED
from services.blackjack.odds.chart import blocks
from services.blackjack.odds.game import PRINTED, Game, Modifier, game_of, modifier_of, plain_bet
from services.blackjack.odds.hands import hands_of
from services.blackjack.odds.kinds import MOST_EFFORT, effort, kinds_of
from services.blackjack.odds.rejections import NoSuchHand
from services.blackjack.odds.solve import expectation, odds_of, solve
from tests.odds.naive import Naive

TWO_TENS = tuple(combinations_with_replacement("TJQK", 2))


def counting(**points: int) -> tuple[int, ...]:
    """The points of all ranks, some of them changed: `counting(K=5)`."""
    return tuple(points.get(rank, printed) for rank, printed in zip(RANKS, PRINTED, strict=True))


def game(**rules: Any) -> Game:
    """A tiny shoe of aces, sixes, nines, tens and kings, with late surrender and no split."""
    shoe = tuple(map("AAA6668999TTTKKK".count, RANKS))
    return Game(**{"shoe": shoe, "peek": True, "split": "none", "surrender_refund": 0.5} | rules)


MODIFIERS = {
    "none": Modifier(),
    "kings count 4": Modifier(points=counting(K=4)),
    "sixes count 11": Modifier(points=counting(**{"6": 11})),
    "aces count 1": Modifier(ace_rises=False),
    "aces count 11": Modifier(points=counting(A=11), ace_rises=False),
    "bust over 18": Modifier(bust_limit=18),
    "bust over 22": Modifier(bust_limit=22),
    "bust over 24": Modifier(bust_limit=24),
    "sixes and nines together bust": Modifier(instant_busts=frozenset({"69"})),
    "a bust pushes": Modifier(bust_pushes=True),
    "all at once": Modifier(
        points=counting(K=3, A=11),
        ace_rises=False,
        bust_limit=23,
        instant_busts=frozenset({"TT", "K9"}),
        bust_pushes=True,
    ),
}


@pytest.mark.parametrize(
    ("modifiers", "modifier"),
    [
        ((), Modifier()),
        ((RankValue("K", 4), RankValue("K", 5)), Modifier(points=counting(K=5))),
        ((FixedAce(11),), Modifier(points=counting(A=11), ace_rises=False)),
        ((BustLimit(24), BustLimit(18), ReverseBust()), Modifier(bust_limit=18, bust_pushes=True)),
        (
            (InstantBust(TotalFrom(3, 4)), InstantBust(TotalFrom(20, 22))),
            Modifier(
                instant_busts=frozenset({"22", "A9", *(f"{a}{b}" for a, b in TWO_TENS)}),
            ),
        ),
        (
            (InstantBust(Holds("A")),),
            Modifier(instant_busts=frozenset(f"A{rank}" for rank in "A23456789")),
        ),
        ((InstantBust(Pair()),), Modifier(instant_busts=frozenset(2 * rank for rank in RANKS))),
    ],
)
def test_what_modifiers_come_to(modifiers: Modifiers, modifier: Modifier) -> None:
    """The later wins, instant busts add up and look at each pair of ranks, naturals are spared."""
    assert modifier_of(modifiers) == modifier


def test_a_table_has_its_environment() -> None:
    rules = replace(PUBLISHED["classic"], environment=(BustLimit(22),))

    assert game_of(rules, 6).modifier == Modifier(bust_limit=22)
    assert game_of(rules, 6, (BustLimit(23),)).modifier == Modifier(bust_limit=23)


def test_a_chart_counts_as_its_table_does() -> None:
    """With kings of 4, K K is played like a hard 8; T K is split by what is printed."""
    rules = replace(PUBLISHED["european"], environment=(RankValue("K", 4),), hands_per_seat=2)
    strategy = odds_of(solve(replace(game_of(rules, 2), shoe=game().shoe))).strategy
    unsplit = replace(strategy, pairs=dict.fromkeys(strategy.pairs, ("-",) * len(strategy.upcards)))

    rows = {name: dict(rows) for name, rows in blocks(unsplit, scoring(rules.environment))}

    assert list(rows["Pair"]) == ["A A", "6 6", "9 9", "T T", "T K", "K K"]
    assert rows["Pair"]["K K"] == strategy.hard[8]
    assert rows["Pair"]["T K"] == strategy.hard[14]


def test_a_hand_that_busts_at_once_has_no_moves() -> None:
    solution = solve(game(modifier=MODIFIERS["sixes and nines together bust"]))

    assert solution.hand("66", "T").best
    with pytest.raises(NoSuchHand):
        solution.hand("96", "T")
    assert "69" not in {hand.cards for hand in odds_of(solution).hands}


@pytest.mark.parametrize("peek", [True, False], ids=["peek", "no peek"])
@pytest.mark.parametrize("name", MODIFIERS)
def test_any_modifier(name: str, peek: bool) -> None:
    modified = game(modifier=MODIFIERS[name], peek=peek)

    reached = expectation(solve(modified).by_composition)

    assert reached == pytest.approx(float(Naive(modified).expectation()), abs=1e-12)


@pytest.mark.parametrize("rules", [{"hits_soft_17": True}, {"double": False}, {"hit_on_21": True}])
def test_rules_that_no_published_game_has(rules: dict[str, Any]) -> None:
    other = game(**rules)

    reached = expectation(solve(other).by_composition)

    assert reached == pytest.approx(float(Naive(other).expectation()), abs=1e-12)


def test_a_natural_is_judged_by_what_is_printed() -> None:
    """Kings that count 4 still make naturals with an ace: only play changes."""
    plain, changed = game(double=False), game(double=False, modifier=MODIFIERS["kings count 4"])
    costly = replace(changed, natural_pays=changed.natural_pays + 1)

    more = expectation(solve(costly).by_composition) - expectation(solve(changed).by_composition)
    as_much = expectation(
        solve(replace(plain, natural_pays=plain.natural_pays + 1)).by_composition
    ) - expectation(solve(plain).by_composition)

    assert more == pytest.approx(as_much, abs=1e-12)


@pytest.mark.parametrize(
    "modifiers",
    [
        (),
        (RankValue("K", 2),),
        (BustLimit(17),),
        (FixedAce(11), RankValue("9", 3)),
        (BustLimit(24),),
    ],
)
def test_the_effort_counts_the_hands_of_the_player_and_of_the_dealer(modifiers: Modifiers):
    game = game_of(replace(PUBLISHED["classic"], environment=modifiers), 10)
    drawing = replace(game, modifier=replace(game.modifier, bust_limit=16))
    players, dealers = (1 + hands_of(each).number for each in (game, drawing))
    assert effort(game) == len(kinds_of(game)) * players * dealers


FOUR_TENS = (RankValue("T", 8), RankValue("J", 9), RankValue("Q", 11))


@pytest.mark.parametrize(
    ("ruleset", "modifiers", "is_tried"),
    [
        *((name, (), True) for name in PUBLISHED),
        ("a2g", (RankValue("K", 2),), True),
        ("a2g", (BustLimit(31),), True),
        ("a2g", (RankValue("K", 1),), False),
        ("a2g", (RankValue("Q", 2), RankValue("K", 3)), False),
        ("a2g", (BustLimit(26), RankValue("2", 1)), False),
        ("a2g", tuple(RankValue(rank, 1) for rank in "23456789TJQK"), True),
        ("a2g", FOUR_TENS, True),
        ("european", FOUR_TENS, False),
        ("european", (RankValue("K", 4),), True),
    ],
)
def test_games_with_too_many_hands_are_told_before_they_are_tried(ruleset, modifiers, is_tried):
    """Where any two cards of ten are split, each kind of them makes further hands."""
    rules = replace(PUBLISHED[ruleset], environment=modifiers)
    assert (effort(game_of(rules, plain_bet(rules))) <= MOST_EFFORT) == is_tried
