"""Clocks: who does not act in time sits out, declines or stands, and the game goes on."""

import pytest
from msgspec import ValidationError, convert

from services.blackjack.domain.clock import Wait, waits_for
from services.blackjack.domain.commands import (
    Bet,
    BuyIn,
    CashOut,
    Close,
    DeclineInsurance,
    DoubleDown,
    Hit,
    Insure,
    Leave,
    Sit,
    SitOut,
    Split,
    Stand,
    TimeOut,
    WithdrawBet,
)
from services.blackjack.domain.events import (
    CardDealt,
    DealerPeeked,
    HandsDealt,
    HandStood,
    InsuranceDeclined,
    PlayerLeft,
    SeatSatOut,
    SeedRevealed,
)
from services.blackjack.domain.rejections import NotYourTurn, TableClosed, TooLate
from services.blackjack.domain.rules import Clocks
from services.blackjack.domain.table import Betting, Round
from services.blackjack.domain.view import view
from shared.kernel.moments import milliseconds, moment
from tests.domain.story import (
    AnyCommand,
    Story,
    a_round,
    a_table,
    given,
    round_opened,
    rows,
    then,
    then_among,
    then_net,
    then_refused,
    when,
)

SECOND = 1000


def the_clock(story: Story) -> Wait:
    wait = waits_for(story.table)
    assert wait is not None, "the table waits for nothing"
    return wait


def after(story: Story, seconds: int, *commands: AnyCommand) -> Story:
    """So many seconds later, these commands."""
    story.now += seconds * SECOND
    return story.play(*commands)


def time_is_out(story: Story) -> Story:
    """Nobody does anything until the clock runs out."""
    wait = the_clock(story)
    story.now = wait.due
    return story.play(TimeOut(wait.turn))


def seconds_left(story: Story) -> float:
    return (the_clock(story).due - story.now) / SECOND


@rows("""
    game         hand
    a2g          Ts 6d
    a2g          2s 3d
    a2g          As 2d
    coinlounge   8s 8d
""")
def test_a_hand_whose_time_is_out_stands_with_the_cards_it_holds(game, hand):
    story = given(a_round(game, hand, "Ts 7d", upcard="6c"))
    time_is_out(story)
    then(HandStood(1, 0))
    assert story.table.seat(1).hands[0].cards == tuple(hand.split())
    assert story.table.turn() == (2, 0)


def test_after_a_hit_the_hand_stands_with_what_it_has_got():
    story = given(a_round("a2g", "2s 3d", "Ts 7d", upcard="6c", next_cards="4c"))
    when(Hit(1))
    time_is_out(story)
    then(HandStood(1, 0))
    assert story.table.seat(1).hands[0].cards == ("2s", "3d", "4c")


def test_it_is_the_current_hand_alone_that_stands():
    story = given(a_round("a2g", "8s 8d", upcard="6c", next_cards="2c 3c"))
    when(Split(1))
    time_is_out(story)
    then(HandStood(1, 0), CardDealt(1, 1, "3c"))
    assert story.table.turn() == (1, 1)
    assert seconds_left(story) == 20, "the second hand has a clock of its own"


def test_a_natural_that_may_insure_stands_without_insurance():
    story = given(a_round("a2g", "As Kd", "Ts 7d", upcard="Ac"))
    time_is_out(story)
    then(HandStood(1, 0))
    assert story.table.seat(1).insurance == 0


def test_the_betting_clock_runs_from_the_first_bet_and_seats_without_one_sit_out():
    story = given(a_table("a2g", 100, 100, 100, cards="Ts 6d 9c 8h 7c 5d 4s"))
    assert waits_for(story.table) is None
    after(story, 100, Bet(2, 20))
    assert the_clock(story).kind == "betting"
    assert seconds_left(story) == 25
    after(story, 10, Bet(3, 20))
    assert seconds_left(story) == 15
    time_is_out(story)
    dealt = HandsDealt(((2, "Ts", "8h"), (3, "6d", "7c")), upcard="9c")
    then(SeatSatOut(1), round_opened(), dealt)


def test_at_coinlounge_the_cards_are_dealt_without_the_host():
    story = given(a_table("coinlounge", 100, 100, 100, cards="Ts 6c 8h 9d"))
    when(SitOut(3), Bet(2, 20))
    time_is_out(story)
    then(SeatSatOut(1), round_opened(), HandsDealt(((2, "Ts", "8h"),), upcard="6c"))
    assert story.table.turn() == (2, 0)


