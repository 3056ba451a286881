"""A2G Blackjack, sentence by sentence, as the protocol's page has it."""

from msgspec import json

from services.blackjack.domain.action_request import action_request
from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.commands import Bet, DoubleDown, Hit, Insure, Split, Stand, TimeOut
from services.blackjack.domain.events import (
    CardDealt,
    DealerDrew,
    HandDoubled,
    HandSettled,
    HandSplit,
    HandStood,
    HoleCardRevealed,
    InsuranceBought,
    InsuranceSettled,
)
from services.blackjack.domain.rejections import (
    DoubleNotAllowed,
    InsuranceNotOffered,
    NotEnoughChips,
    NotYourTurn,
    SplitNotAllowed,
)
from services.blackjack.domain.view import view
from services.blackjack.odds.solve import expectation
from tests.api.croupier import House, kinds
from tests.domain.story import (
    a_round,
    a_table,
    given,
    rows,
    then,
    then_among,
    then_legal,
    then_net,
    then_refused,
    when,
    when_all_stand,
)
from tests.domain.test_action_request import EXAMPLE, the_table_of_the_example
from tests.odds.games import solved
from tests.stories.shoe_to_order import deal

SEVEN = ("ada", "bob", "cyd", "dan", "eve", "fay", "gus")


def test_one_to_seven_players_each_play_against_the_dealer(house: House) -> None:
    """“Players: 1-7 (each player vs. dealer)”"""
    house.seat("solo", "ada")
    assert "hands_dealt" in kinds(house.deal("solo", 20)["events"])

    house.seat("full", *SEVEN, buy_in=100)
    assert house.play("full", "sit", seat=8, player="hal", buy_in=100).status_code == 422
    seats = house.deal("full", *[20] * 7)["table"]["seats"]
    assert [len(seat["hands"]) for seat in seats] == [1] * 7


def test_it_is_turn_based_and_each_player_acts_in_sequence(house: House) -> None:
    """“Game model: Turn-based” – “Each player acts in sequence.”"""
    house.seat("oak", "ada", "bob")
    assert deal(house, "oak", "s s s", 20, 20)["table"]["turn"] == {"seat": 1, "hand": 0}

    early = house.play("oak", "stand", seat=2)
    assert (early.status_code, early.json()["type"]) == (409, "/problems/not-your-turn")
    assert house.do("oak", "stand", seat=1)["table"]["turn"] == {"seat": 2, "hand": 0}


def test_who_does_not_act_in_time_stands():
    """“Default timeout action: stand”"""
    story = given(a_round("a2g", "8s 8d", "Ts 7d", upcard="6c"))
    wait = waits_for(story.table)
    assert (wait.kind, wait.due - story.now) == ("action", 20_000)
    when(TimeOut(wait.turn))
    then(HandStood(1, 0))


def test_each_player_plays_independently_against_the_dealer():
    """“Blackjack is a card game where each player plays independently against the dealer.”"""
    given(a_round("a2g", "Ts 9d", "Tc 8h", "Th 7d", upcard="9c", hole="9h"))
    when(Stand(1), Stand(2), Stand(3))
    then_net(+100, seat=1)
    then_net(0, seat=2)
    then_net(-100, seat=3)


@rows("""
    hand       dealer     then
    Ts 9d      Tc 8h      +100
    Ts 9d      Tc Jh      -100
    Ts 9d 3c   –          -100
    Ts 9d 2c   Tc Jh      +100
""")
def test_the_goal_is_to_get_close_to_21_without_going_over(hand, dealer, then):
    """“The goal is to get a hand value as close to 21 as possible without going over
    ("busting").”"""
    first, second, *more = hand.split()
    upcard, hole = (dealer or "6c 9h").split()
    given(a_round("a2g", f"{first} {second}", upcard=upcard, hole=hole, next_cards=" ".join(more)))
    when(Hit(1) if more else Stand(1))
    then_net(then)


def test_each_player_places_a_bet_within_the_limits_of_the_table(house: House) -> None:
    """“Each player places a bet within the table's limits.”"""
    house.open("oak", "a2g", bet={"min": 10, "max": 40, "step": 10})
    house.grant("ada", 100)
    house.do("oak", "sit", seat=1, player="ada", buy_in=100)

    for amount in (0, 5, 15, 50):
        assert house.play("oak", "bet", seat=1, amount=amount).status_code in (409, 422)
    assert "bet_placed" in kinds(house.do("oak", "bet", seat=1, amount=40)["events"])


