"""One round of each game, read out."""

from collections.abc import Container
from functools import partial

from services.audit.domain.recall import Recall, Result, recall
from services.audit.domain.sentences import sentences
from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.commands import (
    Bet,
    BuyIn,
    Deal,
    DeclineInsurance,
    DoubleDown,
    Hit,
    Insure,
    Leave,
    Sit,
    SitOut,
    Split,
    Stand,
    StartRun,
    Surrender,
    TimeOut,
    WithdrawBet,
)
from services.blackjack.domain.events import BetPlaced, Event, RunEnded, RunStarted
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.table import Table
from tests.domain.story import Story, a_round, a_table, given, when

bet_20 = partial(a_round, bet=20, stack=180)


def told(story: Story, time_outs: Container[int] = ()) -> Recall:
    """The recall of the story's round, from its first bet on."""
    first = next(n for n, event in enumerate(story.log) if isinstance(event, BetPlaced))
    table: Table | None = None
    for event in story.log[:first]:
        table = evolve(table, event)
    assert table is not None
    events: list[Event] = story.log[first:]
    return recall(table, events, first + 1, time_outs)


def read_out(story: Story) -> list[str]:
    return [step.text for step in told(story).steps]


def read_out_with_the_clock(story: Story) -> list[str]:
    """Whenever the table waits for somebody, the clock acts."""
    time_outs = []
    while wait := waits_for(story.table):
        time_outs.append(len(story.log) + 1)
        story.play(TimeOut(wait.turn))
    return [step.text for step in told(story, time_outs).steps]


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def test_a2g_insurance_on_turn_splits_doubles_and_a_natural_that_waits():
    story = given(
        bet_20("a2g", "8h 8c", "As Kd", upcard="Ac", hole="5d", next_cards="3c Td 8s Ah 9h 5c 4c")
    )
    when(Insure(1), Split(1), DoubleDown(1), Split(1, 1), Hit(1, 1), Stand(1, 1), Stand(1, 2))
    when(Stand(2))

    assert read_out(story) == lines("""
        ada bets 20 of 200 chips.
        bob bets 20 of 200 chips.
        The shoe is shuffled; the commitment to its seed begins with 630dcd29.
        The dealer shows the ace of clubs.
        ada holds the 8 of hearts and the 8 of clubs: 16.
        bob holds the ace of spades and the king of diamonds: a natural.
        ada takes insurance for 10.
        ada splits the 8 of hearts and the 8 of clubs, with 20 more on the new hand.
        ada's first hand gets the 3 of clubs: 11.
        ada's first hand doubles down with 20 more: 40 at stake.
        ada's first hand draws the 10 of diamonds: 21.
        ada's second hand gets the 8 of spades: 16.
        ada's second hand splits the 8 of clubs and the 8 of spades, with 20 more on the new hand.
        ada's second hand gets the ace of hearts: soft 19.
        ada's second hand hits and draws the 9 of hearts: 18.
        ada's second hand stands on 18.
        ada's third hand gets the 5 of clubs: 13.
        ada's third hand stands on 13.
        bob waits for the dealer with a natural.
        The dealer turns over the 5 of diamonds: soft 16.
        The dealer draws the 4 of clubs: soft 20.
        ada's insurance loses 10.
        ada's first hand wins 40.
        ada's second hand loses 20.
        ada's third hand loses 20.
        bob wins 30 with a natural.
        The seed is revealed and begins with 00010203; 13 cards left the shoe.
        ada ends the round with 190 chips, 10 down.
        bob ends the round with 230 chips, 30 up.
    """)


