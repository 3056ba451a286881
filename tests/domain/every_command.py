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


class Listed:
    """The legal moves of a table, to look commands up in."""

    def __init__(self, table: Table) -> None:
        self.moves = legal_moves(table)
        self._by_place = {
            tuple(getattr(move, name) for name in _PLACE): move for move in self.moves
        }
        self._seated = {seat.player for _, seat in table.seated()}

    def __contains__(self, command: c.Command) -> bool:
        fields = structs.asdict(command)
        place = (command.__struct_config__.tag, *map(fields.get, _PLACE[1:]))
        move = self._by_place.get(place)
        if move is None or (isinstance(command, c.Sit) and command.player in self._seated):
            return False
        if isinstance(command, c.Deal):
            return command.player == move.player
        amount = fields.get("amount", fields.get("buy_in"))
        return amount is None or amount in amounts_of(move)


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
    told |= {"buy_in": amount, "player": player} if move.type == "sit" else {"amount": amount}
    return convert({name: value for name, value in told.items() if value is not None}, c.Command)
