"""The API's description: the same types that decode and encode, published as schemas."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from shared.eventstore.rejections import Unreachable
from shared.http.auth import UnknownHouse
from shared.http.limits import TooManyRequests
from shared.http.problems import MEDIA_TYPE, Malformed, RequestTooSlow, document
from shared.http.strangers import TooManyFailures
from shared.kernel.ids import ID_PATTERN
from shared.kernel.rejected import Rejected

Responses = dict[int | str, dict[str, Any]]

_MARK = '"␀"'.encode()

PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "What went wrong (RFC 9457), with further members by type.",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "description": "A page that explains this kind of problem."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What went wrong, and what would be accepted."},
    },
}


def reference(name: str) -> dict[str, str]:
    """A reference to a published schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def operation(
    name: str,
    tag: str,
    summary: str,
    description: str,
    body: dict[str, Any],
    responses: Responses,
    parameters: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """What a route in front of the app says of itself, as the app's own do by their functions."""
    return {
        "tags": [tag],
        "summary": summary,
        "operationId": name,
        "description": description,
        "security": [{"api_key": []}],
        "parameters": list(parameters),
        **body,
        "responses": {str(status): content for status, content in responses.items()},
    }


def id_in_path(name: str, description: str, example: str) -> dict[str, Any]:
    """The parameter for an id in the path of a route in front of the app."""
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": description,
        "schema": {"type": "string", "pattern": ID_PATTERN},
        "example": example,
    }


def answers(schema: str, description: str, example: Any, status: int = 200) -> Responses:
    """A documented answer of a published type, with an example."""
    content = {
        "application/json": {"schema": reference(schema), "example": _with_nulls_marked(example)}
    }
    return {status: {"description": description, "content": content}}


def takes(schema: str, examples: dict[str, Any]) -> dict[str, Any]:
    """A documented request body of a published type, with an example for each name."""
    content = {
        "schema": reference(schema),
        "examples": {name: {"value": value} for name, value in examples.items()},
    }
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def refuses(*refusals: type[Rejected]) -> Responses:
    """The problem documents of a route, by status, with an example of each kind."""
    responses: Responses = {}
    for cls in refusals:
        content = responses.setdefault(
            cls.status,
            {
                "description": HTTPStatus(cls.status).phrase,
                "content": {MEDIA_TYPE: {"schema": reference("Problem"), "examples": {}}},
            },
        )["content"]
        example = {"summary": cls.title(), "value": document(_example(cls))}
        content[MEDIA_TYPE]["examples"][cls.slug()] = example
    return responses


def publish(
    app: FastAPI,
    types: Mapping[str, Any],
    paths: Mapping[str, Any],
    ignored: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> None:
    """Describe `types` by name, and the `paths` that are served in front of the app.

    `ignored` are properties, by the names of types, that bodies may have and nobody reads.
    """

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title,
                version=app.version,
                summary=app.summary,
                description=app.description,
                routes=app.routes,
                tags=app.openapi_tags,
            )
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            schemas.update(_schemas(types), Problem=PROBLEM)
            for name, properties in ignored.items():
                schemas[name]["properties"].update(properties)
            for path, operations in paths.items():
                schema["paths"].setdefault(path, {}).update(operations)
            for operations in schema["paths"].values():
                for operation in operations.values():
                    _complete(operation)
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            app.openapi_schema = _finished(schema)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]


def _schemas(types: Mapping[str, Any]) -> dict[str, Any]:
    named, schemas = msgspec.json.schema_components(
        types.values(), ref_template="#/components/schemas/{name}"
    )
    for (name, cls), described in zip(types.items(), named, strict=True):
        schemas.setdefault(name, described)  # a union has no name of its own
        if getattr(cls, "__struct_config__", None) and cls.__struct_config__.tag:
            schemas[name]["required"].remove("type")  # there is nothing to tell it from
    return schemas


def _with_nulls_marked(example: Any) -> Any:
    """The framework leaves nulls out of examples: here they go in as something else."""
    return msgspec.json.decode(msgspec.json.encode(example).replace(b":null", b":" + _MARK))


def _finished(document: dict[str, Any]) -> Any:
    """Nulls are nulls again, and the end of a text is `$`, which only Python spells `\\Z`."""
    text = msgspec.json.encode(document).replace(_MARK, b"null").replace(rb'\\Z"', b'$"')
    return msgspec.json.decode(text)


def _complete(operation: dict[str, Any]) -> None:
    """What every operation may answer besides its own: the framework tells the first otherwise."""
    for parameter in operation.get("parameters", ()):
        _fill_in(parameter)
    responses = operation["responses"]
    if "422" in responses:
        _add(responses, Malformed)
    if "401" in responses:
        for refusal in (Unreachable, UnknownHouse, TooManyRequests, TooManyFailures):
            _add(responses, refusal)
    if "requestBody" in operation:
        _add(responses, RequestTooSlow)


def _fill_in(parameter: dict[str, Any]) -> None:
    """Have `/docs` fill in what a request cannot do without, and no bound that stands for none."""
    schema = parameter["schema"]
    if parameter.get("required") and "examples" in schema:
        parameter.setdefault("example", schema["examples"][0])
    if "default" in schema and schema["default"] == schema.get("maximum"):
        del schema["default"]


def _add(responses: dict[str, Any], refusal: type[Rejected]) -> None:
    status, described = str(refusal.status), refuses(refusal)[refusal.status]
    if MEDIA_TYPE not in responses.get(status, {}).get("content", {}):
        responses[status] = described
    examples = responses[status]["content"][MEDIA_TYPE]["examples"]
    examples.update(described["content"][MEDIA_TYPE]["examples"])


def _example(cls: type[Rejected]) -> Rejected:
    """A refusal without a particular cause."""
    refusal = cls.__new__(cls)
    Rejected.__init__(refusal)
    return refusal
