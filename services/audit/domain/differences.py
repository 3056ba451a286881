"""What was recorded beside what the rules give, and where they part, as a person would say it."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from services.audit.domain.faults import Fault, Kind
from services.audit.domain.lines import NAMES, Head, Line, data_of, envelope_of, event_of, sealed
from services.audit.domain.words import ORDINALS
from services.blackjack.domain import events as e
from services.ledger.domain.vault import Leg
from shared.eventstore.envelope import Envelope, canonical, canonical_json
from shared.kernel.chips import Posting

_CARDS: Final = "Cards come in order from the seed that was committed to."
_RULES: Final[dict[type[Struct], tuple[Kind, str]]] = {
    e.HandsDealt: ("card", _CARDS),
    e.CardDealt: ("card", _CARDS),
    e.HoleCardRevealed: ("card", _CARDS),
    e.DealerPeeked: ("card", "The dealer peeks at the card that lies face down."),
    e.DealerDrew: ("card", "The dealer draws to 17, when a hand needs it, and no further."),
    e.HandSettled: (
        "payout",
        "A win pays 1:1, a natural 3:2 rounded down; a push returns the stake, surrender half of "
        "it rounded down.",
    ),
    e.InsuranceSettled: ("payout", "Insurance pays 2:1 when the dealer has a natural."),
    e.RoundOpened: ("seed", "A round is drawn from what was committed to before its bets."),
    e.SeedRevealed: ("seed", "The seed is revealed when the last hand is settled."),
    e.TableOpened: ("play", "A table is opened with a ruleset as published or registered."),
    e.RulesetRegistered: ("play", "A game is registered as it was proposed."),
}
_ANY_RULE: Final[tuple[Kind, str]] = ("play", "A command causes what the rules of the game say.")
_BOOKS: Final = "Chips move by the postings that the event calls for, and by no other."


def differences(
    head: Head, lines: Sequence[Line], legs: Sequence[Leg], round: str
) -> Iterator[Fault]:
    """Compares the envelopes of a command, byte by byte, with those it should have.

    Says no more after the first event that is another one altogether.
    """
    command_id = head.command_id
    for number, (line, leg) in enumerate(zip_longest(lines, legs)):
        if line is None:
            yield _missing(lines[-1], leg, round)
            return
        if leg is None:
            yield Fault(
                line.position,
                f"The command does not cause this event, {_words(line.type)}.",
                *("play", line.stream, round, "type"),
                _ANY_RULE[1],
            )
            return
        stream, event, postings = leg
        name, version = NAMES[type(event)]
        row = line.stream, line.type, line.schema_version, line.command_id
        if line.envelope == sealed(head, f"{command_id}.{number}", stream, event, postings):
            if row != (stream, name, version, command_id):
                yield from misfiled(line, envelope_of(line), round)
            continue
        if envelope_of(line).type != name:
            yield _another(line, event, round)
            return
        yield from _in_envelope(head, number, line, leg, round)


def _missing(last: Line, leg: Leg, round: str) -> Fault:
    kind, rule = _RULES.get(type(leg[1]), _ANY_RULE)
    name = _words(NAMES[type(leg[1])][0])
    return Fault(
        last.position,
        f"After this event {name} is missing: {_told(leg[1])}.",
        *(kind, leg[0], round, "type"),
        rule,
    )


def _another(line: Line, due: Struct, round: str) -> Fault:
    kind, rule = _RULES.get(type(due), _ANY_RULE)
    what = f"{_words(line.type)} was recorded where the rules give {_told(due)}."
    return Fault(line.position, what, kind, line.stream, round, "type", rule)


def _in_envelope(head: Head, number: int, line: Line, leg: Leg, round: str) -> Iterator[Fault]:
    """What differs inside of two envelopes of the same event."""
    stream, event, postings = leg
    found = envelope_of(line)
    yield from misfiled(line, found, round)
    yield from _in_event(line, found, event, round)
    if found.postings != postings:
        what = f"The postings are {_lines(found.postings)}; they should be {_lines(postings)}."
        yield Fault(line.position, what, "chips", line.stream, round, "postings", _BOOKS)
    due: dict[str, object] = {
        "id": f"{head.command_id}.{number}",
        "subject": stream,
        "source": head.source,
    }
    due |= {"actor": head.actor, "time": head.time, "specversion": "1.0"}
    due |= {"traceparent": head.traceparent, "command": UNSET if number else head.command}
    for name, value in due.items():
        if (was := getattr(found, name)) != value:
            what = f"{name} is {_plain(was)}; in this command it is {_plain(value)}."
            yield Fault(line.position, what, "order", line.stream, round, name)
    if not _is_canonical(found, line.envelope):
        what = "The envelope is not in canonical form, or says more than an envelope says."
        yield Fault(line.position, what, "form", line.stream, round, "envelope")


def misfiled(line: Line, found: Envelope, round: str = "") -> Iterator[Fault]:
    """Where a row says something else than its envelope."""
    due = {"type": found.type, "schema_version": found.schemaversion, "stream": found.subject}
    due["command_id"] = found.id.rpartition(".")[0]
    for name, value in due.items():
        if (row := getattr(line, name)) != value:
            what = f"The row has the {name} {row!r}, its envelope says {value!r}."
            yield Fault(line.position, what, "form", line.stream, round, name)


def _in_event(line: Line, found: Envelope, event: Struct, round: str) -> Iterator[Fault]:
    kind, rule = _RULES.get(type(event), _ANY_RULE)
    due = msgspec.json.decode(canonical(event))
    recorded = data_of(line)
    if found.schemaversion != NAMES[type(event)][1]:
        recorded = _filled(recorded, msgspec.json.decode(canonical(event_of(line))))
    for name in sorted({*recorded, *due}):
        if (was := recorded.get(name)) != (is_due := due.get(name)):
            what = _sentence(event, name, was, is_due)
            yield Fault(line.position, what, kind, line.stream, round, f"data.{name}", rule)


def _filled(told: Any, read: Any) -> Any:
    """What an older version told, and where it tells nothing, as that is read today."""
    match told, read:
        case dict(), dict():
            return read | {name: _filled(each, read.get(name)) for name, each in told.items()}
        case list(), list() if len(told) == len(read):
            return [_filled(*each) for each in zip(told, read, strict=True)]
    return told


def _is_canonical(found: Envelope, envelope: bytes) -> bool:
    try:
        return canonical_json(envelope) == envelope == canonical(found)
    except ValueError:
        return False


def _sentence(event: Struct, name: str, was: Any, due: Any) -> str:
    match event, name:
        case e.HandSettled(seat, hand, outcome), "payout":
            return (
                f"The {ORDINALS[hand]} hand of seat {seat} was paid {was} instead of {due} for a "
                f"{outcome}."
            )
        case e.HandSettled(seat, hand), "outcome":
            return (
                f"The {ORDINALS[hand]} hand of seat {seat} was settled as {was}, the cards say "
                f"{due}."
            )
        case e.InsuranceSettled(seat), "payout":
            return f"The insurance of seat {seat} returned {was} instead of {due}."
        case e.CardDealt(seat, hand), "card":
            return f"The {ORDINALS[hand]} hand of seat {seat} got {was}; the seed gives {due}."
        case e.HandsDealt() | e.HoleCardRevealed() | e.DealerDrew(), _:
            return f"{name} was dealt as {_json(was)}; the seed gives {_json(due)}."
    return f"{name} is {_json(was)}; by the rules it is {_json(due)}."


def _told(event: Struct) -> str:
    return f"{_words(NAMES[type(event)][0])} {_json(msgspec.to_builtins(event))}"


def _plain(value: Any) -> str:
    return "absent" if value is UNSET else repr(value)


def _words(name: str) -> str:
    return name.rpartition(".")[2].replace("_", " ")


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _lines(postings: tuple[Posting, ...]) -> str:
    return ", ".join(f"{line.account} {line.amount:+}" for line in postings) or "none"
