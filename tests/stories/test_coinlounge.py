"""CoinLounge Blackjack, sentence by sentence, as its reference page has it."""

from msgspec.structs import replace

from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.commands import (
    Bet,
    Deal,
    DeclineInsurance,
    DoubleDown,
    Hit,
    Insure,
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
    InsuranceBought,
    InsuranceDeclined,
    InsuranceSettled,
)
from services.blackjack.domain.rejections import (
    InsuranceNotOffered,
    InsuranceOpen,
    SplitNotAllowed,
)
from services.blackjack.odds.solve import expectation, expectation_of
from services.blackjack.odds.strategy import strategy_of
from tests.api.croupier import House, kinds
from tests.application.processes import Clock, Process
from tests.domain.story import (
    a_round,
    a_table,
    given,
    rows,
    then,
    then_among,
    then_legal,
    then_refused,
    when,
    when_all_stand,
)
from tests.eventstore.appends import HOUSE
from tests.odds.games import GAMES, solved
from tests.stories.lounge import dealt_to_ada_and_bob
from tests.stories.shoe_to_order import deal


def test_21_after_a_split_is_no_natural():
    """“21 after a split is scored as 21, not a natural — naturals only count on your first two
    cards.”"""
    given(a_round("coinlounge", "As Ad", upcard="9c", hole="9h", next_cards="Kh Qh"))
    when(Split(1))
    then_among(HandSettled(1, 0, "win", 100, 200), HandSettled(1, 1, "win", 100, 200))


@rows("""
    upcard   hole   peeks
    Ac       9h     yes
    Tc       9h     yes
    Kc       9h     yes
    9c       Ah     no
    6c       Th     no
""")
def test_the_dealer_peeks_under_an_ace_or_a_ten_card_before_play(upcard, hole, peeks):
    """“The dealer peeks under an ace or a ten-card before play opens to the table”"""
    story = given(a_round("coinlounge", "Ts 7d", upcard=upcard, hole=hole))
    if upcard == "Ac":
        when(DeclineInsurance(1))
    assert (DealerPeeked(natural=False) in story.log) == (peeks == "yes")
    assert story.table.turn() == (1, 0)


def test_a_dealer_blackjack_ends_the_round_immediately(house: House) -> None:
    """“so a dealer blackjack ends the round immediately.”"""
    house.seat("oak", "ada", ruleset="coinlounge")
    over = deal(house, "oak", "9 x 7 A", 20)

    assert over["table"]["phase"] == "betting"
    assert over["table"]["dealer"]["hole"] == "revealed"
    assert kinds(over["events"])[-4:] == [
        "dealer_peeked",
        "hole_card_revealed",
        "hand_settled",
        "seed_revealed",
    ]


def test_against_a_dealer_blackjack_naturals_push_and_all_other_hands_lose():
    """“When the dealer has blackjack, natural blackjacks push (you keep your bet) and insurance
    pays at 2:1 — all other hands lose.”"""
    given(a_round("coinlounge", "As Kd", "Ts Jd", "Th 7d", upcard="Ac", hole="Kh"))
    when(DeclineInsurance(1), DeclineInsurance(2), Insure(3))
    then_among(
        InsuranceSettled(3, 50, 150),
        HandSettled(1, 0, "push", 100, 100),
        HandSettled(2, 0, "loss", 100, 0),
        HandSettled(3, 0, "loss", 100, 0),
    )


def test_first_the_bet_then_the_cards_then_the_hand(house: House) -> None:
    """“place your bet, watch two cards land face-up in front of each seat (the dealer takes one
    face-up and one face-down), then act on your hand.”"""
    seated = house.seat("oak", "ada", "bob", ruleset="coinlounge")["table"]
    assert house.play("oak", "hit", seat=1).json()["type"] == "/problems/no-round"
    assert "bet" in {move["type"] for move in seated["legal_moves"]}

    dealt = deal(house, "oak", "9 8 6 7", 20, 20)["table"]
    (first, third), (second, _) = [seat["hands"][0]["cards"] for seat in dealt["seats"]]
    assert [card[0] for card in (first, second, third)] == ["9", "8", "7"]
    assert (dealt["dealer"]["cards"][0][0], dealt["dealer"]["hole"]) == ("6", "face_down")
    assert house.do("oak", "stand", seat=1)["table"]["turn"] == {"seat": 2, "hand": 0}


def test_hit():
    """“hit (take another card)”"""
    given(a_round("coinlounge", "5s 6d", upcard="6c", next_cards="2h"))
    when(Hit(1))
    then(CardDealt(1, 0, "2h"))


def test_stand():
    """“stand (keep what you have)”"""
    given(a_round("coinlounge", "5s 6d", "5c 6h", upcard="6c"))
    when(Stand(1))
    then(HandStood(1, 0))


