"""Who sits where, who watches, who hosts, who deals, and how one goes."""

from services.blackjack.domain.commands import (
    Bet,
    BuyIn,
    Close,
    Deal,
    DeclineInsurance,
    Hit,
    Insure,
    Leave,
    Sit,
    SitOut,
    Split,
    Stand,
    WithdrawBet,
)
from services.blackjack.domain.events import (
    BetPlaced,
    BetWithdrawn,
    CardDealt,
    ChipsBoughtIn,
    HandsDealt,
    HandSettled,
    HandStood,
    HoleCardRevealed,
    HostMoved,
    InsuranceSettled,
    PlayerLeaving,
    PlayerLeft,
    PlayerSat,
    RoundOpened,
    SeatSatOut,
    TableWasClosed,
)
from services.blackjack.domain.moves import legal_moves
from services.blackjack.domain.rejections import (
    AlreadyLeaving,
    AlreadySatOut,
    AlreadySeated,
    BetAlreadyPlaced,
    NobodyDeals,
    NoRound,
    NotTheHost,
    NotYourTurn,
    RoundInProgress,
    SeatEmpty,
    SeatTaken,
    TableClosed,
    UnknownSeat,
)
from services.blackjack.domain.table import Betting, Round
from tests.domain.story import (
    a_command,
    a_round,
    a_table,
    given,
    rows,
    then,
    then_among,
    then_posted,
    then_refused,
    when,
    when_all_stand,
)

TWO = "Ts Ts 6c 9d 8d 9h Kh Kc"
ONE = "Ts 6c 9d 9h Kh Kc"


def test_a_seat_is_taken_with_chips_from_the_vault():
    given(a_table("a2g"))
    when(Sit(3, "cyd", 200))
    then(PlayerSat(3, "cyd", 200))
    then_posted("""
        cyd          +200
        cyd's vault  -200
    """)


def test_a_seat_that_is_taken_unknown_or_a_second_one_is_refused():
    given(a_table("coinlounge", 100))
    when(Sit(1, "bob", 100))
    then_refused(SeatTaken)
    when(Sit(6, "bob", 100))
    then_refused(UnknownSeat)
    when(Sit(2, "ada", 100))
    assert then_refused(AlreadySeated).facts == {"seat": 1}


@rows("""
    move
    stand
    leave
    sit_out
    withdraw_bet
    insure
""")
def test_a_command_names_a_seat_with_somebody_on_it(move):
    given(a_table("coinlounge", 100))
    when(a_command(f"{move} 2"))
    then_refused(SeatEmpty)
    when(a_command(f"{move} 7"))
    then_refused(UnknownSeat)


def test_who_joins_in_mid_round_watches_it_and_bets_in_the_next():
    story = given(a_round("a2g", "Ts 6d", upcard="Tc", hole="8h"))
    when(Sit(2, "bob", 200))
    then(PlayerSat(2, "bob", 200))
    when(Bet(2, 20))
    then_refused(RoundInProgress)
    when(Stand(2))
    then_refused(NotYourTurn)
    when(Stand(1))
    assert not any(event.seat == 2 for event in story.events if isinstance(event, HandSettled))
    when(Bet(2, 20))
    then(BetPlaced(2, 20))


def test_a_watcher_may_buy_in_and_leave_in_mid_round():
    given(a_round("a2g", "Ts 6d", upcard="Tc", hole="8h"))
    when(Sit(2, "bob", 200), BuyIn(2, 10), Leave(2))
    then_among(PlayerLeft(2, "bob", 210))


@rows("""
    command
    bet
    withdraw_bet
    sit_out
    deal
    close
""")
def test_what_belongs_between_rounds_is_refused_while_cards_lie(command):
    given(a_round("coinlounge", "Ts 6d", upcard="Tc", hole="8h"))
    commands = {"bet": Bet(1, 20), "deal": Deal("ada"), "close": Close()}
    when(commands.get(command) or a_command(command))
    then_refused(RoundInProgress)


@rows("""
    move
    hit
    stand
    double_down
    split
    surrender
""")
def test_without_cards_no_hand_plays(move):
    given(a_table("a2g", 100))
    when(a_command(move))
    then_refused(NoRound)


