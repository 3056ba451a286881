"""What a caller may ask of a table. One definition for the wire, the log and the rules."""

from typing import Annotated, ClassVar, TypeAlias

from msgspec import Meta, Struct

from services.blackjack.domain.items import Catalogue
from services.blackjack.domain.modifiers import Modifier
from services.blackjack.domain.rules import BetLimits, Clocks, Environment, Level
from shared.kernel.chips import Chips
from shared.kernel.ids import Id, whole

SeatNumber = Annotated[int, Meta(ge=1, le=7, description="A seat of the table, counted from 1.")]
HandNumber = Annotated[int, Meta(ge=0, le=3, description="A hand of the seat, counted from 0.")]
ClientSeed = Annotated[
    str,
    whole("^[A-Za-z0-9_-]{1,64}$", "The player's own share in the order of the shoe."),
]


class _Command(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    example: ClassVar[dict[str, object]]


class Sit(_Command, frozen=True, tag="sit"):
    """Take a free seat with chips from the vault. In mid-round: watch it, bet in the next."""

    example = {"type": "sit", "seat": 1, "player": "ada", "buy_in": 200}
    seat: SeatNumber
    player: Id
    buy_in: Chips


class StartRun(_Command, frozen=True, tag="start_run"):
    """Take a free seat, or one's own after a run, with a bankroll that has to reach a goal.

    `stake` comes from the vault. Without it the run plays with granted chips, which go back to
    where they came from.
    """

    example = {"type": "start_run", "seat": 1, "player": "ada", "stake": 60}
    seat: SeatNumber
    player: Id
    stake: Chips | None = None


class Leave(_Command, frozen=True, tag="leave"):
    """Give up the seat and take the chips back: with live hands, which stand and settle, at the end
    of the round.

    A run ends with it.
    """

    example = {"type": "leave", "seat": 1}
    seat: SeatNumber


class BuyIn(_Command, frozen=True, tag="buy_in"):
    """Bring more chips to the seat, between rounds or while watching one."""

    example = {"type": "buy_in", "seat": 1, "amount": 100}
    seat: SeatNumber
    amount: Chips


class CashOut(_Command, frozen=True, tag="cash_out"):
    """Take chips from the seat back to the vault and stay."""

    example = {"type": "cash_out", "seat": 1, "amount": 50}
    seat: SeatNumber
    amount: Chips


class Bet(_Command, frozen=True, tag="bet"):
    """Stake chips on the next round."""

    example = {"type": "bet", "seat": 1, "amount": 20}
    seat: SeatNumber
    amount: Chips
    client_seed: ClientSeed | None = None


class WithdrawBet(_Command, frozen=True, tag="withdraw_bet"):
    """Take the bet back before the cards are dealt."""

    example = {"type": "withdraw_bet", "seat": 1}
    seat: SeatNumber


class SitOut(_Command, frozen=True, tag="sit_out"):
    """Watch the next round without a bet and keep the seat."""

    example = {"type": "sit_out", "seat": 1}
    seat: SeatNumber


class Deal(_Command, frozen=True, tag="deal"):
    """The host deals the cards."""

    example = {"type": "deal", "player": "ada"}
    player: Id


class Insure(_Command, frozen=True, tag="insure"):
    """Stake half the bet, rounded down, on a dealer natural. Pays 2:1."""

    example = {"type": "insure", "seat": 1}
    seat: SeatNumber


class DeclineInsurance(_Command, frozen=True, tag="decline_insurance"):
    """Play on without insurance."""

    example = {"type": "decline_insurance", "seat": 1}
    seat: SeatNumber


class _HandCommand(_Command, frozen=True):
    seat: SeatNumber
    hand: HandNumber = 0


class Hit(_HandCommand, frozen=True, tag="hit"):
    """Take a card."""

    example = {"type": "hit", "seat": 1, "hand": 0}


class Stand(_HandCommand, frozen=True, tag="stand"):
    """Keep the cards; the hand is closed."""

    example = {"type": "stand", "seat": 1, "hand": 0}


class DoubleDown(_HandCommand, frozen=True, tag="double_down"):
    """Double the stake, take exactly one card and stand."""

    example = {"type": "double_down", "seat": 1, "hand": 0}


class Split(_HandCommand, frozen=True, tag="split"):
    """Make two hands of a pair, each with a stake of its own."""

    example = {"type": "split", "seat": 1, "hand": 0}


class Surrender(_HandCommand, frozen=True, tag="surrender"):
    """Give the hand up for half of its stake, rounded down."""

    example = {"type": "surrender", "seat": 1, "hand": 0}


class ApplyModifier(_Command, frozen=True, tag="apply_modifier"):
    """Change how the hands of this round are counted: the platform's, once, before any decision."""

    example = {
        "type": "apply_modifier",
        "modifier": {"type": "rank_value", "rank": "7", "value": 9},
    }
    modifier: Modifier


class BuyItem(_Command, frozen=True, tag="buy_item"):
    """Buy an item of the table's catalogue, before betting. Kept until used; lost with the seat."""

    example = {"type": "buy_item", "seat": 1, "item": "shield"}
    seat: SeatNumber
    item: Id


class UseItem(_Command, frozen=True, tag="use_item"):
    """Use an item on one's turn. It is no decision: double and surrender stay open."""

    example = {"type": "use_item", "seat": 1, "item": "shield", "hand": 0}
    seat: SeatNumber
    item: Id
    hand: HandNumber = 0


class Close(_Command, frozen=True, tag="close"):
    """Close the table between rounds: bets and stacks go back, nobody can sit again."""

    example = {"type": "close"}


class TimeOut(Struct, frozen=True, tag_field="type", tag="time_out"):
    """The clock ran out for this turn. Sent by the clocks alone, recorded like any other."""

    turn: str


class Open(Struct, frozen=True, tag_field="type", tag="open", forbid_unknown_fields=True):
    """Open a table. Not sent as a command: putting the table does it."""

    ruleset: str
    host: Id | None = None
    bet: BetLimits | None = None
    clock: Clocks | None = None
    seats: SeatNumber | None = None
    environment: Environment = ()
    items: Catalogue | None = None


class SeatComputer(
    Struct, frozen=True, tag_field="type", tag="seat_computer", forbid_unknown_fields=True
):
    """Give a free seat to a computer player. Not sent as a command: it has a route of its own.

    It brings `buy_in` chips that are granted to it, and leaves after `rounds` rounds.
    """

    seat: SeatNumber
    level: Level
    buy_in: Chips
    rounds: Annotated[int, Meta(ge=1, le=1000)] = 100


HandCommand: TypeAlias = Hit | Stand | DoubleDown | Split | Surrender
Command: TypeAlias = (
    Bet | Hit | Stand | DoubleDown | Split | Surrender | Insure | DeclineInsurance | Deal
    | Sit | StartRun | Leave | BuyIn | CashOut | WithdrawBet | SitOut | Close
    | ApplyModifier | BuyItem | UseItem
)  # fmt: skip
AnyCommand: TypeAlias = Command | SeatComputer | TimeOut
"""With those that are not sent as commands."""
