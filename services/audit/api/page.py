"""The page on which anybody checks a round: one file, made of its parts when the process starts.

The parts lie in `services/audit/page`, as a browser would load them one by one. What is served has
them inside, so that a saved page is a whole one, which works offline; and so its policy can allow
these very bytes of style and script, no others, and no connection to anywhere.
"""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from fastapi import APIRouter, Request, Response

from shared.http.requests import names_tag

PARTS: Final = Path(__file__).parents[1] / "page"
MODULES: Final = (
    *("bytes", "canonical", "shoe", "merkle", "note", "round", "checks", "drawing", "page"),
)
"""Each imports from those before it only."""

_STYLE: Final = '<link rel="stylesheet" href="verify.css">'
_SCRIPT: Final = '<script type="module" src="page.js"></script>'
_IMPORT: Final = re.compile(r"^import (?:\* as )?(\{[^}]*\}|\w+) from \"\./(\w+)\.js\";\n", re.M)
_EXPORT: Final = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.M)
_HEADERS: Final = {
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Page(NamedTuple):
    """A page as it is sent."""

    body: bytes
    headers: dict[str, str]


def assembled(parts: Path = PARTS) -> Page:
    """The page with its style and script inside, and the policy that allows them alone."""
    style, script = (parts / "verify.css").read_text(), _script(parts)
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        )
    )
    kept = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    html = (parts / "verify.html").read_text()
    html = html.replace('<meta charset="utf-8">\n', f'<meta charset="utf-8">\n{kept}')
    html = html.replace(_STYLE, f"<style>{style}</style>")
    body = html.replace(_SCRIPT, f'<script type="module">{script}</script>').encode()
    headers = {
        "Content-Security-Policy": f"{policy}; frame-ancestors 'none'",
        "ETag": f'"{sha256(body).hexdigest()[:32]}"',
    }
    return Page(body, _HEADERS | headers)


def routes() -> APIRouter:
    """The route of the page."""
    router = APIRouter(tags=["Rounds"], default_response_class=Response)
    page = assembled()
    shown: dict[str, Any] = {"text/html": {"example": "<!doctype html>…"}}

    @router.get("/verify", summary="Check a round", responses={200: {"content": shown}})
    async def verify_page(request: Request) -> Response:
        """A page for people. Drop the bundle of a round on it, with the public key of the house:
        the browser shuffles the shoe again, compares every card, and follows every event into the
        sealed log. It needs no key, asks no server, and works from a saved file."""
        if names_tag(request.headers.get("if-none-match", ""), page.headers["ETag"]):
            return Response(status_code=304, headers=page.headers)
        return Response(page.body, media_type="text/html; charset=utf-8", headers=page.headers)

    return router


def _script(parts: Path) -> str:
    """All modules as one, each a value that the next ones take their imports from."""
    return "".join(_linked(name, (parts / f"{name}.js").read_text()) for name in MODULES)


def _linked(name: str, module: str) -> str:
    exported = ", ".join(_EXPORT.findall(module))
    body = _EXPORT.sub(lambda found: found[0].removeprefix("export "), module)
    body = _IMPORT.sub(r"const \1 = in_\2;\n", body)
    return f"const in_{name} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