def test_when_every_bet_is_withdrawn_nothing_runs_and_the_next_bet_has_the_full_time():
    story = given(a_table("a2g", 100, 100))
    when(Bet(1, 20))
    late = the_clock(story)
    after(story, 20, WithdrawBet(1))
    assert waits_for(story.table) is None
    after(story, 4, Bet(2, 20))
    assert seconds_left(story) == 25
    after(story, 1, TimeOut(late.turn))
    then_refused(TooLate)
    assert seconds_left(story) == 24


def test_one_of_two_bets_withdrawn_leaves_the_clock_as_it_is():
    story = given(a_table("a2g", 100, 100, 100, cards="Ts 6c 8h 9d"))
    when(Bet(1, 20), Bet(2, 20))
    after(story, 5, WithdrawBet(1))
    assert seconds_left(story) == 20
    time_is_out(story)
    then_among(SeatSatOut(1), SeatSatOut(3), round_opened())


def test_the_insurance_clock_declines_what_is_open_and_the_dealer_peeks():
    story = given(a_round("coinlounge", "Ts 6d", "Ts 7d", "Ts 8d", upcard="Ac", hole="9d"))
    assert the_clock(story).kind == "insurance"
    after(story, 10, Insure(2))
    assert seconds_left(story) == 15
    time_is_out(story)
    then_among(InsuranceDeclined(1), InsuranceDeclined(3), DealerPeeked(natural=False))
    assert (story.table.seat(1).insurance, story.table.seat(3).insurance) == (0, 0)
    assert the_clock(story).kind == "action"
    assert seconds_left(story) == 25


@rows("""
    done
    hit
    stand
    double_down
    split
""")
def test_a_clock_that_fires_after_the_player_acted_does_nothing(done):
    story = given(a_round("a2g", "2s 2d", "Ts 7d", upcard="6c", next_cards="4c 5c 6h 7h"))
    late = TimeOut(the_clock(story).turn)
    moves = {"hit": Hit(1), "stand": Stand(1), "double_down": DoubleDown(1), "split": Split(1)}
    when(moves[done])
    table = story.table
    when(late)
    then_refused(TooLate)
    assert story.table == table


@rows("""
    turn
    –
    1
    1.1.1.0
    1.1.1.0.3
    1.2.1.0.2
    2.1.1.0.2
    1.insurance
    1.bets.0
""")
def test_another_turn_than_the_one_that_runs_is_too_late(turn):
    story = given(a_round("a2g", "Ts 6d", "Ts 7d", upcard="6c"))
    assert the_clock(story).turn == "1.1.1.0.2"
    when(TimeOut(str(turn)))
    then_refused(TooLate)


def test_each_decision_has_the_full_time():
    story = given(
        a_round("a2g", "2s 2d", "Ts 7d", upcard="6c", next_cards="3c 4c 5c 6h 7h 8h 9h Td Tc")
    )
    assert seconds_left(story) == 20
    for move in (Split(1), Hit(1), Stand(1), DoubleDown(1, 1)):
        after(story, 19, move)
        assert story.refusal is None
        assert seconds_left(story) == 20
    assert story.table.turn() == (2, 0)


def test_insurance_on_ones_turn_is_bought_in_the_time_of_the_turn():
    story = given(a_round("a2g", "Ts 6d", "Ts 7d", upcard="Ac"))
    after(story, 5, Insure(1))
    assert seconds_left(story) == 15


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (Hit(2), NotYourTurn),
        (Stand(1, 1), NotYourTurn),
        (TimeOut("1.9.1.0.2"), TooLate),
        (Sit(4, "dan", 50), None),
        (BuyIn(3, 50), None),
        (CashOut(3, 50), None),
        (Leave(3), None),
        (Leave(2), None),
    ],
)
def test_what_others_do_and_what_is_refused_moves_no_clock(command, reason):
    story = a_table("a2g", 100, 100, 100, cards="Ts Td 6c 6d 7d 9d 2c 3c")
    given(story)
    when(Bet(1, 20), Bet(2, 20), SitOut(3))
    assert isinstance(story.table.stage, Round)
    clock = the_clock(story)
    after(story, 7, command)
    if reason is None:
        assert story.refusal is None
    else:
        then_refused(reason)
    assert waits_for(story.table) == clock


@pytest.mark.parametrize(
    "command", [Sit(4, "dan", 50), Leave(3), SitOut(3), BuyIn(2, 5), CashOut(2, 5), Bet(3, 20)]
)
def test_what_others_do_moves_no_betting_clock(command):
    story = given(a_table("a2g", 100, 100, 100))
    when(Bet(1, 20))
    clock = the_clock(story)
    after(story, 7, command)
    assert story.refusal is None
    assert waits_for(story.table) == clock


