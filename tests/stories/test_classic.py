"""Poker Head's Classic Table, sentence by sentence, as its rules have it."""

from services.blackjack.domain.commands import (
    ApplyModifier,
    Bet,
    BuyItem,
    DoubleDown,
    Hit,
    Stand,
    StartRun,
    Surrender,
    UseItem,
)
from services.blackjack.domain.events import (
    CardDealt,
    DealerDrew,
    DealerPeeked,
    HandDoubled,
    HandSettled,
    HandShielded,
    HandStood,
    HoleCardRevealed,
    ItemUsed,
    ModifierApplied,
    RunStarted,
)
from services.blackjack.domain.rejections import (
    DoubleNotAllowed,
    ModifierTooLate,
    NoRound,
    SurrenderNotAllowed,
)
from services.blackjack.domain.view import view
from tests.api.croupier import House
from tests.domain.changes import modifiers
from tests.domain.story import (
    Story,
    a_round,
    a_table,
    given,
    rows,
    seed_revealed,
    then,
    then_among,
    then_legal,
    then_net,
    then_refused,
    when,
)
from tests.stories.shoe_to_order import deal


def test_an_environment_overrides_the_applicable_parts():
    """“These are Classic Blackjack baseline rules. Poker Head's builds and environment … override
    the applicable parts.”"""
    assert total_of(a_round("classic", "7s 8d", upcard="6c")) == 15
    changed = a_round("classic", "7s 8d", upcard="6c", environment=modifiers("7=9"))
    assert total_of(given(changed)) == 17
    then_legal("hit stand double_down surrender")


def test_a_run_is_won_at_4_times_what_was_brought(house: House) -> None:
    """“At the Classic Table you bring 40–100 chips from your vault and win the run at 4 times what
    you brought.”"""
    house.grant("ada", 1000)
    house.open("oak", "classic", host="ada")
    for stake in (39, 101):
        refused = house.play("oak", "start_run", seat=1, player="ada", stake=stake)
        assert refused.json()["type"] == "/problems/stake-not-allowed"
    started = house.do("oak", "start_run", seat=1, player="ada", stake=40)["table"]
    assert started["seats"][0]["run"]["goal"] == 160
    assert house.balance("player/ada/vault") == 960

    for bet in (20, 30, 45):  # naturals, at 3:2
        over = deal(house, "oak", "A s x", bet)["table"]
    run = over["seats"][0]["run"]
    assert (run["outcome"], run["bankroll"]) == ("won", 40 + 30 + 45 + 67)
    assert house.balance("player/ada/vault") == 960 + 182


def test_without_a_vault_a_run_starts_with_100_chips():
    """“(Without a vault, for example the agent CLI, a run starts with 100 chips and the goal is
    300.)”"""
    given(a_table("classic"))
    when(StartRun(1, "ada"))
    then(RunStarted(1, "ada", 1, "grant", 100, 300))


def test_a_run_is_lost_without_chips_or_without_a_legal_bet(house: House) -> None:
    """“You lose when you run out of chips or can no longer place a legal bet.”"""
    house.grant("ada", 1000)
    house.open("oak", "classic", host="ada")
    house.do("oak", "start_run", seat=1, player="ada", stake=40)
    for bet in (20, 10, 5):  # the dealer's naturals
        over = deal(house, "oak", "s A . x", bet)["table"]
        assert [move["type"] for move in over["legal_moves"]].count("bet") == (bet > 5)
    run = over["seats"][0]["run"]
    assert (run["outcome"], run["bankroll"]) == ("lost", 5)

    house.do("oak", "start_run", seat=1, player="ada", stake=40)
    deal(house, "oak", "5 x 6 x 2", 20)
    run = house.do("oak", "double_down", seat=1)["table"]["seats"][0]["run"]
    assert (run["outcome"], run["bankroll"]) == ("lost", 0)


