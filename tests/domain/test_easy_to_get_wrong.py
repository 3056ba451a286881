"""Points that are easy to get wrong, one test each or a few, in the order of the rules.

What a time-out does is told with the clocks.
"""

import ast
from pathlib import Path

import pytest

from services.blackjack.domain import decide as engine
from services.blackjack.domain.cards import DECK, POINTS
from services.blackjack.domain.commands import (
    Bet,
    Deal,
    DoubleDown,
    Hit,
    Insure,
    Leave,
    Split,
    Stand,
)
from services.blackjack.domain.events import (
    CardDealt,
    HandsDealt,
    HandSettled,
    HandSplit,
    HandStood,
    HoleCardRevealed,
    HostMoved,
    InsuranceSettled,
    SeedRevealed,
)
from services.blackjack.domain.moves import legal_moves
from services.blackjack.domain.rejections import NotEnoughChips, NotTheHost, NotYourTurn
from services.blackjack.domain.rules import most_cards
from services.blackjack.domain.rulesets import PUBLISHED
from services.blackjack.domain.table import Round
from tests.domain.story import (
    PLAY,
    a_command,
    a_round,
    a_table,
    given,
    rows,
    then,
    then_among,
    then_legal,
    then_net,
    then_refused,
    when,
    when_all_stand,
)


def test_1_chips_are_whole_numbers_and_one_function_rounds():
    """No division, no fraction and no rounding anywhere in the rules: `half` does it."""
    domain = Path(engine.__file__).parent
    for module in sorted(domain.glob("*.py")):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.BinOp):
                assert not isinstance(node.op, ast.Div | ast.FloorDiv), module.name
            if isinstance(node, ast.Name):
                assert node.id not in ("float", "divmod", "Decimal", "Fraction"), module.name
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))


@rows("""
    hand    move    next    net
    As Kd   –       –       +150
    Ts Ad   –       –       +150
    As 5d   hit     5h      +100
    As Ad   split   Kh Qh   +200
""")
def test_2_a_natural_is_the_first_two_cards_of_a_hand_that_was_not_split(hand, move, next, net):
    given(a_round("a2g", hand, upcard="Tc", hole="9h", next_cards=next))
    if move:
        when(a_command(move))
    then_net(net)


@rows("""
    hand    move          next    net
    7s 7d   hit           7h      -100
    As Ad   split         Kh Qh   -200
    6s 5d   double_down   Th      -200
    As Kd   –             –       0
""")
def test_3_a_dealer_natural_beats_every_hand_but_a_natural(hand, move, next, net):
    """Without a peek: a 21 of three cards, split aces with tens, a doubled 21."""
    given(a_round("a2g", hand, upcard="Tc", hole="Ah", next_cards=next))
    if move:
        when(a_command(move))
    then_net(net)


@rows("""
    game         hole   pays
    a2g          Kh     150
    a2g          8h     0
    coinlounge   Kh     150
    coinlounge   8h     0
""")
def test_4_insurance_is_settled_exactly_once(game, hole, pays):
    story = given(a_round(game, "Ts 9d", upcard="Ac", hole=hole))
    when(Insure(1))
    when_all_stand()
    settled = [event for event in story.log if isinstance(event, InsuranceSettled)]
    assert settled == [InsuranceSettled(1, 50, pays)]


@rows("""
    game         move
    a2g          double_down
    a2g          split
    coinlounge   double_down
    coinlounge   split
    european     double_down
    european     split
""")
def test_5_no_funds_no_offer(game, move):
    """A stack of 50 after a bet of 100: not listed, refused, and the stack stays as it is."""
    story = given(a_round(game, "8s 8d", upcard="6c", stack=50))
    then_legal("hit stand")
    when(a_command(move))
    assert then_refused(NotEnoughChips).facts == {"cost": 100, "stack": 50}
    assert story.table.seat(1).stack == 50


def test_6_split_order_the_first_hand_is_played_to_its_end_before_the_next_gets_a_card():
    given(a_round("a2g", "8s 8d", upcard="6c", hole="Kh", next_cards="3h 9h 2h Th 5c"))
    when(Split(1))
    then(HandSplit(1, 0, 100), CardDealt(1, 0, "3h"))
    when(Hit(1, 1))
    then_refused(NotYourTurn)
    when(Hit(1, 0))
    then(CardDealt(1, 0, "9h"))
    when(Stand(1, 0))
    then(HandStood(1, 0), CardDealt(1, 1, "2h"))
    when(Hit(1, 0))
    then_refused(NotYourTurn)
    when(DoubleDown(1, 1))
    then_among(CardDealt(1, 1, "Th"), HandStood(1, 1))


