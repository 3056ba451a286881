"""Checks a whole log, event by event, trusting nothing but the rules of the game.

Memory grows with the streams and accounts there are, not with the length of the log.
"""

from collections.abc import Iterable

from msgspec import Struct

from services.audit.domain.books import added
from services.audit.domain.court import Court
from services.audit.domain.faults import Fault, Faults
from services.audit.domain.lines import Line, Unreadable
from services.audit.domain.spine import Spine
from services.audit.domain.stretches import Whole


class Report(Struct, frozen=True):
    """What was read and what was found. `chain` is the head of the hash chain, in hex.

    The faults come most serious first, at most 10,000 of them; `fault_count` counts all.
    `balances` are those of the ledger, by account, as the postings give them. `in_part` counts the
    tables, vaults and rulesets that are not there from their first event on: no round of such a
    table was dealt again, and no balance of such a vault can be judged.
    """

    position: int
    chain: str
    events: int
    commands: int
    streams: int
    in_part: dict[str, int]
    rounds: int
    cards: int
    postings: int
    balances: dict[str, int]
    faults: tuple[Fault, ...]
    fault_count: int

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return self.fault_count == 0


def verify(lines: Iterable[Line | Unreadable], house: str = "") -> Report:
    """Checks a log from its first event on; `house` as for `Verifier`."""
    verifier = Verifier(house)
    for line in lines:
        verifier.read(line)
    return verifier.report()


class Verifier:
    """Reads a log from its first event on, in order, and collects what is wrong with it.

    `house` is whose log it has to be, when that is known. Whether a command has the id of one long
    before is not looked at: that is found in an export (`Once`), and in the database.
    """

    def __init__(self, house: str = "") -> None:
        self._spine, self._whole, self._court = Spine(), Whole(), Court(house=house)
        self.found = Faults()
        """What is wrong; others may add what they find."""
        self._command: list[Line] = []
        self._events = 0

    def read(self, line: Line | Unreadable) -> None:
        """The next event of the log."""
        self._events += 1
        if isinstance(line, Unreadable):
            self.found.add([self._spine.unreadable(line.position, line.why)])
            return
        self.found.add(self._spine.faults(line))
        if self._command and line.command_id != self._command[0].command_id:
            self._judge()
        self._command.append(line)

    def report(self, *, cut: bool = False) -> Report:
        """What was found, once the last event was read.

        `cut`: it was read up to some place in the log, so the last command may go on behind it, and
        is not judged.
        """
        if self._command and not cut:
            self._judge()
        self.found.add(self._court.close())
        court, vaults = self._court, self._whole.vaults
        return Report(
            position=self._spine.position,
            chain=self._spine.chain.hex(),
            events=self._events,
            commands=court.commands,
            streams=self._whole.streams,
            in_part=self._whole.in_part,
            rounds=court.rounds,
            cards=court.cards,
            postings=court.books.postings + vaults.postings,
            balances=added(court.books.balances, vaults.balances),
            faults=tuple(self.found.named),
            fault_count=self.found.count,
        )

    def _judge(self) -> None:
        """The command that was read, which is whole now."""
        for line in self._command:
            self.found.add(self._whole.read(line))
        self.found.add(self._court.read(self._command))
        self._command = []
