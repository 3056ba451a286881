"""Whole rounds of CoinLounge Blackjack, event by event and chip by chip."""

from services.blackjack.domain.commands import (
    Bet,
    Deal,
    DeclineInsurance,
    DoubleDown,
    Insure,
    Split,
    Stand,
)
from services.blackjack.domain.events import (
    BetPlaced,
    CardDealt,
    DealerDrew,
    DealerPeeked,
    HandDoubled,
    HandsDealt,
    HandSettled,
    HandSplit,
    HandStood,
    HoleCardRevealed,
    InsuranceBought,
    InsuranceDeclined,
    InsuranceOffered,
    InsuranceSettled,
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


def test_insurance_is_lost_at_the_peek_and_the_round_goes_on():
    given(a_table("coinlounge", 1000, 1000, cards="Ts 8s Ac 9d 8d 8h Kh Ah"))
    when(Bet(1, 25), Bet(2, 100, "lucky"), Deal("ada"), Insure(1), DeclineInsurance(2))
    then(
        BetPlaced(1, 25),
        BetPlaced(2, 100, "lucky"),
        round_opened(1, "lucky"),
        HandsDealt(((1, "Ts", "9d"), (2, "8s", "8d")), upcard="Ac"),
        InsuranceOffered((1, 2)),
        InsuranceBought(1, 12),
        InsuranceDeclined(2),
        DealerPeeked(natural=False),
        InsuranceSettled(1, 12, 0),
    )
    when(Stand(1), Split(2), Stand(2, 0), Stand(2, 1))
    then(
        HandStood(1, 0),
        HandSplit(2, 0, 100),
        CardDealt(2, 0, "Kh"),
        HandStood(2, 0),
        CardDealt(2, 1, "Ah"),
        HandStood(2, 1),
        HoleCardRevealed("8h"),
        HandSettled(1, 0, "push", 25, 25),
        HandSettled(2, 0, "loss", 100, 0),
        HandSettled(2, 1, "push", 100, 100),
        seed_revealed(drawn=8),
    )
    then_posted("""
        bob      -100
        in_play  +100
        ada      +25
        in_play  -25
        in_play  -100
        bank     +100
        bob      +100
        in_play  -100
    """)
    then_net(-12, seat=1)
    then_net(-100, seat=2)


def test_a_dealer_natural_ends_the_round_at_the_peek():
    given(a_table("coinlounge", 1000, 1000, 1000, cards="As Ts Ts Ac Kd Qd 5d Kh"))
    when(Bet(1, 100), Bet(2, 100), Bet(3, 100), Deal("ada"))
    when(Insure(1), DeclineInsurance(2), Insure(3))
    then(
        InsuranceBought(1, 50),
        InsuranceDeclined(2),
        InsuranceBought(3, 50),
        DealerPeeked(natural=True),
        InsuranceSettled(1, 50, 150),
        InsuranceSettled(3, 50, 150),
        HoleCardRevealed("Kh"),
        HandSettled(1, 0, "push", 100, 100),
        HandSettled(2, 0, "loss", 100, 0),
        HandSettled(3, 0, "loss", 100, 0),
        seed_revealed(drawn=8),
    )
    then_posted("""
        ada      -50
        in_play  +50
        cyd      -50
        in_play  +50
        ada      +150
        in_play  -50
        bank     -100
        cyd      +150
        in_play  -50
        bank     -100
        ada      +100
        in_play  -100
        in_play  -100
        bank     +100
        in_play  -100
        bank     +100
    """)
    then_net(+100, seat=1)
    then_net(-100, seat=2)
    then_net(0, seat=3)


def test_a_natural_is_paid_before_the_others_play():
    given(a_table("coinlounge", 1000, 1000, cards="As 5s 6c Kd 6d Th Td 9c"))
    when(Bet(1, 25), Bet(2, 100), Deal("ada"))
    then(
        BetPlaced(1, 25),
        BetPlaced(2, 100),
        round_opened(),
        HandsDealt(((1, "As", "Kd"), (2, "5s", "6d")), upcard="6c"),
        HandSettled(1, 0, "natural", 25, 62),
    )
    when(DoubleDown(2))
    then(
        HandDoubled(2, 0, 100),
        CardDealt(2, 0, "Td"),
        HandStood(2, 0),
        HoleCardRevealed("Th"),
        DealerDrew(("9c",)),
        HandSettled(2, 0, "win", 200, 400),
        seed_revealed(drawn=8),
    )
    then_posted("""
        bob      -100
        in_play  +100
        bob      +400
        in_play  -200
        bank     -200
    """)
    then_net(+37, seat=1)
    then_net(+200, seat=2)


def test_split_aces_end_the_round_by_themselves():
    given(a_table("coinlounge", 1000, cards="As 9c Ad 9h Kh 7h"))
    when(Bet(1, 100), Deal("ada"), Split(1))
    then(
        BetPlaced(1, 100),
        round_opened(),
        HandsDealt(((1, "As", "Ad"),), upcard="9c"),
        HandSplit(1, 0, 100),
        CardDealt(1, 0, "Kh"),
        HandStood(1, 0),
        CardDealt(1, 1, "7h"),
        HandStood(1, 1),
        HoleCardRevealed("9h"),
        HandSettled(1, 0, "win", 100, 200),
        HandSettled(1, 1, "push", 100, 100),
        seed_revealed(drawn=6),
    )
    then_net(+100)
