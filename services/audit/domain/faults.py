"""What an auditor finds: a fault with its place, the rule that it breaks, and how bad it is."""

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias, get_args

from msgspec import Struct

Kind: TypeAlias = Literal[
    "seal", "seed", "card", "payout", "chips", "play", "time-out", "order", "hash", "form", "export"
]
"""Most serious first: another log than was sealed, cheated cards and chips, then play, then a log
that is not as written."""

MOST_FAULTS: Final = 10_000
"""How many faults a report names; beyond them it only counts."""

_SERIOUS: Final = {kind: rank for rank, kind in enumerate(get_args(Kind))}


class Fault(Struct, frozen=True):
    """Something that should not be, in a sentence, and where it shows.

    `position` is its place in the log, `field` the part of the event or of its row, `rule` what
    it breaks. They are empty, or 0, where there is none.
    """

    position: int
    what: str
    kind: Kind = "form"
    stream: str = ""
    round: str = ""
    field: str = ""
    rule: str = ""

    def __str__(self) -> str:
        where = f" ({', '.join(filter(None, (self.stream, self.field)))})" if self.stream else ""
        rule = f" Rule: {self.rule}" if self.rule else ""
        return f"At position {self.position}{where}: {self.what}{rule}"


def most_serious_first(faults: Iterable[Fault]) -> list[Fault]:
    """Faults by what they mean, then by their place in the log."""
    return sorted(faults, key=lambda fault: (_SERIOUS[fault.kind], fault.position))


class Faults:
    """Faults as they are found: the most serious of them by name, all of them by number."""

    def __init__(self) -> None:
        self.count = 0
        self._kept: list[Fault] = []

    @property
    def named(self) -> list[Fault]:
        """The most serious, in their order; of the same kind and place, the first that came."""
        self._cut()
        return self._kept

    def add(self, faults: Iterable[Fault]) -> None:
        """Some more."""
        for fault in faults:
            self.count += 1
            self._kept.append(fault)
            if len(self._kept) == 2 * MOST_FAULTS:
                self._cut()

    def join(self, others: "Faults") -> None:
        """Those of somebody else."""
        named = others.named
        self.add(named)
        self.count += others.count - len(named)

    def _cut(self) -> None:
        self._kept = most_serious_first(self._kept)[:MOST_FAULTS]
