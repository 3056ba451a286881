"""What a place in a body takes, as its type has it: which words, which fields."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import inspect

_STEP: Final = re.compile(r"\.\w+|\[[^]]*\]")


def accepted(kind: Any, place: str) -> list[str]:
    """The words that a type takes at a place, such as `$.items[0].type`; none when any will do."""
    found = [*_each(_described(kind))]
    for step in _STEP.findall(place):
        found = _within(found, step)
    literals = (each for each in found if isinstance(each, inspect.LiteralType))
    return [str(value) for literal in literals for value in literal.values]


def expected(kind: Any, place: str, body: bytes) -> str:
    """Which fields the innermost object around a place takes, as a sentence.

    Where that is one of several and the body does not say which, the sentence has their names.
    """
    found, value, path, said = [*_each(_described(kind))], _read(body), "The body", ""
    for step in ("", *_STEP.findall(place)):
        if step:
            found = _within(found, step)
            value, path = _inside(value, step), path.replace("The body", "$") + step
        structs = [each for each in found if isinstance(each, inspect.StructType)]
        if len(structs) > 1:
            named = {str(each.tag): each for each in structs}
            tag = str(value.get(structs[0].tag_field)) if isinstance(value, dict) else ""
            said = _fields(tag, named[tag]) if tag in named else f"The types are {_listed(named)}."
            found = [named[tag]] if tag in named else []
        elif structs:
            said = _fields(path, structs[0])
    return said


def _fields(name: str, struct: inspect.StructType) -> str:
    needed = _listed(field.encode_name for field in struct.fields if field.required)
    others = _listed(field.encode_name for field in struct.fields if not field.required)
    if needed and others:
        return f"{name} takes {needed} and, if you like, {others}."
    return f"{name} takes {needed or others or 'nothing else'}."


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _within(found: Iterable[inspect.Type], step: str) -> list[inspect.Type]:
    return [each for outer in found for inner in _behind(outer, step) for each in _each(inner)]


def _read(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None


def _inside(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step[1:])
    index = step[1:-1]
    return value[int(index)] if isinstance(value, list) and index.isdecimal() else None


@lru_cache(maxsize=64)
def _described(kind: Any) -> inspect.Type:
    return inspect.type_info(kind)


def _each(kind: inspect.Type) -> Iterator[inspect.Type]:
    """A type without its annotations; of a union, each."""
    match kind:
        case inspect.Metadata(type=inner):
            yield from _each(inner)
        case inspect.UnionType(types=several):
            for one in several:
                yield from _each(one)
        case _:
            yield kind


def _behind(kind: inspect.Type, step: str) -> Iterator[inspect.Type]:
    """What a step, `.name` or `[0]`, leads to."""
    match kind:
        case inspect.StructType(tag_field=str(name), tag=tag) if step == f".{name}":
            yield inspect.LiteralType((str(tag),))
        case inspect.StructType(fields=fields):
            yield from (field.type for field in fields if step == f".{field.encode_name}")
        case inspect.CollectionType(item_type=item):
            yield item
