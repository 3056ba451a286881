"""What the simulation needs of a world: processes to ask, and ways to hurt them."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from tests.simulation.plan import Fault

Json: TypeAlias = Any


class Gone(Exception):
    """The connection broke, and with it the answer: whether anything happened is not known."""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    """By their lower-case names."""
    body: bytes

    @cached_property
    def json(self) -> Json:
        return json.loads(self.body)

    @property
    def accepted(self) -> bool:
        return self.status in (200, 201)

    @property
    def problem(self) -> str:
        """The kind of refusal: the end of its type."""
        return str(self.json["type"]).removeprefix("/problems/")


class World(Protocol):
    """Some serving processes over one log, all of them with the same house."""

    processes: int

    async def __aenter__(self) -> "World":
        """All processes serve."""

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        """All of it is put away."""

    async def ask(self, process: int, request: Request) -> Answer:
        """One request to one process. Raises Gone."""

    async def news(self, process: int, table: str, version: int) -> None:
        """Returns when a table may have gone beyond a version. Raises Gone."""

    async def hurt(self, fault: Fault, over: Callable[[], Awaitable[None]]) -> None:
        """Lets a fault happen. What lasts is mended when `over()` returns."""

    async def log(self) -> list[bytes]:
        """The whole log, a line each, as `/v1/events.jsonl` has it."""

    async def balances(self) -> dict[str, int]:
        """Every account, as the ledger itself has it."""

    async def amiss(self) -> list[str]:
        """What is kept beside the log, where anything is, and does not follow from it."""
