"""A client of server-sent events that knows of the service what its description says."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from tests.api.croupier import PATIENCE_SECONDS, House, Json

LOG = "/v1/events/stream"


def table(name: str) -> str:
    """The address of a table's stream."""
    return f"/v1/tables/{name}/events/stream"


@dataclass(frozen=True)
class Heard:
    """An event as it came; a comment has nothing but the text in `comment`."""

    id: int | None = None
    type: str = ""
    data: Json = None
    comment: str = ""


def opened(house: House, path: str, key: str, **headers: str) -> httpx.Response:
    """The answer with which a stream begins, and all of it when it is none."""
    named = {"Authorization": f"Bearer {key}"} if key else {}
    address = f"{house.croupier.address}{path}"
    with httpx.stream(
        "GET", address, headers=named | headers, timeout=PATIENCE_SECONDS, trust_env=False
    ) as answer:
        if answer.status_code != 200:
            answer.read()
        return answer


@asynccontextmanager
async def listening(
    http: httpx.AsyncClient, path: str, last_id: int | None = None
) -> AsyncIterator[AsyncIterator[Heard]]:
    """All that comes on a stream, comments included, until it ends or is left."""
    headers = {} if last_id is None else {"Last-Event-ID": str(last_id)}
    async with http.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200, await answer.aread()
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        yield _heard(answer.aiter_lines())


async def hear(
    http: httpx.AsyncClient,
    path: str,
    last_id: int | None = None,
    *,
    until: Callable[[Heard], bool],
) -> list[Heard]:
    """The events of a stream after one of them, up to the one that is the last to be heard."""
    heard: list[Heard] = []
    async with asyncio.timeout(PATIENCE_SECONDS), listening(http, path, last_id) as stream:
        async for each in stream:
            if each.type:
                heard.append(each)
                if until(each):
                    break
    return heard


def ids(heard: list[Heard]) -> list[int | None]:
    return [each.id for each in heard]


async def _heard(lines: AsyncIterator[str]) -> AsyncIterator[Heard]:
    fields: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(": ")
            assert name in ("", "id", "event", "data", "retry"), line
            assert name not in fields, "one line each"
            fields[name] = value
        else:
            yield _event(fields)
            fields = {}


def _event(fields: dict[str, str]) -> Heard:
    return Heard(
        int(fields["id"]) if "id" in fields else None,
        fields.get("event", ""),
        json.loads(fields["data"]) if "data" in fields else None,
        fields.get("", ""),
    )
