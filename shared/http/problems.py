"""Errors as problem documents (RFC 9457). Every `Rejected` class is a page at `/problems/…`."""

from collections.abc import Iterable, Iterator
from inspect import getdoc
from typing import Annotated, Any, Final

import msgspec
import psycopg
from fastapi import APIRouter, FastAPI, Path, Request
from fastapi.responses import PlainTextResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match, Mount

from shared.eventstore.rejections import Unreachable
from shared.http.accepted import accepted, expected
from shared.kernel.rejected import Rejected

MEDIA_TYPE: Final = "application/problem+json"

METHOD_IN_FRONT: Final = "method_in_front"
"""Where a request's scope has the method that `front` takes at this address, if it is another."""


class Malformed(Rejected):
    """The request does not have the expected shape.

    `errors` names each place and what would be accepted there. The API's description, at `/docs`,
    has the shape and an example of every request.
    """

    status = 422

    @classmethod
    def at(cls, place: str, why: str) -> "Malformed":
        """One place, such as `query.from`, where something else would be accepted."""
        return cls(f"{place}: {why}", errors=[{"at": place, "why": why}])


class NoSuchPage(Rejected):
    """There is nothing at this address.

    `/docs` lists every address of this API.
    """

    status = 404


class MethodNotAllowed(Rejected):
    """This address does not take that method.

    The `Allow` header, and `/docs`, name those it takes.
    """

    status = 405

    def __init__(self, methods: Iterable[str]) -> None:
        allow = ", ".join(sorted(methods))
        super().__init__(f"This address takes {allow}.")
        self.headers = {"Allow": allow}


class BodyTooLarge(Rejected):
    """The request's body is too large.

    Bodies are bounded; no request of this API needs a larger one. Nor one in chunks without end:
    beyond 2 MiB a request is refused while it comes.
    """

    status = 413


class HeadTooLarge(Rejected):
    """The request's headers are too large.

    There are at most 100 headers. Keep them and the address together below 64 KiB: what is longer
    may be refused while it comes.
    """

    status = 431


class RequestTooSlow(Rejected):
    """The request was too long in coming.

    A client has a bounded time to send a request, its headers and its body. Nothing was recorded:
    send it again, whole.
    """

    status = 408


class Unexpected(Rejected):
    """Something broke on our side.

    The request was fine as far as we can tell. Sending it again with the same idempotency key is
    safe: what was recorded will not be recorded twice.
    """

    status = 500


def document(rejected: Rejected) -> dict[str, Any]:
    """The members of the problem document of a refusal."""
    return {
        "type": f"/problems/{rejected.slug()}",
        "title": rejected.title(),
        "status": rejected.status,
        "detail": rejected.detail or rejected.title() + ".",
        **rejected.facts,
    }


def headers(rejected: Rejected) -> dict[str, str]:
    """The headers that go with a refusal: `Retry-After`, `WWW-Authenticate`, `Allow`."""
    extra = dict(getattr(rejected, "headers", {}))
    if "retry_after" in rejected.facts:
        extra["Retry-After"] = str(rejected.facts["retry_after"])
    return extra


def response(rejected: Rejected) -> Response:
    """The answer that a refusal is."""
    return Response(
        msgspec.json.encode(document(rejected)),
        status_code=rejected.status,
        headers=headers(rejected),
        media_type=MEDIA_TYPE,
    )


def malformed(error: msgspec.DecodeError, kind: Any, body: bytes) -> Malformed:
    """What msgspec found wrong with a body that should be of a kind, as a refusal.

    It says which words are accepted where the body has another one, else which fields.
    """
    if not body.strip():
        why = "The body is empty."
        hint = expected(kind, "$", body)
        return Malformed(f"{why} {hint}".rstrip(), errors=[{"at": "$", "why": why}])
    why, _, at = str(error).partition(" - at `")
    at = at.rstrip("`") or "$"
    if why.startswith("Invalid") and (words := accepted(kind, at)):
        why += f"; accepted: {', '.join(words)}"
        hint = f"Accepted: {', '.join(words)}."
    else:
        hint = expected(kind, at, body)
    return Malformed(
        f"The body does not fit: {error}. {hint}".rstrip(), errors=[{"at": at, "why": why}]
    )


def install(app: FastAPI) -> None:
    """Make every error of the app a problem document, and serve the pages behind the types."""

    async def rejected(_: Request, error: Exception) -> Response:
        assert isinstance(error, Rejected)
        return response(error)

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        match error.status_code:
            case 404 if METHOD_IN_FRONT not in request.scope:
                return response(NoSuchPage("/docs lists every address."))
            case 404 | 405:
                return response(MethodNotAllowed(_methods(request)))
        return response(Malformed.at("request", str(error.detail)))

    async def unreachable(_: Request, __: Exception) -> Response:
        return response(Unreachable("The database does not answer."))

    async def unexpected(_: Request, __: Exception) -> Response:
        return response(Unexpected())

    app.add_exception_handler(Rejected, rejected)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(psycopg.OperationalError, unreachable)
    app.add_exception_handler(Exception, unexpected)
    app.include_router(router)


def _methods(request: Request) -> set[str]:
    """All methods of an address. The framework itself names those of one route."""
    routes = [route for route in request.app.routes if not isinstance(route, Mount)]
    known = {
        method
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
        if any(r.matches({**request.scope, "method": method})[0] is Match.FULL for r in routes)
    }
    if METHOD_IN_FRONT in request.scope:
        known.add(request.scope[METHOD_IN_FRONT])
    return known or {"GET", "HEAD"}  # what is mounted are files


def _every(cls: type[Rejected] = Rejected) -> Iterator[type[Rejected]]:
    for child in cls.__subclasses__():
        yield child
        yield from _every(child)


router: Final = APIRouter(prefix="/problems", tags=["Problems"])


_EXAMPLE: Final = [
    {"type": "/problems/not-your-turn", "title": "It is another hand's turn", "status": 409}
]


@router.get(
    "",
    summary="All kinds of problems",
    responses={200: {"content": {"application/json": {"example": _EXAMPLE}}}},
)
async def every_problem() -> list[dict[str, str | int]]:
    """The type, title and status of everything that can go wrong."""
    known = {cls.slug(): cls for cls in _every()}
    return [
        {"type": f"/problems/{slug}", "title": cls.title(), "status": cls.status}
        for slug, cls in sorted(known.items())
    ]


@router.get(
    "/{slug}",
    summary="What a kind of problem means",
    response_class=PlainTextResponse,
    responses={
        200: {"content": {"text/plain": {"example": "It is another hand's turn.\n\nHands play…"}}},
        404: {
            "description": "Not Found",
            "content": {
                MEDIA_TYPE: {
                    "schema": {"$ref": "#/components/schemas/Problem"},
                    "example": document(NoSuchPage()),
                }
            },
        },
    },
)
async def one_problem(
    slug: Annotated[str, Path(description="The end of its type.", examples=["not-your-turn"])],
) -> Response:
    """The page behind a problem's `type`, for people."""
    for cls in _every():
        if cls.slug() == slug:
            return PlainTextResponse(f"{getdoc(cls)}\n\nStatus: {cls.status}\n")
    raise NoSuchPage(f"There is no kind of problem named {slug!r}; /problems lists them.")
