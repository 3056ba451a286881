"""Items: what a table's shop sells, as data. No item looks into the shoe."""

from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct

from services.blackjack.domain.modifiers import BustLimit, Modifier
from shared.kernel.chips import Chips
from shared.kernel.ids import Id

MOST_ITEMS: Final = 8
"""How many a catalogue may offer."""
MOST_HELD: Final = 5
"""How many a seat may hold unused, so that a round can be drawn out by that much only."""


class _Effect(Struct, frozen=True, gc=False, tag_field="type", forbid_unknown_fields=True):
    pass


class Modify(_Effect, frozen=True, gc=False, tag="modify"):
    """A modifier for the rest of this round."""

    modifier: Annotated[Modifier, Meta(description="What changes in how hands are counted.")]


class Redraw(_Effect, frozen=True, gc=False, tag="redraw"):
    """The last card of the hand, drawn by a hit, goes away, and the next of the shoe comes."""


class Shield(_Effect, frozen=True, gc=False, tag="shield"):
    """A bust of this hand is a push. When it is split, the first of the two keeps the shield."""


Effect: TypeAlias = Modify | Redraw | Shield


class Item(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """What can be bought before betting and used on one's turn, once."""

    name: Id
    price: Annotated[Chips, Meta(description="What it costs, in chips.")]
    effect: Annotated[Effect, Meta(description="What it does.")]


Catalogue: TypeAlias = Annotated[tuple[Item, ...], Meta(max_length=MOST_ITEMS)]

ONE_OF_EACH: Final = (
    Item("redraw", 10, Redraw()),
    Item("shield", 15, Shield()),
    Item("limit-22", 10, Modify(BustLimit(22))),
)
"""An item for each effect."""
