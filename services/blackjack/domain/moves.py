"""What may be done now. `check` is the only judge: the moves listed are those it lets pass."""

from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from services.blackjack.domain import commands as c
from services.blackjack.domain import rejections as no
from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.computers import is_computer, name_of
from services.blackjack.domain.settlement import insurance_price
from services.blackjack.domain.table import Closed, Hand, Round, Seat, Table
from shared.kernel.chips import MOST_CHIPS
from shared.kernel.rejected import Rejected


class Move(Struct, frozen=True, omit_defaults=True):
    """A legal move: a command as it stands.

    `min`, `max` and `step` bound the amount that a caller fills in (`amount`, `buy_in` of a
    `sit`), `cost` is what the move takes from the stack.
    """

    type: str
    seat: int | None = None
    hand: int | None = None
    player: str | None = None
    cost: int | None = None
    min: int | None = None
    max: int | None = None
    step: int | None = None


def check(table: Table, command: c.AnyCommand) -> None:
    """Returns when the command is legal now, raises the reason when it is not."""
    if isinstance(table.stage, Closed):
        raise no.TableClosed(f"Table {table.id} is closed.")
    match command:
        case c.Hit() | c.Stand() | c.DoubleDown() | c.Split() | c.Surrender():
            _check_hand(table, command)
        case c.Insure() | c.DeclineInsurance():
            _check_insurance(table, command)
        case c.Bet() | c.WithdrawBet() | c.SitOut() | c.Deal() | c.Close():
            _check_between_rounds(table, command)
        case c.Sit() | c.Leave() | c.BuyIn() | c.CashOut():
            _check_seat(table, command)
        case c.SeatComputer():
            _check_computer(table, command)
        case c.TimeOut(turn):
            wait = waits_for(table)
            if wait is None or wait.turn != turn:
                raise no.TooLate(f"The clock of turn {turn} was answered before it ran out.")
        case _:
            assert_never(command)


def legal_moves(table: Table) -> list[Move]:
    """Everything that `check` accepts now, in the order of the seats."""
    return [move for command, move in _candidates(table) if _passes(table, command)]


def _passes(table: Table, command: c.Command) -> bool:
    try:
        check(table, command)
    except Rejected:
        return False
    return True


def _candidates(table: Table) -> Iterator[tuple[c.Command, Move]]:
    if isinstance(table.stage, Closed):
        return
    between_rounds = not isinstance(table.stage, Round)
    if not between_rounds:
        yield from _round_candidates(table)
    elif table.host is not None:
        yield c.Deal(table.host), Move("deal", player=table.host)
    for number, seat in enumerate(table.seats, 1):
        if seat is None:
            yield c.Sit(number, "", 1), Move("sit", number, min=1, max=MOST_CHIPS, step=1)
        else:
            yield from _seat_candidates(table, number, seat, between_rounds)
    if between_rounds:
        yield c.Close(), Move("close")


def _round_candidates(table: Table) -> Iterator[tuple[c.Command, Move]]:
    for number in table.round.offers:
        price = insurance_price(table.seat(number).bet)
        yield c.Insure(number), Move("insure", number, cost=price)
        yield c.DeclineInsurance(number), Move("decline_insurance", number)
    if (turn := table.turn()) is None or table.round.offers:
        return
    number, index = turn
    seat = table.seat(number)
    stake = seat.hands[index].stake
    yield c.Hit(number, index), Move("hit", number, index)
    yield c.Stand(number, index), Move("stand", number, index)
    yield c.DoubleDown(number, index), Move("double_down", number, index, cost=stake)
    yield c.Split(number, index), Move("split", number, index, cost=stake)
    yield c.Surrender(number, index), Move("surrender", number, index)
    yield c.Insure(number), Move("insure", number, cost=insurance_price(seat.bet))


