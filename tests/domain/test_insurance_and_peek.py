"""The side bet against an ace in both its timings, and the look at the hole card."""

from services.blackjack.domain.commands import (
    Bet,
    Deal,
    DeclineInsurance,
    DoubleDown,
    Hit,
    Insure,
    Leave,
    Split,
    Stand,
    Surrender,
)
from services.blackjack.domain.events import (
    DealerPeeked,
    HandsDealt,
    HandSettled,
    HandStood,
    HoleCardRevealed,
    InsuranceBought,
    InsuranceDeclined,
    InsuranceOffered,
    InsuranceSettled,
    PlayerLeaving,
    PlayerLeft,
)
from services.blackjack.domain.moves import legal_moves
from services.blackjack.domain.rejections import (
    HandClosed,
    InsuranceNotOffered,
    InsuranceOpen,
    NoRound,
    NotEnoughChips,
    NotYourTurn,
)
from tests.domain.story import (
    PLAY,
    a_command,
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
    when_all_stand,
)


@rows("""
    game         hand    hole   net
    a2g          Ts 9d   Kh     0
    coinlounge   Ts 9d   Kh     0
    a2g          Ts 9d   7h     +50
    coinlounge   Ts 9d   7h     +50
    a2g          Ts 9d   8h     -50
    coinlounge   Ts 9d   8h     -50
    a2g          Ts 7d   8h     -150
    coinlounge   Ts 7d   8h     -150
    a2g          As Kd   Kh     +100
    coinlounge   As Kd   Kh     +100
    a2g          As Kd   9h     +100
    coinlounge   As Kd   9h     +100
""")
def test_insurance_is_a_side_bet_of_its_own(game, hand, hole, net):
    """Half of a bet of 100 is insured. It wins with a dealer natural, whatever the hand does."""
    given(a_round(game, hand, upcard="Ac", hole=hole))
    when(Insure(1))
    when_all_stand()
    then_net(net)


@rows("""
    game         bet   net
    coinlounge   25    -1
    a2g          26    0
    coinlounge   3     -1
    a2g          2     0
    coinlounge   2     0
""")
def test_insurance_rounds_its_price_down(game, bet, net):
    given(a_round(game, "Ts 9d", upcard="Ac", hole="Kh", bet=bet))
    when(Insure(1))
    when_all_stand()
    then_net(net)


@rows("""
    game         upcard   hand    bet   stack   offered
    a2g          Ac       Ts 9d   100   50      yes
    coinlounge   Ac       Ts 9d   100   50      yes
    a2g          Ac       Ts 9d   100   49      no
    coinlounge   Ac       Ts 9d   100   49      no
    a2g          Tc       Ts 9d   100   900     no
    coinlounge   Tc       Ts 9d   100   900     no
    a2g          6c       Ts 9d   100   900     no
    coinlounge   6c       Ts 9d   100   900     no
    coinlounge   Ac       Ts 9d   1     900     no
    european     Ac       Ts 9d   100   900     no
    classic      Ac       Ts 9d   100   900     no
    a2g          Ac       As Kd   100   50      yes
    coinlounge   Ac       As Kd   100   50      yes
    coinlounge   Ac       As Kd   1     900     no
""")
def test_insurance_is_offered_under_an_ace_when_it_costs_something_and_is_covered(
    game, upcard, hand, bet, stack, offered
):
    story = given(a_round(game, hand, upcard=upcard, hole="8h", bet=bet, stack=stack))
    moves = {move.type: move for move in legal_moves(story.table)}
    assert ("insure" in moves) is (offered == "yes")
    if offered == "yes":
        assert moves["insure"].cost == bet // 2
    else:
        assert not any(isinstance(event, InsuranceOffered) for event in story.log)


def test_insurance_not_offered_is_refused_with_its_reason():
    given(a_round("a2g", "Ts 9d", upcard="Tc", hole="Ah"))
    when(Insure(1))
    then_refused(InsuranceNotOffered)
    when(DeclineInsurance(1))
    then_refused(InsuranceNotOffered)
    given(a_round("a2g", "Ts 9d", upcard="Ac", hole="Th", stack=49))
    when(Insure(1))
    then_refused(NotEnoughChips)
    given(a_table("a2g", 100))
    when(Insure(1))
    then_refused(NoRound)