def test_the_deal_shows_all_cards_but_one_of_the_dealer_s(house: House) -> None:
    """“Each player and the dealer receive two cards. Players' cards are face-up; the dealer has
    one face-up and one face-down.”"""
    house.seat("oak", "ada", "bob")
    dealt = deal(house, "oak", "9 8 6 7", 20, 20)["table"]

    (first, third), (second, _) = [seat["hands"][0]["cards"] for seat in dealt["seats"]]
    assert [card[0] for card in (first, second, third)] == ["9", "8", "7"]
    assert [card[0] for card in dealt["dealer"]["cards"]] == ["6"]
    assert dealt["dealer"]["hole"] == "face_down"


def test_on_a_turn_one_may_hit_stand_double_down_or_split():
    """“Hit, stand, double down, or split.”"""
    given(a_round("a2g", "8s 8d", upcard="6c"))
    then_legal("hit stand double_down split")


@rows("""
    upcard   hole   next       draws
    Tc       6h     5d         5d
    Tc       7h     5d         –
    Ac       6h     5d         –
    2c       2h     2d 9c 3h   2d 9c 3h
    9c       2h     5d Kc      5d Kc
""")
def test_the_dealer_reveals_the_hole_card_and_plays_by_fixed_rules(upcard, hole, next, draws):
    """“Dealer reveals hole card and plays according to fixed rules (typically hits on 16 or less,
    stands on 17 or more).”"""
    given(a_round("a2g", "Ts 7d", upcard=upcard, hole=hole, next_cards=f"{next} 9c"))
    when(Stand(1))
    drawn = [DealerDrew(tuple(draws.split()))] if draws else []
    then_among(HoleCardRevealed(hole), *drawn)
    assert sum(isinstance(event, DealerDrew) for event in when().log) == len(drawn)


def test_hands_are_compared_and_payouts_are_distributed(house: House) -> None:
    """“Hands are compared. Payouts are distributed.”"""
    house.seat("oak", "ada", "bob")
    deal(house, "oak", "x x 8 9 7 x", 20, 40)
    house.do("oak", "stand", seat=1)
    over = house.do("oak", "stand", seat=2)["table"]

    assert [seat["hands"][0]["outcome"] for seat in over["seats"]] == ["win", "loss"]
    assert [seat["stack"] for seat in over["seats"]] == [400 + 20, 400 - 40]
    assert house.balance("table/oak/in_play") == 0


@rows("""
    hand       total
    2s 3d      5
    4s 5d      9
    6s 7d      13
    8s 9d      17
    Ts 2d      12
    Js 2d      12
    Qs 3d      13
    Ks 4d      14
    As 6d      17
    As Ad      12
""")
def test_card_values(hand, total):
    """“Number cards (2-10): face value” – “Face cards (J, Q, K): 10” – “Ace: 1 or 11”"""
    assert total_after(a_round("a2g", hand, upcard="6c")) == total


def test_an_ace_counts_whichever_is_more_favorable():
    """“(whichever is more favorable)”"""
    story = given(a_round("a2g", "As 6d", upcard="6c", next_cards="9h 4d"))
    assert total_after(story) == 17
    when(Hit(1))
    assert total_after(story) == 16
    when(Hit(1))
    assert total_after(story) == 20


def test_hit():
    """“hit: Your turn, hand value < 21”"""
    story = given(a_round("a2g", "5s 6d", "Ts 7d", upcard="6c", next_cards="9h As"))
    when(Hit(2))
    then_refused(NotYourTurn)
    when(Hit(1))
    then(CardDealt(1, 0, "9h"))
    when(Hit(1))
    then(CardDealt(1, 0, "As"), HandStood(1, 0))
    assert view(story.table, 0, 0).seats[0].hands[0].total == 21


def test_stand():
    """“stand: Your turn”"""
    given(a_round("a2g", "5s 6d", "Ts 7d", upcard="6c"))
    when(Stand(2))
    then_refused(NotYourTurn)
    when(Stand(1))
    then(HandStood(1, 0))


def test_double_down():
    """“double_down: Your turn, first two cards only, sufficient balance”"""
    given(a_round("a2g", "5s 6d", "5h 6h", "5c 6c", upcard="6c", next_cards="2h 9h 3d", stack=100))
    when(DoubleDown(2))
    then_refused(NotYourTurn)
    when(Hit(1), DoubleDown(1))
    then_refused(DoubleNotAllowed)
    when(Stand(1), DoubleDown(2))
    then_among(HandDoubled(2, 0, 100), CardDealt(2, 0, "9h"), HandStood(2, 0))
    given(a_round("a2g", "5s 6d", upcard="6c", stack=99))
    when(DoubleDown(1))
    then_refused(NotEnoughChips)


