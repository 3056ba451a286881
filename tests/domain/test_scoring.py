"""Modifiers: what they change in the scoring, and what they leave alone."""

import pytest
from msgspec import ValidationError, json
from msgspec.structs import replace

from services.blackjack.domain import modifiers as m
from services.blackjack.domain.commands import (
    ApplyModifier,
    Bet,
    DoubleDown,
    Hit,
    Split,
    Stand,
)
from services.blackjack.domain.events import (
    CardDealt,
    DealerDrew,
    DealerPeeked,
    HandDoubled,
    HandSettled,
    HandSplit,
    HandStood,
    HoleCardRevealed,
    ModifierApplied,
)
from services.blackjack.domain.view import view
from tests.domain.changes import SHARED, modifiers
from tests.domain.story import (
    a_round,
    a_table_of,
    given,
    rows,
    seed_revealed,
    then,
    then_among,
    then_legal,
    then_net,
    when,
)


@rows("""
    cards        changes               total   soft
    7s 8d        7=9                   17      no
    7s 7d 7c     7=9                   27      no
    Ks Qd        K=1                   11      no
    As Kd        A=11                  21      no
    As Kd 5c     A=11                  26      no
    As Kd 5c     A=1                   16      no
    As Ac        A=11                  22      no
    As 9d        –                     20      yes
    As 9d        9=11                  12      no
    As 9d        limit=25              20      yes
    As 9d 5c     limit=25              25      yes
    As 9d 6c     limit=25              16      no
    As Ac        limit=22              22      yes
    As Ac Kd     limit=22              22      yes
    As Ac Kd     –                     12      no
    As Ac Ad     limit=31              23      yes
    As 7d        limit=17              8       no
    As 6d        limit=17              17      yes
    7s 8d        7=9, 7=2              10      no
    As 8d        A=5, A=2              10      no
    As 8d 7c     limit=17, limit=26    26      yes
""")
def test_values_apply_before_the_total_is_summed(cards, changes, total, soft):
    """An ace drops by 10 whenever the hand would bust, one after the other; a fixed one never."""
    count, hand = m.scoring(modifiers(changes)), tuple(cards.split())
    assert (count.total(hand), count.is_soft(hand)) == (total, soft == "yes")


@rows("""
    told
    {"type": "rank_value", "rank": "7", "value": 12}
    {"type": "rank_value", "rank": "7", "value": 0}
    {"type": "rank_value", "rank": "A", "value": 5}
    {"type": "rank_value", "rank": "1", "value": 5}
    {"type": "fixed_ace", "value": 12}
    {"type": "bust_limit", "limit": 16}
    {"type": "bust_limit", "limit": 32}
    {"type": "instant_bust"}
    {"type": "instant_bust", "condition": {"type": "hole_card", "rank": "7"}}
    {"type": "reverse_bust", "also": 1}
    {"type": "see_the_hole_card"}
""")
def test_the_set_of_modifiers_is_closed(told):
    with pytest.raises(ValidationError):
        json.decode(told, type=m.Modifier)


def test_a_hand_changed_to_21_is_no_natural_and_pays_1_to_1():
    given(a_round("classic", "9s Td", upcard="6c", hole="Th", next_cards="2d"))
    when(ApplyModifier(m.RankValue("9", 11)))
    then(
        ModifierApplied(m.RankValue("9", 11)),
        HandStood(1, 0),
        HoleCardRevealed("Th"),
        DealerDrew(("2d",)),
        HandSettled(1, 0, "win", 100, 200),
        seed_revealed(drawn=5),
    )
    then_net(+100)


def test_a_natural_is_judged_on_printed_ranks_before_any_modifier():
    given(a_round("classic", "As Kd", upcard="6c", environment=modifiers("A=1, K=1, limit=17")))
    then_among(HandSettled(1, 0, "natural", 100, 250))
    then_net(+150)


@rows("""
    hand     changes      upcard   hole   drawn      outcome   payout
    Ts 8d    6=10         6c       8h     –          push      100
    Ts 8d    6=10         6c       7h     –          win       200
    Ts 9d    6=1          6c       9h     8d         win       200
    Ts 9d    6=1          6c       9h     Td         loss      0
    Ts 9d    9=1          7c       7h     3d         loss      0
    Ts 9d    limit=25     6c       Th     8d         loss      0
    Ts 9d    limit=25     6c       Th     Kd         win       200
    Ts 8d    limit=25     7c       Th     –          win       200
    Ts 8d    A=4          Ac       9h     4d         win       200
    Ts 8d    A=4          Ac       6h     8d         push      100
    Ts 7d    K=11         Kc       Kh     –          win       200
    Ts 7d    limit=18     9c       Th     –          win       200
""")
def test_values_and_limit_bind_the_dealer_who_still_draws_to_17(
    hand, changes, upcard, hole, drawn, outcome, payout
):
    given(a_round("classic", hand, upcard=upcard, hole=hole, next_cards=drawn))
    when(ApplyModifier(*modifiers(changes)), Stand(1))
    dealer = [DealerDrew((drawn,))] if drawn else []
    then_among(HoleCardRevealed(hole), *dealer, HandSettled(1, 0, outcome, 100, payout))
    then_net(payout - 100)


