"""What a caller hears: the table after a command and what the command caused."""

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct

from services.blackjack.domain.table import Table
from services.blackjack.domain.view import TableView, view


class EventView(Struct, frozen=True):
    """What happened, and where it stands in the stream and in the log."""

    position: int
    version: int
    type: str
    data: Annotated[Any, Meta(extra_json_schema={"type": "object"})]
    """The event itself: its fields depend on its type."""


class Answer(Struct, frozen=True):
    """A table, and the events that brought it there."""

    table: TableView
    events: tuple[EventView, ...]


class Answered(Struct, frozen=True):
    """An answer. `replayed`: the command was recorded before, and this is its answer again."""

    answer: Answer
    replayed: bool = False


def answer(table: Table, version: int, position: int, events: Iterable[EventView]) -> Answer:
    """The view of a table at a version, with the events of its last command."""
    return Answer(view(table, version, position), tuple(events))
