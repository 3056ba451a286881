"""Why a command is refused. Each reason is found by one function, which `check` raises from and
`legal_moves` asks, so that what is listed is what is accepted."""

from typing import assert_never

from services.blackjack.domain import commands as c
from services.blackjack.domain import rejections as no
from services.blackjack.domain import shop
from services.blackjack.domain.arrivals import (
    computer_reason,
    sit_reason,
    start_reason,
    unknown_seat,
)
from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.rejections import Reason
from services.blackjack.domain.rules import Ruleset
from services.blackjack.domain.settlement import insurance_price
from services.blackjack.domain.table import Closed, Hand, Round, Seat, Table
from shared.kernel.rejected import Rejected


def check(table: Table, command: c.AnyCommand) -> None:
    """Returns when the command is legal now, raises the reason when it is not."""
    if isinstance(table.stage, Closed):
        raise no.TableClosed(f"Table {table.id} is closed.")
    if reason := _reason(table, command):
        raise reason


def _reason(table: Table, command: c.AnyCommand) -> Reason:
    match command:
        case c.Hit() | c.Stand() | c.DoubleDown() | c.Split() | c.Surrender():
            seat = _occupied(table, command.seat)
            if reason := _turn_reason(table, command.seat, command.hand):
                return reason
            return hand_reason(table.rules, seat, seat.hands[command.hand], type(command))
        case c.Insure() | c.DeclineInsurance():
            return _insurance_reason(table, command)
        case c.Bet() | c.WithdrawBet() | c.SitOut() | c.Deal() | c.Close():
            return _between_rounds_reason(table, command)
        case c.Sit():
            return sit_reason(table, command)
        case c.StartRun():
            return start_reason(table, command)
        case c.SeatComputer():
            return computer_reason(table, command)
        case c.Leave() | c.BuyIn() | c.CashOut():
            return _seat_reason(table, command)
        case c.ApplyModifier():
            return shop.modifier_reason(table)
        case c.BuyItem(number, item):
            return shop.purchase_reason(table, _occupied(table, number), item)
        case c.UseItem(number, item, index):
            seat = _occupied(table, number)
            if reason := _turn_reason(table, number, index):
                return reason
            return shop.use_reason(table, seat, seat.hands[index], item)
        case c.TimeOut(turn):
            wait = waits_for(table)
            if wait is None or wait.turn != turn:
                return no.TooLate(f"The clock of turn {turn} was answered before it ran out.")
            return None
        case _:
            assert_never(command)


def _turn_reason(table: Table, number: int, index: int) -> Reason:
    """Why it is not the turn of this hand."""
    if not isinstance(table.stage, Round):
        return no.NoRound("No cards are on the table; bet first.")
    if table.stage.offers:
        seats = ", ".join(map(str, table.stage.offers))
        return no.InsuranceOpen(f"Seats that still answer on insurance: {seats}.")
    turn = table.turn()
    if turn != (number, index):
        assert turn is not None, "a round without a turn is over"
        return no.NotYourTurn(
            f"The turn is seat {turn[0]}, hand {turn[1]}.", seat=turn[0], hand=turn[1]
        )
    return None


def hand_reason(rules: Ruleset, seat: Seat, hand: Hand, kind: type[c.HandCommand]) -> Reason:
    """Why a hand may not do that on its turn."""
    if hand.is_natural and kind is not c.Stand:
        return no.HandClosed("A natural takes no card; it may be insured, or stand.")
    if kind is c.DoubleDown:
        return _double_reason(rules, seat, hand)
    if kind is c.Split:
        return _split_reason(rules, seat, hand)
    if kind is c.Surrender:
        if not rules.surrender:
            return no.SurrenderNotAllowed(f"{rules.title} has no surrender.")
        if len(hand.cards) != 2 or hand.from_split:
            return no.SurrenderNotAllowed("Surrender is for the first decision only.")
    return None


def _double_reason(rules: Ruleset, seat: Seat, hand: Hand) -> Reason:
    if len(hand.cards) != 2:
        return no.DoubleNotAllowed("Only the first two cards of a hand can be doubled.")
    if hand.from_split and not rules.double_after_split:
        return no.DoubleNotAllowed(f"{rules.title} does not double after a split.")
    return _funds_reason(seat, hand.stake)


def _split_reason(rules: Ruleset, seat: Seat, hand: Hand) -> Reason:
    if rules.split == "none":
        return no.SplitNotAllowed(f"{rules.title} has no split.")
    if len(hand.cards) != 2 or not rules.is_pair(*hand.cards):
        measure = rules.split.removeprefix("same_")
        return no.SplitNotAllowed(f"Only two cards of equal {measure} can be split.")
    if len(seat.hands) >= rules.hands_per_seat:
        return no.SplitNotAllowed(f"A seat holds at most {rules.hands_per_seat} hands.")
    return _funds_reason(seat, hand.stake)


def _insurance_reason(table: Table, command: c.Insure | c.DeclineInsurance) -> Reason:
    number = command.seat
    seat = _occupied(table, number)
    if not isinstance(table.stage, Round):
        return no.NoRound("Insurance comes after the deal.")
    if number in table.stage.offers:
        return None
    if table.rules.insurance != "on_turn" or isinstance(command, c.DeclineInsurance):
        return _no_offer(number)
    return _turn_reason(table, number, 0) or on_turn_reason(table, number, seat)


