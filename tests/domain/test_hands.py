"""What cards are worth, who wins, and when the dealer draws."""

from services.blackjack.domain.cards import DECK, is_natural, is_soft, total
from services.blackjack.domain.commands import Hit, Split, Stand
from services.blackjack.domain.events import (
    DealerDrew,
    HandSettled,
    HandStood,
    HoleCardRevealed,
)
from services.blackjack.domain.settlement import insurance_payout, insurance_price, outcome, payout
from services.blackjack.domain.table import Hand
from tests.domain.story import (
    a_command,
    a_round,
    given,
    rows,
    seed_revealed,
    then,
    then_among,
    then_net,
    when,
    when_all_stand,
)


@rows("""
    cards           total  soft
    As              11     soft
    5c Ad Ah 5s     12     hard
    5c Ad 4h As     21     soft
    Ac Ad Ah 6s     19     soft
    Ac Ad           12     soft
    Ac Ad Th        12     hard
    As Kd           21     soft
    Ts Jd Qh        30     hard
    7s 7d 7h        21     hard
    Ac 4d 7h        12     hard
    Ac Ad Ah As     14     soft
    Ac Td Th        21     hard
    2c 3d           5      hard
""")
def test_an_ace_counts_11_as_long_as_that_does_not_bust(cards, total, soft):
    assert _total(cards) == total
    assert is_soft(tuple(cards.split())) is (soft == "soft")


def test_a_deck_is_52_cards_and_ten_jack_queen_king_count_ten():
    assert len(set(DECK)) == 52
    assert {card[0] for card in DECK if _total(card) == 10} == set("TJQK")


@rows("""
    cards        natural
    As Kd        yes
    Tc Ad        yes
    As Qd        yes
    7s 7d 7h     no
    As 9d        no
    As 5d 5h     no
    As           no
""")
def test_a_natural_is_an_ace_and_a_ten_value_card_and_nothing_more(cards, natural):
    assert is_natural(tuple(cards.split())) is (natural == "yes")


@rows("""
    player            dealer        result    returned
    As Kd             Tc 9h         natural   25
    As Kd             Ah Qc         push      10
    As Kd             7h 7c 7d      natural   25
    7s 7h 7d          Ah Kc         loss      0
    7s 7h 7d          9h Qc         win       20
    Ts 9d             Tc 9h         push      10
    Ts 9d             Tc 8h         win       20
    Ts 8d             Tc 9h         loss      0
    Ts 2d             Tc 6h Kd      win       20
    As 6d             Tc 7h         push      10
    split As Kd       7h 7c 7d      push      10
    split As Kd       Ah Qc         loss      0
    split As Kd       Tc 9h         win       20
    split Ts Ad       Tc 9h         win       20
""")
def test_what_a_stake_of_ten_returns(player, dealer, result, returned):
    split, cards = player.startswith("split "), tuple(player.removeprefix("split ").split())
    found = outcome(Hand(cards, stake=10, from_split=split), tuple(dealer.split()))
    assert (found, payout(found, 10)) == (result, returned)


@rows("""
    result      stake   returned
    natural     20      50
    natural     5       12
    natural     1       2
    natural     2       5
    win         5       10
    push        5       5
    loss        5       0
    bust        5       0
    surrender   5       2
    surrender   6       3
    surrender   1       0
""")
def test_roundings_favour_the_house(result, stake, returned):
    assert payout(result, stake) == returned


@rows("""
    bet    price   pays
    100    50      150
    25     12      36
    3      1       3
    1      0       0
""")
def test_insurance_costs_half_the_bet_and_pays_two_to_one_and_the_stake(bet, price, pays):
    assert insurance_price(bet) == price
    assert insurance_payout(price, dealer_natural=True) == pays
    assert insurance_payout(price, dealer_natural=False) == 0


@rows("""
    game         hand     upcard   hole   net
    a2g          As Kd    Tc       9h     +150
    coinlounge   As Kd    Tc       9h     +150
    classic      As Kd    Tc       9h     +150
    european     As Kd    Tc       9h     +150
    a2g          As Kd    Ac       Kh     0
    coinlounge   As Kd    Ac       Kh     0
    classic      As Kd    Ac       Kh     0
    european     As Kd    Ac       Kh     0
    a2g          As Kd    Tc       Ah     0
    coinlounge   As Kd    Tc       Ah     0
    classic      As Kd    Tc       Ah     0
    european     As Kd    Tc       Ah     0
    a2g          Ts 9d    Ac       Kh     -100
    coinlounge   Ts 9d    Ac       Kh     -100
    classic      Ts 9d    Ac       Kh     -100
    european     Ts 9d    Ac       Kh     -100
""")
def test_a_natural_pays_three_to_two_and_pushes_against_a_natural(game, hand, upcard, hole, net):
    given(a_round(game, hand, upcard=upcard, hole=hole))
    when_all_stand()
    then_net(net)


