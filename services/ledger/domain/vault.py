"""A player's vault: what moves it, and its leg of the ledger entry.

A vault has no state to load: its balance is the account's, and the floor of the account is what
refuses to take out more than there is.
"""

from typing import TypeAlias

from msgspec import Struct

from services.ledger.domain.events import (
    ChipsBroughtFromTable,
    ChipsGranted,
    ChipsTakenToTable,
)
from shared.kernel.chips import ISSUANCE, Chips, Posting, vault

Leg: TypeAlias = tuple[str, Struct, tuple[Posting, ...]]
"""An event for a stream with its ledger lines, ready to be sealed."""


class Grant(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="grant"):
    """Give new chips to a player."""

    amount: Chips


def vault_stream(player: str) -> str:
    """The stream of a player's vault."""
    return f"vault-{player}"


def grant(player: str, amount: int) -> Leg:
    """New chips, from the issuance into the vault."""
    lines = Posting(ISSUANCE, -amount), Posting(vault(player), amount)
    return vault_stream(player), ChipsGranted(player, amount), lines


def moved(player: str, table: str, amount: int, *, granted: bool) -> list[Leg]:
    """The vault's legs of chips that come from a table (+) or go to it (−).

    The table's own event holds the other leg; one command holds all. To a player whose chips are
    `granted`, those that go are given right before.
    """
    event = (
        ChipsBroughtFromTable(player, table, amount)
        if amount > 0
        else ChipsTakenToTable(player, table, -amount)
    )
    leg = vault_stream(player), event, (Posting(vault(player), amount),)
    return [grant(player, -amount), leg] if granted and amount < 0 else [leg]