def test_insurance_on_the_own_turn_is_bought_once_and_settled_at_resolution():
    given(a_round("a2g", "Ts 9d", upcard="Ac", hole="Kh"))
    then_legal("hit stand double_down insure")
    when(Insure(1))
    then(InsuranceBought(1, 50))
    then_legal("hit stand double_down")
    when(Insure(1))
    then_refused(InsuranceNotOffered)
    when(Stand(1))
    then_among(
        HandStood(1, 0),
        HoleCardRevealed("Kh"),
        InsuranceSettled(1, 50, 150),
        HandSettled(1, 0, "loss", 100, 0),
    )
    then_net(0)


@rows("""
    first
    hit
    split
""")
def test_insurance_on_the_own_turn_is_for_the_first_action_only(first):
    given(a_round("a2g", "4s 4d", upcard="Ac", hole="Kh", next_cards="2s 3s"))
    when(a_command(first))
    when(Insure(1))
    then_refused(InsuranceNotOffered)


def test_insurance_on_the_own_turn_waits_for_that_turn():
    given(a_round("a2g", "Ts 9d", "Ts 8d", upcard="Ac", hole="Kh"))
    when(Insure(2))
    then_refused(NotYourTurn)
    when(Stand(1), Insure(2))
    then(HandStood(1, 0), InsuranceBought(2, 50))


def test_an_insured_natural_waits_for_its_own_turn_and_then_stands():
    given(a_round("a2g", "Ts 9d", "As Kd", upcard="Ac", hole="Qh"))
    then_legal("hit stand double_down insure", seat=1)
    then_legal("", seat=2)
    when(Stand(1))
    then(HandStood(1, 0))
    then_legal("stand insure", seat=2)
    for taking_a_card in (Hit(2), DoubleDown(2), Split(2), Surrender(2)):
        when(taking_a_card)
        then_refused(HandClosed)
    when(Insure(2))
    then_among(
        InsuranceBought(2, 50),
        HandStood(2, 0),
        HoleCardRevealed("Qh"),
        InsuranceSettled(2, 50, 150),
        HandSettled(1, 0, "loss", 100, 0),
        HandSettled(2, 0, "push", 100, 100),
    )
    then_net(+100, seat=2)


def test_a_natural_that_stands_uninsured_keeps_its_three_to_two():
    given(a_round("a2g", "As Kd", upcard="Ac", hole="9h"))
    then_legal("stand insure")
    when(Stand(1))
    then_net(+150)


@rows("""
    upcard   stack
    Kc       900
    Ac       49
""")
def test_a_natural_that_cannot_be_insured_takes_no_turn(upcard, stack):
    given(a_round("a2g", "As Kd", upcard=upcard, hole="9h", stack=stack))
    then_net(+150)


def test_insurance_before_play_asks_all_bettors_at_once():
    given(a_round("coinlounge", "Ts 9d", "As Kd", "Ts 8d", upcard="Ac", hole="7h"))
    then_among(HandsDealt(((1, "Ts", "9d"), (2, "As", "Kd"), (3, "Ts", "8d")), "Ac"))
    then_among(InsuranceOffered((1, 2, 3)))
    then_legal("insure decline_insurance insure decline_insurance insure decline_insurance")
    when(Insure(3))
    then(InsuranceBought(3, 50))
    when(DeclineInsurance(1))
    then(InsuranceDeclined(1))
    then_legal("insure decline_insurance")
    when(Insure(2))
    then(
        InsuranceBought(2, 50),
        DealerPeeked(natural=False),
        InsuranceSettled(2, 50, 0),
        InsuranceSettled(3, 50, 0),
        HandSettled(2, 0, "natural", 100, 250),
    )
    then_legal("hit stand double_down", seat=1)


@rows("""
    command
    hit
    stand
    double_down
    split
    surrender
""")
def test_while_insurance_is_open_no_hand_plays(command):
    story = given(a_round("coinlounge", "8s 8d", upcard="Ac", hole="7h"))
    before = story.table
    when(a_command(command))
    then_refused(InsuranceOpen)
    assert story.table is before


@rows("""
    answer
    insure
    decline
""")
def test_insurance_before_play_is_answered_once(answer):
    given(a_round("coinlounge", "Ts 9d", "Ts 8d", upcard="Ac", hole="7h"))
    when(Insure(1) if answer == "insure" else DeclineInsurance(1))
    for second in (Insure(1), DeclineInsurance(1)):
        when(second)
        then_refused(InsuranceNotOffered)


