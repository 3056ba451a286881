"""Short words for appends: `a_command("c1", an_event("table-1", ISSUANCE, -5, ADA, 5))`."""

from datetime import UTC, datetime

from shared.eventstore.store import Append, NewEvent
from shared.kernel.chips import ISSUANCE, Posting, vault

HOUSE = "local"
NOW = datetime(2025, 1, 31, 12, 0, 0, 123456, tzinfo=UTC)
ADA = vault("ada")
BOB = vault("bob")


def an_event(stream: str, *entry: str | int) -> NewEvent:
    """An event with the entry `account, amount, account, amount, …`."""
    postings = tuple(
        Posting(str(account), int(amount))
        for account, amount in zip(entry[::2], entry[1::2], strict=True)
    )
    return NewEvent(stream, "test.happened", 1, f'{{"of":"{stream}"}}'.encode(), postings)


def a_command(
    command_id: str, *events: NewEvent, expected: int | None = None, body: bytes = b"body"
) -> Append:
    """A command on the stream of its first event."""
    return Append(command_id, body, events[0].stream, expected, events)


def a_grant(command_id: str, account: str, amount: int) -> Append:
    return a_command(command_id, an_event("vault-house", ISSUANCE, -amount, account, amount))
