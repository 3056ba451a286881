"""Evropský 1.0.0, sentence by sentence, as its rules have it, in their own language."""

from collections import Counter

from services.blackjack.domain.cards import DECK
from services.blackjack.domain.commands import DoubleDown, Hit, Insure, Split, Stand, Surrender
from services.blackjack.domain.events import (
    CardDealt,
    DealerDrew,
    HandDoubled,
    HandSettled,
    HandSplit,
    HandStood,
    HoleCardRevealed,
    SeedRevealed,
)
from services.blackjack.domain.rejections import (
    DoubleNotAllowed,
    InsuranceNotOffered,
    NotYourTurn,
    SplitNotAllowed,
    SurrenderNotAllowed,
)
from services.blackjack.domain.shoe import Shoe, commitment
from services.blackjack.domain.view import view
from tests.api.croupier import House, kinds
from tests.domain.story import (
    Story,
    a_round,
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
from tests.stories.shoe_to_order import deal


def test_the_variant(house: House) -> None:
    """“Hraje se varianta: Evropský · banka stojí na měkké 17 · bez pojištění a vzdání se · Verze
    1.0.0”"""
    game = house.get("/v1/rulesets/european")
    assert (game["title"], game["version"]) == ("Evropský", "1.0.0")
    assert (game["insurance"], game["surrender"]) == ("none", False)


@rows("""
    hand    hole   net
    Ts 9d   8h     +100
    Ts 8d   9h     -100
    Ts 9d   9h     0
""")
def test_the_goal_is_a_total_closer_to_21_than_the_dealer_s(hand, hole, net):
    """“Získat součet bližší 21 než krupiér, aniž překročíš 21.”"""
    given(a_round("european", hand, upcard="Tc", hole=hole))
    when(Stand(1))
    then_net(net)


def test_six_packs_shuffled_on_the_server(house: House) -> None:
    """“Použij 6 standardních balíčků zamíchaných na serveru.”"""
    announced = house.seat("oak", "ada", ruleset="european")["table"]["next_commitment"]
    house.deal("oak", 20)
    seed = bytes.fromhex(house.finish("oak")["round"]["seed"])

    assert commitment(seed) == announced
    assert Counter(Shoe(seed, 6, "oak.1", ())) == Counter(DECK * 6)
    assert house.get("/v1/rounds/oak.1/proof")["faults"] == []


def test_two_cards_each_and_one_of_the_dealer_s_is_covered(house: House) -> None:
    """“Každý hráč dostane dvě karty; krupiér dostane jednu odkrytou a jednu zakrytou kartu.”"""
    house.seat("oak", "ada", "bob", ruleset="european")
    dealt = deal(house, "oak", "9 8 6 7", 20, 20)["table"]

    (first, third), (second, _) = [seat["hands"][0]["cards"] for seat in dealt["seats"]]
    assert [card[0] for card in (first, second, third)] == ["9", "8", "7"]
    assert [card[0] for card in dealt["dealer"]["cards"]] == ["6"]
    assert dealt["dealer"]["hole"] == "face_down"


def test_chips_are_virtual_and_a_session_s_own(house: House) -> None:
    """“Sázky jsou pouze virtuální body/žetony bez peněžní hodnoty.” – “Tréninková relace končí na
    žádost hráče; žádný zůstatek nelze vybrat ani převést.”"""
    house.open("oak", "european")
    house.do("oak", "sit", seat=1, player="ada", buy_in=100)
    assert house.balance("issuance") == -100
    drawn = house.play("oak", "cash_out", seat=1, amount=10)
    assert drawn.json()["type"] == "/problems/chips-stay-at-the-table"

    assert "player_left" in kinds(house.do("oak", "leave", seat=1)["events"])
    assert house.get("/v1/players/ada/vault")["balance"] == 0
    assert house.balance("issuance") == 0


@rows("""
    hand    hole   outcome   payout
    As Kd   9h     natural   250
    As Td   9h     natural   250
    Ts 9d   8h     win       200
""")
def test_a_natural_is_an_ace_and_a_ten_value_card(hand, hole, outcome, payout):
    """“Přirozený blackjack je eso a karta s hodnotou 10 na prvních dvou kartách.” – “Přirozený
    blackjack proti kombinaci krupiéra bez blackjacku: +1,5 virtuální jednotky.”"""
    given(a_round("european", hand, "Ts 7d", upcard="Tc", hole=hole))
    when_all_stand()
    then_among(HandSettled(1, 0, outcome, 100, payout))


def test_three_cards_of_21_are_no_natural():
    """“na prvních dvou kartách”"""
    given(a_round("european", "5s 6d", upcard="Tc", hole="9h", next_cards="Kh"))
    when(Hit(1), Stand(1))
    then_among(HandSettled(1, 0, "win", 100, 200))


def test_players_act_in_turn(house: House) -> None:
    """“Hráči jednají v pořadí: vzít, zůstat, zdvojnásobit nebo rozdělit, když je tato akce
    povolena.”"""
    house.seat("oak", "ada", "bob", ruleset="european")
    seen = deal(house, "oak", "8 s s 8", 20, 20)["table"]
    allowed = [move["type"] for move in seen["legal_moves"] if move.get("hand") == 0]
    assert allowed == ["hit", "stand", "double_down", "split"]

    early = house.play("oak", "stand", seat=2)
    assert early.json()["type"] == "/problems/not-your-turn"
    assert house.do("oak", "stand", seat=1)["table"]["turn"] == {"seat": 2, "hand": 0}


@rows("""
    upcard   hole   next    draws
    Tc       7h     5d      –
    6c       Ah     5d      –
    6c       Th     5d 9c   5d
    2c       Ah     4d 5h   4d
""")
def test_after_all_players_the_dealer_draws_to_17(upcard, hole, next, draws):
    """“Po všech hráčích krupiér odhalí svou zakrytou kartu a dobírá do 17; zůstává stát na každé
    17, včetně měkké 17.”"""
    story = given(a_round("european", "Ts 8d", "Ts 9d", upcard=upcard, hole=hole, next_cards=next))
    when(Stand(1))
    then(HandStood(1, 0))
    when(Stand(2))
    then_among(HandStood(2, 0), HoleCardRevealed(hole))
    drew = [event.cards for event in story.log if isinstance(event, DealerDrew)]
    assert drew == ([tuple(draws.split())] if draws else [])


def test_each_hand_is_compared_by_itself():
    """“Každá ruka se porovnává zvlášť s rukou krupiéra.”"""
    given(a_round("european", "8s 8d", "Ts 8h", upcard="Tc", hole="8c", next_cards="Kh 9h"))
    when(Split(1), Stand(1, 0), Stand(1, 1), Stand(2))
    then_among(
        HandSettled(1, 0, "push", 100, 100),
        HandSettled(1, 1, "loss", 100, 0),
        HandSettled(2, 0, "push", 100, 100),
    )


def test_one_may_hit_until_the_total_is_over_21_or_the_hand_is_closed():
    """“Dobrat lze, pokud součet nepřekročil 21 a hra s touto kombinací není uzavřena.”"""
    given(a_round("european", "5s 6d", "Ts 8d", upcard="Tc", next_cards="Kh 2h"))
    when(Hit(1))
    then(CardDealt(1, 0, "Kh"))
    then_legal("hit stand")
    when(Hit(1))
    then(CardDealt(1, 0, "2h"), HandSettled(1, 0, "bust", 100, 0))
    when(Hit(1))
    then_refused(NotYourTurn)


def test_stand_closes_the_hand():
    """“Volba Zůstat ihned ukončí hru s touto kombinací.”"""
    given(a_round("european", "5s 6d", "Ts 8d", upcard="Tc"))
    when(Stand(1))
    then(HandStood(1, 0))
    when(Hit(1))
    then_refused(NotYourTurn)


def test_double_down():
    """“Zdvojnásobení je povoleno jen na prvních dvou kartách; rozdá se jen jedna další karta.”"""
    given(a_round("european", "5s 6d", "Ts 8d", upcard="Tc", next_cards="2h"))
    when(DoubleDown(1))
    then(HandDoubled(1, 0, 100), CardDealt(1, 0, "2h"), HandStood(1, 0))
    given(a_round("european", "5s 6d", upcard="Tc", next_cards="2h"))
    when(Hit(1), DoubleDown(1))
    then_refused(DoubleNotAllowed)


@rows("""
    hand    may
    8s 8d   yes
    Ts Kd   yes
    Js Qd   yes
    8s 9d   no
    As Td   no
""")
def test_split(hand, may):
    """“Rozdělení je povoleno, když mají obě karty stejnou hodnotu”"""
    story = given(a_round("european", hand, "Ts 8d", upcard="6c", next_cards="2h 3h"))
    listed = {move.type for move in view(story.table, 0, 0).legal_moves}
    assert ("split" in listed) == (may == "yes")
    when(Split(1))
    if may == "yes":
        then_among(HandSplit(1, 0, 100))


def test_four_hands_at_most():
    """“nejvýše 4 ruce.”"""
    story = given(a_round("european", "8s 8d", upcard="6c", next_cards="8h 8c 8s 2h 3h"))
    when(Split(1), Split(1), Split(1))
    assert len(story.table.seat(1).hands) == 4
    when(Split(1))
    then_refused(SplitNotAllowed)


def test_split_aces_get_one_card_each():
    """“Po rozdělení es se do každé ruky rozdá už jen jedna karta a další tahy nejsou povoleny; esa
    lze rozdělit jen jednou.” – “Součet 21 získaný po rozdělení není přirozený blackjack.”"""
    given(a_round("european", "As Ad", upcard="9c", hole="9h", next_cards="Ah Kh"))
    when(Split(1))
    then_among(
        HandSplit(1, 0, 100),
        CardDealt(1, 0, "Ah"),
        HandStood(1, 0),
        CardDealt(1, 1, "Kh"),
        HandStood(1, 1),
        HandSettled(1, 0, "loss", 100, 0),
        HandSettled(1, 1, "win", 100, 200),
    )


@rows("""
    hand    hole   net
    Ts 9d   8h     +20
    Ts 7d   8h     -20
    Ts 8d   8h     0
    As Kd   8h     +30
""")
def test_score(hand, hole, net):
    """“Běžná výhra: +1 virtuální jednotka; prohra: -1; remíza: 0.” – “+1,5 virtuální jednotky”"""
    given(a_round("european", hand, "Ts 9d", upcard="Tc", hole=hole, bet=20))
    when_all_stand()
    then_net(net)


def test_a_bust_loses_at_once_even_if_the_dealer_busts_later():
    """“Pokud hráč překročí 21, prohrává okamžitě, i kdyby krupiér později také překročil 21.”"""
    given(a_round("european", "Ts 6d", "Ts 8d", upcard="6c", hole="Th", next_cards="Kh Kc"))
    when(Hit(1))
    then(CardDealt(1, 0, "Kh"), HandSettled(1, 0, "bust", 100, 0))
    when(Stand(2))
    then_among(DealerDrew(("Kc",)), HandSettled(2, 0, "win", 100, 200))
    then_net(-100)


def test_the_round_ends_when_all_hands_are_settled():
    """“Kolo končí po vypořádání všech rukou.”"""
    story = given(a_round("european", "Ts 9d", "Ts 7d", upcard="Tc", hole="8h"))
    when_all_stand()
    *_, first, second, end = story.events
    assert isinstance(first, HandSettled)
    assert isinstance(second, HandSettled)
    assert isinstance(end, SeedRevealed)


@rows("""
    hand    next    totals
    As 6d   9h 4c   17 16 20
    As Ad   As 8h   12 13 21
""")
def test_an_ace_is_11_until_that_is_too_much(hand, next, totals):
    """“Eso má hodnotu 11, dokud tím nepřekročíš 21, jinak 1.”"""
    story = given(a_round("european", hand, upcard="6c", next_cards=next))
    seen = [total_of(story)]
    for _ in next.split():
        when(Hit(1))
        seen.append(total_of(story))
    assert seen == [int(total) for total in totals.split()]


def test_two_naturals_are_a_tie():
    """“Pokud mají hráč i krupiér přirozený blackjack, je to remíza.”"""
    given(a_round("european", "As Kd", "Ts 9d", upcard="Ac", hole="Kh"))
    when(Stand(2))
    then_among(HandSettled(1, 0, "push", 100, 100), HandSettled(2, 0, "loss", 100, 0))


def test_five_cards_are_worth_what_they_add_up_to():
    """“Pravidlo pěti karet … [je] vypnuté.”"""
    given(a_round("european", "2s 2d", upcard="Tc", hole="8h", next_cards="3h 3d 4h"))
    when(Hit(1), Hit(1), Hit(1), Stand(1))
    then_among(HandSettled(1, 0, "loss", 100, 0))


def test_insurance_surrender_and_side_bets_are_off():
    """“pojištění, vzdání se a vedlejší sázky jsou vypnuté.”"""
    given(a_round("european", "Ts 6d", upcard="Ac"))
    then_legal("hit stand double_down")
    when(Insure(1))
    then_refused(InsuranceNotOffered)
    when(Surrender(1))
    then_refused(SurrenderNotAllowed)


def total_of(story: Story) -> int:
    return view(story.table, 0, 0).seats[0].hands[0].total


# The headings are about no play, and so without a test. What is said of computer players, „Umělá
# inteligence“, is told in test_european_computers.py.
