"""What chance may do to a return: how often the band fails, and what it finds."""

from math import log, sqrt
from random import Random

import numpy as np
import pytest

from services.blackjack.domain.modifiers import BustLimit, FixedAce, RankValue
from services.blackjack.domain.rulesets import A2G, CLASSIC, COINLOUNGE
from services.blackjack.odds.game import game_of
from services.blackjack.odds.luck import Exact, Judged, Played, add, chance, judge
from services.blackjack.odds.returns import exact_returns

EXACT = Exact(best=0.995, careless=0.943)
NETS, CHANCES = (-2, -1, 0, 1, 1.5, 2), (0.05, 0.443, 0.087, 0.32, 0.045, 0.055)
"""A game about as blackjack is, of which the best play returns 0.9995 of a bet."""
FAIR = Exact(best=1 + float(np.dot(NETS, CHANCES)), careless=0.9)


def played(rounds: int, net: int, bet: int = 10, rounded: int = 0) -> Played:
    """So many rounds that came to a net, each won or lost by 11 chips or so."""
    stake = rounds * bet
    return Played(rounds, stake, stake, stake + net, rounded, rounds * 1.2 * bet**2)


def test_chance_is_the_formula():
    some = Played(rounds=250, bet=5000, stake=5500, payout=5400, rounded=0, squares=120_000.0)
    bound = (20**2 + 120_000) * (1 + 100 / 250) * (2 * log(1000) + log(1 + 250 / 100))
    assert chance(some) == pytest.approx(sqrt(bound) / 5000, rel=1e-12)


@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_an_honest_return_hardly_ever_leaves_the_band(confidence):
    """In none of all rounds of 300 evenings, each looked at after every one of its rounds."""
    rng = np.random.default_rng(7)
    evenings, rounds = 300, 5000
    left = 0
    for _ in range(evenings):
        bets = rng.choice([2, 10, 100], rounds)
        nets = bets * rng.choice(NETS, rounds, p=CHANCES)
        n, bet = np.arange(1, rounds + 1), np.cumsum(bets)
        variance = (bet / n) ** 2 + np.cumsum(nets**2)
        alpha = 1 - confidence
        reach = np.sqrt(variance * (1 + 100 / n) * (2 * log(1 / alpha) + np.log(1 + n / 100)))
        left += bool((np.abs(np.cumsum(nets) - (FAIR.best - 1) * bet) > reach).any())
    assert left <= evenings * (1 - confidence)


@pytest.mark.parametrize(
    ("rounds", "percent", "verdict"),
    [
        (100, 0, "as_expected"),
        (100, 30, "as_expected"),
        (100, -50, "as_expected"),
        (100_000, -0.5, "as_expected"),
        (100_000, 1, "as_expected"),
        (100_000, 2, "too_much"),
        (100_000, -3, "below_best_play"),
        (100_000, -6, "below_best_play"),
        (100_000, -8, "too_little"),
        (10_000_000, 0, "too_much"),
        (10_000_000, -0.5, "as_expected"),
        (10_000_000, -0.8, "below_best_play"),
    ],
)
def test_verdicts(rounds, percent, verdict):
    judged = judge(played(rounds, round(rounds * 10 * percent / 100)), EXACT)
    assert judged.verdict == verdict
    assert judged.alarm == verdict.startswith("too_")
    assert judged.alarm == (not judged.low <= judged.realised <= judged.high)


def test_what_rounding_took_is_no_bad_luck():
    """Bets of 5: a natural pays 7 instead of 7.5, so half a chip is lost in one round of 22."""
    rounds = 10_000_000
    rounded = rounds // 22
    net = round(rounds * 5 * (EXACT.best - 1)) - rounded // 2
    assert judge(played(rounds, net, bet=5), EXACT).verdict == "below_best_play"
    judged = judge(played(rounds, net, bet=5, rounded=rounded), EXACT)
    assert judged.verdict == "as_expected"
    assert judged.best == pytest.approx(EXACT.best - rounded / 2 / (rounds * 5))


def test_sums_add_up():
    assert add(played(3, 5), played(4, -2)) == played(7, 3)


def test_one_large_win_is_no_alarm():
    """However large: what wins much in one round has as large a square."""
    for seed in range(50):
        chance_of = Random(seed)
        rounds = chance_of.randint(1, 500)
        huge = 10 ** chance_of.randint(3, 12)
        some = add(played(rounds, -rounds), Played(1, huge, huge, 2 * huge, 0, float(huge) ** 2))
        assert not judge(some, EXACT).alarm


def test_a_band_is_around_the_odds():
    judged = Judged(1.0, best=0.99, careless=0.94, chance=0.02, verdict="as_expected")
    assert (judged.low, judged.high) == pytest.approx((0.92, 1.01))


@pytest.mark.parametrize(
    ("game", "bet", "best"),
    [
        (A2G, 2, -0.514056),
        (COINLOUNGE, 2, -0.578794),
        (CLASSIC, 10, -0.309880),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_exact_return_is_that_of_the_odds(game, bet, best):
    assert 100 * (exact_returns(game_of(game, bet)).best - 1) == pytest.approx(best, abs=1e-6)


def test_every_environment_has_a_return():
    """Far above 21 or with a rank that counts something else, careless play is what it was."""
    plain = exact_returns(game_of(CLASSIC, 10))
    for changed in ((BustLimit(25),), (RankValue("K", 4), RankValue("5", 4)), (FixedAce(5),)):
        returns = exact_returns(game_of(CLASSIC, 10, changed))
        assert returns != plain
        assert 0.5 < returns.careless < returns.best


def test_careless_play_is_that_of_the_easy_computer_player():
    assert 100 * (exact_returns(game_of(A2G, 2)).careless - 1) == pytest.approx(-5.675648, abs=1e-6)
