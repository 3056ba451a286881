"""All commands there are at a table, and which of them the legal moves promise."""

from collections.abc import Iterator

from msgspec import convert, structs, to_builtins

from services.blackjack.domain import commands as c
from services.blackjack.domain.modifiers import (
    InstantBust,
    Modifier,
    Pair,
    RankValue,
    ReverseBust,
)
from services.blackjack.domain.moves import Move, legal_moves
from services.blackjack.domain.table import Table
from shared.kernel.chips import MOST_CHIPS

SEATS, HANDS = range(1, 8), range(4)
NOBODY = "nobody"
_PLACE = ("type", "seat", "hand", "item")
MODIFIERS = (ReverseBust(), RankValue("7", 11), InstantBust(Pair()))


def every_command(table: Table) -> Iterator[c.Command]:
    """Every command of every type, seat and hand, with amounts in, at and beyond the limits."""
    yield c.Close()
    yield from map(c.ApplyModifier, MODIFIERS)
    for player in {NOBODY, table.host or NOBODY, *(seat.player for _, seat in table.seated())}:
        yield c.Deal(player)
        yield from (c.Sit(number, player, 1) for number in SEATS)
        for stake in (None, *stakes(table)):
            yield from (c.StartRun(number, player, stake) for number in SEATS)
    for seat in SEATS:
        for simple in (c.Leave, c.WithdrawBet, c.SitOut, c.Insure, c.DeclineInsurance):
            yield simple(seat)
        for play in (c.Hit, c.Stand, c.DoubleDown, c.Split, c.Surrender):
            yield from (play(seat, hand) for hand in HANDS)
        for item in {"nothing-such", *(item.name for item in table.rules.items)}:
            yield c.BuyItem(seat, item)
            yield from (c.UseItem(seat, item, hand) for hand in HANDS)
        for amount in amounts(table, seat):
            yield from (money(seat, amount) for money in (c.Bet, c.BuyIn, c.CashOut))


def amounts(table: Table, number: int) -> set[int]:
    """Amounts that matter to a seat: the ends of what is listed, and those just beyond."""
    seat = table.seats[number - 1] if number <= len(table.seats) else None
    stack, limits = (seat.stack if seat else 0), table.rules.bet
    edges = {1, limits.min, limits.max or stack, stack // 2, stack, MOST_CHIPS}
    return {
        near for edge in edges for near in (edge - 1, edge, edge + 1) if 1 <= near <= MOST_CHIPS
    }


def stakes(table: Table) -> set[int]:
    """Stakes of a run: the ends of what is allowed, and those just beyond."""
    runs = table.rules.run
    edges = (runs.min_stake, runs.max_stake) if runs else (1,)
    return {near for edge in edges for near in (edge - 1, edge, edge + 1) if near >= 1}


class Listed:
    """The legal moves of a table, to look commands up in."""

    def __init__(self, table: Table) -> None:
        self.moves = legal_moves(table)
        self._by_place = {
            (*(getattr(move, name) for name in _PLACE), _granted(move)): move for move in self.moves
        }
        self._seated = {seat.player for _, seat in table.seated()}

    def __contains__(self, command: c.Command) -> bool:
        fields = structs.asdict(command)
        granted = isinstance(command, c.StartRun) and command.stake is None
        place = (command.__struct_config__.tag, *map(fields.get, _PLACE[1:]), granted)
        move = self._by_place.get(place)
        if move is None:
            return False
        if isinstance(command, c.Sit | c.StartRun) and move.player is None:
            if command.player in self._seated:
                return False
        elif fields.get("player") != move.player:
            return False
        amount = fields.get("amount", fields.get("buy_in", fields.get("stake")))
        return amount is None or amount in amounts_of(move)


def _granted(move: Move) -> bool:
    """Of the two ways to start a run, the one without a stake."""
    return move.type == "start_run" and move.min is None


def amounts_of(move: Move) -> range:
    """The amounts that a move leaves to the caller."""
    assert move.min is not None
    assert move.max is not None
    return range(move.min, move.max + 1, move.step or 1)


def as_command(
    move: Move,
    amount: int | None = None,
    player: str | None = None,
    modifier: Modifier = MODIFIERS[0],
) -> c.Command:
    """The move as the command that it stands for, through the types of the wire."""
    if move.type == "apply_modifier":
        return convert({"type": move.type, "modifier": to_builtins(modifier)}, c.Command)
    told = {name: getattr(move, name) for name in (*_PLACE, "player")}
    match move.type:
        case "sit":
            told |= {"buy_in": amount, "player": player}
        case "start_run":
            told |= {"stake": amount, "player": move.player or player}
        case _:
            told |= {"amount": amount}
    return convert({name: value for name, value in told.items() if value is not None}, c.Command)