@rows("""
    bankroll   least   most
    100        5       50
    61         5       30
    10         5       5
""")
def test_a_bet_is_a_whole_number_from_5_to_half_of_the_bankroll(bankroll, least, most):
    """“Each round you bet a whole number from 5 up to 0.5 × your bankroll, rounded down.”"""
    seen = view(a_table("classic", bankroll).table, 0, 0)
    [bet] = [move for move in seen.legal_moves if move.type == "bet"]
    assert (bet.min, bet.max, bet.step) == (least, most, 1)


def test_nobody_goes_all_in(house: House) -> None:
    """“You can never go all-in.” – “a whole number”"""
    house.seat("oak", "ada", ruleset="classic")
    assert (
        house.play("oak", "bet", seat=1, amount=100).json()["type"] == "/problems/bet-not-allowed"
    )
    assert house.play("oak", "bet", seat=1, amount=51).json()["type"] == "/problems/bet-not-allowed"
    assert house.play("oak", "bet", seat=1, amount=10.5).status_code == 422


def test_the_shop_is_visited_before_betting(house: House) -> None:
    """“Before betting you may visit the shop.”"""
    house.seat("oak", "ada", ruleset="classic")
    bought = house.do("oak", "buy_item", seat=1, item="shield")["table"]["seats"][0]
    assert (bought["items"], bought["stack"]) == (["shield"], 100 - 15)
    deal(house, "oak", "9 7 8", 20)
    late = house.play("oak", "buy_item", seat=1, item="shield")
    assert late.json()["type"] == "/problems/shop-closed"


@rows("""
    hand       total
    2s 3d      5
    4s 5d      9
    6s 7d      13
    8s 9d      17
    Ts 2d      12
    Js 2d      12
    Qs 2d      12
    Ks 2d      12
""")
def test_card_values(hand, total):
    """“2–10 are worth their face value; J, Q and K are worth 10.”"""
    assert total_of(a_round("classic", hand, upcard="6c", hole="Th")) == total


@rows("""
    hand    next    totals
    As 6d   9h 4c   17 16 20
    As Ad   Ac 8h   12 13 21
""")
def test_an_ace_counts_high_but_drops(hand, next, totals):
    """“An Ace counts high, but drops by 10 whenever the hand would otherwise bust.”"""
    story = given(a_round("classic", hand, upcard="6c", hole="Th", next_cards=f"{next} Kh"))
    seen = [total_of(story)]
    for _ in next.split():
        when(Hit(1))
        seen.append(total_of(story))
    assert seen == [int(total) for total in totals.split()]


def test_a_fixed_value_disables_the_choice():
    """“A fixed-value environment rule can disable this choice; read its declared effect.”"""
    cards = {"upcard": "6c", "hole": "Th", "environment": modifiers("A=11")}
    story = given(a_round("classic", "As 6d", next_cards="9h", **cards))
    assert [each.value for each in view(story.table, 0, 0).modifiers] == [11]
    when(Hit(1))
    then_among(CardDealt(1, 0, "9h"), HandSettled(1, 0, "bust", 100, 0))
    assert total_of(story) == 26


def test_chaos_changes_the_values_and_the_total_shown_includes_it(house: House) -> None:
    """“Chaos rules change card values before the total is summed. The total shown on screen always
    includes them: trust it over mental arithmetic.”"""
    house.seat("oak", "ada", ruleset="classic")
    dealt = deal(house, "oak", "9 7 8", 20)["table"]
    assert (dealt["seats"][0]["hands"][0]["total"], dealt["dealer"]["total"]) == (17, 7)
    nine_is_3 = {"type": "rank_value", "rank": "9", "value": 3}
    seen = house.do("oak", "apply_modifier", modifier=nine_is_3)["table"]
    assert (seen["seats"][0]["hands"][0]["total"], seen["modifiers"]) == (11, [nine_is_3])


