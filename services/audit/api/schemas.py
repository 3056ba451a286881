"""Routes of the schemas: what every event in a log looks like, for whoever reads one."""

from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Depends, Header, Path, Response
from msgspec import Struct

from services.audit.application.schemas import SCHEMAS, Schema, UnknownSchema, schema_of
from shared.http.openapi import answers, refuses
from shared.http.parameters import known
from shared.http.problems import Malformed
from shared.http.requests import names_tag
from shared.http.responses import Json

MEDIA_TYPE: Final = "application/schema+json"
_KEPT: Final = "public, max-age=3600"
"""A schema only ever gets better words, so a cache may keep it for an hour."""

Type = Annotated[
    str,
    Path(
        pattern=r"^[a-z]+(\.[a-z_]+)?$",
        max_length=64,
        description="A type of event, or `envelope`.",
        examples=["blackjack.bet_placed"],
    ),
]
Version = Annotated[
    int, Path(ge=1, le=10**6, description="The `schemaversion` of an envelope.", examples=[1])
]
Known = Annotated[
    str | None, Header(alias="If-None-Match", description="The `ETag` of what you have.")
]


class SchemaEntry(Struct, frozen=True):
    """A published schema: of the envelope, or of the `data` of a type of event.

    `path` is where it is, `sha256` the hash of its text, which its `ETag` repeats.
    """

    type: str
    version: int
    path: str
    sha256: str


class SchemaPage(Struct, frozen=True):
    """Every schema, by type and version."""

    data: list[SchemaEntry]
    next: None = None


PUBLISHED: Final[dict[str, Any]] = {"SchemaEntry": SchemaEntry, "SchemaPage": SchemaPage}


def _entry(schema: Schema) -> SchemaEntry:
    return SchemaEntry(schema.type, schema.version, schema.path, schema.sha256)


_BET: Final = schema_of("blackjack.bet_placed", 1)
_EXAMPLE: Final = {"data": [msgspec.to_builtins(_entry(_BET))], "next": None}
_SHOWN: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The schema.",
        "content": {MEDIA_TYPE: {"example": msgspec.json.decode(_BET.text)}},
        "headers": {
            "ETag": {"description": "Of this text.", "schema": {"type": "string"}},
            "Cache-Control": {"description": "How long to keep it.", "schema": {"type": "string"}},
        },
    },
    304: {"description": "It is the one you have."},
}


def routes() -> APIRouter:
    """The routes, which need no key: they tell nothing of any house."""
    router = APIRouter(
        prefix="/v1",
        tags=["Events"],
        default_response_class=Response,
        dependencies=[Depends(known)],
    )

    @router.get(
        "/schemas",
        summary="The schemas of events",
        responses=answers("SchemaPage", "All of them.", _EXAMPLE) | refuses(Malformed),
    )
    async def every_schema() -> Response:
        """Every JSON Schema there is: of the envelope, and of each version of each type of event.

        They are strict: a log that was recorded has nothing besides. Needs no key."""
        return Json(SchemaPage([_entry(schema) for schema in SCHEMAS.values()]))

    @router.get(
        "/schemas/{type}/{version}",
        summary="A schema",
        responses=_SHOWN | refuses(UnknownSchema, Malformed),
    )
    async def one_schema(type: Type, version: Version, known: Known = None) -> Response:
        """The JSON Schema (2020-12) of the `data` of an event, by the `type` and `schemaversion`
        of its envelope; or of the envelope itself. Once released, what it demands never changes.
        Needs no key."""
        schema = schema_of(type, version)
        tag = f'"{schema.sha256}"'
        headers = {"ETag": tag, "Cache-Control": _KEPT}
        if known is not None and names_tag(known, tag):
            return Response(status_code=304, headers=headers)
        return Response(schema.text, headers=headers, media_type=MEDIA_TYPE)

    return router
