"""The shop and its items: bought before betting, used on one's turn, no decision."""

import pytest
from msgspec import json
from msgspec.structs import replace

from services.blackjack.domain import rejections as no
from services.blackjack.domain.commands import (
    ApplyModifier,
    Bet,
    BuyItem,
    Close,
    DoubleDown,
    Hit,
    Leave,
    Split,
    Stand,
    StartRun,
    Surrender,
    UseItem,
)
from services.blackjack.domain.events import (
    CardDealt,
    CardRedrawn,
    HandDoubled,
    HandSettled,
    HandShielded,
    HandStood,
    HoleCardRevealed,
    ItemBought,
    ItemUsed,
    ModifierApplied,
    RunEnded,
)
from services.blackjack.domain.items import MOST_HELD, ONE_OF_EACH, Effect, Item, Modify, Shield
from services.blackjack.domain.modifiers import BustLimit, InstantBust, Pair, RankValue
from services.blackjack.domain.moves import Move, legal_moves
from services.blackjack.domain.rulesets import PUBLISHED
from services.blackjack.domain.view import view
from tests.domain.story import (
    Story,
    a_table,
    a_table_of,
    given,
    rows,
    seed_revealed,
    then,
    then_among,
    then_legal,
    then_net,
    then_posted,
    then_refused,
    when,
    when_all_stand,
)


def with_items(*names: str, cards: str, stack: int = 1000, **limits) -> Story:
    """A classic round just dealt, its bet 100, to a player who has bought these."""
    story = a_table("classic", stack, cards=cards, **limits)
    story.play(*(BuyItem(1, name) for name in names))
    return story.play(Bet(1, 100))


def listed(story: Story, *types: str) -> list[Move]:
    return [move for move in legal_moves(story.table) if move.type in types]


def test_the_price_goes_from_the_stack_to_the_bank():
    given(a_table("classic", 100))
    when(BuyItem(1, "shield"))
    then(ItemBought(1, "shield", 15))
    then_posted("""
        ada      -15
        bank     +15
    """)
    then_net(-15)


def test_the_shop_is_listed_before_betting_with_what_leaves_a_bet():
    story = given(a_table("classic", 24))  # ten chips are the fewest to bet with
    assert listed(story, "buy_item") == [
        Move("buy_item", 1, item="redraw", cost=10),
        Move("buy_item", 1, item="limit-22", cost=10),
    ]
    when(BuyItem(1, "shield"))
    then_refused(no.NotEnoughChips)


def test_items_are_kept_until_they_are_used():
    story = given(with_items("redraw", "shield", "redraw", cards="Ts 6c 8d 9h 2d"))
    when(Stand(1), Bet(1, 50))
    assert view(story.table, 0, 0).seats[0].items == ("redraw", "shield", "redraw")
    when(UseItem(1, "shield"))
    assert view(story.table, 0, 0).seats[0].items == ("redraw", "redraw")


def test_the_shop_is_closed_once_the_bet_is_placed():
    rules = replace(PUBLISHED["a2g"], items=ONE_OF_EACH)
    given(a_table_of(rules, 200, 200, cards="Ts 9s 6c 8d 8c 9h"))
    when(Bet(1, 20), BuyItem(1, "shield"))
    then_refused(no.ShopClosed)
    when(Bet(2, 20))
    when(BuyItem(1, "shield"))
    then_refused(no.ShopClosed)


def test_a_seat_holds_some_items_only():
    given(a_table("classic", 1000))
    when(*[BuyItem(1, "redraw")] * MOST_HELD)
    when(BuyItem(1, "redraw"))
    then_refused(no.HandsFull)


@rows("""
    game         item
    classic      crystal-ball
    a2g          shield
""")
def test_what_the_shop_does_not_have_cannot_be_bought(game, item):
    given(a_table(game, 1000))
    when(BuyItem(1, item))
    then_refused(no.UnknownItem)


def test_a_table_may_have_a_catalogue_of_its_own():
    charm = Item("charm", 3, Shield())
    story = given(a_table("classic", 100, items=(charm,)))
    assert listed(story, "buy_item") == [Move("buy_item", 1, item="charm", cost=3)]
    given(a_table("classic", 100, items=()))
    when(BuyItem(1, "shield"))
    then_refused(no.UnknownItem)


