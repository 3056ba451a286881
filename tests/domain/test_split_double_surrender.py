"""More stakes and fewer: split, double down, surrender, and the hit on 21."""

from services.blackjack.domain.commands import DoubleDown, Hit, Split, Stand, Surrender
from services.blackjack.domain.events import (
    CardDealt,
    HandDoubled,
    HandSettled,
    HandSplit,
    HandStood,
)
from services.blackjack.domain.rejections import (
    DoubleNotAllowed,
    HandClosed,
    SplitNotAllowed,
    SurrenderNotAllowed,
)
from tests.domain.story import (
    a_round,
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


@rows("""
    game         hand    moves
    a2g          Ts 6d   hit stand double_down
    a2g          8s 8d   hit stand double_down split
    a2g          Ts Kd   hit stand double_down
    a2g          Ts Td   hit stand double_down split
    a2g          As Ad   hit stand double_down split
    coinlounge   Ts 6d   hit stand double_down
    coinlounge   8s 8d   hit stand double_down split
    coinlounge   Ts Kd   hit stand double_down
    classic      Ts 6d   hit stand double_down surrender
    classic      8s 8d   hit stand double_down surrender
    european     8s 8d   hit stand double_down split
    european     Ts Kd   hit stand double_down split
    european     Js Qd   hit stand double_down split
    european     As Ad   hit stand double_down split
    european     9s Td   hit stand double_down
""")
def test_what_a_first_decision_may_be(game, hand, moves):
    given(a_round(game, hand, upcard="6c"))
    then_legal(moves)


@rows("""
    game         hand    next        moves
    a2g          4s 4d   Kh          hit stand
    a2g          4s 3d   2h          hit stand
    coinlounge   4s 4d   Kh          hit stand
    classic      4s 3d   2h          hit stand
    european     4s 4d   Kh          hit stand
    european     7s 7d   7h          hit stand
""")
def test_after_a_hit_a_hand_only_hits_or_stands(game, hand, next, moves):
    given(a_round(game, hand, upcard="6c", next_cards=next))
    when(Hit(1))
    then_legal(moves)
    when(Split(1))
    then_refused(SplitNotAllowed)
    when(DoubleDown(1))
    then_refused(DoubleNotAllowed)
    when(Surrender(1))
    then_refused(SurrenderNotAllowed)


@rows("""
    game         hand    next
    a2g          7s 5d   9h
    coinlounge   7s 5d   9h
    classic      7s 5d   9h
    a2g          As 5d   5h
""")
def test_a_hand_of_21_stands_by_itself(game, hand, next):
    given(a_round(game, hand, upcard="Tc", hole="Th", next_cards=next))
    when(Hit(1))
    then_among(CardDealt(1, 0, next), HandStood(1, 0), HandSettled(1, 0, "win", 100, 200))


def test_the_european_may_hit_on_21_while_it_is_not_over_21():
    given(a_round("european", "As 5d", upcard="Tc", hole="Th", next_cards="5h Kh Kc"))
    when(Hit(1))
    then(CardDealt(1, 0, "5h"))
    then_legal("hit stand")
    when(Hit(1))
    then(CardDealt(1, 0, "Kh"))
    then_legal("hit stand")
    when(Hit(1))
    then_among(CardDealt(1, 0, "Kc"), HandSettled(1, 0, "bust", 100, 0))


@rows("""
    game         hand    card   result   net
    a2g          6s 5d   Th     win      +200
    coinlounge   6s 5d   Th     win      +200
    classic      6s 5d   Th     win      +200
    european     6s 5d   Th     win      +200
    a2g          6s 5d   2h     loss     -200
    a2g          6s 5d   9h     push     0
    a2g          Ts 6d   Kh     bust     -200
    european     Ts 6d   Kh     bust     -200
    classic      Ts 6d   Kh     bust     -200
""")
def test_a_double_takes_one_more_stake_and_one_card(game, hand, card, result, net):
    given(a_round(game, hand, upcard="Tc", hole="Qh", next_cards=card))
    when(DoubleDown(1))
    stood = [] if result == "bust" else [HandStood(1, 0)]
    then_among(HandDoubled(1, 0, 100), CardDealt(1, 0, card), *stood)
    then_net(net)


@rows("""
    game         moves
    a2g          hit stand double_down
    coinlounge   hit stand
    european     hit stand double_down
""")
def test_a_split_hand_has_its_second_card_before_double_is_offered(game, moves):
    given(a_round(game, "8s 8d", upcard="6c", next_cards="3h 9h"))
    when(Split(1))
    then(HandSplit(1, 0, 100), CardDealt(1, 0, "3h"))
    then_legal(moves)


def test_the_coinlounge_does_not_double_after_a_split():
    given(a_round("coinlounge", "8s 8d", upcard="6c", next_cards="3h 9h"))
    when(Split(1), DoubleDown(1))
    then_refused(DoubleNotAllowed)


@rows("""
    game         hands   moves
    a2g          4       hit stand double_down
    european     4       hit stand double_down
    coinlounge   2       hit stand
""")
def test_a_pair_is_split_up_to_the_hands_of_a_seat(game, hands, moves):
    """8,8 → 8,8 → 8,8: a fourth hand is allowed, a fifth is not."""
    story = given(a_round(game, "8s 8d", upcard="6c", next_cards="8h 8c 8s 8d"))
    for _ in range(hands - 1):
        when(Split(1))
        then_among(HandSplit(1, 0, 100))
    assert len(story.table.seat(1).hands) == hands
    then_legal(moves)
    when(Split(1))
    then_refused(SplitNotAllowed)


@rows("""
    game
    a2g
    coinlounge
    european
""")
def test_split_aces_receive_one_card_each(game):
    given(a_round(game, "As Ad", upcard="6c", hole="Kh", next_cards="9h Ah Kc"))
    when(Split(1))
    then_among(
        HandSplit(1, 0, 100),
        CardDealt(1, 0, "9h"),
        HandStood(1, 0),
        CardDealt(1, 1, "Ah"),
        HandStood(1, 1),
    )
    then_net(+200)


def test_a_stack_that_just_covers_it_is_enough():
    story = given(a_round("a2g", "8s 8d", upcard="6c", stack=100, next_cards="2h"))
    then_legal("hit stand double_down split")
    when(Split(1))
    assert story.table.seat(1).stack == 0
    then_legal("hit stand")


def test_a_double_of_the_largest_classic_bet_is_legal():
    story = given(a_round("classic", "6s 5d", upcard="Tc", hole="7h", stack=100, next_cards="Th"))
    when(DoubleDown(1))
    then_net(+200)
    assert story.table.seat(1).stack == 400


@rows("""
    bet   refund   net
    5     2        -3
    6     3        -3
    100   50       -50
""")
def test_a_surrender_refunds_half_the_bet_rounded_down(bet, refund, net):
    given(a_round("classic", "Ts 6d", upcard="Tc", bet=bet))
    when(Surrender(1))
    then_among(HandSettled(1, 0, "surrender", bet, refund))
    then_net(net)


@rows("""
    game
    a2g
    coinlounge
    european
""")
def test_a_game_without_surrender_refuses_it(game):
    given(a_round(game, "Ts 6d", upcard="6c"))
    when(Surrender(1))
    then_refused(SurrenderNotAllowed)


def test_a_surrender_after_a_hit_is_refused():
    given(a_round("classic", "Ts 2d", upcard="6c", next_cards="2h"))
    when(Hit(1), Surrender(1))
    then_refused(SurrenderNotAllowed)


def test_a_dealer_natural_takes_the_whole_bet_before_surrender():
    given(a_round("classic", "Ts 6d", upcard="Tc", hole="Ah"))
    then_net(-100)


@rows("""
    game         hand
    classic      8s 8d
    a2g          Ts 6d
    a2g          Ts Kd
    coinlounge   Ts Kd
    european     9s Td
""")
def test_a_split_wants_a_pair_and_a_game_that_splits(game, hand):
    given(a_round(game, hand, upcard="6c"))
    when(Split(1))
    then_refused(SplitNotAllowed)


def test_a_natural_takes_no_card():
    given(a_round("a2g", "As Kd", upcard="Ac"))
    when(Hit(1))
    then_refused(HandClosed)


def test_each_hand_of_a_split_wins_or_loses_for_itself():
    given(a_round("a2g", "8s 8d", upcard="Tc", hole="7h", next_cards="Th 2c 5c"))
    when(Split(1), Stand(1, 0), Hit(1, 1))
    when_all_stand()
    then_among(HandSettled(1, 0, "win", 100, 200), HandSettled(1, 1, "loss", 100, 0))
