"""Computer players at a table: who may sit, where their chips are, and when they are asked."""

import pytest
from msgspec import to_builtins

from services.blackjack.domain.commands import (
    Bet,
    BuyIn,
    CashOut,
    Close,
    Deal,
    Leave,
    SeatComputer,
    Sit,
    SitOut,
    Stand,
    TimeOut,
)
from services.blackjack.domain.computers import asked
from services.blackjack.domain.events import (
    ComputerSeated,
    HostMoved,
    PlayerLeft,
    PlayerSat,
    SeatSatOut,
)
from services.blackjack.domain.rejections import (
    NameReserved,
    NoSuchComputer,
    NotEnoughChips,
    SeatTaken,
    UnknownSeat,
)
from services.blackjack.domain.table import Computer
from services.blackjack.domain.view import view
from services.blackjack.players.choose import easy, moves_of
from shared.kernel.chips import ISSUANCE, stack, vault
from tests.domain.books import GRANT
from tests.domain.story import (
    a_round,
    a_table,
    given,
    rows,
    then,
    then_among,
    then_refused,
    when,
    when_all_stand,
)

EASY = SeatComputer(2, "easy", 100)
BOTH = "Ts Ts 6c 9d 8d 9h Kh Kc"


@rows("""
    game         level
    a2g          easy
    a2g          hard
    coinlounge   normal
    european     hard
""")
def test_a_computer_takes_a_free_seat_for_so_many_rounds(game, level):
    given(a_table(game, 200))
    when(SeatComputer(2, level, 100, rounds=7))
    then(PlayerSat(2, f"computer-{level}-2", 100), ComputerSeated(2, level, 100, last_round=7))


def test_rounds_are_counted_from_those_that_were_dealt_before():
    story = given(a_round("a2g", "Ts 9d", upcard="6c", hole="Td", next_cards="5h"))
    when(Stand(1))
    when(SeatComputer(2, "hard", 100, rounds=7))
    assert story.table.seat(2).computer == Computer("hard", 100, last_round=8)


def test_everybody_sees_which_seat_a_computer_plays():
    story = given(a_table("a2g", 200))
    when(EASY)
    person, computer = view(story.table, 1, 1).seats
    assert not person.computer
    assert computer.computer == Computer("easy", 100, last_round=100)


@pytest.mark.parametrize(
    ("game", "command", "reason"),
    [
        ("classic", SeatComputer(1, "easy", 100), NoSuchComputer),
        ("a2g", SeatComputer(1, "easy", 100), SeatTaken),
        ("coinlounge", SeatComputer(6, "easy", 100), UnknownSeat),
        ("a2g", SeatComputer(2, "easy", 1), NotEnoughChips),
        ("a2g", Sit(2, "computer-easy-2", 100), NameReserved),
        ("a2g", Sit(2, "computer-", 100), NameReserved),
    ],
)
def test_what_is_refused(game, command, reason):
    given(a_table(game, 100))
    when(command)
    then_refused(reason)


def test_a_computer_on_another_seat_is_another_player():
    story = given(a_table("a2g"))
    when(EASY, SeatComputer(3, "easy", 100))
    players = [seat.player for _, seat in story.table.seated()]
    assert players == ["computer-easy-2", "computer-easy-3"]


@rows("""
    game       from_the_issuance   in_the_vault
    a2g        100                 100
    european   0                   0
""")
def test_its_chips_are_granted_and_it_takes_home_what_is_left(
    game, from_the_issuance, in_the_vault
):
    story = given(a_table(game))
    when(EASY)
    books = story.books.balance
    granted = -GRANT * 7 - books[ISSUANCE]
    assert granted == 100
    assert books[vault("computer-easy-2")] == 0
    assert books[stack("t", "computer-easy-2")] == 100

    when(Leave(2))

    then(PlayerLeft(2, "computer-easy-2", 100))
    assert books[vault("computer-easy-2")] == in_the_vault
    assert -GRANT * 7 - books[ISSUANCE] == from_the_issuance


def test_what_it_brings_later_is_granted_too():
    story = given(a_table("a2g"))
    when(EASY, BuyIn(2, 50))
    assert story.books.balance[stack("t", "computer-easy-2")] == 150
    assert story.books.balance[vault("computer-easy-2")] == 0


