"""A run: chips brought once, to be multiplied by play. Won at the goal, lost without a bet."""

from services.blackjack.domain import commands as c
from services.blackjack.domain import events as e
from services.blackjack.domain import rejections as no
from services.blackjack.domain.rules import Ruleset, Runs
from services.blackjack.domain.table import Betting, Seat, Table


def started(table: Table, command: c.StartRun) -> e.RunStarted:
    """The first event of a run. Raises NoRuns, StakeNotAllowed."""
    runs, stake = terms(table.rules), command.stake
    number = table.runs + 1
    if stake is None:
        granted, goal = runs.granted_stake, runs.granted_goal
        return e.RunStarted(command.seat, command.player, number, "grant", granted, goal)
    if not runs.min_stake <= stake <= runs.max_stake:
        raise no.StakeNotAllowed(
            f"Bring {runs.min_stake} to {runs.max_stake} chips, not {stake}.",
            min=runs.min_stake,
            max=runs.max_stake,
        )
    goal = stake * runs.goal_multiple
    return e.RunStarted(command.seat, command.player, number, "vault", stake, goal)


def terms(rules: Ruleset) -> Runs:
    """How the game is played in runs. Raises NoRuns."""
    if rules.run is None:
        raise no.NoRuns(f"{rules.title} is played with chips that are bought in; sit.")
    return rules.run


def is_running(seat: Seat) -> bool:
    """Whether the seat has a run that is not over."""
    return seat.run is not None and seat.run.outcome is None


def verdict(rules: Ruleset, seat: Seat) -> e.RunOutcome | None:
    """What a running run has come to when no chips of it are at risk; None when it goes on."""
    assert seat.run is not None, "asked of runs only"
    if seat.stack >= seat.run.goal:
        return "won"
    return None if rules.bets(seat.stack) else "lost"


def bankroll(table: Table, seat: Seat) -> int:
    """All chips of the seat's run, those at risk included; what it came to once it is over."""
    assert seat.run is not None, "asked of runs only"
    if seat.run.outcome is not None:
        return seat.run.bankroll
    if isinstance(table.stage, Betting):
        return seat.stack + seat.bet
    return seat.stack + seat.staked
