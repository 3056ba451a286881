"""What a table waits for, and until when. The clock reads the table; it moves nothing."""

from typing import Literal

from msgspec import Struct

from services.blackjack.domain.table import Betting, Round, Table


class Wait(Struct, frozen=True, gc=False):
    """Somebody has until `due`, in milliseconds since the epoch.

    `turn` names what is waited for: a time-out for another turn comes too late.
    """

    kind: Literal["betting", "insurance", "action"]
    turn: str
    due: int


def waits_for(table: Table) -> Wait | None:
    """The running clock, or None when the table, or its ruleset, knows no hurry.

    Betting runs from the first bet, insurance from the offer, an action from the decision before
    it; each hand has a clock of its own.
    """
    clock, stage = table.rules.clock, table.stage
    match stage:
        case Betting(since=since) if since is not None and clock.betting_seconds:
            # Bets may be withdrawn and placed anew: each such clock has a name of its own.
            turn_name = f"{table.rounds + 1}.bets.{since}"
            return Wait("betting", turn_name, since + 1000 * clock.betting_seconds)
        case Round(offers=offers, since=since) if offers and clock.insurance_seconds:
            due = since + 1000 * clock.insurance_seconds
            return Wait("insurance", f"{table.rounds}.insurance", due)
        case Round(offers=(), since=since) if clock.action_seconds and (turn := table.turn()):
            number, index = turn
            hands = table.seat(number).hands
            place = f"{number}.{len(hands)}.{index}.{len(hands[index].cards)}"
            if table.modifiers:  # each of them gives the turn its full time anew
                place += f".{len(table.modifiers)}"
            due = since + 1000 * clock.action_seconds
            return Wait("action", f"{table.rounds}.{place}", due)
        case _:
            return None
