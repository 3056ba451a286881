"""The end of a run: the whole log, and every answer that anybody got, before two judges.

The model knows the rules from the page they are published on; the auditor is the service's own.
"""

import json
from collections import Counter
from hashlib import sha256
from itertools import groupby

import msgspec

from services.audit.application.feed import from_feed
from services.audit.domain.verify import verify
from shared.eventstore.jsonlines import FeedLine
from tests.simulation.desk import Desk, Sent
from tests.simulation.model import Model, milliseconds
from tests.simulation.rules import RULES
from tests.simulation.world import Answer, Json


class Wrong(AssertionError):
    """Something that should not be, and the place in the log where it shows."""


def entry(line: bytes) -> Json:
    return json.loads(line)


def judge(lines: list[bytes], desk: Desk, balances: dict[str, int]) -> Counter[str]:
    """Judges a finished run, and counts what was played. Raises AssertionError."""
    log = [entry(line) for line in lines]
    _the_log_is_whole(log)
    _the_auditor_agrees(lines)
    model, views = _played_by_the_rules(log)
    commands = {key: list(events) for key, events in groupby(log, key=_command)}
    for key, events in commands.items():
        _asked_for_and_not_refused(events, desk.sent.get(key))
    for key, command in desk.sent.items():
        if command.accepted:
            _answered_as_recorded(key, command, commands, views)
    for (table, version), look in desk.looks.items():
        _shown_as_it_was(look, views[f"table-{table}", version])
    assert {a: b for a, b in model.balances.items() if b} == {
        a: b for a, b in balances.items() if b
    }
    assert not any(table.state["seats"] for table in model.tables.values())
    rounds = sum(table.rounds for table in model.tables.values())
    time_outs = sum(events[0]["event"]["actor"] == "clock" for events in commands.values())
    chips = -model.balances["issuance"]
    return Counter(events=len(log), rounds=rounds, chips=chips, time_outs=time_outs)


def sealed_anew(log: list[Json]) -> list[bytes]:
    """A log with new places and hashes, as somebody would write it who wants to be believed."""
    chain, versions, lines = bytes(32), Counter[str](), []
    for position, entry in enumerate(log, 1):
        versions[entry["stream"]] += 1
        leaf = _leaf(entry)
        chain = sha256(chain + leaf).digest()
        place = {"position": position, "version": versions[entry["stream"]]}
        hashes = {"leaf": leaf.hex(), "chain": chain.hex()}
        lines.append(json.dumps(entry | place | hashes).encode())
    return lines


def _leaf(entry: Json) -> bytes:
    """The hash of an event as it is published: canonical JSON, which here is Python's own."""
    event = json.dumps(entry["event"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(b"\0" + event.encode()).digest()


def _command(entry: Json) -> str:
    return str(entry["event"]["id"]).rpartition(".")[0]


def _the_log_is_whole(log: list[Json]) -> None:
    """Positions, versions, hashes, and every command once, its events side by side."""
    chain, versions = bytes(32), Counter[str]()
    for position, entry in enumerate(log, 1):
        stream = entry["stream"]
        versions[stream] += 1
        assert (entry["position"], entry["version"]) == (position, versions[stream])
        leaf = _leaf(entry)
        chain = sha256(chain + leaf).digest()
        assert (entry["leaf"], entry["chain"]) == (leaf.hex(), chain.hex()), position
        assert entry["event"]["subject"] == stream
    seen = [key for key, _ in groupby(log, key=_command)]
    assert len(seen) == len(set(seen)), "a command happened twice"
    for key, events in groupby(log, key=_command):
        numbers = [event["event"]["id"].rpartition(".")[2] for event in events]
        assert numbers == [str(number) for number in range(len(numbers))], key


def _the_auditor_agrees(lines: list[bytes]) -> None:
    decoder = msgspec.json.Decoder(FeedLine)
    report = verify(from_feed(decoder.decode(line)) for line in lines)
    assert report.faults == ()


def _played_by_the_rules(log: list[Json]) -> tuple[Model, dict[tuple[str, int], Json]]:
    """The model at the end, and what each table looked like after each command."""
    model, views = Model(), {}
    for key, events in groupby(log, key=_command):
        at_table = None
        for event in events:
            try:
                model.read(event)
            except (AssertionError, LookupError, ValueError) as error:
                raise Wrong(
                    f"{error!r} at position {event['position']} of {key}: {event}"
                ) from error
            if event["stream"] in model.tables:
                at_table = event
        model.end_command()
        if at_table:
            stream, version = at_table["stream"], at_table["version"]
            views[stream, version] = model.tables[stream].view(version, at_table["position"])
    return model, views


def _asked_for_and_not_refused(events: list[Json], sent: Sent | None) -> None:
    """Whoever hears no may rely on it. One way is left open: chips that come after the refusal may
    let an earlier copy of the command, still on its way, be recorded."""
    if sent is None:
        assert events[0]["event"]["actor"] == "clock", f"nobody asked for {events}"
    else:
        assert sent.accepted or "insufficient-chips" in sent.refusals, sent


def _answered_as_recorded(
    key: str, sent: Sent, commands: dict[str, list[Json]], views: dict[tuple[str, int], Json]
) -> None:
    """An answer tells exactly what the log has of its command, and the table as it was then."""
    assert sent.accepted
    assert key in commands, f"{key} was answered, and is not in the log"
    events, answer = commands[key], sent.accepted
    asked = json.loads(sent.request.body or b"{}")
    assert _within(asked, events[0]["event"]["command"]), key
    if sent.request.method == "PUT":
        limits = {name: asked[name] for name in ("bet", "clock", "seats") if name in asked}
        recorded = events[0]["event"]["data"]["ruleset"]
        assert _within(RULES[asked["ruleset"]] | limits, recorded), key
    if "table" not in answer.json:
        _granted_as_recorded(answer, events)
        return
    told = answer.json["table"]
    stream = f"table-{told['id']}"
    recorded = [
        {
            "position": event["position"],
            "version": event["version"],
            "type": event["event"]["type"],
            "data": event["event"]["data"],
        }
        for event in events
        if event["stream"] == stream
    ]
    assert answer.json["events"] == recorded, key
    assert answer.headers["etag"] == f'"{told["version"]}"'
    _shown_as_it_was(told, views[stream, told["version"]])


def _shown_as_it_was(told: Json, due: Json) -> None:
    seen = {name: told[name] for name in due}
    seen["legal_moves"] = sorted(seen["legal_moves"], key=str)
    if seen["clock"]:
        seen["clock"] = {**seen["clock"], "due": milliseconds(seen["clock"]["due"])}
    assert seen == due


def _within(asked: Json, recorded: Json) -> bool:
    """Whether a record has all that was asked for; it may have defaults beside."""
    if not isinstance(asked, dict):
        return bool(asked == recorded)
    return all(_within(value, recorded[name]) for name, value in asked.items())


def _granted_as_recorded(answer: Answer, events: list[Json]) -> None:
    (event,) = events
    told = {name: answer.json[name] for name in ("player", "amount", "position")}
    assert told == {**event["event"]["data"], "position": event["position"]}
