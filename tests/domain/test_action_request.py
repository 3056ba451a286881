"""The action request of A2G, rendered from a table that was played to where it stands."""

from msgspec import json

from services.blackjack.domain.action_request import Action, RequestCard, action_request
from services.blackjack.domain.commands import Bet, DoubleDown, Hit, Split, Stand
from tests.domain.story import Story, a_round, a_table, given, rows, when

EXAMPLE = """
{
  "type": "game_action_request",
  "gameType": "blackjack",
  "tableId": "table-3",
  "timeoutSeconds": 20,
  "payload": {
    "playerHand": [
      { "suit": "hearts", "rank": 10 },
      { "suit": "spades", "rank": 6 }
    ],
    "handValue": 16,
    "dealerUpCard": { "suit": "clubs", "rank": 7 },
    "bet": 50,
    "gameState": {
      "phase": "player_turn",
      "shoe": { "cardsRemaining": 284 }
    },
    "availableActions": [
      { "type": "hit" },
      { "type": "stand" },
      { "type": "double_down" }
    ]
  }
}
"""
"""As the protocol's page has it."""


def the_table_of_the_example() -> Story:
    """Six decks less 28 cards: seven seats and the dealer have two each, and six took two more."""
    first, second = "2c 2d 2h 3c 3d 3h Th 7c", "4c 4d 4h 5c 5d 5h 6s 9d"
    hits = "6c 7d 6d 7h 6h 7s 5s 8c 5c 8d 5h 8h"
    story = a_table("a2g", *[200] * 7, cards=f"{first} {second} {hits}", name="table-3")
    story.play(*(Bet(seat, 50) for seat in range(1, 8)))
    for seat in range(1, 7):
        story.play(Hit(seat), Hit(seat), Stand(seat))
    return story


def test_the_example_of_the_protocol_comes_out_field_by_field():
    request = action_request(the_table_of_the_example().table)

    assert json.decode(json.encode(request)) == json.decode(EXAMPLE)


@rows("""
    hand      upcard   stack   actions
    8s 8d     6c       900     hit stand double_down split
    8s 8d     6c       99      hit stand
    8s 8d     Ac       900     hit stand double_down split insurance
    Ts 6d     Ac       49      hit stand
    As Kd     Ac       900     stand insurance
""")
def test_the_actions_are_those_that_would_be_accepted(hand, upcard, stack, actions):
    story = given(a_round("a2g", hand, "Ts 7d", upcard=upcard, stack=stack))
    assert request_of(story).payload.available_actions == tuple(map(Action, actions.split()))


@rows("""
    card   suit       rank
    Ac     clubs      A
    2d     diamonds   2
    Th     hearts     10
    Js     spades     J
    Qc     clubs      Q
    Kd     diamonds   K
""")
def test_number_cards_have_numbers_and_the_others_letters(card, suit, rank):
    story = given(a_round("a2g", "9s 3d", upcard=card, hole="9d"))
    assert request_of(story).payload.dealer_up_card == RequestCard(suit, rank)


def test_it_speaks_of_the_hand_on_turn_alone():
    story = given(a_round("a2g", "8s 8d", upcard="6c", next_cards="3h Tc 9h 5s"))
    when(Split(1), DoubleDown(1, 0))
    payload = request_of(story).payload
    assert payload.player_hand == (RequestCard("diamonds", 8), RequestCard("hearts", 9))
    assert (payload.hand_value, payload.bet) == (17, 100)
    assert payload.game_state.shoe.cards_remaining == 312 - 7


def test_a_table_without_hurry_sets_no_time():
    story = given(a_round("european", "Ts 6d", upcard="7c"))
    assert "timeoutSeconds" not in json.decode(json.encode(request_of(story)))


@rows("""
    game         upcard   waits_for
    coinlounge   Ac       insurance
    a2g          6c       bets
""")
def test_nobody_is_asked_while_no_hand_is_on_turn(game, upcard, waits_for):
    story = given(a_round(game, "Ts 6d", upcard=upcard, hole="Kd", next_cards="9h"))
    if waits_for == "bets":
        when(Stand(1))
    assert action_request(story.table) is None


def request_of(story: Story):
    request = action_request(story.table)
    assert request is not None
    return request
