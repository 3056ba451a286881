"""When modifiers come: the one of a round, by the platform, and the environment of a table."""

from msgspec.structs import replace

from services.blackjack.domain import modifiers as m
from services.blackjack.domain import rejections as no
from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.commands import (
    ApplyModifier,
    Bet,
    BuyItem,
    Hit,
    Insure,
    Leave,
    Sit,
    Stand,
    Surrender,
    TimeOut,
    UseItem,
)
from services.blackjack.domain.events import (
    DealerPeeked,
    HandSettled,
    HandStood,
    ModifierApplied,
)
from services.blackjack.domain.items import ONE_OF_EACH
from services.blackjack.domain.moves import legal_moves
from services.blackjack.domain.rulesets import PUBLISHED
from services.blackjack.domain.view import view
from tests.domain.changes import ON_TURN, SHARED, modifiers
from tests.domain.story import (
    a_round,
    a_table_of,
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


def test_an_environment_is_in_effect_in_every_round_once_naturals_are_dealt_with():
    story = given(
        a_round("classic", "8s 8d", upcard="6c", hole="9h", environment=modifiers("a pair"))
    )
    then_among(DealerPeeked(natural=False), HandSettled(1, 0, "bust", 100, 0))
    assert story.table.rules.environment == modifiers("a pair")
    when(Bet(1, 100))
    then_among(DealerPeeked(natural=False), HandSettled(1, 0, "bust", 100, 0))
    then_net(-200)


def test_a_dealers_natural_ends_the_round_before_any_modifier():
    given(
        a_round(
            "classic", "Ks 8d", upcard="Ac", hole="Th", environment=modifiers("reverse, a king")
        )
    )
    then_among(DealerPeeked(natural=True), HandSettled(1, 0, "loss", 100, 0))


@rows("""
    environment       then            hand      total
    7=9               8=2             7s 8d     11
    7=9               7=2             7s 8d     10
    limit=25, A=3     limit=20        As 8d     11
    A=3               A=7             As 8d     15
""")
def test_a_rounds_modifier_comes_on_top_of_the_environment_and_wins(environment, then, hand, total):
    story = given(a_round("classic", hand, upcard="6c", environment=modifiers(environment)))
    when(ApplyModifier(*modifiers(then)))
    seen = view(story.table, 0, 0)
    assert seen.seats[0].hands[0].total == total
    assert seen.modifiers == modifiers(f"{environment}, {then}")


def test_the_next_round_begins_with_the_environment_alone():
    story = given(
        a_round(
            "classic",
            "9s 8d",
            upcard="6c",
            hole="Th",
            next_cards="3d",
            environment=modifiers("9=8"),
        )
    )
    when(ApplyModifier(*modifiers("8=9")), Stand(1))
    assert view(story.table, 0, 0).modifiers == modifiers("9=8, 8=9")
    assert view(story.table, 0, 0).seats[0].hands[0].total == 17
    when(Bet(1, 50))
    assert view(story.table, 0, 0).modifiers == modifiers("9=8")
    assert view(story.table, 0, 0).seats[0].hands[0].total == 18 - 2
    then_legal("hit stand double_down surrender")


def test_the_platform_applies_one_modifier_a_round_at_most():
    given(a_round("classic", "9s 8d", upcard="6c"))
    when(ApplyModifier(m.ReverseBust()), ApplyModifier(m.ReverseBust()))
    then_refused(no.ModifierTooLate)


def test_a_modifier_is_too_late_after_the_first_decision():
    given(a_round("classic", "5s 3d", upcard="6c", next_cards="2d"))
    when(Hit(1), ApplyModifier(m.ReverseBust()))
    then_refused(no.ModifierTooLate)


def test_no_modifier_between_rounds():
    given(a_table_of(PUBLISHED["classic"], 100))
    when(ApplyModifier(m.ReverseBust()))
    then_refused(no.NoRound)


@rows("""
    game
    a2g
    coinlounge
    european
""")
def test_games_without_modifiers_refuse_them(game):
    story = given(a_round(game, "9s 8d", upcard="6c"))
    when(ApplyModifier(m.ReverseBust()))
    then_refused(no.NoModifiers)
    assert "apply_modifier" not in [move.type for move in legal_moves(story.table)]


def test_a_modifier_waits_until_insurance_is_answered():
    given(a_table_of(SHARED, 200, cards="9s Ac 8d 9d"))
    when(Bet(1, 100), ApplyModifier(m.ReverseBust()))
    then_refused(no.InsuranceOpen)


@rows("""
    decision
    stand
    insure
    surrender
    time_out
    leave
""")
def test_any_decision_of_any_seat_is_the_first(decision):
    rules = replace(ON_TURN, surrender=True)
    story = given(a_table_of(rules, 200, 200, cards="9s 8s Ac 8d 7d 9d"))
    when(Bet(1, 100), Bet(2, 100))
    wait = waits_for(story.table)
    commands = {"insure": Insure(1), "surrender": Surrender(1), "leave": Leave(1)}
    commands |= {"stand": Stand(1), "time_out": TimeOut(wait.turn if wait else "")}
    when(commands[decision], ApplyModifier(m.ReverseBust()))
    then_refused(no.ModifierTooLate)


def test_a_decision_was_made_though_who_made_it_has_left():
    given(a_table_of(replace(ON_TURN, surrender=True), 200, 200, cards="9s 8s 6c 8d 7d 9d"))
    when(Bet(1, 100), Bet(2, 100))
    when(Surrender(1), Leave(1))
    when(ApplyModifier(m.ReverseBust()))
    then_refused(no.ModifierTooLate)
    when(Sit(1, "cyd", 100), ApplyModifier(m.ReverseBust()))
    then_refused(no.ModifierTooLate)


def test_a_hand_that_stood_by_itself_has_decided_nothing_whatever_an_item_changes():
    rules = replace(ON_TURN, items=ONE_OF_EACH, environment=modifiers("K=11"))
    given(a_table_of(rules, 200, 200, cards="Ks 8s 6c Td 7d 9d"))
    when(BuyItem(2, "limit-22"), Bet(1, 100), Bet(2, 100))
    then_among(HandStood(1, 0))
    when(UseItem(2, "limit-22"), ApplyModifier(m.ReverseBust()))
    then_among(ModifierApplied(m.BustLimit(22), 2), ModifierApplied(m.ReverseBust()))


def test_a_natural_that_waits_has_decided_nothing():
    given(a_table_of(ON_TURN, 200, 200, cards="As 8s 6c Kd 7d 9d"))
    when(Bet(1, 100), Bet(2, 100))
    when(ApplyModifier(m.ReverseBust()))
    then(ModifierApplied(m.ReverseBust()))


def test_a_modifier_binds_every_hand_but_a_natural():
    given(a_table_of(ON_TURN, 200, 200, 200, cards="As Ks 8s 6c Kd Kh 7d 9d 4c"))
    when(Bet(1, 100), Bet(2, 100), Bet(3, 100))
    when(ApplyModifier(*modifiers("K=11")))
    then(ModifierApplied(m.RankValue("K", 11)), HandSettled(2, 0, "bust", 100, 0))
    when_all_stand()
    then_among(HandSettled(1, 0, "natural", 100, 250), HandSettled(3, 0, "loss", 100, 0))


def test_a_modifier_gives_the_turn_its_full_time_again():
    story = given(a_table_of(ON_TURN, 200, 200, cards="9s Ks 6c 8d Kh 9d"))
    when(Bet(1, 100), Bet(2, 100))
    early = waits_for(story.table)
    story.now = 15_000
    when(ApplyModifier(*modifiers("K=11")))
    late = waits_for(story.table)
    assert (early.due, late.due) == (20_000, 35_000)
    when(TimeOut(early.turn))
    then_refused(no.TooLate)
