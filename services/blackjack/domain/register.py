"""A house's own games: which rules may be registered, and the versions that there are."""

from collections.abc import Callable
from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from services.blackjack.domain.events import RulesetRegistered
from services.blackjack.domain.rejections import (
    RulesetNonsense,
    RulesetPublished,
    RulesetVersionTaken,
    TooManyRulesets,
    UnknownRuleset,
)
from services.blackjack.domain.rules import Ruleset, fingerprint, validate
from services.blackjack.domain.rulesets import PUBLISHED
from shared.kernel.ids import Id, whole

MOST_RULESETS: Final = 100
"""A house's own ones, at most; and the versions of each."""
MOST_VERSIONS: Final = 100

WORDS_PATTERN: Final = r"^[^\x00-\x1f\x7f-\x9f\ufffe\uffff]*$"
"""No control characters, and nothing that XML has no place for: charts show a title."""
Words = Annotated[str, Meta(min_length=1, max_length=100)]
Title = Annotated[Words, whole(WORDS_PATTERN, "As players read it; no control characters.")]
VERSION_PATTERN: Final = r"^(0|[1-9][0-9]{0,5})(\.(0|[1-9][0-9]{0,5})){2}$"
Version = Annotated[str, whole(VERSION_PATTERN, "Three numbers, such as `1.0.0`.")]

Versions: TypeAlias = tuple[Ruleset, ...]
"""All that were registered under a name, the oldest first."""


class Proposal(Ruleset, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A game of the house's own, whole: take one that there is, change it, give it a name."""

    name: Id
    title: Title
    version: Version
    house_edge: Annotated[Words, whole(WORDS_PATTERN, "As published; no control characters.")]

    def ruleset(self) -> Ruleset:
        """The same, as tables play by it."""
        return Ruleset(**{field: getattr(self, field) for field in Ruleset.__struct_fields__})


def registered(versions: Versions, event: RulesetRegistered, at: int = 0) -> Versions:
    """The versions after one more."""
    return (*versions, event.ruleset)


def register(versions: Versions, proposal: Proposal) -> RulesetRegistered | None:
    """What happens when a ruleset is proposed; None when it is there already, the same.

    Raises RulesetPublished, RulesetVersionTaken, TooManyRulesets, RulesetNonsense.
    """
    if proposal.name in PUBLISHED:
        raise RulesetPublished(f"{proposal.name} is one of {', '.join(PUBLISHED)}.")
    ruleset = proposal.ruleset()
    if ruleset in versions:
        return None
    if versions and _numbers(ruleset.version) <= _numbers(newest := versions[-1].version):
        raise RulesetVersionTaken(
            f"{ruleset.name} has come to version {newest}: register these rules as a later one.",
            newest=newest,
        )
    if len(versions) == MOST_VERSIONS:
        raise TooManyRulesets(f"{ruleset.name} has {MOST_VERSIONS} versions.")
    for contradiction in _CONTRADICTIONS:
        if reason := contradiction(ruleset):
            raise RulesetNonsense(reason)
    return RulesetRegistered(validate(ruleset), fingerprint(ruleset))


def version_of(name: str, versions: Versions, version: str | None = None) -> Ruleset:
    """A version of a ruleset, or the newest. Raises UnknownRuleset."""
    for ruleset in reversed(versions):
        if version in (None, ruleset.version):
            return ruleset
    if versions:
        there = ", ".join(ruleset.version for ruleset in versions)
        raise UnknownRuleset(f"{name} has no version {version}; there are {there}.")
    raise UnknownRuleset(
        f"There is no {name!r}; there are {', '.join(PUBLISHED)}, and what the house registers."
    )


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def _splits(ruleset: Ruleset) -> str | None:
    if ruleset.split == "none" and ruleset.hands_per_seat > 1:
        return (
            f"Nobody comes to {ruleset.hands_per_seat} hands where nothing is split: name a split, "
            "or say 1 for hands_per_seat."
        )
    if ruleset.split != "none" and ruleset.hands_per_seat == 1:
        return "A split makes two hands: say 2 to 4 for hands_per_seat, or none for split."
    if ruleset.split == "none" and ruleset.double_after_split:
        return (
            "Nothing is doubled after a split where nothing is split: say false for "
            "double_after_split, or name a split."
        )
    return None


def _insurance(ruleset: Ruleset) -> str | None:
    if ruleset.insurance != "none" and ruleset.bet.max == 1:
        return (
            "Half of a bet of 1, rounded down, is nothing: insurance could never be offered. Allow "
            "larger bets, or say none for insurance."
        )
    return None


def _bets(ruleset: Ruleset) -> str | None:
    if ruleset.surrender and ruleset.bet.min == 1:
        return (
            "Half of a bet of 1, rounded down, is nothing: a surrender would give nothing back. "
            "Let bets begin at 2, or say false for surrender."
        )
    if not ruleset.bet.half_of_stack and ruleset.bet.max is None:
        return "Bets need an end: give a max, or say true for half_of_stack."
    return None


def _idle_clocks(ruleset: Ruleset) -> str | None:
    clock = ruleset.clock
    if clock.insurance_seconds and ruleset.insurance != "before_play":
        return (
            "The insurance clock never runs: only insurance before_play has a moment of its own. "
            "Leave insurance_seconds away."
        )
    if clock.betting_seconds and ruleset.seats == 1 and ruleset.deals == "server":
        return (
            "The betting clock never runs: at a single seat the bet itself deals. Leave "
            "betting_seconds away."
        )
    return None


def _endless_waits(ruleset: Ruleset) -> str | None:
    """Without any clock a table waits as long as people like. With one, nobody holds it up."""
    clock = ruleset.clock
    if ruleset.deals == "host" and not clock.betting_seconds:
        return (
            "A host who goes away would stop the table for ever: give betting_seconds, after which "
            "the server deals, or let the server deal."
        )
    waits = {
        "betting_seconds": ruleset.seats > 1 or ruleset.deals == "host",
        "insurance_seconds": ruleset.insurance == "before_play",
        "action_seconds": True,
    }
    missing = [name for name, waited in waits.items() if waited and not getattr(clock, name)]
    if missing and any(getattr(clock, name) for name in waits):
        return (
            f"Some waits would end and others never: give {' and '.join(missing)} as well, or no "
            "clock at all."
        )
    return None


_CONTRADICTIONS: Final[tuple[Callable[[Ruleset], str | None], ...]] = (
    _splits, _insurance, _bets, _idle_clocks, _endless_waits,
)  # fmt: skip
"""Each says what is wrong, and what would be accepted; None when nothing is."""
