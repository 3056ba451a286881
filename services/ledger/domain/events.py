"""What happened to a player's vault. The table's side of a transfer is told at the table."""

from typing import Final

from msgspec import Struct


class ChipsGranted(Struct, frozen=True):
    """The house gave new chips to a player."""

    player: str
    amount: int


class ChipsTakenToTable(Struct, frozen=True):
    """Chips went from the vault to the player's stack on a table."""

    player: str
    table: str
    amount: int


class ChipsBroughtFromTable(Struct, frozen=True):
    """Chips came back from a table to the vault."""

    player: str
    table: str
    amount: int


REGISTRY: Final[dict[str, tuple[int, type[Struct]]]] = {
    "ledger.chips_granted": (1, ChipsGranted),
    "ledger.chips_taken_to_table": (1, ChipsTakenToTable),
    "ledger.chips_brought_from_table": (1, ChipsBroughtFromTable),
}
