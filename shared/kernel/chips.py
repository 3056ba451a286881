"""Chips: whole numbers that move only as balanced postings between named accounts."""

from typing import Annotated

from msgspec import Meta, Struct

from shared.kernel.described import means
from shared.kernel.ids import AN_ID

MOST_CHIPS = 10**12
"""The largest amount one command may name. Sums of many stay below 2**53, where JSON numbers
are exact in every language."""

Chips = Annotated[int, Meta(ge=1, le=MOST_CHIPS, description="Whole chips, at least 1.")]

ISSUANCE = "issuance"
"""Where granted chips come from; its balance is minus all chips in the world."""

ACCOUNT_PATTERN = (
    f"^(issuance|player/{AN_ID}/vault|table/{AN_ID}/(in_play|bank|player/{AN_ID}/stack))$"
)


class Posting(Struct, frozen=True, array_like=True, gc=False):
    """One line of a ledger entry: an account, and the chips into (+) or out of (−) it."""

    account: Annotated[str, means("The account.", pattern=ACCOUNT_PATTERN)]
    amount: Annotated[
        int, means("Chips into (+) or out of (−) the account.", **{"not": {"const": 0}})
    ]


def vault(player: str) -> str:
    """A player's chips outside of any table. Never below 0."""
    return f"player/{player}/vault"


def stack(table: str, player: str) -> str:
    """A player's chips on a table, not at risk. Never below 0."""
    return f"table/{table}/player/{player}/stack"


def in_play(table: str) -> str:
    """The stakes of the running round. Never below 0, and 0 when no bet is on the table."""
    return f"table/{table}/in_play"


def bank(table: str) -> str:
    """What the house has won (+) or lost (−) on a table. May be negative."""
    return f"table/{table}/bank"


def floor(account: str) -> int | None:
    """The balance an account may not fall below, or None when it may go negative."""
    return 0 if account.endswith(("/vault", "/stack", "/in_play")) else None


def half(amount: int) -> int:
    """Half of an amount, rounded down: the one place where chips are rounded in half."""
    return amount // 2