@rows("""
    game         bet   net
    a2g          20    +30
    coinlounge   20    +30
    classic      20    +30
    european     20    +30
    coinlounge   25    +37
    coinlounge   1     +1
    classic      5     +7
    a2g          2     +3
    european     2     +3
""")
def test_a_natural_is_settled_exactly_once(game, bet, net):
    story = given(a_round(game, "As Kd", upcard="9c", hole="9h", bet=bet))
    when_all_stand()
    then_net(net)
    assert [event for event in story.log if isinstance(event, HandSettled)] == [
        HandSettled(1, 0, "natural", bet, 2 * bet + bet // 2)
    ]


@rows("""
    game       net
    a2g        -100
    european   -100
""")
def test_a_21_of_three_cards_loses_to_a_natural_when_the_dealer_does_not_peek(game, net):
    given(a_round(game, "7c 7d", upcard="Ah", hole="Ks", next_cards="7h"))
    when(Hit(1))
    when_all_stand()
    then_net(net)


@rows("""
    upcard   hole   shoe          drew
    9c       4d     2h Th         2h Th
    Kc       Qd     5h            –
    Ac       6d     5h            –
    Ac       4d     7h 5c 3s      7h 5c
    Tc       6d     2h 5h         2h
    Tc       6d     Kh            Kh
    Tc       7d     5h            –
    2c       2d     2h 2s Ah 8d   2h 2s Ah
    5c       Ad     Ah 9d         Ah
    9c       9d     5h            –
""")
def test_the_dealer_draws_to_17_and_stands_on_every_17(upcard, hole, shoe, drew):
    for game in ("a2g", "coinlounge", "classic", "european"):
        given(a_round(game, "Ts 5d", upcard=upcard, hole=hole, next_cards=shoe))
        story = when_all_stand()
        draws = [draw.cards for draw in story.events if isinstance(draw, DealerDrew)]
        assert draws == ([tuple(drew.split())] if drew else [])


def test_a_dealer_of_16_still_draws_when_ahead():
    given(a_round("a2g", "Ts 5d", upcard="Tc", hole="6h", next_cards="4s"))
    when(Stand(1))
    then(
        HandStood(1, 0),
        HoleCardRevealed("6h"),
        DealerDrew(("4s",)),
        HandSettled(1, 0, "loss", 100, 0),
        seed_revealed(5),
    )


@rows("""
    game         move             hands      drawn
    a2g          hit              Ts 6d      5
    coinlounge   hit              Ts 6d      5
    classic      hit              Ts 6d      5
    european     hit              Ts 6d      5
    a2g          double_down      Ts 6d      5
    classic      double_down      Ts 6d      5
    classic      surrender        Ts 6d      4
    a2g          –                As Kd      4
    coinlounge   –                As Kd      4
    classic      –                As Kd      4
    european     –                As Kd      4
""")
def test_the_dealer_does_not_draw_when_no_hand_needs_it(game, move, hands, drawn):
    """Bust, surrendered or natural: the hole card is shown, the shoe stays where it is."""
    story = given(a_round(game, hands, upcard="5c", hole="6h", next_cards="Kh Qh"))
    if move:
        when(a_command(move))
    assert not any(isinstance(event, DealerDrew) for event in story.log)
    assert story.log[-1] == seed_revealed(drawn)
    then_among(HoleCardRevealed("6h"), seed_revealed(drawn))


def test_a_natural_beside_a_live_hand_lets_the_dealer_draw():
    given(a_round("a2g", "As Kd", "Ts 8d", upcard="5c", hole="6h", next_cards="9h"))
    when(Stand(2))
    then(
        HandStood(2, 0),
        HoleCardRevealed("6h"),
        DealerDrew(("9h",)),
        HandSettled(1, 0, "natural", 100, 250),
        HandSettled(2, 0, "loss", 100, 0),
        seed_revealed(7),
    )


@rows("""
    card   total   bust
    5h     21      no
    6h     22      yes
    Kh     26      yes
""")
def test_a_bust_is_more_than_21(card, total, bust):
    story = given(a_round("european", "Ts 6d", upcard="5c", hole="Th", next_cards=f"{card} Kc"))
    when(Hit(1))
    assert (HandSettled(1, 0, "bust", 100, 0) in story.events) is (bust == "yes")
    assert _total(" ".join(story.table.seat(1).hands[0].cards)) == total


def test_a_bust_loses_even_when_the_dealer_busts_too():
    given(a_round("a2g", "Ts 6d", "Ts 8d", upcard="5c", hole="Th", next_cards="Kh Kc"))
    when(Hit(1), Stand(2))
    then_net(-100, seat=1)
    then_net(+100, seat=2)


@rows("""
    game         hands   net
    a2g          2       0
    coinlounge   2       0
    european     2       0
""")
def test_a_21_after_a_split_pushes_against_a_21_of_three_cards(game, hands, net):
    given(a_round(game, "As Ad", upcard="7c", hole="7h", next_cards="Kh Qc 7s"))
    when(Split(1))
    then_net(net)


@rows("""
    game         net
    a2g          +200
    coinlounge   +200
    european     +200
""")
def test_a_21_after_a_split_pays_one_to_one(game, net):
    given(a_round(game, "As Ad", upcard="Tc", hole="7h", next_cards="Kh Qc"))
    when(Split(1))
    then_net(net)


@rows("""
    game         net
    a2g          -200
    european     -200
""")
def test_a_21_after_a_split_loses_to_a_dealer_natural(game, net):
    given(a_round(game, "As Ad", upcard="Tc", hole="Ah", next_cards="Kh Qc"))
    when(Split(1))
    then_net(net)


def _total(cards: str) -> int:
    return total(tuple(cards.split()))