def _seat_candidates(
    table: Table, number: int, seat: Seat, between_rounds: bool
) -> Iterator[tuple[c.Command, Move]]:
    if between_rounds:
        if bets := table.rules.bets(seat.stack):
            move = Move("bet", number, min=bets[0], max=bets[-1], step=bets.step)
            yield c.Bet(number, bets[0]), move
        yield c.WithdrawBet(number), Move("withdraw_bet", number)
        yield c.SitOut(number), Move("sit_out", number)
    if between_rounds or not seat.is_live:
        yield c.BuyIn(number, 1), Move("buy_in", number, min=1, max=MOST_CHIPS, step=1)
        most = min(seat.stack, MOST_CHIPS)
        yield c.CashOut(number, 1), Move("cash_out", number, min=1, max=most, step=1)
    yield c.Leave(number), Move("leave", number)


def _check_hand(table: Table, command: c.HandCommand) -> None:
    seat, hand = _in_turn(table, command.seat, command.hand)
    if hand.is_natural and not isinstance(command, c.Stand):
        raise no.HandClosed("A natural takes no card; it may be insured, or stand.")
    match command:
        case c.DoubleDown():
            _check_double(table, seat, hand)
        case c.Split():
            _check_split(table, seat, hand)
        case c.Surrender():
            if not table.rules.surrender:
                raise no.SurrenderNotAllowed(f"{table.rules.title} has no surrender.")
            if len(hand.cards) != 2 or hand.from_split:
                raise no.SurrenderNotAllowed("Surrender is for the first decision only.")


def _check_double(table: Table, seat: Seat, hand: Hand) -> None:
    if len(hand.cards) != 2:
        raise no.DoubleNotAllowed("Only the first two cards of a hand can be doubled.")
    if hand.from_split and not table.rules.double_after_split:
        raise no.DoubleNotAllowed(f"{table.rules.title} does not double after a split.")
    _check_funds(seat, hand.stake)


def _check_split(table: Table, seat: Seat, hand: Hand) -> None:
    rules = table.rules
    if rules.split == "none":
        raise no.SplitNotAllowed(f"{rules.title} has no split.")
    if len(hand.cards) != 2 or not rules.is_pair(*hand.cards):
        measure = rules.split.removeprefix("same_")
        raise no.SplitNotAllowed(f"Only two cards of equal {measure} can be split.")
    if len(seat.hands) >= rules.hands_per_seat:
        raise no.SplitNotAllowed(f"A seat holds at most {rules.hands_per_seat} hands.")
    _check_funds(seat, hand.stake)


def _check_insurance(table: Table, command: c.Insure | c.DeclineInsurance) -> None:
    number = command.seat
    seat = _occupied(table, number)
    if not isinstance(table.stage, Round):
        raise no.NoRound("Insurance comes after the deal.")
    if number in table.stage.offers:
        return
    if table.rules.insurance != "on_turn" or isinstance(command, c.DeclineInsurance):
        raise no.InsuranceNotOffered(f"Seat {number} has no offer of insurance to answer.")
    _in_turn(table, number, 0)
    if not can_insure(table, seat):
        raise no.InsuranceNotOffered(
            "Insurance is the first action against an ace, once, for half of the bet."
        )
    _check_funds(seat, insurance_price(seat.bet))


def can_insure(table: Table, seat: Seat) -> bool:
    """Whether insurance is there for the seat, funds aside: an ace, a price, the first action."""
    return (
        table.rules.insures(table.round.dealer[0])
        and insurance_price(seat.bet) > 0
        and seat.insurance == 0
        and len(seat.hands) == 1
        and len(seat.hands[0].cards) == 2
    )


def _check_between_rounds(
    table: Table, command: c.Bet | c.WithdrawBet | c.SitOut | c.Deal | c.Close
) -> None:
    if isinstance(table.stage, Round):
        raise no.RoundInProgress(f"Round {table.round_id()} is being played.")
    match command:
        case c.Bet(number, amount):
            _check_bet(table, _occupied(table, number), amount)
        case c.WithdrawBet(number):
            if _occupied(table, number).bet == 0:
                raise no.NoBet(f"Seat {number} has no bet.")
        case c.SitOut(number):
            seat = _occupied(table, number)
            if seat.bet:
                raise no.BetAlreadyPlaced(f"Seat {number} has bet {seat.bet}; withdraw it first.")
            if seat.sits_out:
                raise no.AlreadySatOut(f"Seat {number} sits out already.")
        case c.Deal(player):
            if table.rules.deals != "host":
                raise no.NobodyDeals(f"{table.rules.title} is dealt by the server.")
            if player != table.host:
                raise no.NotTheHost(f"The host is {table.host}.", host=table.host)
            if not any(seat.bet for _, seat in table.seated()):
                raise no.NoBet("Nobody has bet yet.")