def test_the_last_purchase_may_leave_nobody_to_wait_for():
    """A stack that allows no bet spectates, however it came to be so small."""
    rules = replace(PUBLISHED["a2g"], items=(Item("charm", 19, Shield()),))
    given(a_table_of(rules, 200, 20, cards="Ts 6c 8d 9h"))
    when(Bet(1, 20), BuyItem(2, "charm"))
    then_among(ItemBought(2, "charm", 19))
    then_legal("hit stand double_down", seat=1)


@rows("""
    item        decision
    shield      double_down
    shield      surrender
    limit-22    double_down
    limit-22    surrender
""")
def test_using_an_item_is_no_decision(item, decision):
    """Double and surrender stay open as long as the hand has its two cards."""
    given(with_items(item, cards="5s 6c 6d 9h Td 2c"))
    then_legal("hit stand double_down surrender")
    when(UseItem(1, item))
    then_legal("hit stand double_down surrender")
    when(UseItem(1, item))
    then_refused(no.ItemNotHeld)
    when({"double_down": DoubleDown(1), "surrender": Surrender(1)}[decision])
    if decision == "double_down":
        then_among(HandDoubled(1, 0, 100))
    else:
        then_among(HandSettled(1, 0, "surrender", 100, 50))


def test_an_item_leaves_the_platform_its_modifier():
    given(with_items("limit-22", cards="5s 6c 6d 9h"))
    when(UseItem(1, "limit-22"))
    then(ItemUsed(1, 0, "limit-22"), ModifierApplied(BustLimit(22), seat=1))
    when(ApplyModifier(BustLimit(25)))
    then(ModifierApplied(BustLimit(25)))


def test_the_limit_of_an_item_holds_for_this_round_alone():
    story = given(with_items("limit-22", cards="Ts 6c 6d Th 6h 6s"))
    when(UseItem(1, "limit-22"), Hit(1))
    then_among(CardDealt(1, 0, "6h"), HandStood(1, 0), HandSettled(1, 0, "push", 100, 100))
    when(Bet(1, 100))
    assert view(story.table, 0, 0).modifiers == ()
    when(Hit(1))
    then_among(HandSettled(1, 0, "bust", 100, 0))


def test_a_redraw_replaces_the_last_card_drawn_by_a_hit():
    story = given(with_items("redraw", "redraw", cards="Ts 6c 2d Th 2h 5s 9c 3d"))
    when(Hit(1), UseItem(1, "redraw"))
    then(CardDealt(1, 0, "2h"), ItemUsed(1, 0, "redraw"), CardRedrawn(1, 0, "5s"))
    assert story.table.seat(1).hands[0].cards == ("Ts", "2d", "5s")
    then_legal("hit stand")
    when(UseItem(1, "redraw"))
    then_among(
        ItemUsed(1, 0, "redraw"),
        CardRedrawn(1, 0, "9c"),
        HandStood(1, 0),
        HandSettled(1, 0, "win", 100, 200),
        seed_revealed(drawn=8),
    )


def test_a_redraw_may_bust():
    given(with_items("redraw", cards="Ts 6c 6d Th 2h 8s"))
    when(Hit(1), UseItem(1, "redraw"))
    then_among(CardRedrawn(1, 0, "8s"), HandSettled(1, 0, "bust", 100, 0), seed_revealed(drawn=6))


def test_a_redraw_needs_a_card_that_was_drawn_by_a_hit():
    story = given(with_items("redraw", cards="Ts 6c 6d Th"))
    assert listed(story, "use_item") == []
    when(UseItem(1, "redraw"))
    then_refused(no.ItemUseless)


def test_a_card_that_came_with_a_split_is_not_redrawn():
    rules = replace(PUBLISHED["a2g"], items=ONE_OF_EACH)
    given(a_table_of(rules, 400, cards="8s 6c 8d Th 2h 3s 4s"))
    when(BuyItem(1, "redraw"), Bet(1, 100))
    when(Split(1), UseItem(1, "redraw"))
    then_refused(no.ItemUseless)
    when(Hit(1), UseItem(1, "redraw"))
    then(CardDealt(1, 0, "3s"), ItemUsed(1, 0, "redraw"), CardRedrawn(1, 0, "4s"))


@rows("""
    decision       stake
    hit            100
    double_down    200
""")
def test_a_shield_turns_a_bust_of_this_hand_into_a_push(decision, stake):
    given(with_items("shield", cards="Ts 6c 6d Th Kd"))
    when(UseItem(1, "shield"))
    then(ItemUsed(1, 0, "shield"), HandShielded(1, 0))
    when({"hit": Hit(1), "double_down": DoubleDown(1)}[decision])
    then_among(
        CardDealt(1, 0, "Kd"),
        HandSettled(1, 0, "push", stake, stake),
        HoleCardRevealed("Th"),
        seed_revealed(drawn=5),
    )
    then_net(-15)


