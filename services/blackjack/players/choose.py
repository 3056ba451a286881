"""How computer players play: pure functions of what anybody may see, and of the legal moves.

What they are given is public by its type: no table, no shoe, no seed comes into this room.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

from services.blackjack.domain import commands as c
from services.blackjack.domain.cards import RANKS
from services.blackjack.domain.moves import Move
from services.blackjack.domain.view import HandView, SeatView, TableView
from services.blackjack.odds.figures import CODES, Strategy
from services.blackjack.odds.kinds import TENS
from services.blackjack.players.basic import BASIC

Choose: TypeAlias = Callable[[TableView, Sequence[Move]], c.Command]
"""`choose(view, moves)`: the command of the seat that the moves belong to; see `moves_of`."""

_Listed: TypeAlias = Mapping[str, Move]
_Plan: TypeAlias = Callable[[TableView, HandView, _Listed], str]
"""What to do with a hand on its turn: one of the moves that are listed, by its type."""

Names: TypeAlias = Mapping[str, str]
"""How a table names each rank; see `odds.kinds.names_of`."""

AS_PRINTED: Final[Names] = {rank: "T" if rank in TENS else rank for rank in RANKS}
"""All the cards of ten are one."""
STANDS_ON: Final = 17


def moves_of(view: TableView, number: int) -> list[Move]:
    """The legal moves of a seat; dealing is its own when its player is the host."""
    player = _seat(view, number).player
    return [move for move in view.legal_moves if number == move.seat or player == move.player]


def easy(view: TableView, moves: Sequence[Move]) -> c.Command:
    """Hits below 17, otherwise stands; never doubles, splits or insures."""
    return _choose(view, moves, _below_17)


def by_table(strategy: Strategy, names: Names, view: TableView, moves: Sequence[Move]) -> c.Command:
    """Plays a printed table, which says what to do with a total against an upcard."""
    return _choose(view, moves, partial(_as_printed, strategy, names))


def normal(view: TableView, moves: Sequence[Move]) -> c.Command:
    """Plays basic strategy as it is printed everywhere, whatever the rules of the table are."""
    return by_table(BASIC, AS_PRINTED, view, moves)


def hard(strategy: Strategy, names: Names = AS_PRINTED) -> Choose:
    """Plays the best table of the ruleset, which somebody has computed from its rules."""
    return partial(by_table, strategy, names)


def cautious(view: TableView, moves: Sequence[Move]) -> c.Command:
    """Does what a time-out would do, and leaves where there is nothing to be careful about."""
    listed, number = _by_type(moves)
    for command in (c.DeclineInsurance, c.SitOut):
        if command.__struct_config__.tag in listed:
            return command(number)
    if "stand" in listed and view.turn:
        return c.Stand(number, view.turn.hand)
    return c.Leave(number)


def _choose(view: TableView, moves: Sequence[Move], plan: _Plan) -> c.Command:
    listed, number = _by_type(moves)
    if "decline_insurance" in listed:
        return c.DeclineInsurance(number)
    if view.turn is None:
        return _before_the_cards(view, listed, _seat(view, number))
    hand = view.turn.hand
    match plan(view, _seat(view, number).hands[hand], listed):
        case "hit":
            return c.Hit(number, hand)
        case "double_down":
            return c.DoubleDown(number, hand)
        case "split":
            return c.Split(number, hand)
        case "surrender":
            return c.Surrender(number, hand)
        case _:
            return c.Stand(number, hand)


def _before_the_cards(view: TableView, listed: _Listed, seat: SeatView) -> c.Command:
    """The least bet, as long as it stays; the chips it came with once more when it has too few."""
    assert seat.computer, "this seat plays by itself"
    rounds = view.round.number if view.round else 0
    if rounds >= seat.computer.last_round:
        return c.Leave(seat.seat)
    if least := listed["bet"].min if "bet" in listed else None:
        return c.Bet(seat.seat, least)
    if "deal" in listed and (seat.bet or seat.sits_out):
        return c.Deal(seat.player)
    return c.BuyIn(seat.seat, seat.computer.buy_in)


def _below_17(view: TableView, hand: HandView, listed: _Listed) -> str:
    return "hit" if hand.total < STANDS_ON and "hit" in listed else "stand"


def _as_printed(
    strategy: Strategy, names: Names, view: TableView, hand: HandView, listed: _Listed
) -> str:
    """The first move that the code of the table names and the dealer allows.

    A total that is not printed, such as that of a natural, is played like an easy player's.
    """
    assert view.dealer, "a hand is played against an upcard"
    column = strategy.upcards.index(names[view.dealer.cards[0][0]])
    if "split" in listed and strategy.pairs[_pair(names, hand.cards)][column] == "P":
        return "split"
    rows = strategy.soft if hand.soft else strategy.hard
    if hand.total not in rows:
        return _below_17(view, hand, listed)
    hits, doubles, surrenders = CODES[rows[hand.total][column]]
    plan = (("surrender", surrenders), ("double_down", doubles), ("hit", hits))
    return next((move for move, wanted in plan if wanted and move in listed), "stand")


def _pair(names: Names, cards: Sequence[str]) -> str:
    """How a table names a pair: `T`, or `TK` where a modifier has made one of them another."""
    return "".join(sorted({names[card[0]] for card in cards}, key=RANKS.index))


def _by_type(moves: Sequence[Move]) -> tuple[_Listed, int]:
    """The moves by what they are, and the seat that they belong to."""
    return {m.type: m for m in moves}, next(move.seat for move in moves if move.seat)


def _seat(view: TableView, number: int) -> SeatView:
    return next(seat for seat in view.seats if seat.seat == number)