def _check_bet(table: Table, seat: Seat, amount: int) -> None:
    if seat.bet:
        raise no.BetAlreadyPlaced(f"The seat has bet {seat.bet}; withdraw it first.", bet=seat.bet)
    bets = table.rules.bets(seat.stack)
    if not bets:
        raise no.NotEnoughChips(
            f"A stack of {seat.stack} allows no bet; the least is {table.rules.bet.min}.",
            stack=seat.stack,
        )
    if amount not in bets:
        raise no.BetNotAllowed(
            f"Bet from {bets[0]} to {bets[-1]} in steps of {bets.step}; {amount} is not one.",
            min=bets[0],
            max=bets[-1],
            step=bets.step,
        )


def _check_seat(table: Table, command: c.Sit | c.Leave | c.BuyIn | c.CashOut) -> None:
    if isinstance(command, c.Sit):
        if is_computer(command.player):
            raise no.NameReserved(f"{command.player} is the name of a computer player.")
        _check_sit(table, command)
        return
    seat = _occupied(table, command.seat)
    if isinstance(command, c.Leave):
        if seat.leaving:
            raise no.AlreadyLeaving(f"Seat {command.seat} leaves when its hands are settled.")
        return
    if isinstance(table.stage, Round) and seat.is_live:
        raise no.RoundInProgress("A live hand keeps its stack as it is until the round is over.")
    if isinstance(command, c.CashOut):
        if table.rules.bankroll == "session":
            raise no.ChipsStayAtTheTable(f"{table.rules.title} plays with session chips.")
        _check_funds(seat, command.amount)


def _check_sit(table: Table, command: c.Sit) -> None:
    if command.seat > len(table.seats):
        raise no.UnknownSeat(f"Table {table.id} has seats 1 to {len(table.seats)}.")
    if (taken := table.seats[command.seat - 1]) is not None:
        raise no.SeatTaken(f"Seat {command.seat} is {taken.player}'s.")
    for number, seat in table.seated():
        if seat.player == command.player:
            raise no.AlreadySeated(f"{command.player} sits on seat {number}.", seat=number)


def _check_computer(table: Table, command: c.SeatComputer) -> None:
    rules, level = table.rules, command.level
    if level not in rules.computers:
        allowed = ", ".join(rules.computers) or "none"
        raise no.NoSuchComputer(f"{rules.title} lets these computer players sit: {allowed}.")
    _check_sit(table, c.Sit(command.seat, name_of(level, command.seat), command.buy_in))
    if not rules.bets(command.buy_in):
        raise no.NotEnoughChips(
            f"{command.buy_in} chips allow no bet; the least is {rules.bet.min}."
        )


def _occupied(table: Table, number: int) -> Seat:
    if number > len(table.seats):
        raise no.UnknownSeat(f"Table {table.id} has seats 1 to {len(table.seats)}.")
    if (seat := table.seats[number - 1]) is None:
        raise no.SeatEmpty(f"Nobody sits on seat {number}.")
    return seat


def _in_turn(table: Table, number: int, index: int) -> tuple[Seat, Hand]:
    seat = _occupied(table, number)
    if not isinstance(table.stage, Round):
        raise no.NoRound("No cards are on the table; bet first.")
    if table.stage.offers:
        seats = ", ".join(map(str, table.stage.offers))
        raise no.InsuranceOpen(f"Seats that still answer on insurance: {seats}.")
    turn = table.turn()
    if turn != (number, index):
        assert turn is not None, "a round without a turn is over"
        raise no.NotYourTurn(
            f"The turn is seat {turn[0]}, hand {turn[1]}.", seat=turn[0], hand=turn[1]
        )
    return seat, seat.hands[index]


def _check_funds(seat: Seat, cost: int) -> None:
    if seat.stack < cost:
        raise no.NotEnoughChips(
            f"It takes {cost} chips, the stack is {seat.stack}.", cost=cost, stack=seat.stack
        )