def on_turn_reason(table: Table, number: int, seat: Seat) -> Reason:
    """Why a seat may not insure on its turn."""
    if table.rules.insurance != "on_turn":
        return _no_offer(number)
    if not can_insure(table, seat):
        return no.InsuranceNotOffered(
            "Insurance is the first action against an ace, once, for half of the bet."
        )
    return _funds_reason(seat, insurance_price(seat.bet))


def _no_offer(number: int) -> Rejected:
    return no.InsuranceNotOffered(f"Seat {number} has no offer of insurance to answer.")


def can_insure(table: Table, seat: Seat) -> bool:
    """Whether insurance is there for the seat, funds aside: an ace, a price, the first action."""
    return (
        table.rules.insures(table.round.dealer[0])
        and insurance_price(seat.bet) > 0
        and seat.insurance == 0
        and len(seat.hands) == 1
        and len(seat.hands[0].cards) == 2
    )


def _between_rounds_reason(
    table: Table, command: c.Bet | c.WithdrawBet | c.SitOut | c.Deal | c.Close
) -> Reason:
    if isinstance(table.stage, Round):
        return no.RoundInProgress(f"Round {table.round_id()} is being played.")
    match command:
        case c.Bet(number, amount):
            seat = _occupied(table, number)
            bets = table.rules.bets(seat.stack)
            return bet_reason(table.rules, seat, bets) or _amount_reason(bets, amount)
        case c.WithdrawBet(number):
            return withdrawal_reason(number, _occupied(table, number))
        case c.SitOut(number):
            return sit_out_reason(number, _occupied(table, number))
        case c.Deal(player):
            return deal_reason(table, player)
        case c.Close():
            return None


def bet_reason(rules: Ruleset, seat: Seat, bets: range) -> Reason:
    """Why a seat may place no bet at all; `bets` are those that its stack allows."""
    if seat.bet:
        return no.BetAlreadyPlaced(f"The seat has bet {seat.bet}; withdraw it first.", bet=seat.bet)
    if not bets:
        return no.NotEnoughChips(
            f"A stack of {seat.stack} allows no bet; the least is {rules.bet.min}.",
            stack=seat.stack,
        )
    return None


def _amount_reason(bets: range, amount: int) -> Reason:
    if amount in bets:
        return None
    return no.BetNotAllowed(
        f"Bet from {bets[0]} to {bets[-1]} in steps of {bets.step}; {amount} is not one.",
        min=bets[0],
        max=bets[-1],
        step=bets.step,
    )


def withdrawal_reason(number: int, seat: Seat) -> Reason:
    """Why a seat may not take its bet back."""
    return None if seat.bet else no.NoBet(f"Seat {number} has no bet.")


def sit_out_reason(number: int, seat: Seat) -> Reason:
    """Why a seat may not sit the next round out."""
    if seat.bet:
        return no.BetAlreadyPlaced(f"Seat {number} has bet {seat.bet}; withdraw it first.")
    if seat.sits_out:
        return no.AlreadySatOut(f"Seat {number} sits out already.")
    return None


def deal_reason(table: Table, player: str) -> Reason:
    """Why a player may not have the cards dealt."""
    if table.rules.deals != "host":
        return no.NobodyDeals(f"{table.rules.title} is dealt by the server.")
    if player != table.host:
        return no.NotTheHost(f"The host is {table.host}.", host=table.host)
    if not any(seat.bet for _, seat in table.seated()):
        return no.NoBet("Nobody has bet yet.")
    return None


def _seat_reason(table: Table, command: c.Leave | c.BuyIn | c.CashOut) -> Reason:
    seat = _occupied(table, command.seat)
    match command:
        case c.Leave(number):
            return leave_reason(number, seat)
        case c.BuyIn():
            return stack_reason(table, seat)
        case c.CashOut(_, amount):
            return stack_reason(table, seat) or cash_out_reason(table.rules, seat, amount)


def leave_reason(number: int, seat: Seat) -> Reason:
    """Why a player may not leave: only who is leaving already may not."""
    if seat.leaving:
        return no.AlreadyLeaving(f"Seat {number} leaves at the end of the round.")
    return None


def stack_reason(table: Table, seat: Seat) -> Reason:
    """Why chips may neither come to the stack nor go from it."""
    if table.rules.run is not None:
        return no.BankrollIsFixed("The chips of a run come and go with it.")
    if isinstance(table.stage, Round) and seat.is_live:
        return no.RoundInProgress("A live hand keeps its stack as it is until the round is over.")
    return None


def cash_out_reason(rules: Ruleset, seat: Seat, amount: int) -> Reason:
    """Why so many chips may not go from the stack to the vault."""
    if rules.bankroll == "session":
        return no.ChipsStayAtTheTable(f"{rules.title} plays with session chips.")
    return _funds_reason(seat, amount)


def _occupied(table: Table, number: int) -> Seat:
    """Raises UnknownSeat, SeatEmpty."""
    if number > len(table.seats):
        raise unknown_seat(table)
    if (seat := table.seats[number - 1]) is None:
        raise no.SeatEmpty(f"Nobody sits on seat {number}.")
    return seat


def _funds_reason(seat: Seat, cost: int) -> Reason:
    if seat.stack < cost:
        return no.NotEnoughChips(
            f"It takes {cost} chips, the stack is {seat.stack}.", cost=cost, stack=seat.stack
        )
    return None
