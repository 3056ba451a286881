"""Whether runs began by the rules, and ended when they were won or lost."""

from collections.abc import Iterator

from services.blackjack.domain import events as e
from services.blackjack.domain.commands import StartRun
from services.blackjack.domain.run import is_running, started, verdict
from services.blackjack.domain.table import Table
from shared.kernel.rejected import Rejected


def run_faults(table: Table, event: e.Event) -> Iterator[str]:
    """A sentence for each way in which an event at this table does not do right by a run."""
    match event:
        case e.RunStarted():
            yield from _began(table, event)
        case e.RunEnded(number, outcome, bankroll):
            seat = table.seat(number)
            due = verdict(table.rules, seat) or "left"  # which may be at any time
            if (outcome, bankroll) != (due, seat.stack):
                yield (
                    f"The run of {seat.player} was {outcome} with {bankroll}, the rules say {due} "
                    f"with {seat.stack}."
                )
        case e.SeedRevealed():
            for _, seat in table.seated():
                if is_running(seat) and (over := verdict(table.rules, seat)):
                    yield f"The run of {seat.player} goes on, the rules say {over}."


def _began(table: Table, event: e.RunStarted) -> Iterator[str]:
    stake = event.stake if event.source == "vault" else None
    try:
        due = started(table, StartRun(event.seat, event.player, stake))
    except Rejected as refusal:
        yield f"The run of {event.player} should not have begun: {refusal.detail}"
        return
    if event != due:
        yield (
            f"Run {event.number} of {event.player} began with {event.stake} to make {event.goal}, "
            f"the rules say run {due.number} with {due.stake} to make {due.goal}."
        )
