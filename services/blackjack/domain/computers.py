"""Computer players at a table: their names, and which of them it waits for.

How they play is in another room, which never sees a table.
"""

from typing import Final

from services.blackjack.domain.rules import Level
from services.blackjack.domain.table import Betting, Round, Seat, Table

_PREFIX: Final = "computer-"


def name_of(level: Level, seat: int) -> str:
    """The player that plays at this level on this seat: `computer-hard-2`.

    At all tables the same one, as people are: its vault has all that it took home.
    """
    return f"{_PREFIX}{level}-{seat}"


def is_computer(player: str) -> bool:
    """Whether the name is a computer player's: nobody else can have it."""
    return player.startswith(_PREFIX)


def asked(table: Table) -> int | None:
    """The seat of the computer player that has to act now, None when it is somebody else's turn.

    Before the cards computers wait until a person has bet, or all people sit out or cannot bet.
    So they play by themselves where nobody else sits, and never start a clock of somebody who
    has yet to come to the table.
    """
    computers = [number for number, seat in enumerate(table.seats, 1) if seat and seat.computer]
    if not computers:
        return None
    match table.stage:
        case Betting():
            return _asked_to_bet(table, computers) or _asked_to_deal(table, computers)
        case Round(offers=offers) if offers:
            return next((number for number in computers if number in offers), None)
        case Round():
            turn = table.turn()
            return turn[0] if turn and turn[0] in computers else None
        case _:
            return None


def _asked_to_bet(table: Table, computers: list[int]) -> int | None:
    """The first that has to bring chips: the cards are dealt when all have bet who can. Else the
    first that has to bet, or to leave because its time at the table is over."""
    begun = _people_have_begun(table)
    to_bet: int | None = None
    for number in computers:
        seat = table.seat(number)
        assert seat.computer
        stays = table.rounds < seat.computer.last_round
        if seat.bet or (stays and seat.sits_out):
            continue
        if stays and not table.rules.bets(seat.stack):
            return number
        if to_bet is None and (begun or not stays):
            to_bet = number
    return to_bet


def _asked_to_deal(table: Table, computers: list[int]) -> int | None:
    """The host, if that is a computer and waits for nobody any more."""
    if table.rules.deals != "host" or not any(seat.bet for _, seat in table.seated()):
        return None
    if any(not _is_settled(table, seat) for seat in _people(table)):
        return None
    return next((n for n in computers if table.seat(n).player == table.host), None)


def _people_have_begun(table: Table) -> bool:
    people = _people(table)
    return any(seat.bet for seat in people) or all(_is_settled(table, seat) for seat in people)


def _people(table: Table) -> list[Seat]:
    return [seat for _, seat in table.seated() if not seat.computer]


def _is_settled(table: Table, seat: Seat) -> bool:
    """Whether nothing more is expected of the seat before the cards."""
    return seat.bet > 0 or seat.sits_out or not table.rules.bets(seat.stack)
