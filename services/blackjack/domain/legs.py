"""What a command at a table does, event by event, each with its ledger lines."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from msgspec import Struct

from services.blackjack.domain import events as e
from services.blackjack.domain.computers import is_computer
from services.blackjack.domain.settlement import postings, to_vault
from services.blackjack.domain.table import Table
from shared.kernel.chips import Posting

Leg: TypeAlias = tuple[str, Struct, tuple[Posting, ...]]
"""An event for a stream with its ledger lines, as the ledger has it."""


class Moved(Protocol):
    """The ledger's own `moved`: the vault's legs of chips that come from a table or go to it."""

    def __call__(self, player: str, table: str, amount: int, *, granted: bool) -> list[Leg]: ...


def legs(stream: str, table: Table | None, events: Sequence[e.Event], moved: Moved) -> list[Leg]:
    """Each event with its postings, and the vault's after it when chips come or go.

    `table` is the one before all of them, None where it is opened.
    """
    found: list[Leg] = []
    for event in events:
        found.append((stream, event, postings(table, event) if table else ()))
        if table and (movement := to_vault(table, event)):
            player, chips = movement
            found += moved(player, table.id, chips, granted=is_computer(player))
    return found