def test_double_down():
    """“double down (double your bet and take exactly one more card)”"""
    story = given(a_round("coinlounge", "5s 6d", "5c 6h", upcard="6c", next_cards="2h"))
    when(DoubleDown(1))
    then(HandDoubled(1, 0, 100), CardDealt(1, 0, "2h"), HandStood(1, 0))
    assert story.table.seat(1).hands[0].stake == 200


@rows("""
    hand    may
    8s 8d   yes
    Ks Kd   yes
    Ks Qd   no
    8s 9d   no
""")
def test_split(hand, may):
    """“split (if both cards share the same rank, create two separate hands from them)”"""
    story = given(a_round("coinlounge", hand, upcard="6c", next_cards="2h 3h"))
    when(Split(1))
    if may == "no":
        then_refused(SplitNotAllowed)
        return
    then(HandSplit(1, 0, 100), CardDealt(1, 0, "2h"))
    first, second = hand.split()
    assert [each.cards[0] for each in story.table.seat(1).hands] == [first, second]


@rows("""
    upcard   hole   next    draws
    Tc       7h     5d      –
    6c       Ah     5d      –
    6c       Th     5d      5d
    2c       Ah     3d 4d   3d 4d
    2c       Ah     4d 4h   4d
""")
def test_the_dealer_draws_until_17_and_stands_on_all_of_them(upcard, hole, next, draws):
    """“Once every seated player has acted, the dealer flips the hole card and draws until reaching
    17 or higher — the engine always stands on all 17s, hard or soft.”"""
    story = given(
        a_round("coinlounge", "Ts 8d", "Ts 9d", upcard=upcard, hole=hole, next_cards=next)
    )
    when(Stand(1))
    then(HandStood(1, 0))
    when(Stand(2))
    then_among(HandStood(2, 0), HoleCardRevealed(hole))
    drew = [event.cards for event in story.log if isinstance(event, DealerDrew)]
    assert drew == ([tuple(draws.split())] if draws else [])


@rows("""
    hand    hole   outcome   payout
    As Kd   8h     natural   250
    Ts 9d   8h     win       200
    Ts 7d   7h     push      100
    Ts 7d   8h     loss      0
""")
def test_payouts(hand, hole, outcome, payout):
    """“blackjack pays 3:2, all other wins pay 1:1, and a tie pushes.”"""
    first, second = hand.split()
    given(a_table("coinlounge", 100, cards=f"{first} Tc {second} {hole}"))
    when(Bet(1, 100), Deal("ada"))
    events = [*when().log, *when_all_stand().events]
    assert HandSettled(1, 0, outcome, 100, payout) in events


@rows("""
    upcard   offered
    Ac       yes
    Tc       no
    Kc       no
    9c       no
""")
def test_insurance_is_there_against_an_ace(upcard, offered):
    """“Insurance is a side bet available when the dealer shows an ace.”"""
    given(a_round("coinlounge", "Ts 7d", upcard=upcard))
    if offered == "yes":
        then_legal("insure decline_insurance")
    when(Insure(1))
    if offered == "no":
        then_refused(InsuranceNotOffered)


@rows("""
    bet   price
    100   50
    25    12
    3     1
    2     1
""")
def test_insurance_costs_half_of_the_bet_and_pays_2_to_1(bet, price):
    """“It costs exactly half your main bet, rounded down, and pays 2:1 if the dealer has
    blackjack.”"""
    given(a_round("coinlounge", "Ts 7d", upcard="Ac", hole="Kh", bet=bet))
    when(Insure(1))
    then_among(InsuranceBought(1, price), InsuranceSettled(1, price, 3 * price))
    given(a_round("coinlounge", "Ts 7d", upcard="Ac", hole="9h", bet=bet))
    when(Insure(1))
    then_among(InsuranceBought(1, price), InsuranceSettled(1, price, 0))


def test_insurance_settles_before_anybody_acts():
    """“The insurance bet settles before the main round continues, so you always know whether it won
    before you act on your hand.”"""
    story = given(a_round("coinlounge", "Ts 7d", "Ts 6d", upcard="Ac", hole="9h"))
    when(Insure(1), Hit(1))
    then_refused(InsuranceOpen)
    when(DeclineInsurance(2))
    then(InsuranceDeclined(2), DealerPeeked(natural=False), InsuranceSettled(1, 50, 0))
    assert story.table.turn() == (1, 0)


def test_up_to_five_players_take_turns_in_seat_order(house: House) -> None:
    """“CoinLounge blackjack is multiplayer: up to five players sit at the same table and take
    turns acting on their hands in seat order.”"""
    players = ("ada", "bob", "cyd", "dan", "eve")
    seated = house.seat("oak", *players, ruleset="coinlounge", buy_in=100)["table"]
    assert "sit" not in {move["type"] for move in seated["legal_moves"]}
    sixth = house.play("oak", "sit", seat=6, player="fay", buy_in=100)
    assert sixth.json()["type"] == "/problems/unknown-seat"

    seen = deal(house, "oak", "s s s s s s", 10, 10, 10, 10, 10)["table"]
    turns = []
    while turn := seen["turn"]:
        turns.append(turn["seat"])
        seen = house.do("oak", "stand", **turn)["table"]
    assert turns == [1, 2, 3, 4, 5]


