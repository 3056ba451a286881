"""Whether the rules were changed as they may be: a second look at every modifier and item."""

from collections.abc import Iterator

from services.audit.domain.words import ORDINALS, spoken_cards
from services.blackjack.domain import commands as c
from services.blackjack.domain import events as e
from services.blackjack.domain.hands import fallen_hands
from services.blackjack.domain.items import Modify, Redraw, Shield
from services.blackjack.domain.reasons import check
from services.blackjack.domain.table import Table
from shared.kernel.rejected import Rejected


def change_faults(table: Table, event: e.Event, before: e.Event | None) -> Iterator[str]:
    """What is wrong with an event, given the table and the event before it.

    A modifier must be allowed when it comes, an effect must be that of the item just used, and
    hands that bust by a modifier alone must be settled before anything else happens to them.
    """
    effects = e.ModifierApplied | e.CardRedrawn | e.HandShielded
    if isinstance(before, e.ItemUsed) and not isinstance(event, effects):
        yield f"Seat {before.seat} used {before.item} without any effect."
    yield from _fallen_faults(table, event)
    match event:
        case e.ModifierApplied(modifier, seat):
            if seat is None:
                yield from _refused(table, c.ApplyModifier(modifier))
            else:
                yield from _effect_faults(table, before, Modify(modifier), seat)
        case e.ItemBought(seat, name, price):
            yield from _refused(table, c.BuyItem(seat, name))
            if (item := table.rules.item(name)) and price != item.price:
                yield f"{name} was sold to seat {seat} for {price}, its price is {item.price}."
        case e.ItemUsed(seat, hand, name):
            yield from _refused(table, c.UseItem(seat, name, hand))
        case e.CardRedrawn(seat):
            yield from _effect_faults(table, before, Redraw(), seat)
        case e.HandShielded(seat):
            yield from _effect_faults(table, before, Shield(), seat)


def _fallen_faults(table: Table, event: e.Event) -> Iterator[str]:
    """Hands that bust by the modifiers alone, and are there when the play goes on."""
    match event:
        case e.HandStood(seat, hand) if table.seat(seat).hands[hand].is_natural:
            return  # naturals are dealt with before the modifiers come into effect
        case (
            e.CardDealt() | e.HandDoubled() | e.HandSplit() | e.HandStood() | e.ItemUsed()
            | e.ModifierApplied()
        ):  # fmt: skip
            for number, index, fallen in fallen_hands(table):
                whose = f"The {ORDINALS[index]} hand of seat {number}"
                yield f"{whose}, {spoken_cards(fallen.cards)}, should have been bust before."


def _refused(table: Table, command: c.Command) -> Iterator[str]:
    try:
        check(table, command)
    except Rejected as refusal:
        yield f"What happened was not allowed: {refusal.detail}"


def _effect_faults(
    table: Table, before: e.Event | None, effect: Modify | Redraw | Shield, seat: int
) -> Iterator[str]:
    due = None
    if isinstance(before, e.ItemUsed) and before.seat == seat:
        item = table.rules.item(before.item)
        due = item and item.effect
    if due != effect:
        yield f"Seat {seat} had the effect {effect} without an item that has it."
