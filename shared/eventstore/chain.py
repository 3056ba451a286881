"""The hash chain: nobody can change, drop, add or reorder an event without changing the head."""

from collections.abc import Iterable
from hashlib import sha256

from shared.eventstore.store import Recorded

GENESIS = bytes(32)
"""The chain before the first event."""


class ChainBroken(Exception):
    """The log is not what was recorded: `position` is the first that is wrong."""

    def __init__(self, position: int, fault: str) -> None:
        super().__init__(f"At position {position}: {fault}")
        self.position = position


def leaf_of(envelope: bytes) -> bytes:
    """SHA-256(0x00 ‖ envelope): the hash of one event, as a leaf of RFC 6962."""
    return sha256(b"\x00" + envelope).digest()


def link(previous: bytes, leaf: bytes) -> bytes:
    """SHA-256(previous ‖ leaf): the chain after one more event."""
    return sha256(previous + leaf).digest()


def verify_chain(
    records: Iterable[Recorded], position: int = 0, chain: bytes = GENESIS
) -> tuple[int, bytes]:
    """Checks consecutive records of a log that come after `position`, where the chain was `chain`.

    Returns the position and the chain after the last one. Raises ChainBroken at the first fault.
    """
    for record in records:
        if record.position != position + 1:
            raise ChainBroken(position + 1, f"a gap, the next event has {record.position}.")
        position = record.position
        if record.leaf != leaf_of(record.envelope):
            raise ChainBroken(position, "the envelope does not have the recorded hash.")
        chain = link(chain, record.leaf)
        if record.chain != chain:
            raise ChainBroken(position, "the chain does not follow from the events before.")
    return position, chain
