"""Which words a place in a body takes, where its type names them."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from msgspec import inspect

_STEP: Final = re.compile(r"\.\w+|\[[^]]*\]")


def accepted(kind: Any, place: str) -> list[str]:
    """The words that a type takes at a place, such as `$.items[0].type`; none when any will do."""
    found = [*_each(_described(kind))]
    for step in _STEP.findall(place):
        found = [each for outer in found for inner in _behind(outer, step) for each in _each(inner)]
    literals = (each for each in found if isinstance(each, inspect.LiteralType))
    return [str(value) for literal in literals for value in literal.values]


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