def test_two_cards_each_and_the_dealer_s_second_is_face_down(house: House) -> None:
    """“You and the dealer get two cards each; the dealer's second card is face down (the hole
    card).”"""
    house.seat("oak", "ada", ruleset="classic")
    dealt = deal(house, "oak", "9 7 8", 20)["table"]
    assert [card[0] for card in dealt["seats"][0]["hands"][0]["cards"]] == ["9", "8"]
    assert [card[0] for card in dealt["dealer"]["cards"]] == ["7"]
    assert dealt["dealer"]["hole"] == "face_down"
    over = house.do("oak", "stand", seat=1)["table"]
    assert over["dealer"]["hole"] == "revealed"


@rows("""
    bet   payout
    20    50
    15    37
    5     12
""")
def test_a_natural_settles_before_player_actions(bet, payout):
    """“Naturals settle before player actions: an original Ace plus a ten-value card pays 3:2,
    rounded down.”"""
    given(a_table("classic", 100, cards="As 6c Kd Th"))
    when(Bet(1, bet))
    then_among(HandSettled(1, 0, "natural", bet, payout), seed_revealed(drawn=4))
    then_net(payout - bet)


@rows("""
    hand    outcome   net
    Ts 9d   loss      -20
    As Kd   push      0
""")
def test_the_dealer_s_natural_ends_the_round(hand, outcome, net):
    """“The dealer's natural ends the round before you act; two naturals push.”"""
    first, second = hand.split()
    given(a_table("classic", 100, cards=f"{first} Tc {second} Ah"))
    when(Bet(1, 20))
    then_among(DealerPeeked(natural=True), HandSettled(1, 0, outcome, 20, 20 + net))
    then_net(net)


def test_otherwise_the_chaos_acts_once():
    """“In legacy Chaos compatibility, otherwise the Chaos AI acts once.”"""
    [change, other] = modifiers("7=9, reverse")
    given(a_round("classic", "7s 8d", upcard="6c"))
    when(ApplyModifier(change))
    then(ModifierApplied(change))
    when(ApplyModifier(other))
    then_refused(ModifierTooLate)
    given(a_table("classic", 200, cards="As 6c Kd Th"))
    when(Bet(1, 20), ApplyModifier(change))
    then_refused(NoRound)


def test_a_rule_may_bust_a_starting_hand_at_once():
    """“A rule can immediately bust a starting hand”"""
    [pairs] = modifiers("a pair")
    given(a_round("classic", "8s 8d", upcard="6c", hole="Th"))
    when(ApplyModifier(pairs))
    then_among(ModifierApplied(pairs), HandSettled(1, 0, "bust", 100, 0), seed_revealed(drawn=4))


def test_reverse_bust_changes_a_bust_to_a_push():
    """“Reverse Bust changes a player bust to a push.”"""
    given(a_round("classic", "Ts 6d", upcard="6c", next_cards="Kh"))
    when(ApplyModifier(*modifiers("reverse")), Hit(1))
    then_among(HandSettled(1, 0, "push", 100, 100))
    then_net(0)


def test_a_hand_changed_to_21_is_no_natural():
    """“A hand changed to 21 by a rule does not gain the natural payout.”"""
    given(a_round("classic", "Ts 9d", upcard="6c", hole="Th", next_cards="4h"))
    when(ApplyModifier(*modifiers("9=11")))
    then_among(HandStood(1, 0), DealerDrew(("4h",)), HandSettled(1, 0, "win", 100, 200))


def test_on_a_turn_one_may_hit_stand_double_surrender_or_use_an_item():
    """“Your turn: hit, stand, double or surrender, or use an item.”"""
    story = given(a_table("classic", 200, cards="Ts 6c 6d Th"))
    when(BuyItem(1, "shield"), Bet(1, 50))
    then_legal("hit stand double_down surrender")
    assert "use_item" in [move.type for move in view(story.table, 0, 0).legal_moves]


@rows("""
    upcard   hole   next    draws
    Tc       7h     5d      –
    6c       Ah     5d      –
    6c       Th     5d 9c   5d
    2c       2h     3d Kc   3d Kc
    2c       2h     3d Ac   3d Ac
""")
def test_the_dealer_draws_until_17(upcard, hole, next, draws):
    """“The dealer reveals the hole card and draws until reaching 17 or more.”"""
    story = given(a_round("classic", "Ts 8d", upcard=upcard, hole=hole, next_cards=next))
    when(Stand(1))
    then_among(HoleCardRevealed(hole))
    drew = [event.cards for event in story.log if isinstance(event, DealerDrew)]
    assert drew == ([tuple(draws.split())] if draws else [])


