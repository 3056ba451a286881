"""What a caller hears: the table after a command and what the command caused."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from services.blackjack.domain.view import TableView


class EventView(Struct, frozen=True, gc=False):
    """What happened, and where it stands in the stream and in the log."""

    position: int
    version: int
    type: str
    data: Annotated[Any, Meta(extra_json_schema={"type": "object"})]
    """The event itself: its fields depend on its type."""


class Answer(Struct, frozen=True, gc=False):
    """A table, and the events that brought it there."""

    table: TableView
    events: tuple[EventView, ...]


class Answered(Struct, frozen=True, gc=False):
    """An answer. `replayed`: the command was recorded before, and this is its answer again."""

    answer: Answer
    replayed: bool = False
