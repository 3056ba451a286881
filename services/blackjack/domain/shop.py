"""Why something may not be bought, used or applied now; None when it may."""

from services.blackjack.domain import rejections as no
from services.blackjack.domain.items import MOST_HELD, Redraw, Shield
from services.blackjack.domain.rejections import Reason
from services.blackjack.domain.table import Hand, Round, Seat, Table
from shared.kernel.rejected import Rejected


def modifier_reason(table: Table) -> Reason:
    """Why the platform may not apply its modifier of this round, whichever it is."""
    if not table.rules.modifiers:
        return no.NoModifiers(f"{table.rules.title} is played without modifiers.")
    if not isinstance(table.stage, Round):
        return no.NoRound("A modifier is for a round; bet first.")
    if table.stage.offers:
        return no.InsuranceOpen("A modifier comes after the naturals, which wait for insurance.")
    if table.stage.modified:
        return no.ModifierTooLate("The platform has applied one in this round already.")
    if table.stage.decided:
        return no.ModifierTooLate("A player has decided already.")
    return None


def purchase_reason(table: Table, seat: Seat, name: str) -> Reason:
    """Why the seat may not buy an item of this name."""
    if (item := table.rules.item(name)) is None:
        return _unknown(table)
    if isinstance(table.stage, Round) or seat.bet:
        return no.ShopClosed("The shop opens again after the round, before the next bet.")
    if len(seat.items) >= MOST_HELD:
        return no.HandsFull(f"A seat holds at most {MOST_HELD} items.", most=MOST_HELD)
    if seat.stack < item.price:
        return no.NotEnoughChips(
            f"It costs {item.price} chips, the stack is {seat.stack}.",
            cost=item.price,
            stack=seat.stack,
        )
    if table.rules.run and not table.rules.bets(seat.stack - item.price):
        return no.NotEnoughChips(
            f"It costs {item.price} chips of {seat.stack}; after it the run could not go on.",
            cost=item.price,
            stack=seat.stack,
        )
    return None


def use_reason(table: Table, seat: Seat, hand: Hand, name: str) -> Reason:
    """Why the seat may not use an item of this name on the hand whose turn it is."""
    if (item := table.rules.item(name)) is None:
        return _unknown(table)
    if name not in seat.items:
        return no.ItemNotHeld(f"The seat holds {', '.join(seat.items) or 'no item'}.")
    if hand.is_natural:
        return no.HandClosed("A natural takes no item; it may be insured, or stand.")
    match item.effect:
        case Redraw() if len(hand.cards) == 2:
            return no.ItemUseless("No card of this hand was drawn by a hit.")
        case Shield() if hand.shielded:
            return no.ItemUseless("The hand has a shield already.")
    return None


def _unknown(table: Table) -> Rejected:
    names = ", ".join(item.name for item in table.rules.items)
    return no.UnknownItem(f"The shop has {names}." if names else "This game has no shop.")
