"""What events do to a player's chips and to the bank, in stories that were added up by hand."""

from services.audit.domain.statement import Movement, at_a_table, at_a_vault, words
from services.blackjack.domain.commands import (
    Bet,
    BuyIn,
    BuyItem,
    CashOut,
    DoubleDown,
    Insure,
    Leave,
    SeatComputer,
    Split,
    Stand,
    StartRun,
    Surrender,
    WithdrawBet,
)
from services.blackjack.domain.evolve import evolve
from services.ledger.domain.events import ChipsBroughtFromTable, ChipsGranted, ChipsTakenToTable
from tests.domain.story import Story, a_round, a_table, given, when, when_all_stand


def movements(story: Story) -> list[Movement]:
    """Of all events since the table was opened."""
    table, moved = None, []
    for event in story.log:
        table = evolve(table, event)
        moved.append(at_a_table(event, table))
    return [each for each in moved if each]


def then_lines(story: Story, lines: str) -> None:
    """Exactly these: what came to the player, to the stakes, and to the bank; then the words."""
    told = [f"{m.amount:+} {m.at_risk:+} {m.bank:+} {words(m)}" for m in movements(story)]
    assert told == [" ".join(line.split()) for line in lines.strip().splitlines()]


def test_a_bet_leaves_the_account_and_a_win_comes_back_to_it():
    story = given(a_round("a2g", "Th 9s", upcard="6c", hole="Td", next_cards="8h"))
    when_all_stand()

    then_lines(
        story,
        """
        +1000    +0    +0 ada takes a seat at table t with 1000 chips.
         -100  +100    +0 ada bets 100 in round t.1.
         +200  -100  -100 ada wins 100 in round t.1: 200 come back.
        """,
    )


def test_a_hand_that_is_lost_brings_nothing():
    story = given(a_round("a2g", "Th 7s", "Th 8s", upcard="9c", hole="9d"))
    when_all_stand()

    then_lines(
        story,
        """
        +1000    +0    +0 ada takes a seat at table t with 1000 chips.
        +1000    +0    +0 bob takes a seat at table t with 1000 chips.
         -100  +100    +0 ada bets 100 in round t.1.
         -100  +100    +0 bob bets 100 in round t.1.
           +0  -100  +100 ada loses 100 in round t.1.
         +100  -100    +0 bob pushes in round t.1: 100 come back.
        """,
    )


def test_the_hands_of_a_split_have_lines_of_their_own():
    """8-8 against 6: the first hand doubles and wins, so does the second; the dealer busts."""
    cards = "3h Td Th 9h"
    story = given(a_round("a2g", "8h 8s", upcard="6c", hole="Td", next_cards=cards))
    when(Split(1), DoubleDown(1, 0), Stand(1, 1))

    then_lines(
        story,
        """
        +1000    +0    +0 ada takes a seat at table t with 1000 chips.
         -100  +100    +0 ada bets 100 in round t.1.
         -100  +100    +0 ada's first hand splits in round t.1, with 100 on the new hand.
         -100  +100    +0 ada's first hand doubles down with 100 more in round t.1.
         +400  -200  -200 ada's first hand wins 200 in round t.1: 400 come back.
         +200  -100  -100 ada's second hand wins 100 in round t.1: 200 come back.
        """,
    )


def test_insurance_is_a_stake_of_its_own():
    """Insured for half, the dealer has a natural: what the hand loses the insurance wins."""
    story = given(a_round("coinlounge", "Th 9s", upcard="Ac", hole="Kd"))
    when(Insure(1))

    then_lines(
        story,
        """
        +1000    +0    +0 ada takes a seat at table t with 1000 chips.
         -100  +100    +0 ada bets 100 in round t.1.
          -50   +50    +0 ada takes insurance for 50 in round t.1.
         +150   -50  -100 ada's insurance wins 100 in round t.1: 150 come back.
           +0  -100  +100 ada loses 100 in round t.1.
        """,
    )


def test_insurance_that_is_lost_brings_nothing():
    story = given(a_round("coinlounge", "Th 9s", upcard="Ac", hole="7d"))
    when(Insure(1))
    when(Stand(1, 0))

    then_lines(
        story,
        """
        +1000    +0    +0 ada takes a seat at table t with 1000 chips.
         -100  +100    +0 ada bets 100 in round t.1.
          -50   +50    +0 ada takes insurance for 50 in round t.1.
           +0   -50   +50 ada's insurance loses 50 in round t.1.
         +200  -100  -100 ada wins 100 in round t.1: 200 come back.
        """,
    )


def test_half_comes_back_of_what_is_surrendered_and_a_run_goes_on():
    story = given(a_round("classic", "Th 6s", upcard="9c", hole="8d", bet=5, stack=95))
    when(Surrender(1))

    then_lines(
        story,
        """
        +100  +0  +0 ada starts a run at table t with 100 chips.
          -5  +5  +0 ada bets 5 in round t.1.
          +2  -5  +3 ada surrenders in round t.1: 2 of 5 come back.
        """,
    )


def test_a_run_of_granted_chips_takes_them_back_with_its_end():
    story = given(a_table("classic"))
    when(StartRun(1, "ada"), Leave(1))

    then_lines(
        story,
        """
        +100  +0  +0 ada starts a run at table t with 100 granted chips.
        -100  +0  +0 ada ends the run at table t: 100 chips go back.
        """,
    )


def test_an_item_is_sold_by_the_bank():
    story = given(a_table("classic", 100))
    item = story.table.rules.items[0]
    when(BuyItem(1, item.name))

    then_lines(
        story,
        f"""
        +100  +0  +0 ada starts a run at table t with 100 chips.
        -{item.price}  +0  +{item.price} ada buys {item.name} for {item.price} chips at table t.
        """,
    )


def test_chips_come_to_the_table_and_go_home():
    story = given(a_table("a2g", 400))
    when(BuyIn(1, 50), CashOut(1, 100))

    then_lines(
        story,
        """
        +400  +0  +0 ada takes a seat at table t with 400 chips.
         +50  +0  +0 ada buys in at table t with 50 chips.
        -100  +0  +0 ada cashes out 100 at table t.
        """,
    )


def test_a_bet_that_is_taken_back_and_a_seat_that_is_left():
    story = given(a_table("coinlounge", 400))
    when(Bet(1, 20), WithdrawBet(1), Leave(1))

    then_lines(
        story,
        """
        +400   +0  +0 ada takes a seat at table t with 400 chips.
         -20  +20  +0 ada bets 20 in round t.1.
         +20  -20  +0 ada takes the bet of 20 in round t.1 back.
        -400   +0  +0 ada leaves table t with 400 chips.
        """,
    )


def test_a_computer_has_an_account_like_anybody():
    story = given(a_table("european"))
    when(SeatComputer(2, "easy", 100, 1))

    then_lines(
        story,
        "+100 +0 +0 computer-easy-2 takes a seat at table t with 100 granted chips.",
    )


def test_what_happens_to_a_vault():
    told = [
        at_a_vault(ChipsGranted("ada", 1000)),
        at_a_vault(ChipsTakenToTable("ada", "t", 400)),
        at_a_vault(ChipsBroughtFromTable("ada", "t", 350)),
    ]

    assert [(each.amount, words(each)) for each in told if each] == [
        (1000, "ada is granted 1000 chips."),
        (-400, "400 chips of ada go from the vault to table t."),
        (350, "350 chips of ada come from table t to the vault."),
    ]
    assert at_a_vault("anything else") is None
