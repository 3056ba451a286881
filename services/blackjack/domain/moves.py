"""What may be done now."""

from collections.abc import Iterator

from msgspec import Struct

from services.blackjack.domain import commands as c
from services.blackjack.domain import run
from services.blackjack.domain.reasons import (
    bet_reason,
    cash_out_reason,
    deal_reason,
    hand_reason,
    leave_reason,
    on_turn_reason,
    sit_out_reason,
    stack_reason,
    withdrawal_reason,
)
from services.blackjack.domain.rules import Runs
from services.blackjack.domain.settlement import insurance_price
from services.blackjack.domain.shop import modifier_reason, purchase_reason, use_reason
from services.blackjack.domain.table import Closed, Round, Seat, Table
from shared.kernel.chips import MOST_CHIPS


class Move(Struct, frozen=True, omit_defaults=True, gc=False):
    """A legal move: a command as it stands, but for what only its sender can know.

    `min`, `max` and `step` bound the amount that a caller fills in (`amount`, `buy_in` of a
    `sit`, `stake` of a `start_run`), `cost` is what the move takes from the stack; in a command
    these four are taken and ignored. Whoever takes a free seat adds the `player`. An
    `apply_modifier` is the platform's, which fills in any `modifier`.
    """

    type: str
    seat: int | None = None
    hand: int | None = None
    player: str | None = None
    item: str | None = None
    cost: int | None = None
    min: int | None = None
    max: int | None = None
    step: int | None = None


def legal_moves(table: Table) -> list[Move]:
    """Everything that `check` accepts now, in the order of the seats."""
    if isinstance(table.stage, Closed):
        return []
    moves: list[Move] = []
    if playing := isinstance(table.stage, Round):
        moves += _insurance_moves(table) if table.round.offers else _turn_moves(table)
    elif table.host is not None and not deal_reason(table, table.host):
        moves.append(Move("deal", player=table.host))
    for number, seat in enumerate(table.seats, 1):
        if seat is None:
            moves += _arrivals(table, number)
            continue
        if not playing:
            moves += _betting_moves(table, number, seat)
        moves += _chip_moves(table, number, seat)
    if not playing:
        moves.append(Move("close"))
    return moves


def _arrivals(table: Table, number: int) -> Iterator[Move]:
    """How a free seat is taken."""
    if table.rules.run is None:
        yield Move("sit", number, min=1, max=MOST_CHIPS, step=1)
    else:
        yield from _runs(table.rules.run, number, None)


def _runs(runs: Runs, number: int, player: str | None) -> Iterator[Move]:
    """A run with chips from the vault, and one with granted chips."""
    least, most = runs.min_stake, runs.max_stake
    yield Move("start_run", number, player=player, min=least, max=most, step=1)
    yield Move("start_run", number, player=player)


def _insurance_moves(table: Table) -> Iterator[Move]:
    for number in table.round.offers:
        yield Move("insure", number, cost=insurance_price(table.seat(number).bet))
        yield Move("decline_insurance", number)


def _turn_moves(table: Table) -> Iterator[Move]:
    if (turn := table.turn()) is None:
        return
    number, index = turn
    seat = table.seat(number)
    hand = seat.hands[index]
    for kind, name, costs in _HAND_MOVES:
        if not hand_reason(table.rules, seat, hand, kind):
            yield Move(name, number, index, cost=hand.stake if costs else None)
    if not on_turn_reason(table, number, seat):
        yield Move("insure", number, cost=insurance_price(seat.bet))
    for item in dict.fromkeys(seat.items):
        if not use_reason(table, seat, hand, item):
            yield Move("use_item", number, index, item=item)
    if table.rules.modifiers and not modifier_reason(table):
        yield Move("apply_modifier")


_HAND_MOVES: tuple[tuple[type[c.HandCommand], str, bool], ...] = (
    (c.Hit, "hit", False),
    (c.Stand, "stand", False),
    (c.DoubleDown, "double_down", True),
    (c.Split, "split", True),
    (c.Surrender, "surrender", False),
)
"""The moves of a hand on its turn, and whether they cost its stake again."""


def _betting_moves(table: Table, number: int, seat: Seat) -> Iterator[Move]:
    bets = table.rules.bets(seat.stack)
    if not bet_reason(table.rules, seat, bets):
        yield Move("bet", number, min=bets[0], max=bets[-1], step=bets.step)
    if not withdrawal_reason(number, seat):
        yield Move("withdraw_bet", number)
    if not sit_out_reason(number, seat):
        yield Move("sit_out", number)
    for item in table.rules.items:
        if not purchase_reason(table, seat, item.name):
            yield Move("buy_item", number, item=item.name, cost=item.price)


def _chip_moves(table: Table, number: int, seat: Seat) -> Iterator[Move]:
    if (runs := table.rules.run) is not None and not run.is_running(seat):
        yield from _runs(runs, number, seat.player)
    if not stack_reason(table, seat):
        yield Move("buy_in", number, min=1, max=MOST_CHIPS, step=1)
        if not cash_out_reason(table.rules, seat, 1):
            most = min(seat.stack, MOST_CHIPS)
            yield Move("cash_out", number, min=1, max=most, step=1)
    if not leave_reason(number, seat):
        yield Move("leave", number)
