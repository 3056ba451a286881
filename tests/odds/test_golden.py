"""Figures that two independent methods agree on, one of them a published analyser."""

import pytest
from msgspec.structs import replace

from services.blackjack.domain.rules import BetLimits
from services.blackjack.domain.rulesets import PUBLISHED
from services.blackjack.odds.game import game_of, plain_bet
from services.blackjack.odds.rejections import NoSuchHand
from services.blackjack.odds.solve import expectation, expectation_of, odds_of
from services.blackjack.odds.strategy import Strategy
from tests.domain.story import rows
from tests.odds.games import GAMES, solved
from tests.odds.tables import PEEK_WITH_DAS, as_text, without_a_peek

PERCENT = 100


@pytest.mark.parametrize(
    ("game", "percent"),
    [
        ("coinlounge", -0.578794),
        ("european", -0.514056),
        ("a2g", -0.514056),
        ("classic", -0.309880),
        ("classic, 6 decks, bet 10", -0.892403),
        ("classic, 6 decks, bet 5", -1.424643),
        ("classic, 6 decks, bet 25", -1.034645),
        ("peek", -0.402870236),
        ("no DAS", -0.544565161),
        ("late surrender", -0.330268037),
        ("aces split again", -0.334003550),
        ("H17", -0.615389123),
        ("1 deck", 0.0242739),
    ],
)
def test_best_play_by_composition(game: str, percent: float) -> None:
    reached = PERCENT * expectation(solved(game).by_composition)

    assert same_digits(reached, percent), reached


@pytest.mark.parametrize(
    ("game", "percent"),
    [
        ("coinlounge", -0.581853),
        ("european", -0.517637),
        ("a2g", -0.517637),
        ("classic, 6 decks, bet 10", -0.893816),
        ("classic, 6 decks, bet 5", -1.427686),
        ("classic, 6 decks, bet 25", -1.036100),
    ],
)
def test_best_table(game: str, percent: float) -> None:
    reached = PERCENT * expectation(solved(game).by_total)

    assert same_digits(reached, percent), reached


@pytest.mark.parametrize(
    ("game", "by_upcard"),
    [
        (
            "coinlounge",
            "-34.173651 9.066480 12.327491 15.881466 19.839405 "
            "23.024229 14.257452 5.690673 -4.145061 -17.323200",
        ),
        (
            "european",
            "-34.278242 9.267506 12.631610 16.279784 20.325999 "
            "23.575408 14.460103 5.757242 -4.114158 -17.646997",
        ),
    ],
)
def test_each_upcard_from_the_ace_on(game: str, by_upcard: str) -> None:
    values = [PERCENT * against.value for against in solved(game).by_composition]

    assert " ".join(f"{value:.6f}" for value in values) == by_upcard


@pytest.mark.parametrize(
    ("game", "hand", "upcard", "move", "bets"),
    [
        ("peek", "T6", "T", "stand", -0.540954),
        ("peek", "T6", "T", "hit", -0.534676),
        ("peek", "88", "T", "split", -0.474894),
        ("peek", "56", "A", "hit", 0.147596),
        ("peek", "A7", "3", "double_down", 0.179330),
        ("peek", "99", "7", "stand", 0.399576),
        ("peek", "T2", "4", "stand", -0.211115),
        ("peek", "T2", "4", "hit", -0.210364),
        ("peek", "AA", "6", "split", 0.682366),
        ("no peek", "65", "T", "hit", 0.031702),
        ("no peek", "65", "T", "double_down", 0.009251),
        ("no peek", "88", "A", "hit", -0.664681),
        ("no peek", "88", "A", "split", -0.922317),
        ("no peek", "AA", "A", "hit", -0.325986),
        ("no peek", "AA", "A", "split", -0.533716),
    ],
)
def test_a_move(game: str, hand: str, upcard: str, move: str, bets: float) -> None:
    reached = getattr(solved(game).hand(hand, upcard), move)

    assert same_digits(reached, bets), reached


