"""What whoever runs the service asks it: is it alive, is it ready, what are its figures.

None of it needs a key, so that it answers also while keys cannot be looked up; it tells nothing of
any house.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, Literal

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse
from msgspec import Struct
from prometheus_client import Metric
from psycopg import OperationalError
from psycopg.errors import UndefinedTable

from shared import telemetry
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.migrate import STANDS, fit
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.rejections import Unreachable
from shared.http.openapi import answers
from shared.http.responses import Json
from shared.seals.served import Seals

_STANDING_SECONDS: Final = 2.0
"""How long a probe or a scrape waits for the database. Without it, a scrape has the figures of the
processes."""


class Health(Struct, frozen=True):
    """Whether the process can serve. Without Redis it can: followers poll.

    One that was told to stop is `draining`: it answers who comes, and asks to go elsewhere. A
    `schema` that is `behind` lacks migrations; one that is `ahead` has lost what this release
    needs.
    """

    status: Literal["ready", "draining", "not ready"]
    database: Literal["reachable", "unreachable"]
    schema: Literal["current", "behind", "ahead", "unknown"]
    redis: Literal["connected", "absent"]


PUBLISHED: Final[dict[str, Any]] = {"Health": Health}


class Operation:
    """The answers. `is_draining` and `has_redis` say how the process is; `figures` has the text of
    Prometheus for all processes that serve together."""

    def __init__(
        self,
        store: PostgresStore,
        seals: Seals,
        figures: Callable[[], Awaitable[bytes]],
        is_draining: Callable[[], bool],
        has_redis: Callable[[], bool],
    ) -> None:
        self._store, self._seals, self._figures = store, seals, figures
        self._checkpoints = Checkpoints(store.readers)
        self._is_draining, self._has_redis = is_draining, has_redis
        self._looking: asyncio.Task[list[Metric]] | None = None

    async def health(self) -> Health:
        """Asks the database which schema it has."""
        redis: Any = "connected" if self._has_redis() else "absent"
        try:
            async with asyncio.timeout(_STANDING_SECONDS):
                found = await self._store.rows(STANDS, ())
        except UndefinedTable:
            found = []
        except (Unreachable, TimeoutError):
            return Health("not ready", "unreachable", "unknown", redis)
        schema = fit(*found[0]) if found else "behind"
        if schema != "current":
            return Health("not ready", "reachable", schema, redis)
        draining = self._is_draining()
        return Health("draining" if draining else "ready", "reachable", "current", redis)

    async def metrics(self) -> bytes:
        """The figures of the processes, and how the logs stand if the database says so in time."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        standing = await asyncio.shield(self._looking)
        return await self._figures() + telemetry.as_text(standing)

    async def _look(self) -> list[Metric]:
        """One look for all who ask meanwhile: they need no key, and it takes in every house."""
        standing: list[Metric] = []
        with suppress(OperationalError, Unreachable, TimeoutError):
            async with asyncio.timeout(_STANDING_SECONDS):
                standing += telemetry.lagging(await self._checkpoints.lag())
                standing += telemetry.sealed(await self._seals.standing())
        return standing


def routes(operation: Operation) -> APIRouter:
    """The routes that need no key, but those of the problems."""
    router = APIRouter(tags=["Operation"], default_response_class=Response)

    @router.get("/", include_in_schema=False)
    async def front_door() -> Response:
        return RedirectResponse("/docs")

    @router.get(
        "/livez",
        summary="Alive?",
        responses={200: {"content": {"text/plain": {"example": "alive"}}}},
    )
    async def livez() -> Response:
        """Whether the process answers. Touches nothing outside."""
        return Response("alive", media_type="text/plain")

    ready = Health("ready", "reachable", "current", "connected")
    unready = Health("not ready", "unreachable", "unknown", "absent")

    @router.get(
        "/readyz",
        summary="Ready?",
        responses=answers("Health", "It can serve.", ready)
        | answers("Health", "It cannot serve.", unready, status=503),
    )
    async def readyz() -> Response:
        """Whether the database answers and has the schema that we need, and we were not told to
        stop. Redis is a convenience: its absence is told, no fault."""
        health = await operation.health()
        return Json(health, 200 if health.status == "ready" else 503)

    _figures(router, operation)
    return router


def _figures(router: APIRouter, operation: Operation) -> None:
    figures = (
        "# TYPE croupier_append_waiting_commands gauge\ncroupier_append_waiting_commands 3.0\n"
    )

    @router.get(
        "/metrics",
        summary="Figures",
        responses={200: {"content": {telemetry.CONTENT_TYPE: {"example": figures}}}},
    )
    async def metrics() -> Response:
        """The figures of this process for Prometheus, or of all that serve with it, each with its
        number as `process`; and how far views and seals are behind the logs."""
        return Response(await operation.metrics(), media_type=telemetry.CONTENT_TYPE)
