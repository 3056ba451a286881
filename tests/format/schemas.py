"""The JSON Schemas of the envelope and of every event, as they follow from the code.

They are stricter than what reads the log: nothing may be missing, and nothing may be there besides.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

import services
from services.audit.domain.lines import CODEC
from shared.eventstore.envelope import Envelope

Json: TypeAlias = Any
DIRECTORY = Path(services.__file__).parent / "audit" / "schemas"
ENVELOPE = "envelope", 1
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas(envelopes: list[Json]) -> Iterator[tuple[str, int, Json]]:
    """Type, version and schema of all that has one now, each with an example from a log."""
    first = {envelope["type"]: envelope["data"] for envelope in reversed(envelopes)}
    staked = next(e for e in envelopes if e["type"] == "blackjack.bet_placed" and "command" in e)
    yield *ENVELOPE, _schema(*ENVELOPE, Envelope, staked)
    for name, (version, cls) in sorted(CODEC.registry.items()):
        yield name, version, _schema(name, version, cls, first[name])


def file_of(name: str, version: int) -> Path:
    """Where a schema is kept."""
    return DIRECTORY / f"{name}.{version}.json"


def shape(schema: Json) -> Json:
    """What of a schema decides: all but its words."""
    match schema:
        case dict():
            words = ("description", "title", "examples", "default")
            return {
                key: {name: shape(each) for name, each in value.items()}
                if key in ("properties", "$defs")
                else shape(value)
                for key, value in schema.items()
                if key not in words
            }
        case list():
            return [shape(each) for each in schema]
    return schema


def _schema(name: str, version: int, cls: type[Struct], example: Json) -> Json:
    [root], definitions = msgspec.json.schema_components([cls], ref_template="#/$defs/{name}")
    classes = dict(_structs(msgspec.inspect.type_info(cls)))
    definitions = {key: _strict(each, classes[key]) for key, each in definitions.items()}
    own = definitions.pop(root["$ref"].rpartition("/")[2])
    own = {"$schema": _DIALECT, "$id": f"/v1/schemas/{name}/{version}", **own, "title": name}
    if definitions:
        own["$defs"] = definitions
    return _portable(own | {"examples": [example]})


def _strict(schema: Json, cls: type[Struct]) -> Json:
    """Nothing besides, and nothing left out but what the encoder leaves out."""
    if "prefixItems" in schema:
        return schema | {"maxItems": len(schema["prefixItems"]), "items": False}
    if "properties" not in schema:
        return schema
    written = set(schema["required"])
    if not cls.__struct_config__.omit_defaults:
        written |= {name for name, field in schema["properties"].items() if "default" in field}
    required = [name for name in schema["properties"] if name in written]
    return schema | {"required": required, "additionalProperties": False}


def _structs(info: Any) -> Iterator[tuple[str, type[Struct]]]:
    """Every struct that a type is made of, by its name."""
    match info:
        case msgspec.inspect.StructType():
            yield info.cls.__name__, info.cls
            children = [field.type for field in info.fields]
        case msgspec.inspect.Metadata() | msgspec.inspect.VarTupleType():
            children = [getattr(info, "type", None) or info.item_type]
        case msgspec.inspect.TupleType():
            children = list(info.item_types)
        case msgspec.inspect.UnionType():
            children = list(info.types)
        case _:
            children = []
    for child in children:
        yield from _structs(child)


def _portable(schema: Json) -> Json:
    """Only Python spells the end of a text `\\Z`; lines of a docstring are joined."""
    match schema:
        case dict():
            return {key: _portable(value) for key, value in schema.items()}
        case list() | tuple():
            return [_portable(each) for each in schema]
        case str():
            return re.sub(r"(?<!\n)\n(?!\n)", " ", schema.replace(r"\Z", "$"))
    return schema


def described(schema: Json, whole: Mapping[str, Json]) -> str:
    """The description of a field: its own, or that of what it refers to."""
    if "description" in schema:
        return str(schema["description"])
    name = schema.get("$ref", "").rpartition("/")[2]
    return str(whole.get("$defs", {}).get(name, {}).get("description", ""))