@pytest.mark.parametrize(
    ("upcard", "chances"),
    [
        ("A", ".130017 .130822 .130594 .130910 .053504 .115473 .308682"),
        ("T", ".111914 .111669 .111945 .340014 .034817 .212471 .077170"),
    ],
)
def test_the_dealer(upcard: str, chances: str) -> None:
    upcards = {each.upcard: each for each in odds_of(solved("peek")).upcards}

    dealer = upcards[upcard].dealer
    assert " ".join(f"{chance:.6f}".lstrip("0") for chance in dealer.values()) == chances
    assert list(dealer) == ["17", "18", "19", "20", "21", "bust", "natural"]


@pytest.mark.parametrize("game", ["a2g", "coinlounge"])
def test_insurance(game: str) -> None:
    assert odds_of(solved(game)).insurance == pytest.approx(-23 / 311, abs=1e-15)


def test_without_insurance_it_costs_nothing() -> None:
    assert odds_of(solved("european")).insurance is None


@pytest.mark.parametrize("game", ["peek", "no peek"])
def test_the_easy_computer_player(game: str) -> None:
    """Hit below 17, never double or split: -5.675648 %, with and without a peek."""
    table = odds_of(solved(game)).strategy
    easy = Strategy(
        table.upcards,
        hard={total: ("H" if total < 17 else "S",) * 10 for total in table.hard},
        soft={total: ("H" if total < 17 else "S",) * 10 for total in table.soft},
        pairs=dict.fromkeys(table.pairs, ("-",) * 10),
    )

    assert same_digits(PERCENT * expectation_of(GAMES[game], easy), -5.675648)


@pytest.mark.parametrize("game", GAMES)
def test_the_best_table_is_worth_what_it_says(game: str) -> None:
    table = odds_of(solved(game)).strategy

    assert expectation_of(GAMES[game], table) == pytest.approx(
        expectation(solved(game).by_total), abs=1e-15
    )


@pytest.mark.parametrize(
    ("game", "table"),
    [("peek", PEEK_WITH_DAS), ("european", without_a_peek()), ("a2g", without_a_peek())],
)
def test_the_table_itself(game: str, table: str) -> None:
    assert as_text(odds_of(solved(game)).strategy) == table.strip()


def test_the_pairs_of_coinlounge() -> None:
    """2-2 and 3-3 split against 4 to 7 only, 4-4 never, 6-6 against 3 to 6."""
    pairs = odds_of(solved("coinlounge")).strategy.pairs

    assert {pair: "".join(row) for pair, row in pairs.items() if pair in "2346"} == {
        "2": "--PPPP----",
        "3": "--PPPP----",
        "4": "----------",
        "6": "-PPPP-----",
    }


def test_a_bet_of_5_is_never_surrendered() -> None:
    codes = odds_of(solved("classic, 6 decks, bet 5")).strategy

    assert not [row for row in codes.hard.values() if any("R" in code for code in row)]
    assert [row for row in odds_of(solved("classic")).strategy.hard.values() if "R" in row]


def test_equal_games_have_one_key() -> None:
    european, classic = PUBLISHED["european"], PUBLISHED["classic"]

    assert game_of(european, 2).key == game_of(european, 500).key
    assert game_of(classic, 6).key == game_of(classic, 100).key != game_of(classic, 7).key


@rows("""
    min   step   max   plain
    6     1      100   6
    5     1      100   6
    5     5      100   10
    25    25     25    25
    5     2      99    5
""")
def test_the_plain_bet_is_the_least_even_one_and_always_one_that_is_played(min, step, max, plain):
    rules = replace(PUBLISHED["classic"], bet=BetLimits(min=min, step=step, max=max))

    assert plain_bet(rules) == plain
    assert plain in rules.bets(1000)


@pytest.mark.parametrize(
    ("hand", "upcard"), [("T", "6"), ("AK", "6"), ("TT2", "6"), ("TX", "6"), ("T6", "1")]
)
def test_no_such_hand(hand: str, upcard: str) -> None:
    with pytest.raises(NoSuchHand):
        solved("peek").hand(hand, upcard)


def same_digits(reached: float, golden: float) -> bool:
    """Whether a figure rounds to the golden one."""
    digits = len(repr(golden).partition(".")[2])
    return round(reached, max(digits, 6)) == golden