@rows("""
    hand     changes     next      total
    Ts 9d    limit=25    5d        24
    Ts 6d    limit=25    9d        25
    7s 6d    7=1         9d        16
""")
def test_a_hand_is_played_up_to_the_bust_limit(hand, changes, next, total):
    story = given(a_round("classic", hand, upcard="6c", next_cards=f"{next} Kd"))
    when(ApplyModifier(*modifiers(changes)), Hit(1))
    assert view(story.table, 0, 0).seats[0].hands[0].total == total
    hand_now = story.table.seat(1).hands[0]
    assert hand_now.status == ("settled" if total == 25 else "playing")


def test_the_hand_at_the_limit_stands_by_itself():
    given(a_round("classic", "Ts 6d", upcard="6c", hole="Th", next_cards="9d 5d"))
    when(ApplyModifier(m.BustLimit(25)), Hit(1))
    then_among(CardDealt(1, 0, "9d"), HandStood(1, 0), HandSettled(1, 0, "win", 100, 200))


@rows("""
    changes     next   outcome   payout
    limit=17    2d     bust      0
    2=11        2d     bust      0
    reverse     Kd     push      100
    –           Kd     bust      0
""")
def test_a_bust_of_a_hit_or_double_ends_the_round_and_the_dealer_does_not_draw(
    changes, next, outcome, payout
):
    for decision, stakes in ((Hit(1), 1), (DoubleDown(1), 2)):
        given(a_round("classic", "Ts 6d", upcard="6c", hole="Th", next_cards=next))
        when(*map(ApplyModifier, modifiers(changes)))
        when(decision)
        then(
            *([HandDoubled(1, 0, 100)] if stakes == 2 else []),
            CardDealt(1, 0, next),
            HandSettled(1, 0, outcome, stakes * 100, stakes * payout),
            HoleCardRevealed("Th"),
            seed_revealed(drawn=5),
        )
        then_net(stakes * (payout - 100))


@rows("""
    hand     change     falls
    8s 8d    a pair     yes
    Ts Kd    a pair     no
    As 8d    an ace     yes
    Ts 8d    an ace     no
    Ks 8d    a king     yes
    Ts 2d    12 to 16   yes
    As 5d    12 to 16   yes
    Ts 7d    12 to 16   no
    8s 3d    12 to 16   no
    Ks Kd    K=11       yes
    Ts 8d    limit=17   yes
""")
def test_a_modifier_can_bust_a_starting_hand_at_once(hand, change, falls):
    given(a_round("classic", hand, upcard="6c", hole="9h", next_cards="2d"))
    when(ApplyModifier(*modifiers(change)))
    if falls == "no":
        then(ModifierApplied(*modifiers(change)))
        return
    then(
        ModifierApplied(*modifiers(change)),
        HandSettled(1, 0, "bust", 100, 0),
        HoleCardRevealed("9h"),
        seed_revealed(drawn=4),
    )
    then_net(-100)


def test_only_starting_hands_bust_at_once():
    given(
        a_round(
            "classic",
            "2s 3d",
            upcard="6c",
            next_cards="9d",
            environment=modifiers("a king, 12 to 16"),
        )
    )
    when(Hit(1))
    then(CardDealt(1, 0, "9d"))


def test_reverse_bust_makes_a_push_of_an_instant_bust_too():
    given(a_round("classic", "8s 8d", upcard="6c", environment=modifiers("reverse")))
    when(ApplyModifier(*modifiers("a pair")))
    then_among(HandSettled(1, 0, "push", 100, 100))
    then_net(0)


def test_pairs_and_peeks_go_by_printed_ranks():
    rules = replace(SHARED, split="same_value", environment=modifiers("9=8, T=5"))
    given(a_table_of(rules, 400, cards="9s Tc 8d 7d"))
    when(Bet(1, 100))
    then_among(DealerPeeked(natural=False))
    then_legal("hit stand double_down")
    given(a_table_of(rules, 400, cards="Ts 5c Kd 7d"))
    when(Bet(1, 100))
    then_legal("hit stand double_down split")


def test_a_split_hand_can_bust_with_its_second_card():
    rules = replace(SHARED, environment=modifiers("limit=17"))
    given(a_table_of(rules, 400, cards="8s 5c 8d 7d Ts 2s"))
    when(Bet(1, 100))
    when(Split(1))
    then(
        HandSplit(1, 0, 100),
        CardDealt(1, 0, "Ts"),
        HandSettled(1, 0, "bust", 100, 0),
        CardDealt(1, 1, "2s"),
    )


@rows("""
    change
    8=1
    limit=31
""")
def test_the_view_says_which_modifiers_its_totals_include(change):
    story = given(a_round("classic", "8s 5d", upcard="8c"))
    assert view(story.table, 0, 0).modifiers == ()
    when(ApplyModifier(*modifiers(change)))
    seen = view(story.table, 0, 0)
    assert seen.modifiers == modifiers(change)
    assert seen.dealer.total == (1 if change == "8=1" else 8)
