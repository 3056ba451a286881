"""What is out of the ordinary: what an auditor looks at first, and what to say of it."""

from typing import Final, Literal, TypeAlias, get_args

from msgspec import Struct

from services.audit.domain.words import chips, listed, spoken_modifier
from services.blackjack.domain import events as e
from services.blackjack.domain.table import Table
from services.ledger.domain import events as ledger

SignificantType: TypeAlias = Literal[
    "adjustment",
    "failed_check",
    "left_in_round",
    "ruleset_registered",
    "rules_changed",
    "run_won",
    "table_closed",
    "table_opened_with_rules",
]
TYPES: Final = get_args(SignificantType)


class Significant(Struct, frozen=True, gc=False):
    """An event that is out of the ordinary. `round` is 0 outside of rounds, texts are '' where
    there is nothing to say. `amount` is the chips it is about."""

    type: SignificantType
    table: str = ""
    round: int = 0
    player: str = ""
    amount: int = 0
    actor: str = ""
    detail: str = ""


def elsewhere(event: object, actor: str, *, asked: bool) -> Significant | None:
    """What is significant of an event that is not one of a table.

    Chips that a computer player brings are granted without anybody having asked for that.
    """
    match event:
        case ledger.ChipsGranted(player, amount) if asked:
            return Significant("adjustment", player=player, amount=amount, actor=actor)
        case e.RulesetRegistered(ruleset):
            name = f"{ruleset.name}, version {ruleset.version}"
            return Significant("ruleset_registered", actor=actor, detail=name)
    return None


def at_a_table(event: e.Event, table: Table) -> Significant | None:
    """What is significant of an event at a table, given the table after it."""
    match event:
        case e.ModifierApplied(modifier, None):
            detail = spoken_modifier(modifier)
            return Significant("rules_changed", table.id, table.rounds, detail=detail)
        case e.PlayerLeaving(number):
            seat = table.seat(number)
            return Significant("left_in_round", table.id, table.rounds, seat.player, seat.staked)
        case e.RunEnded(number, "won", bankroll):
            player = table.seat(number).player
            return Significant("run_won", table.id, player=player, amount=bankroll)
        case e.TableOpened() if table.rules.environment:
            detail = listed([spoken_modifier(rule) for rule in table.rules.environment])
            return Significant("table_opened_with_rules", table.id, detail=detail)
        case e.TableWasClosed():
            return Significant("table_closed", table.id)
    return None


def words(found: Significant) -> str:
    """It as a sentence."""
    round = f"round {found.table}.{found.round}"
    match found.type:
        case "adjustment":
            return f"{found.player} was granted {chips(found.amount)} by {found.actor}."
        case "failed_check":
            return found.detail
        case "left_in_round":
            return f"{found.player} left in {round}, with {chips(found.amount)} at risk."
        case "ruleset_registered":
            return f"A game was registered by {found.actor}: {found.detail}."
        case "rules_changed":
            return f"The platform changed the rules of {round}: {found.detail}."
        case "run_won":
            return f"{found.player} won a run at table {found.table}: {chips(found.amount)}."
        case "table_closed":
            return f"Table {found.table} was closed."
        case "table_opened_with_rules":
            return f"Table {found.table} was opened; there, {found.detail}."
