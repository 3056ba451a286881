"""Whole rounds of Poker Head, Classic Table, event by event and chip by chip."""

from services.blackjack.domain.commands import Bet, DoubleDown, Hit, Stand, Surrender
from services.blackjack.domain.events import (
    BetPlaced,
    CardDealt,
    DealerDrew,
    DealerPeeked,
    HandDoubled,
    HandsDealt,
    HandSettled,
    HandStood,
    HoleCardRevealed,
)
from tests.domain.story import (
    a_table,
    given,
    round_opened,
    rows,
    seed_revealed,
    then,
    then_net,
    then_posted,
    when,
)


def test_a_hit_and_a_stand_win_against_a_dealer_who_busts():
    given(a_table("classic", 100, cards="Ts 6c 2d Th 5h Kc"))
    when(Bet(1, 50), Hit(1), Stand(1))
    then(
        BetPlaced(1, 50),
        round_opened(),
        HandsDealt(((1, "Ts", "2d"),), upcard="6c"),
        DealerPeeked(natural=False),
        CardDealt(1, 0, "5h"),
        HandStood(1, 0),
        HoleCardRevealed("Th"),
        DealerDrew(("Kc",)),
        HandSettled(1, 0, "win", 50, 100),
        seed_revealed(drawn=6),
    )
    then_posted("""
        ada      -50
        in_play  +50
        ada      +100
        in_play  -50
        bank     -50
    """)
    then_net(+50)


def test_a_surrender_ends_the_round_and_the_dealer_does_not_draw():
    given(a_table("classic", 100, cards="Ts Tc 6d 5h Kc"))
    when(Bet(1, 5), Surrender(1))
    then(
        BetPlaced(1, 5),
        round_opened(),
        HandsDealt(((1, "Ts", "6d"),), upcard="Tc"),
        DealerPeeked(natural=False),
        HandSettled(1, 0, "surrender", 5, 2),
        HoleCardRevealed("5h"),
        seed_revealed(drawn=4),
    )
    then_posted("""
        ada      -5
        in_play  +5
        ada      +2
        in_play  -5
        bank     +3
    """)
    then_net(-3)


def test_a_bust_ends_the_round_and_the_dealer_does_not_draw():
    given(a_table("classic", 100, cards="Ts 6c 6d 5h Kc"))
    when(Bet(1, 20), Hit(1))
    then(
        BetPlaced(1, 20),
        round_opened(),
        HandsDealt(((1, "Ts", "6d"),), upcard="6c"),
        DealerPeeked(natural=False),
        CardDealt(1, 0, "Kc"),
        HandSettled(1, 0, "bust", 20, 0),
        HoleCardRevealed("5h"),
        seed_revealed(drawn=5),
    )
    then_net(-20)


def test_a_double_of_half_the_bankroll_stakes_all_of_it():
    given(a_table("classic", 100, cards="6s 9c 5d 9h Th"))
    when(Bet(1, 50), DoubleDown(1))
    then(
        BetPlaced(1, 50),
        round_opened(),
        HandsDealt(((1, "6s", "5d"),), upcard="9c"),
        DealerPeeked(natural=False),
        HandDoubled(1, 0, 50),
        CardDealt(1, 0, "Th"),
        HandStood(1, 0),
        HoleCardRevealed("9h"),
        HandSettled(1, 0, "win", 100, 200),
        seed_revealed(drawn=5),
    )
    then_posted("""
        ada      -50
        in_play  +50
        ada      -50
        in_play  +50
        ada      +200
        in_play  -100
        bank     -100
    """)
    then_net(+100)


@rows("""
    first   upcard   second   hole   natural   outcome   payout   net
    As      9c       Kd       9h     no        natural   37       +22
    As      Ac       Kd       Kh     yes       push      15       0
    Ts      Ac       Kd       Kh     yes       loss      0        -15
    Ts      Tc       Kd       Ah     yes       loss      0        -15
""")
def test_naturals_settle_before_the_player_acts(
    first, upcard, second, hole, natural, outcome, payout, net
):
    given(a_table("classic", 100, cards=f"{first} {upcard} {second} {hole}"))
    when(Bet(1, 15))
    paid, shown = HandSettled(1, 0, outcome, 15, payout), HoleCardRevealed(hole)
    then(
        BetPlaced(1, 15),
        round_opened(),
        HandsDealt(((1, first, second),), upcard=upcard),
        DealerPeeked(natural == "yes"),
        *((shown, paid) if natural == "yes" else (paid, shown)),
        seed_revealed(drawn=4),
    )
    then_net(net)
