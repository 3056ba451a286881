"""Whole rounds of A2G Blackjack, event by event and chip by chip."""

from services.blackjack.domain.commands import Bet, DoubleDown, Hit, Insure, Leave, Split, Stand
from services.blackjack.domain.events import (
    BetPlaced,
    CardDealt,
    DealerDrew,
    HandDoubled,
    HandsDealt,
    HandSettled,
    HandSplit,
    HandStood,
    HoleCardRevealed,
    HostMoved,
    InsuranceBought,
    InsuranceSettled,
    PlayerLeaving,
    PlayerLeft,
)
from tests.domain.story import (
    a_table,
    given,
    round_opened,
    seed_revealed,
    then,
    then_net,
    then_posted,
    when,
)


def test_a_split_a_double_an_insured_natural_and_a_bust_against_a_dealer_of_20():
    dealt, drawn = "8s As Ts Ac 8d Kd 6d 5h", "3h 9h Th Qh Kc 4c"
    given(a_table("a2g", 1000, 1000, 1000, cards=f"{dealt} {drawn}"))
    when(Bet(1, 100), Bet(2, 100), Bet(3, 100))
    then(
        BetPlaced(1, 100),
        BetPlaced(2, 100),
        BetPlaced(3, 100),
        round_opened(),
        HandsDealt(((1, "8s", "8d"), (2, "As", "Kd"), (3, "Ts", "6d")), upcard="Ac"),
    )
    when(Split(1), DoubleDown(1, 0), Stand(1, 1), Insure(2), Hit(3))
    then(
        HandSplit(1, 0, 100),
        CardDealt(1, 0, "3h"),
        HandDoubled(1, 0, 100),
        CardDealt(1, 0, "9h"),
        HandStood(1, 0),
        CardDealt(1, 1, "Th"),
        HandStood(1, 1),
        InsuranceBought(2, 50),
        HandStood(2, 0),
        CardDealt(3, 0, "Qh"),
        HandSettled(3, 0, "bust", 100, 0),
        HoleCardRevealed("5h"),
        DealerDrew(("Kc", "4c")),
        InsuranceSettled(2, 50, 0),
        HandSettled(1, 0, "push", 200, 200),
        HandSettled(1, 1, "loss", 100, 0),
        HandSettled(2, 0, "natural", 100, 250),
        seed_revealed(drawn=14),
    )
    then_net(-100, seat=1)
    then_net(+100, seat=2)
    then_net(-100, seat=3)


def test_an_unseen_dealer_natural_takes_all_but_the_natural_and_pays_the_insurance():
    given(a_table("a2g", 1000, 1000, cards="6s As Ac 5d Kd Qh Th"))
    when(Bet(1, 100), Bet(2, 100))
    when(Insure(1), DoubleDown(1), Insure(2))
    then(
        InsuranceBought(1, 50),
        HandDoubled(1, 0, 100),
        CardDealt(1, 0, "Th"),
        HandStood(1, 0),
        InsuranceBought(2, 50),
        HandStood(2, 0),
        HoleCardRevealed("Qh"),
        InsuranceSettled(1, 50, 150),
        InsuranceSettled(2, 50, 150),
        HandSettled(1, 0, "loss", 200, 0),
        HandSettled(2, 0, "push", 100, 100),
        seed_revealed(drawn=7),
    )
    then_posted("""
        ada      -50
        in_play  +50
        ada      -100
        in_play  +100
        bob      -50
        in_play  +50
        ada      +150
        in_play  -50
        bank     -100
        bob      +150
        in_play  -50
        bank     -100
        in_play  -200
        bank     +200
        bob      +100
        in_play  -100
    """)
    then_net(-100, seat=1)
    then_net(+100, seat=2)


def test_a_pair_of_eights_fills_four_hands():
    dealt, drawn = "8s Ts 6c 8d Td Kh", "8h 8c 2h 3h 4h 5h Qh"
    given(a_table("a2g", 1000, 1000, cards=f"{dealt} {drawn}"))
    when(Bet(1, 100), Bet(2, 100), Split(1, 0), Split(1, 0), Split(1, 0))
    when(Stand(1, 0), Stand(1, 1), Stand(1, 2), Stand(1, 3), Stand(2, 0))
    then(
        HandStood(1, 0),
        CardDealt(1, 1, "3h"),
        HandStood(1, 1),
        CardDealt(1, 2, "4h"),
        HandStood(1, 2),
        CardDealt(1, 3, "5h"),
        HandStood(1, 3),
        HandStood(2, 0),
        HoleCardRevealed("Kh"),
        DealerDrew(("Qh",)),
        HandSettled(1, 0, "win", 100, 200),
        HandSettled(1, 1, "win", 100, 200),
        HandSettled(1, 2, "win", 100, 200),
        HandSettled(1, 3, "win", 100, 200),
        HandSettled(2, 0, "win", 100, 200),
        seed_revealed(drawn=13),
    )
    then_net(+400, seat=1)
    then_net(+100, seat=2)


def test_a_player_leaves_in_mid_hand_and_is_paid_what_the_hand_was_worth():
    given(a_table("a2g", 1000, 1000, cards="Ts Ts 6c 9d 2d Kh Kc"))
    when(Bet(1, 100), Bet(2, 100), Leave(1), Stand(2))
    then(
        BetPlaced(1, 100),
        BetPlaced(2, 100),
        round_opened(),
        HandsDealt(((1, "Ts", "9d"), (2, "Ts", "2d")), upcard="6c"),
        HostMoved("bob"),
        PlayerLeaving(1),
        HandStood(1, 0),
        HandStood(2, 0),
        HoleCardRevealed("Kh"),
        DealerDrew(("Kc",)),
        HandSettled(1, 0, "win", 100, 200),
        HandSettled(2, 0, "win", 100, 200),
        seed_revealed(drawn=7),
        PlayerLeft(1, "ada", 1100),
    )
    then_posted("""
        ada          -100
        in_play      +100
        bob          -100
        in_play      +100
        ada          +200
        in_play      -100
        bank         -100
        bob          +200
        in_play      -100
        bank         -100
        ada          -1100
        ada's vault  +1100
    """)