def test_on_a_turn_a_clock_of_25_seconds_starts():
    """“When it is your turn, a 25-second action clock starts.”"""
    story = given(a_round("coinlounge", "Ts 7d", "Ts 6d", upcard="6c"))
    assert seconds_left(story) == 25
    story.now += 10_000
    when(Stand(1))
    assert seconds_left(story) == 25


async def test_who_is_too_late_stands_and_the_others_play_on(clock: Clock, lounge: Process) -> None:
    """“If the clock runs out before you act, your hand auto-stands — so the round never stalls for
    the rest of the table.” – “Take your time — but not more than 25 seconds of it.”"""
    await dealt_to_ada_and_bob(lounge, "oak", "s s s")

    clock.goes_on(24.999)
    assert await lounge.clocks.fire_due(HOUSE) == 0
    clock.goes_on(0.001)
    assert await lounge.clocks.fire_due(HOUSE) == 1

    table = await lounge.state("oak")
    assert table.seat(1).hands[0].status == "stood"
    assert table.turn() == (2, 0)
    await lounge.play("oak", Stand(2))


def test_only_the_host_deals(house: House) -> None:
    """“Dealing is handled by the host. Non-host players see a disabled “HOST DEALS” button during
    the betting phase — only the host deals.”"""
    house.seat("oak", "ada", "bob", ruleset="coinlounge")
    house.do("oak", "bet", seat=1, amount=20)
    seen = house.do("oak", "bet", seat=2, amount=20)["table"]

    assert (seen["phase"], seen["host"]) == ("betting", "ada")
    assert [move["player"] for move in seen["legal_moves"] if move["type"] == "deal"] == ["ada"]
    refused = house.play("oak", "deal", player="bob")
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/not-the-host")
    assert "hands_dealt" in kinds(house.do("oak", "deal", player="ada")["events"])


def test_who_does_not_bet_watches_the_round_and_keeps_the_seat(house: House) -> None:
    """“If you are seated but skip the betting phase without placing a bet, you spectate that round
    — your seat stays reserved and you are back in play for the next one.”"""
    house.seat("oak", "ada", "bob", ruleset="coinlounge")
    watched = deal(house, "oak", "s s", 20)["table"]
    assert [len(seat["hands"]) for seat in watched["seats"]] == [1, 0]
    house.grant("cyd", 100)
    taken = house.play("oak", "sit", seat=2, player="cyd", buy_in=100)
    assert taken.json()["type"] == "/problems/seat-taken"

    house.finish("oak")
    again = deal(house, "oak", "s s s", 20, 20)["table"]
    assert [len(seat["hands"]) for seat in again["seats"]] == [1, 1]


def test_the_edge_depends_on_how_each_hand_is_played():
    """“Blackjack's house edge is not a fixed number — it depends entirely on how you play each
    hand. Basic strategy drops the edge to around six-tenths of a percent against this ruleset;
    hunches and instinct can push it far higher.”"""
    basic = strategy_of(solved("coinlounge").by_total)
    always_stand = {total: ("S",) * len(basic.upcards) for total in basic.hard}
    timid = replace(basic, hard=always_stand)

    assert round(-100 * expectation(solved("coinlounge").by_total), 1) == 0.6
    assert -100 * expectation_of(GAMES["coinlounge"], timid) > 5


def test_the_ruleset_card_is_all_that_the_engine_enforces(house: House) -> None:
    """“The ruleset card above is everything the engine enforces.”"""
    card = house.get("/v1/rulesets/coinlounge")
    opened = house.open("oak", "coinlounge", host="ada").json()["events"][0]["data"]
    assert opened["ruleset"].items() <= card.items()


def seconds_left(story) -> float:
    wait = waits_for(story.table)
    assert wait is not None
    return (wait.due - story.now) / 1000


# Not about play, and so without a test:
#
# - “Blackjack, card by card.”, “New to the table?”, “Never played blackjack before? Start with the
#   how-to-play guide — this page is the reference.” and the headings lead the reader.
# - “A few things worth calling out explicitly” and “Each round follows the same sequence” announce
#   what comes after them, which is tested.
# - That a button is shown and disabled is the client's: what it needs, the host and the legal
#   moves, is tested.
# - “There is no odds table on this page, and that is intentional.” is about the page; our odds are
#   at /v1/rulesets/coinlounge/odds.
# - “How much of the remaining edge you give back is up to you.” is up to the player.
