"""Who may come to a table: people, runs and computer players."""

from services.blackjack.domain import commands as c
from services.blackjack.domain import rejections as no
from services.blackjack.domain import run
from services.blackjack.domain.computers import is_computer, name_of
from services.blackjack.domain.rejections import Reason
from services.blackjack.domain.table import Table
from shared.kernel.rejected import Rejected


def sit_reason(table: Table, command: c.Sit) -> Reason:
    """Why a player may not sit down."""
    if table.rules.run is not None:
        return no.PlayedInRuns(f"{table.rules.title} is played in runs; start one.")
    if reason := _name_reason(command.player):
        return reason
    return _free_reason(table, command.seat, command.player)


def start_reason(table: Table, command: c.StartRun) -> Reason:
    """Why a player may not start a run: it needs a seat that is free, or one's own.

    Raises StakeNotAllowed, NoRuns.
    """
    run.started(table, command)
    number, player = command.seat, command.player
    if reason := _name_reason(player):
        return reason
    if number > len(table.seats) or not (seat := table.seats[number - 1]) or seat.player != player:
        return _free_reason(table, number, player)
    return no.RunUnderWay(f"{player} has a run that is not over.") if run.is_running(seat) else None


def computer_reason(table: Table, command: c.SeatComputer) -> Reason:
    """Why a computer player may not sit down."""
    rules, level = table.rules, command.level
    if level not in rules.computers:
        allowed = ", ".join(rules.computers) or "none"
        return no.NoSuchComputer(f"{rules.title} lets these computer players sit: {allowed}.")
    if reason := _free_reason(table, command.seat, name_of(level, command.seat)):
        return reason
    if not rules.bets(command.buy_in):
        return no.NotEnoughChips(
            f"{command.buy_in} chips allow no bet; the least is {rules.bet.min}."
        )
    return None


def _name_reason(player: str) -> Reason:
    """Why nobody may come under this name."""
    if is_computer(player):
        return no.NameReserved(f"{player} is the name of a computer player.")
    return None


def _free_reason(table: Table, number: int, player: str) -> Reason:
    """Why a player may not come to a seat."""
    if number > len(table.seats):
        return unknown_seat(table)
    if (taken := table.seats[number - 1]) is not None:
        return no.SeatTaken(f"Seat {number} is {taken.player}'s.")
    for other, seat in table.seated():
        if seat.player == player:
            return no.AlreadySeated(f"{player} sits on seat {other}.", seat=other)
    return None


def unknown_seat(table: Table) -> Rejected:
    """The refusal of a seat that the table does not have."""
    return no.UnknownSeat(f"Table {table.id} has seats 1 to {len(table.seats)}.")