def test_coinlounge_insurance_for_all_and_a_dealer_who_busts():
    cards = "3c Td Ts Jd"
    story = given(
        bet_20("coinlounge", "8h 8c", "As Kd", "5c 6c", upcard="Ac", hole="5d", next_cards=cards)
    )
    when(Insure(1), DeclineInsurance(2), DeclineInsurance(3), Hit(1), Stand(1), Hit(3))

    assert read_out(story) == lines("""
        ada bets 20 of 200 chips.
        bob bets 20 of 200 chips.
        cyd bets 20 of 200 chips.
        The shoe is shuffled; the commitment to its seed begins with 630dcd29.
        The dealer shows the ace of clubs.
        ada holds the 8 of hearts and the 8 of clubs: 16.
        bob holds the ace of spades and the king of diamonds: a natural.
        cyd holds the 5 of clubs and the 6 of clubs: 11.
        Insurance is offered to ada, bob and cyd.
        ada takes insurance for 10.
        bob declines insurance.
        cyd declines insurance.
        The dealer looks at the hole card: no natural.
        ada's insurance loses 10.
        bob wins 30 with a natural.
        ada hits and draws the 3 of clubs: 19.
        ada stands on 19.
        cyd hits and draws the 10 of diamonds: 21.
        cyd stands on 21.
        The dealer turns over the 5 of diamonds: soft 16.
        The dealer draws the 10 of spades and the jack of diamonds: 26, bust.
        ada wins 20.
        cyd wins 20.
        The seed is revealed and begins with 00010203; 12 cards left the shoe.
        ada ends the round with 210 chips, 10 up.
        bob ends the round with 230 chips, 30 up.
        cyd ends the round with 220 chips, 20 up.
    """)


def test_coinlounge_a_dealer_natural_against_insurance():
    story = given(a_round("coinlounge", "Th 9c", upcard="Ac", hole="Kd", bet=100, stack=100))
    when(Insure(1))

    assert read_out(story) == lines("""
        ada bets 100 of 200 chips.
        The shoe is shuffled; the commitment to its seed begins with 630dcd29.
        The dealer shows the ace of clubs.
        ada holds the 10 of hearts and the 9 of clubs: 19.
        Insurance is offered to ada.
        ada takes insurance for 50.
        The dealer looks at the hole card: a natural.
        ada's insurance wins 100.
        The dealer turns over the king of diamonds: a natural.
        ada loses 100.
        The seed is revealed and begins with 00010203; 4 cards left the shoe.
        ada ends the round with 200 chips, as many as before.
    """)


def test_classic_a_surrender():
    story = given(a_round("classic", "8h 8c", upcard="Ac", hole="5d", bet=21, stack=180))
    when(Surrender(1))

    assert read_out(story) == lines("""
        ada bets 21 of 201 chips on the way to 201000.
        The shoe is shuffled; the commitment to its seed begins with 630dcd29.
        The dealer shows the ace of clubs.
        ada holds the 8 of hearts and the 8 of clubs: 16.
        The dealer looks at the hole card: no natural.
        ada surrenders: 10 of 21 come back.
        The dealer turns over the 5 of diamonds: soft 16.
        The seed is revealed and begins with 00010203; 4 cards left the shoe.
        ada ends the round with 190 chips, 11 down.
    """)


def test_classic_a_run_that_is_lost():
    given(a_table("classic", cards="6s Tc 5d Th 2h")).play(StartRun(1, "ada", 40))
    story = when(Bet(1, 20), DoubleDown(1))

    assert read_out(story) == lines("""
        ada bets 20 of 40 chips on the way to 160.
        The shoe is shuffled; the commitment to its seed begins with 630dcd29.
        The dealer shows the 10 of clubs.
        ada holds the 6 of spades and the 5 of diamonds: 11.
        The dealer looks at the hole card: no natural.
        ada doubles down with 20 more: 40 at stake.
        ada draws the 2 of hearts: 13.
        The dealer turns over the 10 of hearts: 20.
        ada loses 40.
        ada loses the run: 0 chips are too few for a bet.
        The seed is revealed and begins with 00010203; 5 cards left the shoe.
        ada ends the round with 0 chips, 40 down.
    """)


def test_a_run_is_told_from_its_start_to_its_end():
    table = a_table("classic").play(StartRun(1, "ada", 60)).table
    told = {
        RunStarted(1, "ada", 1, "vault", 60, 240): "ada starts a run on seat 1 with 60 chips from "
        "the vault, to make 240.",
        RunStarted(1, "ada", 1, "grant", 100, 300): "ada starts a run on seat 1 with 100 granted "
        "chips, to make 300.",
        RunEnded(1, "won", 255): "ada wins the run with 255 chips.",
        RunEnded(1, "lost", 9): "ada loses the run: 9 chips are too few for a bet.",
        RunEnded(1, "left", 70): "ada ends the run with 70 chips.",
    }

    for event, sentence in told.items():
        assert list(sentences(table, event)) == [sentence]


