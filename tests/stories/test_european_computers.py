"""Evropský 1.0.0, on computer players, sentence by sentence, in its own language."""

from inspect import get_annotations

import pytest

from services.blackjack.domain.moves import Move
from services.blackjack.domain.view import TableView, view
from services.blackjack.odds.figures import Strategy
from services.blackjack.odds.strategy import strategy_of
from services.blackjack.players.basic import BASIC
from services.blackjack.players.choose import Choose, easy, hard, moves_of, normal
from tests.domain.story import a_round, rows
from tests.odds.games import solved
from tests.odds.tables import as_text, without_a_peek
from tests.players.seen import PUBLIC, name_of, table_of, types_in


@pytest.fixture(scope="module")
def exact() -> Strategy:
    """The best table of this game, computed from its rules."""
    return strategy_of(solved("european").by_total)


def test_computers_see_what_is_public_and_the_legal_moves():
    """“AI používají pouze svou ruku, veřejné karty, povolenou historii a platné herní akce předané
    serverem.”"""
    assert set(types_in(TableView)) <= PUBLIC
    for choose in (easy, normal):
        given = get_annotations(choose)
        assert list(given) == ["view", "moves", "return"]
        assert (given["view"], given["moves"].__args__) == (TableView, (Move,))


@rows("""
    hand    does
    Ts 6h   hit
    2s 3h   hit
    8s 8h   hit
    6s 5h   hit
    As 5h   hit
    Ts 7h   stand
    As 6h   stand
    Ts Kh   stand
""")
def test_easy_takes_below_17_and_stands_otherwise(hand, does):
    """“Snadná: bere pod 17, jinak zůstává.”"""
    for upcard in ("6c", "Tc", "Ac"):
        assert played(easy, hand, upcard) == does


@rows("""
    upcard   hand    does
    6c       Ts 2h   stand
    7c       Ts 2h   hit
    6c       As 4h   double_down
    9c       As 7h   hit
    6c       8s 8h   split
    6c       Ts Th   stand
""")
def test_normal_plays_the_table_of_basic_strategy(upcard, hand, does):
    """“Normální používá tabulku základní strategie podle hard/soft součtu, párů a odkryté karty
    dealera.”"""
    assert played(normal, hand, upcard) == does
    assert table_of(normal, BASIC) == BASIC


def test_hard_plays_the_exact_strategy_of_this_variant(exact):
    """“Těžká používá přesnou základní strategii této varianty”"""
    assert as_text(exact) == without_a_peek().strip()
    assert table_of(hard(exact), exact) == exact


@rows("""
    hand    upcard   does
    8s 8d   6c       split
    Ts Kd   6c       stand
    6s 5d   6c       double_down
    8s 8d   Tc       hit
""")
def test_hard_splits_and_doubles_without_knowing_the_hole_card(exact, hand, upcard, does):
    """“a volí split/double bez znalosti skryté karty.”"""
    for hole in ("Ah", "5h", "Th"):
        assert played(hard(exact), hand, upcard, hole) == does


def played(choose: Choose, hand: str, upcard: str, hole: str = "9d") -> str:
    """What a player does with a hand at a real table."""
    seen = view(a_round("european", hand, upcard=upcard, hole=hole).table, 1, 1)
    return name_of(choose(seen, moves_of(seen, 1)))