def test_6_a_resplit_inserts_the_new_hand_right_after_its_twin():
    story = given(a_round("a2g", "8s 8d", upcard="6c", next_cards="8h 3h 8c 2h"))
    when(Split(1, 0))
    then(HandSplit(1, 0, 100), CardDealt(1, 0, "8h"))
    when(Split(1, 0))
    then(HandSplit(1, 0, 100), CardDealt(1, 0, "3h"))
    assert [" ".join(hand.cards) for hand in story.table.seat(1).hands] == ["8s 3h", "8h", "8d"]
    when(Stand(1, 0))
    then(HandStood(1, 0), CardDealt(1, 1, "8c"))
    when(Split(1, 1))
    then_among(HandSplit(1, 1, 100))


def test_7_turns_go_in_seat_order_hand_by_hand():
    cards = "2h 3h Kc"
    story = given(a_round("a2g", "8s 8d", "Ts 8d", upcard="6c", hole="5h", next_cards=cards))
    turns = [story.table.turn()]
    for move in ("split", "stand 1 0", "stand 1 1"):
        when(a_command(move))
        turns.append(story.table.turn())
    assert turns == [(1, 0), (1, 0), (1, 1), (2, 0)]


@rows("""
    hands                     turn
    As Kd, Ts 6d              2
    Ts 6d, As Kd              1
    As Kd, As Qd, Ts 6d       3
""")
def test_7_a_natural_takes_no_turn(hands, turn):
    story = given(a_round("a2g", *hands.split(", "), upcard="6c", next_cards="Kh"))
    assert story.table.turn() == (turn, 0)


def test_8_two_cards_each_are_dealt_in_rounds():
    """First a card to each betting seat in seat order, the upcard, a second card, the hole card."""
    given(a_table("coinlounge", 100, 100, 100, cards="2s 3s 4s 5s 6s 7s Ts Th"))
    when(Bet(3, 20), Bet(1, 20), Deal("ada"))
    then_among(HandsDealt(((1, "2s", "5s"), (3, "3s", "6s")), upcard="4s"))
    when(Stand(1), Stand(3))
    then_among(HoleCardRevealed("7s"))


def test_10_only_the_host_deals_and_the_longest_seated_hosts_next():
    given(a_table("coinlounge", 100, 100, 100, cards="Ts 6c 9d Th Kh"))
    when(Bet(3, 20), Deal("cyd"))
    then_refused(NotTheHost)
    when(Leave(1))
    then_among(HostMoved("bob"))
    when(Deal("bob"))
    then_among(HandsDealt(((3, "Ts", "9d"),), upcard="6c"))


@rows("""
    game
    a2g
    coinlounge
    classic
    european
""")
def test_11_the_hole_card_makes_no_difference_before_it_is_revealed(game):
    def told(hole: str):
        story = given(a_round(game, "Ts 2d", upcard="Kc", hole=hole, next_cards="3s 8h"))
        when(Hit(1))
        return story.log, story.table, legal_moves(story.table)

    assert told("9h") == told("2h") == told("Td")


@pytest.mark.parametrize("game", sorted(PUBLISHED))
def test_12_an_over_long_round_cannot_run_out_of_cards(game):
    """The smallest cards first, every seat taken, every pair split, and nobody ever stands."""
    rules = PUBLISHED[game]
    shoe = sorted(DECK * rules.decks, key=lambda card: (POINTS[card] == 1, POINTS[card], card[1]))
    story = given(a_table(game, *[100_000] * rules.seats, cards=" ".join(shoe)))
    when(*(Bet(seat, 10) for seat in range(1, rules.seats + 1)))
    if rules.deals == "host":
        when(Deal("ada"))
    while isinstance(story.table.stage, Round):
        moves = {move.type: move for move in legal_moves(story.table) if move.type in PLAY}
        move = moves.get("split") or moves["hit"]
        when(a_command(f"{move.type} {move.seat} {move.hand}"))
    end = story.log[-1]
    assert isinstance(end, SeedRevealed)
    assert end.drawn <= most_cards(rules) <= 52 * rules.decks
    assert sum(isinstance(event, HandSettled) for event in story.log) >= rules.seats