def test_a_shield_holds_for_this_hand_alone():
    rules = replace(PUBLISHED["a2g"], items=ONE_OF_EACH)
    given(a_table_of(rules, 1000, cards="8s 6c 8d Th 6h Ks 7h Qs"))
    when(BuyItem(1, "shield"), Bet(1, 100))
    when(Split(1), UseItem(1, "shield"), Hit(1))
    then_among(HandSettled(1, 0, "push", 100, 100))
    when(Hit(1, 1))
    then_among(HandSettled(1, 1, "bust", 100, 0))


def test_the_first_of_two_split_hands_keeps_the_shield():
    rules = replace(PUBLISHED["a2g"], items=ONE_OF_EACH)
    given(a_table_of(rules, 1000, cards="8s 6c 8d Th 6h Ks 7h Qs"))
    when(BuyItem(1, "shield"), Bet(1, 100))
    when(UseItem(1, "shield"), Split(1), Hit(1))
    then_among(HandSettled(1, 0, "push", 100, 100))
    when(Hit(1, 1))
    then_among(HandSettled(1, 1, "bust", 100, 0))


def test_a_second_shield_is_useless():
    story = given(with_items("shield", "shield", cards="Ts 6c 6d Th"))
    when(UseItem(1, "shield"))
    assert listed(story, "use_item") == []
    when(UseItem(1, "shield"))
    then_refused(no.ItemUseless)


@rows("""
    effect   hand    next
    sixes    Ts 6d   3d
    pairs    Ts Td   –
""")
def test_an_item_may_bust_the_hand_of_its_owner(effect, hand, next):
    effects: dict[str, Effect] = {
        "sixes": Modify(RankValue("6", 11)),
        "pairs": Modify(InstantBust(Pair())),
    }
    first, second = hand.split()
    shop = (Item("odd", 1, effects[effect]),)
    given(with_items("odd", cards=f"{first} 6c {second} Th {next}", items=shop))
    when(*([Hit(1)] if next else []), UseItem(1, "odd"))
    then_among(ItemUsed(1, 0, "odd"), HandSettled(1, 0, "bust", 100, 0))


def test_an_item_is_used_on_ones_turn():
    rules = replace(PUBLISHED["a2g"], items=ONE_OF_EACH)
    given(a_table_of(rules, 200, 200, cards="Ts 9s 6c 8d 8c 9h"))
    when(BuyItem(2, "shield"), UseItem(2, "shield"))
    then_refused(no.NoRound)
    when(Bet(1, 20), Bet(2, 20))
    when(UseItem(2, "shield"))
    then_refused(no.NotYourTurn)
    when(Stand(1))
    when(UseItem(2, "shield"))
    then(ItemUsed(2, 0, "shield"), HandShielded(2, 0))


def test_a_natural_takes_no_item():
    rules = replace(PUBLISHED["a2g"], items=ONE_OF_EACH)
    given(a_table_of(rules, 200, cards="As Ac Kd 8d"))
    when(BuyItem(1, "shield"), Bet(1, 20))
    then_legal("stand insure")
    when(UseItem(1, "shield"))
    then_refused(no.HandClosed)


@pytest.mark.parametrize("ending", [Leave(1), Close()])
def test_unused_items_are_lost_with_the_seat(ending):
    story = given(a_table("classic", 100))
    when(BuyItem(1, "shield"), ending)
    then_among(RunEnded(1, "left", 85))
    if isinstance(ending, Leave):
        when(StartRun(1, "ada", 100))
        assert story.table.seat(1).items == ()


def test_no_item_looks_into_the_shoe():
    """Whatever cards are to come, the events up to a redraw are the same, and so is the view."""

    def told(next_cards: str) -> bytes:
        story = given(with_items("shield", "limit-22", cards=f"Ts 6c 2d {next_cards}"))
        when(UseItem(1, "shield"), UseItem(1, "limit-22"))
        return json.encode((story.log, view(story.table, 0, 0)))

    assert told("Th 2h") == told("5h Ks")


def test_everybody_stands_with_items_in_hand():
    given(with_items("shield", cards="Ts 6c 9d Th 5h"))
    when_all_stand()
    then_net(-100 - 15)