def test_european_a_player_who_leaves_a_bust_and_a_push():
    story = given(
        a_round(
            "european", "Jh Qc", "6c 5c", "9h 7h", upcard="Tc", hole="9d", bet=2, stack=98,
            next_cards="9s Td Ts 6h",
        )
    )  # fmt: skip
    when(Leave(2), Split(1), Stand(1), Hit(1, 1), Hit(3))

    assert read_out(story) == lines("""
        ada bets 2 of 100 chips.
        bob bets 2 of 100 chips.
        cyd bets 2 of 100 chips.
        The shoe is shuffled; the commitment to its seed begins with 630dcd29.
        The dealer shows the 10 of clubs.
        ada holds the jack of hearts and the queen of clubs: 20.
        bob holds the 6 of clubs and the 5 of clubs: 11.
        cyd holds the 9 of hearts and the 7 of hearts: 16.
        bob leaves the table and stands on every hand.
        ada splits the jack of hearts and the queen of clubs, with 2 more on the new hand.
        ada's first hand gets the 9 of spades: 19.
        ada's first hand stands on 19.
        ada's second hand gets the 10 of diamonds: 20.
        ada's second hand hits and draws the 10 of spades: 30, bust.
        ada's second hand busts and loses 2.
        bob stands on 11.
        cyd hits and draws the 6 of hearts: 22, bust.
        cyd busts and loses 2.
        The dealer turns over the 9 of diamonds: 19.
        ada's first hand pushes and keeps the 2.
        bob loses 2.
        The seed is revealed and begins with 00010203; 12 cards left the shoe.
        ada ends the round with 98 chips, 2 down.
        bob ends the round with 98 chips, 2 down.
        cyd ends the round with 98 chips, 2 down.
        bob is gone, with 98 chips.
    """)


def test_what_else_may_happen_between_the_first_bet_and_the_deal():
    story = given(a_table("coinlounge", 101, 50, cards="Th 9h 7c 9c 8h Kd"))
    when(Bet(1, 1), WithdrawBet(1), Bet(1, 100, "luck"), BuyIn(2, 50), Sit(3, "cyd", 1), SitOut(2))
    when(Leave(3), Bet(2, 2), Deal("ada"))

    assert read_out(story) == lines("""
        ada bets 1 of 101 chips.
        ada takes the bet of 1 back.
        ada bets 100 of 101 chips, adding luck to the shuffle.
        bob buys in for 50 more.
        cyd takes seat 3 with 1 chip.
        bob sits this one out.
        cyd is gone, with 1 chip.
        bob bets 2 of 100 chips.
        The shoe is shuffled; the commitment to its seed begins with 630dcd29.
        The dealer shows the 7 of clubs.
        ada holds the 10 of hearts and the 9 of clubs: 19.
        bob holds the 9 of hearts and the 8 of hearts: 17.
    """)


def test_each_sentence_names_its_version_and_a_running_round_is_told_as_far_as_it_has_come():
    story = given(a_round("classic", "8h 8c", upcard="6c", bet=20, stack=180, next_cards="2c Kd"))
    running = told(story)
    assert (running.round, running.ruleset, running.over) == ("t.1", "classic", False)
    assert running.results == (Result(1, "ada", stack_before=200, stack_after=180, net=0),)
    assert [step.version for step in running.steps] == [3, 4, 5, 5, 6]

    when(Hit(1), Stand(1))
    assert told(story).over
    assert told(story).results == (Result(1, "ada", stack_before=200, stack_after=220, net=20),)


def test_where_the_clock_acted_it_is_told():
    story = given(a_table("coinlounge", 200, 200, 50, cards="Th 9h Ac 9c 8h 7d"))
    when(Bet(1, 20), Bet(2, 20))

    assert read_out_with_the_clock(story)[:15] == lines("""
        ada bets 20 of 200 chips.
        bob bets 20 of 200 chips.
        The time to bet is up.
        cyd sits this one out.
        The shoe is shuffled; the commitment to its seed begins with 630dcd29.
        The dealer shows the ace of clubs.
        ada holds the 10 of hearts and the 9 of clubs: 19.
        bob holds the 9 of hearts and the 8 of hearts: 17.
        Insurance is offered to ada and bob.
        The time to insure is up.
        ada declines insurance.
        bob declines insurance.
        The dealer looks at the hole card: no natural.
        ada's time is up.
        ada stands on 19.
    """)