def test_only_the_host_deals_in_the_coinlounge():
    given(a_table("coinlounge", 100, 100, cards=TWO))
    when(Bet(1, 20), Bet(2, 20))
    then(BetPlaced(1, 20), BetPlaced(2, 20))
    when(Deal("bob"))
    assert then_refused(NotTheHost).facts == {"host": "ada"}
    when(Deal("ada"))
    then_among(HandsDealt(((1, "Ts", "9d"), (2, "Ts", "8d")), upcard="6c"))


@rows("""
    game
    a2g
    classic
    european
""")
def test_a_game_dealt_by_the_server_has_no_deal(game):
    given(a_table(game, 100))
    when(Deal("ada"))
    then_refused(NobodyDeals)


def test_the_host_may_deal_without_a_bet_of_their_own():
    given(a_table("coinlounge", 100, 100, cards=ONE))
    when(Bet(2, 20), Deal("ada"))
    then_among(HandsDealt(((2, "Ts", "9d"),), upcard="6c"))


@rows("""
    last_word
    bet
    sit_out
    leave
""")
def test_the_server_deals_when_every_seat_has_bet_or_sat_out(last_word):
    cards = TWO if last_word == "bet" else ONE
    story = given(a_table("a2g", 100, 100, cards=cards))
    when(Bet(1, 20))
    then(BetPlaced(1, 20))
    when(Bet(2, 20) if last_word == "bet" else a_command(f"{last_word} 2"))
    assert any(isinstance(event, RoundOpened) for event in story.events)


def test_the_server_does_not_deal_when_everybody_sits_out():
    given(a_table("a2g", 100, 100))
    when(SitOut(1), SitOut(2))
    then(SeatSatOut(1), SeatSatOut(2))


def test_at_a_single_seat_the_bet_deals():
    given(a_table("classic", 100, cards=ONE))
    when(Bet(1, 20))
    then_among(BetPlaced(1, 20), HandsDealt(((1, "Ts", "9d"),), upcard="6c"))


def test_sitting_out_is_for_one_round_and_a_bet_takes_it_back():
    story = given(a_table("a2g", 100, 100, cards=ONE))
    when(SitOut(2))
    when(SitOut(2))
    then_refused(AlreadySatOut)
    when(Bet(1, 20), Stand(1))
    assert not story.table.seat(2).sits_out
    when(SitOut(2), Bet(2, 20))
    then(SeatSatOut(2), BetPlaced(2, 20))
    when(SitOut(2))
    then_refused(BetAlreadyPlaced)


def test_a_withdrawn_bet_is_forgotten_with_its_client_seed_and_makes_the_others_wait_again():
    story = given(a_table("a2g", 100, 100))
    when(SitOut(1), Bet(1, 20, "lucky"), WithdrawBet(1))
    then(SeatSatOut(1), BetPlaced(1, 20, "lucky"), BetWithdrawn(1, 20))
    seat = story.table.seat(1)
    assert (seat.bet, seat.client_seed, seat.sits_out) == (0, None, False)
    when(SitOut(2))
    then(SeatSatOut(2))
    assert isinstance(story.table.stage, Betting)


def test_leaving_between_rounds_takes_bet_and_stack_along():
    given(a_table("coinlounge", 100, 100))
    when(Bet(2, 30), Leave(2))
    then(BetPlaced(2, 30), BetWithdrawn(2, 30), PlayerLeft(2, "bob", 100))


def test_a_live_bet_is_never_lost_by_leaving_the_hand_stands_and_settles():
    given(a_round("a2g", "Ts 9d", "Ts 8d", upcard="Tc", hole="8h"))
    when(Leave(2))
    then(PlayerLeaving(2))
    when(Leave(2))
    then_refused(AlreadyLeaving)
    when(Stand(1))
    then_among(
        HandStood(2, 0),
        HandSettled(2, 0, "push", 100, 100),
        PlayerLeft(2, "bob", 1000),
    )


def test_leaving_in_the_own_turn_passes_it_on_at_once():
    given(a_round("a2g", "Ts 9d", "Ts 8d", upcard="Tc", hole="8h"))
    when(Leave(1))
    then(HostMoved("bob"), PlayerLeaving(1), HandStood(1, 0))
    when(Stand(2))
    then_among(HandSettled(1, 0, "win", 100, 200), PlayerLeft(1, "ada", 1100))


