"""What may be bought, used and applied now. Each check returns, or raises the reason why not."""

from services.blackjack.domain import rejections as no
from services.blackjack.domain.hands import is_undecided
from services.blackjack.domain.items import MOST_HELD, Item, Redraw, Shield
from services.blackjack.domain.table import Hand, Round, Seat, Table


def check_modifier(table: Table) -> None:
    """Whether the platform may apply its modifier of this round, whichever it is."""
    if not table.rules.modifiers:
        raise no.NoModifiers(f"{table.rules.title} is played without modifiers.")
    if not isinstance(table.stage, Round):
        raise no.NoRound("A modifier is for a round; bet first.")
    if table.stage.offers:
        raise no.InsuranceOpen("A modifier comes after the naturals, which wait for insurance.")
    if table.stage.modified:
        raise no.ModifierTooLate("The platform has applied one in this round already.")
    if not is_undecided(table):
        raise no.ModifierTooLate("A player has decided already.")


def check_purchase(table: Table, seat: Seat, name: str) -> None:
    """Whether the seat may buy an item of this name."""
    item = _item(table, name)
    if isinstance(table.stage, Round) or seat.bet:
        raise no.ShopClosed("The shop opens again after the round, before the next bet.")
    if len(seat.items) >= MOST_HELD:
        raise no.HandsFull(f"A seat holds at most {MOST_HELD} items.", most=MOST_HELD)
    if seat.stack < item.price:
        raise no.NotEnoughChips(
            f"It costs {item.price} chips, the stack is {seat.stack}.",
            cost=item.price,
            stack=seat.stack,
        )


def check_use(table: Table, seat: Seat, hand: Hand, name: str) -> None:
    """Whether the seat may use an item of this name on the hand whose turn it is."""
    item = _item(table, name)
    if name not in seat.items:
        raise no.ItemNotHeld(f"The seat holds {', '.join(seat.items) or 'no item'}.")
    if hand.is_natural:
        raise no.HandClosed("A natural takes no item; it may be insured, or stand.")
    match item.effect:
        case Redraw() if len(hand.cards) == 2:
            raise no.ItemUseless("No card of this hand was drawn by a hit.")
        case Shield() if hand.shielded:
            raise no.ItemUseless("The hand has a shield already.")


def _item(table: Table, name: str) -> Item:
    item = table.rules.item(name)
    if item is None:
        names = ", ".join(item.name for item in table.rules.items)
        raise no.UnknownItem(f"The shop has {names}." if names else "This game has no shop.")
    return item
