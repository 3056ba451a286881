"""A round in plain words, step by step, as a person would read it out."""

from collections.abc import Container, Iterable

from msgspec import Struct
from msgspec.structs import replace

from services.audit.domain.sentences import sentences
from services.audit.domain.words import chips
from services.blackjack.domain import events as e
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.table import Betting, Round, Table


class Step(Struct, frozen=True):
    """One sentence, and the version of the table's stream that it tells."""

    version: int
    text: str


class Result(Struct, frozen=True):
    """What the round meant to one player.

    `stack_before` is the stack before the bet, `stack_after` the stack when the round ended or,
    while it runs, now; `net` is what came back less what was staked, over all that is settled.
    """

    seat: int
    player: str
    stack_before: int
    stack_after: int
    net: int = 0


class Recall(Struct, frozen=True):
    """A round as it went or, when it is not `over`, as far as it has come."""

    round: str
    ruleset: str
    over: bool
    steps: tuple[Step, ...]
    results: tuple[Result, ...]


def recall(
    before: Table,
    events: Iterable[e.Event],
    first_version: int,
    time_outs: Container[int] = frozenset(),
) -> Recall:
    """Tells the events of one round, from its first bet to `SeedRevealed`.

    `before` is the table as these events found it, `first_version` is that of the first of them.
    With those of the versions in `time_outs` the clock acted, for whoever was waited for.
    """
    table, results, steps = before, dict[str, Result](), list[Step]()
    for version, event in enumerate(events, first_version):
        told = [_time_is_up(table)] if version in time_outs else []
        told += sentences(table, event)
        results = _reckon(results, table, event)
        table = evolve(table, event)
        results = {player: _in_hand(result, table) for player, result in results.items()}
        if isinstance(event, e.SeedRevealed):
            told += map(_farewell, results.values())
        steps += [Step(version, text) for text in told]
    number = before.rounds + isinstance(before.stage, Betting)
    return Recall(
        round=f"{before.id}.{number}",
        ruleset=before.rules.name,
        over=table.rounds == number and not isinstance(table.stage, Round),
        steps=tuple(steps),
        results=tuple(sorted(results.values(), key=lambda result: result.seat)),
    )


def _reckon(results: dict[str, Result], table: Table, event: e.Event) -> dict[str, Result]:
    """The results by player after an event at this table."""
    match event:
        case e.BetPlaced(number):
            seat = table.seat(number)
            return results | {seat.player: Result(number, seat.player, seat.stack, seat.stack)}
        case e.BetWithdrawn(number):
            withdrawn = table.seat(number).player
            return {player: kept for player, kept in results.items() if player != withdrawn}
        case e.HandSettled() | e.InsuranceSettled():
            settled = results[table.seat(event.seat).player]
            net = settled.net + event.payout - event.stake
            return results | {settled.player: replace(settled, net=net)}
        case _:
            return results


def _in_hand(result: Result, table: Table) -> Result:
    """The result with the stack as it is now, or as it was last when it is gone for good."""
    seat = table.seats[result.seat - 1]
    if seat is None or seat.player != result.player or (seat.run and seat.run.outcome):
        return result
    return replace(result, stack_after=seat.stack)


def _time_is_up(table: Table) -> str:
    """Before the clock acts at a table."""
    if isinstance(table.stage, Betting):
        return "The time to bet is up."
    turn = None if table.round.offers else table.turn()
    return f"{table.seat(turn[0]).player}'s time is up." if turn else "The time to insure is up."


def _farewell(result: Result) -> str:
    change = "as many as before"
    if result.net:
        change = f"{abs(result.net)} {'up' if result.net > 0 else 'down'}"
    return f"{result.player} ends the round with {chips(result.stack_after)}, {change}."
