"""How the computer players play: every cell of their tables, and what the odds say of them."""

from functools import cache

import pytest
from msgspec.structs import replace

from services.blackjack.domain.modifiers import BustLimit, FixedAce, RankValue
from services.blackjack.domain.rulesets import PUBLISHED
from services.blackjack.odds.figures import Strategy
from services.blackjack.odds.game import Game, game_of, plain_bet
from services.blackjack.odds.kinds import names_of
from services.blackjack.odds.solve import expectation_of, solve
from services.blackjack.odds.strategy import strategy_of
from services.blackjack.players.basic import BASIC
from services.blackjack.players.choose import cautious, easy, hard, normal
from tests.domain.story import rows
from tests.odds.games import GAMES
from tests.odds.tables import PEEK_WITH_DAS, as_text
from tests.players.seen import chosen, table_of

ALL = ("hit", "stand", "double_down", "split", "surrender", "insure")
LET_IN = sorted(name for name, rules in PUBLISHED.items() if rules.computers)


@cache
def best(game: Game) -> Strategy:
    return strategy_of(solve(game).by_total)


@rows("""
    cards         total   soft   does
    6c Ts 6h      16      no     hit
    6c Ts 7h      17      no     stand
    Ac As 6h      17      yes    stand
    Ac As 5h      16      yes    hit
    Tc 2s 2h      4       no     hit
    6c 8s 8h      16      no     hit
    6c 5s 6h      11      no     hit
    Ac Ts Th      20      no     stand
""")
def test_easy_hits_below_17_and_does_nothing_else(cards, total, soft, does):
    assert chosen(easy, cards.split(), total, soft == "yes", *ALL) == does


@rows("""
    cards         total   soft   moves                           does
    6c Ts 2h      12      no     hit stand double_down           stand
    2c Ts 2h      12      no     hit stand double_down           hit
    6c 5s 6h      11      no     hit stand double_down           double_down
    6c 5s 6h      11      no     hit stand                       hit
    6c As 7h      18      yes    hit stand double_down           double_down
    6c As 7h      18      yes    hit stand                       stand
    6c 8s 8h      16      no     hit stand double_down split     split
    6c 8s 8h      16      no     hit stand double_down           stand
    Qc 8s 8h      16      no     hit stand split                 split
    Kc Js Jh      20      no     hit stand split                 stand
    Ac As Kh      21      yes    stand insure                    stand
    Ac 9s 7h      16      no     hit stand insure                hit
""")
def test_normal_does_what_is_printed_as_far_as_it_is_allowed(cards, total, soft, moves, does):
    assert chosen(normal, cards.split(), total, soft == "yes", *moves.split()) == does


def test_normal_knows_the_chart_that_everybody_knows():
    assert as_text(BASIC) == PEEK_WITH_DAS.strip() == as_text(best(GAMES["peek"]))
    assert table_of(normal, BASIC) == BASIC


@pytest.mark.parametrize("name", LET_IN)
def test_hard_plays_the_best_table_of_the_ruleset_exactly(name):
    rules = PUBLISHED[name]
    table = best(game_of(rules, plain_bet(rules)))

    assert table_of(hard(table), table) == table


def test_hard_plays_the_best_table_of_an_environment_whatever_the_ranks_count():
    """With kings of 4 a king is no ten; fives of 4 are played as fours; aces are hard."""
    changed = (RankValue("K", 4), RankValue("5", 4), FixedAce(6), BustLimit(23))
    game = game_of(replace(PUBLISHED["european"], environment=changed), 2)
    table, names = best(game), names_of(game)
    player = hard(table, names)

    assert table.upcards == tuple("2346789TKA")
    assert table_of(player, table) == table
    for rank, name in names.items():
        for total in table.hard:
            as_dealt, as_named = (
                chosen(player, [f"{card}c", "7s", f"{card}h"], total, False, *ALL[:3])
                for card in (rank, name)
            )
            assert as_dealt == as_named


@rows("""
    name         percent
    a2g          -0.517637
    coinlounge   -0.581853
    european     -0.517637
""")
def test_what_hard_is_worth(name, percent):
    table = best(GAMES[name])
    played = table_of(hard(table), table)

    assert f"{100 * expectation_of(GAMES[name], played):.6f}" == percent


@pytest.mark.parametrize("name", LET_IN)
def test_normal_is_worth_less_than_hard_and_more_than_easy(name):
    table = best(GAMES[name])
    worth = [
        expectation_of(GAMES[name], table_of(choose, table))
        for choose in (easy, normal, hard(table))
    ]

    assert worth == sorted(worth)
    assert len({*worth}) == 3


def test_easy_fares_the_same_with_and_without_a_peek():
    """It never stakes more than a bet, so it does not matter when a natural is found."""
    table = table_of(easy, BASIC)
    with_a_peek, without = (100 * expectation_of(GAMES[g], table) for g in ("peek", "no peek"))

    assert with_a_peek == pytest.approx(without, abs=1e-12)
    assert f"{without:.6f}" == "-5.675648"


@rows("""
    moves                      does
    hit stand double_down      stand
    insure stand               stand
    insure decline_insurance   decline_insurance
    sit_out leave              sit_out
    leave                      leave
""")
def test_a_cautious_player_does_what_a_time_out_would(moves, does):
    assert chosen(cautious, ["6c", "Ts", "6h"], 16, False, *moves.split()) == does
