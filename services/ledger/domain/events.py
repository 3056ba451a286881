"""What happened to a player's vault. The table's side of a transfer is told at the table."""

from typing import Annotated, Final

from msgspec import Struct

from shared.kernel.described import means
from shared.kernel.ids import ID_PATTERN

Player = Annotated[str, means("Whose vault it is.", pattern=ID_PATTERN)]
Table = Annotated[str, means("The table's name.", pattern=ID_PATTERN)]
Amount = Annotated[int, means("Chips.", minimum=1)]


class ChipsGranted(Struct, frozen=True):
    """The house gave new chips to a player."""

    player: Player
    amount: Amount


class ChipsTakenToTable(Struct, frozen=True):
    """Chips went from the vault to the player's stack on a table."""

    player: Player
    table: Table
    amount: Amount


class ChipsBroughtFromTable(Struct, frozen=True):
    """Chips came back from a table to the vault."""

    player: Player
    table: Table
    amount: Amount


REGISTRY: Final[dict[str, tuple[int, type[Struct]]]] = {
    "ledger.chips_granted": (1, ChipsGranted),
    "ledger.chips_taken_to_table": (1, ChipsTakenToTable),
    "ledger.chips_brought_from_table": (1, ChipsBroughtFromTable),
}
