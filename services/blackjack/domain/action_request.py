"""What A2G asks the player whose turn it is: our table in that protocol's own words."""

from typing import Final, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from services.blackjack.domain.cards import RANKS, Card
from services.blackjack.domain.modifiers import scoring
from services.blackjack.domain.moves import legal_moves
from services.blackjack.domain.table import Round, Table
from services.blackjack.domain.view import Phase, phase

ActionType: TypeAlias = Literal["hit", "stand", "double_down", "split", "insurance"]
Suit: TypeAlias = Literal["clubs", "diamonds", "hearts", "spades"]
Rank: TypeAlias = int | Literal["A", "J", "Q", "K"]


class RequestCard(Struct, frozen=True, gc=False):
    """Number cards have their number for a rank, the others their letter."""

    suit: Suit
    rank: Rank


class ShoeLeft(Struct, frozen=True, gc=False, rename="camel"):
    """What has not left the shoe; the dealer's face-down card has."""

    cards_remaining: int


class GameState(Struct, frozen=True, gc=False):
    phase: Phase
    shoe: ShoeLeft


class Action(Struct, frozen=True, gc=False):
    """An action that would be accepted now."""

    type: ActionType


class Payload(Struct, frozen=True, gc=False, rename="camel"):
    """The hand to act, its value and stake, and the dealer's open card."""

    player_hand: tuple[RequestCard, ...]
    hand_value: int
    dealer_up_card: RequestCard
    bet: int
    game_state: GameState
    available_actions: tuple[Action, ...]


class ActionRequest(
    Struct, frozen=True, gc=False, rename="camel", tag_field="type", tag="game_action_request"
):
    """`timeout_seconds` is the time for this one decision; at a table without hurry there is none.

    From https://a2g-protocol.org, the game type `blackjack`.
    """

    game_type: Literal["blackjack"]
    table_id: str
    payload: Payload
    timeout_seconds: int | UnsetType = UNSET


def action_request(table: Table) -> ActionRequest | None:
    """The request for the hand on turn; None while the table waits for no hand."""
    if not isinstance(table.stage, Round) or table.stage.offers or not (turn := table.turn()):
        return None
    seat, index = turn
    hand, round = table.seat(seat).hands[index], table.stage
    offered = [_ACTIONS[move.type] for move in legal_moves(table) if move.type in _ACTIONS]
    return ActionRequest(
        game_type="blackjack",
        table_id=table.id,
        timeout_seconds=table.rules.clock.action_seconds or UNSET,
        payload=Payload(
            player_hand=tuple([_card(card) for card in hand.cards]),
            hand_value=scoring(table.modifiers).total(hand.cards),
            dealer_up_card=_card(round.dealer[0]),
            bet=hand.stake,
            game_state=GameState(phase(table), ShoeLeft(52 * table.rules.decks - round.drawn)),
            available_actions=tuple([Action(action) for action in offered]),
        ),
    )


_ACTIONS: Final[dict[str, ActionType]] = {
    "hit": "hit",
    "stand": "stand",
    "double_down": "double_down",
    "split": "split",
    "insure": "insurance",
}
"""Our moves that the protocol has a word for. It knows no surrender, no modifiers and no items."""

_SUITS: Final[dict[str, Suit]] = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}
_LETTERS: Final[dict[str, Rank]] = {"A": "A", "J": "J", "Q": "Q", "K": "K"}


def _card(card: Card) -> RequestCard:
    rank = card[0]
    return RequestCard(_SUITS[card[1]], _LETTERS.get(rank, RANKS.index(rank) + 1))
