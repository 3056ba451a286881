"""What a run is made of, drawn from its seed: tables, players, processes, and what goes wrong when.

Faults come after so many answered commands, never at a time of day: the same seed gives the same
plan on any machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

RULESETS = ("a2g", "coinlounge", "european", "classic", "coinlounge", "a2g", "coinlounge", "a2g")
"""Of the tables in turn: each game at least once, and more of those with insurance."""
MOST_SEATS = {"a2g": 7, "coinlounge": 5, "european": 7, "classic": 1}
LIMITS = {
    "a2g": ({"min": 2, "max": 20, "step": 2}, {"min": 10, "max": 1000, "step": 10}),
    "coinlounge": ({"min": 1, "max": 3}, {"min": 5, "max": 25, "step": 5}),
    "european": ({"min": 4, "max": 40, "step": 4}, {"min": 2, "max": 2, "step": 2}),
    "classic": ({"min": 7, "half_of_stack": True}, {"min": 1, "max": 50, "step": 3}),
}
KINDS = (
    "careful", "reckless", "splitter", "insurer", "quitter", "silent", "vandal", "hasty", "stale",
)  # fmt: skip
FAULTS = ("kill", "cut", "terminate", "slow", "restart")
"""A process ends at once; its way to the log is cut for a while, breaks off once, is slow for a
while; the log itself is gone for a while."""


@dataclass(frozen=True)
class PlannedTable:
    name: str
    opening: dict[str, Any]
    """The body that opens it."""


@dataclass(frozen=True)
class PlannedPlayer:
    name: str
    kind: str
    tables: tuple[PlannedTable, ...]
    """Where the player sits, at all of them at once."""


@dataclass(frozen=True)
class Fault:
    at: int
    """After how many answered commands it begins."""
    kind: str
    process: int
    lasts: int
    """For how many answered commands more."""


@dataclass(frozen=True)
class Plan:
    seed: int
    commands: int
    """How many commands are answered before everybody goes home."""
    skews: tuple[float, ...]
    """By how many seconds the clock of each serving process is wrong."""
    tables: tuple[PlannedTable, ...]
    players: tuple[PlannedPlayer, ...]
    faults: tuple[Fault, ...]

    def __str__(self) -> str:
        kinds = (f"{player.name} is {player.kind}" for player in self.players)
        return "\n".join(
            [
                f"seed {self.seed}, {self.commands} commands",
                f"processes with clocks off by {', '.join(f'{s:+g} s' for s in self.skews)}",
                *(f"table {table.name}: {table.opening}" for table in self.tables),
                f"players: {', '.join(kinds)}",
                *(
                    f"after {fault.at} commands: {fault.kind}, process {fault.process}, "
                    f"for {fault.lasts} commands"
                    for fault in self.faults
                ),
            ]
        )


def draw(seed: int, commands: int, faults: Sequence[str] = FAULTS) -> Plan:
    """The plan of a seed. `faults` are the kinds of trouble that its world can be in."""
    chance = Random(f"plan/{seed}")
    skews = tuple(round(chance.uniform(-5, 5), 1) for _ in range(chance.randint(2, 3)))
    tables = tuple(_table(chance, number) for number in range(chance.randint(5, 8)))
    kinds = list(KINDS) + chance.choices(KINDS, k=chance.randint(5, 15))
    players = tuple(
        PlannedPlayer(
            name=f"{kind}-{number}",
            kind=kind,
            tables=tuple(chance.sample(tables, chance.choice((1, 2, 3)))),
        )
        for number, kind in enumerate(kinds)
    )
    return Plan(seed, commands, skews, tables, players, _faults(chance, commands, faults, skews))


def _table(chance: Random, number: int) -> PlannedTable:
    """A table, as published or with limits of its own."""
    ruleset = RULESETS[number]
    opening: dict[str, Any] = {"ruleset": ruleset}
    if chance.random() < 0.5:
        opening["bet"] = chance.choice(LIMITS[ruleset])
    if chance.random() < 0.5:
        opening["seats"] = chance.randint(1, MOST_SEATS[ruleset])
    if chance.random() < 0.6:
        opening["clock"] = {
            f"{wait}_seconds": chance.randint(1, 4) for wait in ("betting", "insurance", "action")
        }
    if ruleset == "classic" and chance.random() < 0.5:
        opening["environment"] = [modifier(chance) for _ in range(chance.randint(1, 2))]
    if chance.random() < 0.3:
        opening["host"] = f"host-{number}"  # who plays nowhere, and deals when asked to
    return PlannedTable(f"{ruleset}-{number}", opening)


def _faults(
    chance: Random, commands: int, kinds: Sequence[str], skews: Sequence[float]
) -> tuple[Fault, ...]:
    """About one in a hundred commands, and every kind in turn, so that a short run has them all.

    The first process is never cut off, so that there is always one to ask.
    """
    order = [kind for _ in range(1 + commands // 100) for kind in chance.sample(kinds, len(kinds))]
    places = sorted(chance.sample(range(1, commands), min(commands // 100 + 1, len(order))))
    return tuple(
        Fault(at, kind, chance.randrange(1, len(skews)), chance.randint(5, 50))
        for at, kind in zip(places, order, strict=False)
    )


def modifier(chance: Random) -> dict[str, Any]:
    """Any of the closed set."""
    value, rank = chance.randint(1, 11), chance.choice("23456789TJQK")
    conditions = (
        {"type": "pair"},
        {"type": "holds", "rank": rank},
        {"type": "total", "least": value, "most": value + 8} if value > 1 else {"type": "pair"},
    )
    return chance.choice(
        (
            {"type": "rank_value", "rank": rank, "value": value},
            {"type": "fixed_ace", "value": value},
            {"type": "bust_limit", "limit": chance.randint(17, 31)},
            {"type": "instant_bust", "condition": chance.choice(conditions)},
            {"type": "reverse_bust"},
        )
    )
