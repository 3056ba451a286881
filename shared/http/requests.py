"""What every request may carry: a bounded body, an idempotency key, a version to match."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeVar
from uuid import uuid4

import msgspec
from msgspec import Raw
from starlette.types import Receive, Scope

from shared.eventstore.cause import Cause
from shared.http import problems
from shared.http.auth import Caller
from shared.http.problems import BodyTooLarge, Malformed

MOST_BODY_BYTES: Final = 64 * 1024

TRACEPARENT: Final = "traceparent"
"""Where a request's scope has its trace, checked: see `Observed`."""

_KEY: Final = re.compile(rb"[\x21-\x7e]{1,128}")
_ETAG: Final = re.compile(rb'(?:W/)?"(\d{1,18})"')

_HALF: Final = "The connection was closed before the body had come."

T = TypeVar("T")

IF_MATCH: Final[dict[str, Any]] = {
    "name": "If-Match",
    "in": "header",
    "description": 'The `ETag` you decided on, such as `"17"`; refused with 412 when the table has '
    "moved on.",
    "schema": {"type": "string", "pattern": '^"[0-9]{1,18}"$'},
}
IDEMPOTENCY_KEY: Final[dict[str, Any]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Makes the request happen once, however often it is sent: the answer "
    "is the first one again, with `Idempotent-Replayed: true`. A fresh one for each, such as "
    "`5f0c6a1e-bet-1`.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,128}$"},
}


def cause(caller: Caller, headers: Mapping[bytes, bytes]) -> Cause:
    """Who sends a command, and how often it may happen: once for each `Idempotency-Key`.

    `headers` are those of `header_map`. Raises Malformed for a key or `If-Match` that cannot be
    read.
    """
    key = headers.get(b"idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        why = "It takes 1 to 128 visible ASCII characters without spaces."
        raise Malformed.at("header.Idempotency-Key", why)
    trace = headers.get(b"traceparent")
    return Cause(
        house=caller.house,
        actor=caller.actor,
        id=key.decode() if key else uuid4().hex,
        if_version=_version(headers.get(b"if-match")),
        traceparent=trace.decode() if trace else None,
    )


def _version(if_match: bytes | None) -> int | None:
    if if_match is None or if_match == b"*":
        return None
    found = _ETAG.fullmatch(if_match)
    if not found:
        why = 'It takes a version as the ETag has it, such as "17".'
        raise Malformed.at("header.If-Match", why)
    return int(found[1])


def etag(version: int) -> str:
    """The version of a stream as an entity tag."""
    return f'"{version}"'


def names_tag(tags: str, tag: str) -> bool:
    """Whether the entity tags of an `If-None-Match` have this one (RFC 9110, 13.1.2)."""
    return any(each.strip().removeprefix("W/") in (tag, "*") for each in tags.split(","))


def decode(
    body: bytes,
    decoder: "msgspec.json.Decoder[T]",
    bare: Callable[[bytes], bytes] = lambda body: body,
) -> T:
    """A body in its type. Raises Malformed.

    One that does not fit is tried once more without what is taken and ignored, if `bare` finds
    any: bodies that fit cost nothing more.
    """
    try:
        return decoder.decode(body)
    except msgspec.DecodeError as error:
        if (rest := bare(body)) != body:
            return decode(rest, decoder)
        raise problems.malformed(error, decoder.type, body) from None
    except RecursionError:
        raise Malformed.at("$", "The body is nested too deeply.") from None


def without(body: bytes, names: Collection[str]) -> bytes:
    """A JSON object without some fields; the very same body where it has none of them."""
    try:
        fields = msgspec.json.decode(body, type=dict[str, Raw])
    except (msgspec.DecodeError, RecursionError):
        return body
    if fields.keys().isdisjoint(names):
        return body
    return msgspec.json.encode({name: fields[name] for name in fields if name not in names})


def header_map(scope: Scope) -> dict[bytes, bytes]:
    """The headers of a request by their lower-case names: of two the last, but the `traceparent` is
    the one that was checked."""
    headers: dict[bytes, bytes] = dict(scope["headers"])
    headers.pop(b"traceparent", None)
    if TRACEPARENT in scope:
        headers[b"traceparent"] = scope[TRACEPARENT]
    return headers


async def read_body(receive: Receive, most: int = MOST_BODY_BYTES) -> bytes:
    """The whole body of a plain ASGI request. Raises BodyTooLarge; Malformed for half a body."""
    message = await receive()
    body: bytes = message.get("body", b"")
    while message.get("more_body", False) and len(body) <= most:
        message = await receive()
        body += message.get("body", b"")
    if message["type"] == "http.disconnect":
        raise Malformed.at("$", _HALF)
    if len(body) > most:
        raise BodyTooLarge(f"A body holds at most {most} bytes.")
    return body