@rows("""
    what                       acts
    nobody_has_bet             –
    a_person_has_bet           2
    all_people_sit_out         2
    the_person_has_no_chips    2
    the_person_is_gone         2
    the_computer_sits_out      –
    the_computer_has_bet       –
    its_rounds_are_over        2
    the_table_is_closed        –
""")
def test_when_a_computer_is_asked_for_its_bet(what, acts):
    stack = 1 if what == "the_person_has_no_chips" else 200
    given(story := a_table("a2g", stack, 200))  # bob keeps the cards from being dealt
    when(SitOut(2), SeatComputer(3, "easy", 100, rounds=1))
    ada = {
        "nobody_has_bet": (),
        "a_person_has_bet": (Bet(1, 20),),
        "all_people_sit_out": (SitOut(1),),
        "the_person_has_no_chips": (),
        "the_person_is_gone": (Leave(1),),
        "the_computer_sits_out": (SitOut(3),),
        "the_computer_has_bet": (Bet(3, 20),),
        "its_rounds_are_over": (),
        "the_table_is_closed": (Close(),),
    }[what]
    if what == "its_rounds_are_over":
        story.seed.cards = tuple(BOTH.split())
        ada = (Bet(1, 20), Bet(3, 20), Stand(1), Stand(3))
    when(*ada)
    assert story.refusal is None
    assert asked(story.table) == ({2: 3}[acts] if acts else None)


@pytest.mark.parametrize("offered", [False, True])
def test_in_a_round_it_is_asked_on_its_turn_and_for_insurance(offered):
    cards = f"Ts 8s {'Ac' if offered else '6c'} 9d 8d 9h Kh Kc 2c"
    story = given(a_table("coinlounge", 200, cards=cards))
    when(EASY, Bet(1, 20))
    assert asked(story.table) == 2
    when(Bet(2, 20))
    assert asked(story.table) is None, "the host deals, and is a person"
    when(Deal("ada"))
    assert asked(story.table) == (2 if offered else None)
    if not offered:
        when(Stand(1))
        assert asked(story.table) == 2
        when_all_stand()
        assert asked(story.table) is None


def test_a_computer_that_hosts_deals_when_it_waits_for_nobody():
    story = given(a_table("coinlounge", 100))
    when(EASY, Sit(3, "bob", 100))
    when(Leave(1))
    then(HostMoved("computer-easy-2"), PlayerLeft(1, "ada", 100))
    when(Bet(2, 1))
    assert asked(story.table) is None, "bob may still bet"
    when(SitOut(3))
    assert asked(story.table) == 2


@rows("""
    before           does
    bets             deal
    sits_out         bet
    has_no_chips     buy_in
""")
def test_a_computer_that_hosts_brings_chips_before_it_deals(before, does):
    story = given(a_table("coinlounge", 100))
    when(EASY, Sit(3, "bob", 100), Leave(1))
    when({"bets": Bet(2, 1), "sits_out": SitOut(2), "has_no_chips": CashOut(2, 100)}[before])
    when(Bet(3, 1))
    assert asked(story.table) == 2
    seen = view(story.table, 1, 1)
    assert to_builtins(easy(seen, moves_of(seen, 2)))["type"] == does


def test_a_table_of_computers_alone_is_asked_at_once():
    story = given(a_table("a2g"))
    when(EASY, SeatComputer(3, "hard", 100))
    assert asked(story.table) == 2
    when(Bet(2, 2))
    assert asked(story.table) == 3


def test_one_that_can_bet_no_more_is_asked_before_the_others_bet():
    """As soon as they have, the cards are dealt without it."""
    story = given(a_table("a2g"))
    when(EASY, SeatComputer(3, "hard", 100), CashOut(3, 99))
    assert asked(story.table) == 3
    when(BuyIn(3, 100))
    assert asked(story.table) == 2


def test_one_that_can_bet_no_more_is_asked_before_a_person_bets():
    story = given(a_table("a2g", 200))
    when(EASY, CashOut(2, 99))
    assert asked(story.table) == 2
    when(BuyIn(2, 100))
    assert asked(story.table) is None, "now it waits for ada"


def test_its_clock_runs_as_for_anybody():
    story = given(a_table("a2g", 200, cards="Ts 9s 6c 9d 8d 9h Kh Kc"))
    when(EASY, Bet(1, 20))
    when(TimeOut("1.bets.0"))
    then_among(SeatSatOut(2))
    assert story.table.seat(2).hands == ()