def test_an_answer_to_insurance_moves_no_insurance_clock():
    story = given(a_round("coinlounge", "Ts 6d", "Ts 7d", "Ts 8d", upcard="Ac"))
    clock = the_clock(story)
    after(story, 7, DeclineInsurance(1), Leave(2))
    assert waits_for(story.table) == clock


@rows("""
    game
    classic
    european
""")
def test_games_without_clocks_wait_for_ever(game):
    story = given(a_round(game, "Ts 6d", upcard="6c"))
    assert waits_for(story.table) is None
    when(TimeOut("1.1.1.0.2"))
    then_refused(TooLate)


def test_a_table_has_the_clocks_it_was_opened_with():
    clock = Clocks(betting_seconds=60, action_seconds=1)
    story = given(a_table("coinlounge", 100, 100, cards="Ts Ac 6d 9d", clock=clock))
    when(Bet(1, 20))
    assert seconds_left(story) == 60
    time_is_out(story)
    assert isinstance(story.table.stage, Round)
    assert story.table.round.offers == (1,)
    assert waits_for(story.table) is None, "insurance may be answered at any time"
    when(DeclineInsurance(1))
    assert seconds_left(story) == 1


def test_clocks_may_be_given_to_a_game_that_has_none():
    clock = Clocks(action_seconds=3)
    story = given(a_round("classic", "Ts 6d", upcard="6c", clock=clock, next_cards="Td"))
    assert seconds_left(story) == 3
    time_is_out(story)
    assert isinstance(story.table.stage, Betting)


@rows("""
    game
    a2g
    coinlounge
""")
def test_an_abandoned_table_finishes_its_round_and_then_waits_for_nobody(game):
    story = given(a_table(game, 100, 100, 100, cards="Ts Td Ac 6d 7d 9d"))
    when(Bet(1, 20), Bet(2, 20))
    happened = []
    while waits_for(story.table):
        time_is_out(story)
        happened += story.events
    assert isinstance(story.table.stage, Betting)
    assert any(isinstance(event, SeedRevealed) for event in happened)
    assert [event for event in happened if isinstance(event, HandStood)] == [
        HandStood(1, 0),
        HandStood(2, 0),
    ]


def test_a_time_out_settles_what_it_ends_and_lets_leavers_go():
    story = given(a_round("a2g", "Ts 9d", "Ts 8d", upcard="6c", hole="Td", next_cards="Kc"))
    when(Leave(2))
    time_is_out(story)
    then_among(HandStood(1, 0), HandStood(2, 0), PlayerLeft(2, "bob", 1100))
    then_net(+100)


def test_a_seat_whose_stack_allows_no_bet_is_not_waited_for():
    given(a_table("a2g", 100, 1, cards="Ts 6c 8h 9d"))
    when(Bet(1, 20))
    then_among(round_opened())


def test_a_seat_that_cashes_out_what_it_could_bet_is_not_waited_for():
    story = given(a_table("a2g", 100, 100, cards="Ts 6c 8h 9d"))
    when(Bet(1, 20), CashOut(2, 99))
    then_among(round_opened())
    assert story.table.turn() == (1, 0)


def test_a_closed_table_has_no_clock():
    story = given(a_table("a2g", 100, 100))
    when(Bet(1, 20))
    late = TimeOut(the_clock(story).turn)
    when(Close())
    assert waits_for(story.table) is None
    when(late)
    then_refused(TableClosed)


def test_the_view_says_until_when_and_for_what():
    story = a_table("a2g", 100, 100)
    assert view(story.table, 1, 1).clock is None
    after(story, 5, Bet(1, 20))
    shown = view(story.table, 1, 1).clock
    assert shown is not None
    assert (shown.kind, shown.due) == ("betting", moment(30 * SECOND))


def test_the_view_has_the_commitment_to_the_round_that_is_bet_on():
    story = given(a_table("a2g", 100, cards="Ts 6c 8h 9d 5c"))
    before = view(story.table, 1, 1)
    assert before.next_commitment == story.seed.sealed.commitment
    when(Bet(1, 20))
    during = view(story.table, 1, 1)
    assert during.next_commitment is None
    assert during.round is not None
    assert during.round.commitment == before.next_commitment


def test_a_moment_is_exact_to_the_millisecond():
    for at in range(1_738_324_800_000, 1_738_324_801_000):
        assert milliseconds(moment(at)) == at


def test_a_clock_is_from_one_second_to_an_hour():
    for seconds in (0, -1, 3601, 1.5, "20", True):
        with pytest.raises(ValidationError):
            convert({"action_seconds": seconds}, Clocks)
    assert convert({"action_seconds": 3600}, Clocks).action_seconds == 3600
