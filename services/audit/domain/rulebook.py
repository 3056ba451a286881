"""The games of a house, as its log has them: every registration tried again, and what tables may
be opened with."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from services.audit.domain.differences import differences
from services.audit.domain.faults import Fault
from services.audit.domain.lines import Line, event_of, head_of, proposed
from services.blackjack.domain.events import RulesetRegistered
from services.blackjack.domain.register import Versions, register, registered
from services.blackjack.domain.rules import Ruleset
from services.blackjack.domain.rulesets import PUBLISHED
from shared.kernel.rejected import Rejected

RULESETS: Final = "ruleset-"
"""How the streams of registered games begin."""


class Rulebook:
    """What an auditor remembers of the rulesets that were registered.

    `complete` says of a stream whether all of it is there.
    """

    def __init__(self, complete: Callable[[str], bool] = lambda stream: True) -> None:
        self._complete = complete
        self._versions: dict[str, Versions] = {}

    def read(self, lines: Sequence[Line]) -> Iterator[Fault]:
        """The events of a command at a ruleset, of which all that came before was read.

        Raises ValueError for what cannot be read.
        """
        stream = lines[0].stream
        if not self._complete(stream):
            return
        head, event = head_of(lines[0]), event_of(lines[0])
        proposal = proposed(head)
        before = self._versions.get(stream, ())
        if isinstance(event, RulesetRegistered):  # as it was recorded, tables were opened with it
            self._versions[stream] = registered(before, event)
        try:
            due = register(before, proposal)
        except Rejected as refused:
            what = f"A game was registered, which the rules refuse: {refused.detail}"
            yield Fault(lines[0].position, what, "play", stream, "", "command", refused.title())
            return
        legs = [(f"{RULESETS}{proposal.name}", due, ())] if due else []
        yield from differences(head, lines, legs, "")

    def own(self, name: str, opened: Ruleset) -> Ruleset | None:
        """What a table that asked for a game by its name may have been opened with, when the
        published one of this release is not meant.

        `opened` is the ruleset that it recorded. Of a house's own game any version will do, as
        somebody may have registered another one while the table was opened. What was published by
        another release, or registered in what we have not got, is taken as it is.
        """
        if name in PUBLISHED:
            other_release = opened.name == name and opened.version != PUBLISHED[name].version
            return opened if other_release else None
        if not self._complete(f"{RULESETS}{name}"):
            return opened if opened.name == name else None
        versions = self._versions.get(f"{RULESETS}{name}", ())
        newest = versions[-1] if versions else None
        return next((each for each in versions if each.version == opened.version), newest)
