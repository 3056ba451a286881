"""The two logs of the vectors: one with everything in it, and one that is read in a minute."""

from functools import cache
from typing import Any

from msgspec import json

from shared.eventstore.store import Recorded
from tests.format.play import an_evening

GAMES = ("a2g", "coinlounge", "classic", "classic", "european", "high-rollers")
SEED, HAPPENINGS = 660, 28
"""With these every type of event comes; a test says so when another choice has to be made."""


@cache
def the_log() -> list[Recorded]:
    """Every game, and every type of event."""
    return an_evening(SEED, GAMES, HAPPENINGS).records


def envelopes(records: list[Recorded]) -> list[Any]:
    """What was recorded, taken apart."""
    return [json.decode(record.envelope) for record in records]
