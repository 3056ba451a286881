"""What `croupier verify` says in the end: what was read, how far it was judged, whether it holds.

It never says more than what was looked at: the hashes alone, or only a part of a log.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from services.audit.domain.verify import Report
from services.audit.domain.words import counted, listed
from shared.eventstore.exports import Manifest
from shared.seals.notes import Checkpoint

_ONLY_A_SEAL: Final = (
    "Whether the log went on after that, or was written anew from some point on by somebody who "
    "also made all of its seeds and hashes fit, only a seal from outside can tell."
)
_ONLY_ALL_OF_IT: Final = (
    "Whether the log was written anew, only a seal over an export of all of it can tell."
)
_IN_PART: Final = {
    "tables": "rounds were not dealt again",
    "vaults": "balances were not judged",
    "rulesets": "registrations were not judged",
}
"""What cannot be judged of a stream that is not there from its first event on."""


class Judged(Struct, frozen=True):
    """What was judged, and how: an export, held against some seals, by all or by its hashes."""

    manifest: Manifest
    seals: Sequence[Checkpoint]
    hashes_alone: bool


def for_machines(report: Report, judged: Judged) -> str:
    """The report as JSON; `checked` is `hashes`, or `all`."""
    manifest = judged.manifest
    facts = {"holds": report.holds, "finished": manifest.finished, "house": manifest.house}
    facts |= {"checked": "hashes" if judged.hashes_alone else "all"}
    scope = msgspec.to_builtins(manifest.scope)
    return msgspec.json.encode(facts | {"scope": scope} | msgspec.structs.asdict(report)).decode()


def told(report: Report, judged: Judged) -> str:
    """The report in lines, its faults first and the verdict last."""
    lines = [str(fault) for fault in report.faults]
    if more := report.fault_count - len(report.faults):
        lines.append(f"There are {more:,} more.")
    lines.append(f"{judged.manifest.house}: {_read(report, judged.hashes_alone)}")
    if report.holds:
        lines.append(" ".join(_verdict(report, judged)))
    else:
        lines.append(f"It does not hold: {counted(report.fault_count, 'fault')}.")
    return "\n".join(lines)


def _read(report: Report, hashes_alone: bool) -> str:
    events, chain = counted(report.events, "event"), f"chained to {report.chain}"
    if hashes_alone:
        return f"{events}, up to position {report.position:,}, {chain}."
    return (
        f"{events} of {counted(report.commands, 'command')}, up to position {report.position:,}, "
        f"{chain}; {counted(report.rounds, 'round')} dealt again, {counted(report.cards, 'card')}."
    )


def _verdict(report: Report, judged: Judged) -> Iterator[str]:
    """Of what holds: how much of a log it is, and how far it was judged."""
    manifest, seals, hashes_alone = judged.manifest, judged.seals, judged.hashes_alone
    scope = _scope(report, manifest)
    if not manifest.finished:
        yield f"The export was interrupted after position {report.position:,}."
    holds = "All of it holds", "All of what the export has holds"
    if hashes_alone:
        holds = "Its hashes hold", "The hashes of what the export has hold"
    said = holds[bool(scope) or not manifest.finished] + (f": {scope}" if scope else "")
    if seals:
        said += f", and it is the log that was sealed at {listed([f'{s.size:,}' for s in seals])}"
    yield said + ("; no command, card or chip was judged (--hashes)." if hashes_alone else ".")
    if not hashes_alone:
        yield from _in_part(report)
    if not manifest.finished:
        yield "Go on with it by the same `croupier export`."
    elif not seals and not hashes_alone:
        yield _ONLY_ALL_OF_IT if scope else _ONLY_A_SEAL


def _scope(report: Report, manifest: Manifest) -> str:
    """What the export has of the log; nothing to say when it is all of it."""
    scope = manifest.scope
    if scope.table is not None:
        return f"the table {scope.table}"
    if scope.player is not None:
        tables = [each for each in scope.streams or () if each.startswith("table-")]
        return f"the player {scope.player}, with {counted(len(tables), 'table')}"
    if scope.streams is not None:
        return counted(len(scope.streams), "stream")
    if scope.first_position == 1 and not scope.last_position:
        return ""
    if not report.events:
        return "no event"
    return f"positions {manifest.parts[0].first_position:,} to {report.position:,}"


def _in_part(report: Report) -> Iterator[str]:
    for kind, without in _IN_PART.items():
        if number := report.in_part.get(kind, 0):
            are, their = ("is", "its") if number == 1 else ("are", "their")
            them = counted(number, kind.removesuffix("s"))
            yield f"{them} {are} not there from {their} first event on: {their} {without}."
