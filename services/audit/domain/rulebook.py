"""The games of a house, as its log has them: whether every table plays one that was there."""

from collections.abc import Iterator

from msgspec.structs import replace

from services.blackjack.domain.events import RulesetRegistered, TableOpened
from services.blackjack.domain.rules import Ruleset, fingerprint
from services.blackjack.domain.rulesets import PUBLISHED


class Rulebook:
    """What an auditor remembers of the rulesets that were registered."""

    def __init__(self) -> None:
        self._own: dict[tuple[str, str], Ruleset] = {}

    def registered(self, event: RulesetRegistered) -> Iterator[str]:
        """What is wrong with a registration: its hash, or rules that were fixed before."""
        ruleset = event.ruleset
        if event.ruleset_sha256 != (digest := fingerprint(ruleset)):
            yield f"The ruleset has the hash {digest}, but {event.ruleset_sha256} is recorded."
        if ruleset.name in PUBLISHED:
            yield f"{ruleset.name} is the name of a published game."
        if (ruleset.name, ruleset.version) in self._own:
            yield f"{ruleset.name} {ruleset.version} was registered before."
        self._own[ruleset.name, ruleset.version] = ruleset

    def opened(self, event: TableOpened) -> Iterator[str]:
        """What is wrong with the rules of a table: limits of its own aside, they are a version of
        one of the house's games. Published games are known by name, whatever their version."""
        rules = event.ruleset
        own = self._own.get((rules.name, rules.version))
        if own is None and rules.name not in PUBLISHED:
            yield f"{rules.name} {rules.version} was never registered."
        elif own and replace(own, bet=rules.bet, clock=rules.clock, seats=rules.seats) != rules:
            yield f"The table plays other rules than {rules.name} {rules.version} registered."
