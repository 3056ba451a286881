"""The two logs of the vectors: one with everything in it, and one that is read in a minute."""

from functools import cache
from typing import Any

from msgspec import json

from services.blackjack.domain import commands as c
from shared.eventstore.store import Recorded
from tests.audit.log import Log
from tests.format.play import an_evening

GAMES = ("a2g", "coinlounge", "classic", "classic", "european", "high-rollers")
SEED, HAPPENINGS = 660, 28
"""With these every type of event comes; a test says so when another choice has to be made."""


@cache
def the_log() -> list[Recorded]:
    """Every game, and every type of event."""
    return an_evening(SEED, GAMES, HAPPENINGS).records


SMALL_SEED = 1347
"""Insurance, a peek and a draw in the first round, a double down in the second."""


@cache
def the_small_log() -> list[Recorded]:
    """Two players come to one table, play two rounds and leave."""
    log = Log(SMALL_SEED)
    for player in ("ada", "bob"):
        log.grant(player, 1000)
    log.open("oak", c.Open("coinlounge", host="ada"))
    for seat, player in enumerate(("ada", "bob"), 1):
        log.arrive("oak", seat, player, 200)
    for _ in range(2):
        log.play_round("oak", 20, 10)
    for seat in (1, 2):
        log.play("oak", c.Leave(seat))
    return log.records


def envelopes(records: list[Recorded]) -> list[Any]:
    """What was recorded, taken apart."""
    return [json.decode(record.envelope) for record in records]