@rows("""
    hand    stack   refused
    8s 8d   100     –
    Ks Kd   100     –
    As Ad   100     –
    8s 9d   100     SplitNotAllowed
    Ks Qd   100     SplitNotAllowed
    8s 8d   99      NotEnoughChips
""")
def test_split(hand, stack, refused):
    """“split: Your turn, first two cards of equal rank, sufficient balance”"""
    given(a_round("a2g", "Ts 7d", hand, upcard="6c", stack=stack, next_cards="2d 3d 4d 5d"))
    when(Split(2))
    then_refused(NotYourTurn)
    when(Stand(1), Split(2))
    if refused:
        then_refused(
            {"SplitNotAllowed": SplitNotAllowed, "NotEnoughChips": NotEnoughChips}[refused]
        )
    else:
        then_among(HandSplit(2, 0, 100))


def test_three_cards_are_no_first_two():
    """“first two cards of equal rank”"""
    given(a_round("a2g", "2s 2d", upcard="6c", next_cards="2h"))
    when(Hit(1), Split(1))
    then_refused(SplitNotAllowed)


def test_insurance():
    """“insurance: Dealer shows ace, first action only”"""
    given(a_round("a2g", "5s 4d", "Ts 7d", upcard="Ac", next_cards="2h"))
    when(Insure(1))
    then(InsuranceBought(1, 50))
    given(a_round("a2g", "5s 4d", "Ts 7d", upcard="Ac", next_cards="2h"))
    when(Hit(1), Insure(1))
    then_refused(InsuranceNotOffered)
    given(a_round("a2g", "5s 4d", upcard="Tc"))
    when(Insure(1))
    then_refused(InsuranceNotOffered)


def test_the_example_action_request():
    """“Example Action Request” – “Game type: blackjack”"""
    request = action_request(the_table_of_the_example().table)
    assert json.decode(json.encode(request)) == json.decode(EXAMPLE)


@rows("""
    hand    hole   outcome   payout
    Ts 9d   8h     win       200
    As Kd   8h     natural   250
    Ts 7d   7h     push      100
    As Kd   Ah     push      100
""")
def test_payouts(hand, hole, outcome, payout):
    """“Win 1:1” – “Blackjack (natural 21) 3:2” – “Push (tie): Bet returned”"""
    given(a_table("a2g", 100, cards=f"{hand[:2]} Tc {hand[3:]} {hole}"))
    when(Bet(1, 100))
    events = [*when().log, *when_all_stand().events]
    assert HandSettled(1, 0, outcome, 100, payout) in events


def test_insurance_pays_2_to_1_on_a_dealer_s_blackjack():
    """“Insurance (dealer blackjack) 2:1”"""
    given(a_round("a2g", "Ts 9d", upcard="Ac", hole="Kd"))
    when(Insure(1), Stand(1))
    then_among(InsuranceSettled(1, 50, 3 * 50), HandSettled(1, 0, "loss", 100, 0))
    then_net(0)


def test_the_house_edge_is_declared_and_it_is_about_half_a_percent(house: House) -> None:
    """“~0.5% with basic strategy.” – “The house edge is informational — declared in the game
    spec …”"""
    assert house.get("/v1/rulesets/a2g")["house_edge"] == "about 0.5 %"
    edge = house.get("/v1/rulesets/a2g/odds")["house_edge"]["by_total"]
    assert round(100 * edge, 1) == 0.5


def test_the_house_edge_varies_with_the_rules():
    """“Varies with rule variants (number of decks, dealer soft-17 rule, etc.).”"""
    assert edge_of("1 deck") < edge_of("peek") < edge_of("H17")


def edge_of(game: str) -> float:
    return -expectation(solved(game).by_total)


def total_after(story) -> int:
    return view(story.table, 0, 0).seats[0].hands[0].total


# Not about play, and so without a test:
#
# - “Turn-based card game extension for A2G.”, “Fetch the complete documentation index at …”, “Use
#   this file to discover all available pages before exploring further.” and the headings lead
#   through the protocol's own pages.
# - That the house edge is declared in a “frontmatter”: ours is declared in the ruleset.