def test_insurance_after_the_peek_is_refused():
    given(a_round("coinlounge", "Ts 9d", upcard="Ac", hole="7h"))
    when(DeclineInsurance(1), Insure(1))
    then_refused(InsuranceNotOffered)


def test_who_cannot_afford_insurance_is_not_asked_and_the_others_are():
    story = a_table("coinlounge", 149, 150, cards="Ts Ts Ac 9d 8d 7h")
    given(story)
    when(Bet(1, 100), Bet(2, 100), Deal("ada"))
    then_among(InsuranceOffered((2,)))
    when(Insure(1))
    then_refused(InsuranceNotOffered)
    when(DeclineInsurance(2))
    then(InsuranceDeclined(2), DealerPeeked(natural=False))


def test_who_leaves_during_the_offer_declines_and_settles_at_the_end():
    given(a_round("coinlounge", "Ts 9d", "Ts 8d", "Ts 7d", upcard="Ac", hole="7h"))
    when(Leave(2))
    then(PlayerLeaving(2), InsuranceDeclined(2))
    when(DeclineInsurance(1), Leave(3))
    then(
        InsuranceDeclined(1),
        PlayerLeaving(3),
        InsuranceDeclined(3),
        DealerPeeked(natural=False),
    )
    when(Stand(1))
    then_among(
        HandStood(1, 0),
        HandStood(2, 0),
        HandStood(3, 0),
        HandSettled(2, 0, "push", 100, 100),
        HandSettled(3, 0, "loss", 100, 0),
        PlayerLeft(2, "bob", 1000),
        PlayerLeft(3, "cyd", 900),
    )


@rows("""
    game         upcard   hole   bets_lost
    coinlounge   Tc       Ah     1
    coinlounge   Kc       Ah     1
    classic      Tc       Ah     1
    classic      Ac       Th     1
""")
def test_a_peeked_natural_ends_the_round_before_any_decision(game, upcard, hole, bets_lost):
    story = given(a_round(game, "8s 8d", upcard=upcard, hole=hole))
    assert not PLAY & {move.type for move in legal_moves(story.table)}
    then_among(
        DealerPeeked(natural=True),
        HoleCardRevealed(hole),
        HandSettled(1, 0, "loss", 100, 0),
        seed_revealed(4),
    )
    then_net(-100 * bets_lost)


def test_a_peeked_natural_takes_one_bet_of_each_hand_and_pushes_naturals():
    story = a_round("coinlounge", "8s 8d", "As Kd", "Ts 9d", upcard="Tc", hole="Ah")
    given(story)
    for seat, net in enumerate((-100, 0, -100), 1):
        then_net(net, seat)


@rows("""
    game         upcard   peeks
    a2g          Ac       no
    a2g          Tc       no
    european     Ac       no
    european     Tc       no
    coinlounge   Tc       yes
    coinlounge   Kc       yes
    coinlounge   9c       no
    classic      Tc       yes
    classic      9c       yes
    classic      Ac       yes
""")
def test_the_dealer_peeks_as_the_ruleset_says(game, upcard, peeks):
    story = given(a_round(game, "8s 7d", upcard=upcard, hole="9h"))
    peeked = [event for event in story.log if isinstance(event, DealerPeeked)]
    assert peeked == ([DealerPeeked(natural=False)] if peeks == "yes" else [])


def test_the_coinlounge_peeks_under_an_ace_after_insurance():
    story = given(a_round("coinlounge", "8s 7d", upcard="Ac", hole="9h"))
    assert DealerPeeked(natural=False) not in story.log
    when(DeclineInsurance(1))
    then(InsuranceDeclined(1), DealerPeeked(natural=False))


@rows("""
    game         lost
    a2g          400
    european     400
""")
def test_without_a_peek_a_dealer_natural_takes_split_and_doubled_stakes_whole(game, lost):
    given(a_round(game, "8s 8d", upcard="Tc", hole="Ah", next_cards="3s 9s 2d 9d"))
    when(Split(1), DoubleDown(1, 0), DoubleDown(1, 1))
    then_net(-lost)


def test_two_hole_cards_under_an_ace_show_the_same_events_until_the_reveal():
    def played(hole: str) -> list[object]:
        story = given(a_round("coinlounge", "8s 7d", upcard="Ac", hole=hole, next_cards="2s Kd 4c"))
        when(Insure(1))
        when(Hit(1))
        when(Stand(1))
        return story.log[: story.log.index(HoleCardRevealed(hole))]

    assert played("9h") == played("5h")
