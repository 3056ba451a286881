"""State as a fold of events."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

State = TypeVar("State")
Event = TypeVar("Event")


@dataclass(frozen=True, slots=True)
class Decider(Generic[State, Event]):
    """How the state of one kind of stream follows from its events.

    `initial` gives the state of a stream, by its name, before the first event; `evolve` the state
    after one more, given when it happened, in milliseconds since the epoch; both are pure.
    `state_type` is what a snapshot is decoded into, `format` names its shape: change it with every
    change of the state, and snapshots of another are ignored.
    """

    initial: Callable[[str], State]
    evolve: Callable[[State, Event, int], State]
    state_type: Any
    format: str
