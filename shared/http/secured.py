"""Headers that tell browsers and caches what not to do with an answer."""

import re
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from typing import Final

from starlette.types import Message, Scope, Send

Headers = list[tuple[bytes, bytes]]

LIMIT: Final = "limit"
"""Where a request's scope has what its caller is held to, if anything."""

_ALWAYS: Final[Headers] = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
_POLICY: Final = b"content-security-policy"
_FRAMED_NOWHERE: Final = b"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_DATA: Final = (_POLICY, b"default-src 'none'; " + _FRAMED_NOWHERE)
_PICTURE: Final = (_POLICY, b"default-src 'none'; style-src 'unsafe-inline'; " + _FRAMED_NOWHERE)
_NO_STORE: Final = (b"cache-control", b"no-store")

SECURE: Final[Headers] = [*_ALWAYS, _DATA, _NO_STORE]
"""What goes with every answer that is data. HSTS is left to whoever ends TLS: we speak plain HTTP,
where browsers have to ignore it."""

_SCRIPT: Final = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


def secured(send: Send, scope: Scope) -> Send:
    """The same, with the headers that are missing, and those of the caller's limit.

    An answer that says itself how it may be kept, or what it may do, is taken at its word, and so
    are files, which say when they were changed, and what has not changed since. Of another page the
    scripts that stand in it may run, and its own origin may be asked; for that its head waits for
    its body.
    """
    page: Message | None = None

    async def securely(message: Message) -> None:
        nonlocal page
        if message["type"] == "http.response.start":
            headers = message["headers"] = [*message.get("headers", ())]
            names = dict(headers)
            headers += [always for always in _ALWAYS if always[0] not in names]
            if LIMIT in scope:
                headers += scope[LIMIT].headers()
            if message["status"] == 304:  # a cache would put them in the place of those it has kept
                await send(message)
                return
            if b"cache-control" not in names and b"last-modified" not in names:
                headers.append(_NO_STORE)
            kind = names.get(b"content-type", b"")
            if _POLICY not in names:
                if kind.startswith(b"text/html"):
                    page = message
                    return
                headers.append(_PICTURE if kind.startswith(b"image/svg") else _DATA)
        elif page:
            page["headers"].append(_page_policy(message.get("body", b"")))
            await send(page)
            page = None
        await send(message)

    return securely


@lru_cache(maxsize=8)
def _page_policy(page: bytes) -> tuple[bytes, bytes]:
    scripts = (b64encode(sha256(script).digest()) for script in _SCRIPT.findall(page))
    allowed = b" ".join(b"'sha256-%b'" % script for script in scripts)
    return _POLICY, (
        b"default-src 'self'; script-src 'self' %b; style-src 'self' 'unsafe-inline'; "
        b"img-src 'self' data:; " % allowed + _FRAMED_NOWHERE
    )
