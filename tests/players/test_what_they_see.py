"""A computer player gets nothing that a client does not get: by its type, and while it plays."""

from collections.abc import Sequence
from inspect import signature
from typing import get_args, get_type_hints

import pytest

from services.blackjack.domain import commands as c
from services.blackjack.domain.computers import asked
from services.blackjack.domain.moves import Move
from services.blackjack.domain.view import TableView, view
from services.blackjack.players.basic import BASIC
from services.blackjack.players.choose import (
    Choose,
    cautious,
    easy,
    hard,
    moves_of,
    normal,
)
from tests.domain.story import Story, a_table
from tests.players.seen import PUBLIC, types_in, values_in

PLAYERS = {"easy": easy, "normal": normal, "hard": hard(BASIC)}


@pytest.mark.parametrize("choose", [easy, normal, cautious], ids=lambda choose: choose.__name__)
def test_a_player_is_a_function_of_the_view_and_the_legal_moves(choose: Choose) -> None:
    hints = get_type_hints(choose)

    assert list(signature(choose).parameters) == ["view", "moves"]
    assert (hints["view"], hints["moves"]) == (TableView, Sequence[Move])
    assert get_args(Choose)[0] == [TableView, Sequence[Move]]


def test_by_their_types_view_and_moves_hold_nothing_but_what_is_public() -> None:
    assert {*types_in(TableView), *types_in(Move)} <= PUBLIC


@pytest.mark.parametrize("game", ["a2g", "coinlounge", "european"])
@pytest.mark.parametrize("upcard", ["Ac", "Tc", "6c"])
def test_while_it_plays_it_holds_no_hole_card_no_shoe_and_no_seed(game: str, upcard: str) -> None:
    seen, _ = _played(game, upcard, hole="7s")

    for each in seen:
        values = list(values_in(each))
        assert {type(value) for value in values} <= PUBLIC | {tuple, list}
        assert "7s" not in values
        assert bytes(range(32)).hex() not in values


@pytest.mark.parametrize("game", ["a2g", "coinlounge", "european"])
@pytest.mark.parametrize("upcard", ["Ac", "Tc", "6c"])
def test_another_hole_card_changes_nothing_that_it_sees_or_does(game: str, upcard: str) -> None:
    assert _played(game, upcard, hole="7s") == _played(game, upcard, hole="3d")


def _played(game: str, upcard: str, hole: str) -> tuple[list[object], list[c.Command]]:
    """What each level is given in a round, until the dealer's turn, and what it does with it."""
    cards = f"8s As 5h {upcard} 8h 6h 4d {hole} 2s 3s 4s 5s 6s 2h 3h 4h 2d 5d 6d 9h 9d Tc Td Ts"
    story = a_table(game, cards=cards)
    for number, level in enumerate(PLAYERS, 1):
        story.play(c.SeatComputer(number, level, 200))
    seen: list[object] = []
    done: list[c.Command] = []
    while not story.table.rounds or story.table.turn():
        number = asked(story.table)
        if number is None:
            story.play(c.Deal("ada"))
            continue
        what = _given(story, number)
        command = PLAYERS[what[0].seats[number - 1].computer.level](*what)
        seen += [what]
        done += [command]
        story.play(command)
        assert story.refusal is None
    assert {c.Bet, c.Hit} <= {type(command) for command in done}
    return seen, done


def _given(story: Story, number: int) -> tuple[TableView, list[Move]]:
    seen = view(story.table, version=7, position=7)
    return seen, moves_of(seen, number)
