"""A verifier of the log, written from FORMAT.md alone."""

from collections.abc import Sequence
from pathlib import Path

from tests.format.naive.cards import Cards
from tests.format.naive.chips import Chips
from tests.format.naive.events import Event, Log
from tests.format.naive.export import Fault, read_manifest, read_parts
from tests.format.naive.proofs import (
    canonical,
    chain,
    leaf,
    read_note,
    root,
    root_by_inclusion,
    roots_by_consistency,
    shoe,
)

__all__ = [
    "Fault",
    "canonical",
    "chain",
    "leaf",
    "read_note",
    "root",
    "root_by_inclusion",
    "roots_by_consistency",
    "shoe",
    "verify",
]


def verify(export: Path, seal: bytes | None = None, public_keys: Sequence[str] = ()) -> list[Fault]:
    """The faults of the first level that has any: each level needs those above it.

    They come as they are met on reading the log; cards by their position.
    """
    log, faults = _hashes(export)
    if not faults and seal is not None:
        faults = _sealed(log, seal, public_keys)
    if not faults:
        cards = Cards()
        cards.check(log.events)
        faults = sorted(cards.faults, key=lambda fault: fault.position)
    if not faults:
        chips = Chips(cards.naturals)
        chips.check(log.events)
        faults = chips.faults
    return faults


def _hashes(export: Path) -> tuple[Log, list[Fault]]:
    """Level 1: sections 1 to 4."""
    log = Log("", {})
    try:
        manifest = read_manifest(export)
        log = Log(manifest["house"], manifest["scope"])
        for number, part in enumerate(read_parts(export, manifest)):
            log.part(part, number)
        head = log.last_position == manifest["head"]
        if manifest["finished"] and not manifest["scope"] and not head:
            log.fault(log.last_position, f"the log should end at {manifest['head']}")
    except (OSError, KeyError, TypeError, ValueError) as error:
        log.fault(0, f"manifest: {error!r}")
    return log, log.faults


def _sealed(log: Log, seal: bytes, public_keys: Sequence[str]) -> list[Fault]:
    """Level 2: sections 5 and 6."""
    try:
        origin, size, sealed = read_note(seal, public_keys)
    except ValueError as error:
        return [Fault(0, 2, f"the seal is not to be believed: {error}")]
    leaves = _from_the_beginning(log.events)
    if origin.rpartition("/")[2] != log.house:
        return [Fault(0, 2, f"the seal is of another log: {origin}")]
    if len(leaves) < size:
        return [Fault(len(leaves) + 1, 2, f"the log was cut: {size} events were sealed")]
    if root(leaves[:size]) != sealed:
        return [Fault(size, 2, f"the first {size} events are not those that were sealed")]
    return []


def _from_the_beginning(events: Sequence[Event]) -> list[bytes]:
    """The leaves from position 1 to the first gap."""
    leaves: list[bytes] = []
    for event in events:
        if event.position != len(leaves) + 1:
            break
        leaves.append(event.leaf)
    return leaves
