"""What holds the lines of a log together: their places and their hashes."""

from hashlib import sha256

from services.audit.domain.faults import Fault
from services.audit.domain.lines import Line
from shared.eventstore.chain import GENESIS


class Spine:
    """What holds a log together: places without a gap, each event's hash, and the chain of them.

    Begins after a position, where the chain was `chain`. With `gaps`, lines may be left out: the
    log was exported in part.
    """

    def __init__(self, position: int = 0, chain: bytes = GENESIS, *, gaps: bool = False) -> None:
        self.position = position
        self.chain = chain
        self._gaps = gaps

    def faults(self, line: Line) -> list[Fault]:
        """What is wrong with the next line: nothing, most of the time."""
        found = list[Fault]()
        # The hashes of `chain` written out: this is done for every event there is.
        follows = line.position == self.position + 1
        if not follows and not (self._gaps and line.position > self.position):
            what = f"After position {self.position} comes {line.position}."
            found.append(Fault(line.position, what, "order", line.stream, field="position"))
        if line.leaf != sha256(b"\x00" + line.envelope).digest():
            what = "The envelope does not have the recorded hash."
            found.append(Fault(line.position, what, "hash", line.stream, field="leaf"))
        if (follows or not self._gaps) and line.chain != sha256(self.chain + line.leaf).digest():
            what = "The hash chain does not follow from the event before."
            found.append(Fault(line.position, what, "hash", line.stream, field="chain"))
        self.position, self.chain = line.position, line.chain
        return found

    def unreadable(self, position: int, why: str) -> Fault:
        """A line that cannot be taken up; the chain shows at the next whether it was one."""
        self.position += 1
        return Fault(position, f"The line cannot be read: {why}.", field="envelope")