def test_leaving_as_the_last_to_act_ends_the_round():
    given(a_round("a2g", "Ts 9d", upcard="Tc", hole="8h"))
    when(Leave(1))
    then_among(
        HostMoved(None),
        PlayerLeaving(1),
        HandStood(1, 0),
        HoleCardRevealed("8h"),
        HandSettled(1, 0, "win", 100, 200),
        PlayerLeft(1, "ada", 1100),
    )
    then_posted("""
        ada          +200
        in_play      -100
        bank         -100
        ada          -1100
        ada's vault  +1100
    """)


def test_leaving_after_a_split_gives_the_second_hand_its_card_and_stands():
    given(a_round("a2g", "8s 8d", upcard="Tc", hole="7h", next_cards="2h Kh"))
    when(Split(1), Leave(1))
    then_among(
        PlayerLeaving(1),
        HandStood(1, 0),
        CardDealt(1, 1, "Kh"),
        HandStood(1, 1),
        HandSettled(1, 0, "loss", 100, 0),
        HandSettled(1, 1, "win", 100, 200),
        PlayerLeft(1, "ada", 1000),
    )


def test_leaving_after_a_bust_waits_for_the_insurance_to_settle():
    given(a_round("a2g", "Ts 6d", "Ts 8d", upcard="Ac", hole="Kc", next_cards="9h"))
    when(Insure(1), Hit(1))
    when(Leave(1))
    then(HostMoved("bob"), PlayerLeaving(1))
    when(Stand(2))
    then_among(InsuranceSettled(1, 50, 150), PlayerLeft(1, "ada", 1000))


def test_who_is_leaving_goes_at_the_end_of_the_round_though_the_natural_was_paid_before():
    """Till then the stack is the player's: logs have chips that came to it. They go home too."""
    given(a_round("coinlounge", "As Kd", "Ts 8d", upcard="Ac", hole="8h"))
    when(Leave(1), DeclineInsurance(2))
    then_among(HandSettled(1, 0, "natural", 100, 250))
    when(Leave(1))
    then_refused(AlreadyLeaving)
    when(BuyIn(1, 50))
    then(ChipsBoughtIn(1, 50))
    when(Stand(2))
    then_among(PlayerLeft(1, "ada", 1200))


def test_leaving_after_the_own_hands_are_settled_goes_at_once():
    story = given(a_round("a2g", "Ts 6d", "Ts 8d", upcard="Tc", hole="8h", next_cards="9h"))
    when(Hit(1), Leave(1))
    then_among(HandSettled(1, 0, "bust", 100, 0), PlayerLeft(1, "ada", 900))
    assert isinstance(story.table.stage, Round)
    when(Sit(1, "cyd", 100), Stand(2))
    then_among(PlayerSat(1, "cyd", 100), HandSettled(2, 0, "push", 100, 100))


def test_the_longest_seated_hosts_when_the_host_leaves():
    story = given(a_table("coinlounge", 100, 100, 100))
    when(Leave(2), Sit(2, "dan", 100), Leave(1))
    then_among(HostMoved("cyd"), PlayerLeft(1, "ada", 100))
    when(Leave(3))
    then_among(HostMoved("dan"))
    when(Leave(2))
    then_among(HostMoved(None))
    assert not [move for move in legal_moves(story.table) if move.type == "deal"]
    when(Sit(5, "eve", 100))
    then(PlayerSat(5, "eve", 100), HostMoved("eve"))


def test_who_is_leaving_does_not_become_the_host():
    given(a_round("coinlounge", "Ts 9d", "Ts 8d", "Ts 7d", upcard="6c", hole="8h"))
    when(Leave(2), Leave(1))
    then_among(PlayerLeaving(2), HostMoved("cyd"), PlayerLeaving(1))


def test_a_closed_table_takes_no_further_command():
    story = given(a_table("a2g", 100))
    when(Close())
    then(PlayerLeft(1, "ada", 100), TableWasClosed())
    assert legal_moves(story.table) == []
    for command in (Sit(1, "ada", 100), Bet(1, 20), Close(), Stand(1), Insure(1)):
        when(command)
        then_refused(TableClosed)


def test_hands_lie_open_until_the_next_deal_and_then_only_bettors_have_hands():
    story = given(a_round("a2g", "Ts 9d", "Ts 8d", upcard="Tc", hole="8h", next_cards="Kd"))
    when_all_stand()
    assert [len(seat.hands) for _, seat in story.table.seated()] == [1, 1]
    assert story.table.stage.last.dealer == ("Tc", "8h")
    when(SitOut(2), Bet(1, 20))
    assert [len(seat.hands) for _, seat in story.table.seated()] == [1, 0]