@rows("""
    hole   net
    8h     +20
    Th     -20
    9h     0
""")
def test_settlement(hole, net):
    """“Settlement: win +bet, lose -bet, push 0.”"""
    given(a_round("classic", "Ts 9d", upcard="Tc", hole=hole, bet=20))
    when(Stand(1))
    then_net(net)


def test_double_and_surrender_are_for_the_first_decision():
    """“Both are allowed only on your first decision (exactly two cards).”"""
    given(a_round("classic", "2s 3d", upcard="6c", next_cards="4h"))
    then_legal("hit stand double_down surrender")
    when(Hit(1))
    then_legal("hit stand")
    when(DoubleDown(1))
    then_refused(DoubleNotAllowed)
    when(Surrender(1))
    then_refused(SurrenderNotAllowed)


def test_using_an_item_is_no_decision():
    """“Using an item does not count as a decision.”"""
    given(a_table("classic", 200, cards="Ts 6c 6d Th"))
    when(BuyItem(1, "shield"), Bet(1, 50), UseItem(1, "shield"))
    then_among(ItemUsed(1, 0, "shield"), HandShielded(1, 0))
    then_legal("hit stand double_down surrender")


def test_double():
    """“Double (enabled: yes): the bet doubles, you get exactly one card, then you stand.”"""
    given(a_round("classic", "6s 5d", upcard="Tc", hole="8h", next_cards="9h"))
    when(DoubleDown(1))
    then_among(HandDoubled(1, 0, 100), CardDealt(1, 0, "9h"), HandStood(1, 0))
    then_net(+200)


@rows("""
    bet   back
    20    10
    15    7
    5     2
""")
def test_surrender(bet, back):
    """“Surrender (enabled: yes): you give up the hand and get half the bet back, rounded in the
    house's favour.”"""
    given(a_round("classic", "Ts 6d", upcard="Tc", bet=bet))
    when(Surrender(1))
    then_among(HandSettled(1, 0, "surrender", bet, back), seed_revealed(drawn=4))
    then_net(back - bet)


@rows("""
    own      limit      hand    card   total
    hit      –          Ts 6d   6h     22
    double   –          Ts 6d   6h     22
    hit      limit=25   Ts 9d   7h     26
    hit      limit=18   Ts 6d   3h     19
""")
def test_a_bust_ends_the_round_at_once(own, limit, hand, card, total):
    """“Going over the bust limit (21, unless a chaos rule changes it) on your own hit or double
    ends the round at once; the dealer does not draw.”"""
    story = given(a_round("classic", hand, upcard="6c", hole="5h", next_cards=f"{card} 2c 2d 2h"))
    if limit:
        when(ApplyModifier(*modifiers(limit)))
    when(Hit(1) if own == "hit" else DoubleDown(1))
    stake = 100 if own == "hit" else 200
    then_among(HandSettled(1, 0, "bust", stake, 0), HoleCardRevealed("5h"), seed_revealed(drawn=5))
    assert total_of(story) == total


def test_the_limit_itself_is_no_bust():
    """“the bust limit (21, unless a chaos rule changes it)”"""
    story = given(a_round("classic", "Ts 9d", upcard="6c", hole="Th", next_cards="5c 6h"))
    when(ApplyModifier(*modifiers("limit=25")), Hit(1))
    then_among(CardDealt(1, 0, "5c"))
    assert total_of(story) == 24


def total_of(story: Story) -> int:
    return view(story.table, 0, 0).seats[0].hands[0].total


# Not about play here, and so without a test:
#
# - “Poker Head's builds” and “J-54's Table” are other games of that house. What they may change of
#   these rules, an environment does, which is tested.
# - The “agent CLI” is that house's; a run without a vault is one without a stake, which is tested.
