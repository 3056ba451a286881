"""Level 1: parts, positions, hashes, envelopes and commands. Sections 1 to 4, 10 of FORMAT.md."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from tests.format.naive import proofs
from tests.format.naive.export import Fault, Part, Row, repeated, shard_of

SCHEMAS = Path(__file__).parents[3] / "services" / "audit" / "schemas"
SAME = ("actor", "source", "time", "traceparent")


@dataclass
class Event:
    """An event that may be read. `whole`: all of its stream up to here is in the export."""

    position: int
    stream: str
    version: int
    leaf: bytes
    type: str
    schema: int
    command: str
    data: dict[str, Any]
    postings: list[tuple[str, int]]
    whole: bool


@cache
def schema_of(name: str, version: int) -> dict[str, Any] | None:
    """The schema of an envelope or of `data` (section 10)."""
    path = SCHEMAS / f"{name}.{version}.json"
    return json.loads(path.read_bytes()) if path.exists() else None


def misfit(value: Any, schema: dict[str, Any], defs: dict[str, Any]) -> str | None:
    """Why a value is not as a schema says: only what the schemas of this format use."""
    if "$ref" in schema:
        schema = defs[schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema and all(misfit(value, one, defs) for one in schema["anyOf"]):
        return f"{value!r} is nothing that it may be"
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        return f"{value!r} may not be here"
    if "not" in schema and misfit(value, schema["not"], defs) is None:
        return f"{value!r} may not be here"
    types = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "boolean": bool,
        "null": type(None),
    }
    if "type" in schema and type(value) is not types[schema["type"]]:
        return f"{value!r} is no {schema['type']}"
    if isinstance(value, dict):
        return _misfit_object(value, schema, defs)
    if isinstance(value, list):
        return _misfit_list(value, schema, defs)
    if isinstance(value, str):
        fits = len(value) >= schema.get("minLength", 0)
        fits = fits and re.fullmatch(schema.get("pattern", "(?s).*"), value, re.ASCII) is not None
        return None if fits else f"{value!r} is not such a text"
    if type(value) is int and not schema.get("minimum", value) <= value <= schema.get(
        "maximum", value
    ):
        return f"{value} is out of bounds"
    return None


def _misfit_object(
    value: dict[str, Any], schema: dict[str, Any], defs: dict[str, Any]
) -> str | None:
    """Members: which there have to be, which there may be, and no default that may be absent."""
    required, known = schema.get("required", []), schema.get("properties", {})
    for name in required:
        if name not in value:
            return f"{name} is missing"
    for name, member in value.items():
        if name not in known:
            if schema.get("additionalProperties", True) is False:
                return f"{name} is not known"
            continue
        if name not in required and known[name].get("default", schema) == member:
            return f"{name} has its default, and has to be left out"
        if why := misfit(member, known[name], defs):
            return f"{name}: {why}"
    return None


def _misfit_list(value: list[Any], schema: dict[str, Any], defs: dict[str, Any]) -> str | None:
    first = schema.get("prefixItems", [])
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return "wrong number of items"
    for place, item in enumerate(value):
        one = first[place] if place < len(first) else schema.get("items", {})
        if one is False:
            return "too many items"
        if why := misfit(item, one, defs):
            return why
    return None


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _numbers(item)
    elif type(value) is int:
        yield value


def why_no_envelope(raw: bytes, house: str, stream: str) -> str | None:
    """What an envelope is not, by sections 2 and 3, and `data` by section 10."""
    envelope = proofs.parse(raw)
    if proofs.write(envelope) != raw:
        return "not in canonical form"
    if any(abs(number) >= 2**53 for number in _numbers(envelope)):
        return "a number that is not exact in every language"
    schema = schema_of("envelope", 1)
    assert schema is not None
    if why := misfit(envelope, schema, schema["$defs"]):
        return f"envelope: {why}"
    if envelope["subject"] != stream:
        return "subject is not the stream"
    if envelope["source"] != f"/houses/{house}":
        return "source is not the house"
    datetime.strptime(envelope["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
    schema = schema_of(envelope["type"], envelope["schemaversion"])
    if schema is not None and (why := misfit(envelope["data"], schema, schema.get("$defs", {}))):
        return f"data: {why}"
    return None


@dataclass
class Log:
    """Level 1, event by event. Afterwards `events` has what can be read."""

    house: str
    scope: dict[str, Any]
    faults: list[Fault] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    last_position: int = 0
    last_chain: bytes = proofs.NO_CHAIN
    last_envelope: dict[str, Any] = field(default_factory=dict)
    shard: int = 0
    versions: dict[str, int] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    commands: set[str] = field(default_factory=set)

    @property
    def gaps(self) -> bool:
        """Whether positions are left out (section 1, Exports of a part)."""
        return "streams" in self.scope

    def fault(self, position: int, what: str) -> None:
        self.faults.append(Fault(position, 1, what))

    def part(self, part: Part, number: int) -> None:
        """A part begins where the one before ends (section 1)."""
        self.faults += part.faults
        if number == 0 and self.scope.get("first_position", 1) > 1:
            self.last_position, self.last_chain = part.first - 1, part.before
        begins = (part.first if self.gaps else self.last_position + 1, self.last_chain)
        if (part.first, part.before) != begins or part.first <= self.last_position:
            self.fault(part.first, "the part does not begin where the one before ends")
        for row in part.rows:
            self.row(row)
        ends = (self.last_position, self.last_chain) == (part.last, part.after)
        if part.rows and not ends:
            self.fault(part.last, "the part does not end as the manifest says")

    def row(self, row: Row) -> None:
        """One line: position, version, hashes (sections 1 and 4), and its envelope."""
        next_to = row.position == self.last_position + 1
        if row.position <= self.last_position or not (next_to or self.gaps):
            self.fault(row.position, f"comes after position {self.last_position}")
        if proofs.leaf(row.envelope) != row.leaf:
            self.fault(row.position, "leaf is not the hash of the envelope")
        if (next_to or not self.gaps) and proofs.chain(self.last_chain, row.leaf) != row.chain:
            self.fault(row.position, "chain does not go on from the one before")
        self._version(row)
        try:
            why = why_no_envelope(row.envelope, self.house, row.stream)
        except ValueError as error:
            why = str(error)
        if why:
            self.fault(row.position, why)
        else:
            self._command(row, proofs.parse(row.envelope), next_to)
        self.last_position, self.last_chain = row.position, row.chain

    def _version(self, row: Row) -> None:
        """Versions have no gap; of an export of a part, some streams may (section 1)."""
        before = self.versions.get(row.stream)
        if self.gaps:
            strict = row.stream in self.scope["streams"]
        else:
            strict = before is not None or self.scope.get("first_position", 1) == 1
        if row.version != (before or 0) + 1:
            self.broken.add(row.stream)
            if strict:
                self.fault(row.position, f"version {row.version} comes after {before or 0}")
        self.versions[row.stream] = row.version

    def _command(self, row: Row, envelope: dict[str, Any], next_to: bool) -> None:
        """A command's events stand side by side (section 3)."""
        command, _, index = envelope["id"].rpartition(".")
        before, _, last = self.last_envelope.get("id", ".").rpartition(".")
        if command == before and int(index) == int(last) + 1 and next_to:
            if "command" in envelope:
                self.fault(row.position, "command stands at the first event only")
            if any(envelope.get(name) != self.last_envelope.get(name) for name in SAME):
                self.fault(row.position, "not the same for all events of the command")
        else:
            if index != "0" or "command" not in envelope:
                self.fault(row.position, "a command begins with its event 0, and `command`")
            if command in self.commands:
                self.fault(row.position, f"{command} names two commands")
            self.shard = shard_of(row.stream)
        self.commands.add(command)
        self.last_envelope = envelope
        if row.columns is not None and row.columns != repeated(envelope):
            self.fault(row.position, "a column is not as in the envelope")
        if row.shard is not None and row.shard != self.shard:
            self.fault(row.position, "not the shard of the command")
        self.events.append(
            Event(
                row.position,
                row.stream,
                row.version,
                row.leaf,
                envelope["type"],
                envelope["schemaversion"],
                command,
                envelope["data"],
                [(account, amount) for account, amount in envelope["postings"]],
                row.stream not in self.broken,
            )
        )
