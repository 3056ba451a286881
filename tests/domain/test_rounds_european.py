"""Whole rounds of Evropský, event by event and chip by chip."""

from services.blackjack.domain.commands import Bet, BuyIn, DoubleDown, Hit, Leave, Sit, Split, Stand
from services.blackjack.domain.events import (
    BetPlaced,
    CardDealt,
    ChipsBoughtIn,
    DealerDrew,
    HandDoubled,
    HandsDealt,
    HandSettled,
    HandSplit,
    HandStood,
    HoleCardRevealed,
    HostMoved,
    PlayerLeft,
    PlayerSat,
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


def test_ten_and_king_split_a_hit_on_21_and_a_natural_paid_at_resolution():
    dealt, drawn = "Ts As 9c Kd Qd 7h", "Ah 5h 6c 2s 5d"
    given(a_table("european", 1000, 1000, cards=f"{dealt} {drawn}"))
    when(Bet(1, 100, "a"), Bet(2, 100, "b"))
    then(
        BetPlaced(1, 100, "a"),
        BetPlaced(2, 100, "b"),
        round_opened(1, "a", "b"),
        HandsDealt(((1, "Ts", "Kd"), (2, "As", "Qd")), upcard="9c"),
        HandStood(2, 0),
    )
    when(Split(1), Stand(1, 0), Hit(1, 1), Hit(1, 1))
    then(
        HandSplit(1, 0, 100),
        CardDealt(1, 0, "Ah"),
        HandStood(1, 0),
        CardDealt(1, 1, "5h"),
        CardDealt(1, 1, "6c"),
        CardDealt(1, 1, "2s"),
        HandSettled(1, 1, "bust", 100, 0),
        HoleCardRevealed("7h"),
        DealerDrew(("5d",)),
        HandSettled(1, 0, "push", 100, 100),
        HandSettled(2, 0, "natural", 100, 250),
        seed_revealed(drawn=11),
    )
    then_posted("""
        ada      -100
        in_play  +100
        in_play  -100
        bank     +100
        ada      +100
        in_play  -100
        bob      +250
        in_play  -100
        bank     -150
    """)
    then_net(-100, seat=1)
    then_net(+150, seat=2)


def test_a_dealer_natural_after_a_split_and_two_doubles_takes_four_bets():
    given(a_table("european", 1000, cards="8s Tc 8d Ah 3h Th 2d 9d"))
    when(Bet(1, 100), Split(1), DoubleDown(1, 0), DoubleDown(1, 1))
    then(
        BetPlaced(1, 100),
        round_opened(),
        HandsDealt(((1, "8s", "8d"),), upcard="Tc"),
        HandSplit(1, 0, 100),
        CardDealt(1, 0, "3h"),
        HandDoubled(1, 0, 100),
        CardDealt(1, 0, "Th"),
        HandStood(1, 0),
        CardDealt(1, 1, "2d"),
        HandDoubled(1, 1, 100),
        CardDealt(1, 1, "9d"),
        HandStood(1, 1),
        HoleCardRevealed("Ah"),
        HandSettled(1, 0, "loss", 200, 0),
        HandSettled(1, 1, "loss", 200, 0),
        seed_revealed(drawn=8),
    )
    then_net(-400)


def test_a_session_from_the_first_granted_chip_to_the_last():
    given(a_table("european", cards="Ts 9c 9d 9h"))
    when(Sit(1, "ada", 100), BuyIn(1, 20), Bet(1, 120), Stand(1), Leave(1))
    then(
        PlayerSat(1, "ada", 100),
        ChipsBoughtIn(1, 20),
        BetPlaced(1, 120),
        round_opened(),
        HandsDealt(((1, "Ts", "9d"),), upcard="9c"),
        HandStood(1, 0),
        HoleCardRevealed("9h"),
        HandSettled(1, 0, "win", 120, 240),
        seed_revealed(drawn=4),
        HostMoved(None),
        PlayerLeft(1, "ada", 240),
    )
    then_posted("""
        ada       +100
        issuance  -100
        ada       +20
        issuance  -20
        ada       -120
        in_play   +120
        ada       +240
        in_play   -120
        bank      -120
        ada       -240
        issuance  +240
    """)
