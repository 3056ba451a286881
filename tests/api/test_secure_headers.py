"""What every answer tells browsers and caches, whichever route gave it."""

import re

import httpx
import pytest

from tests.api.croupier import House
from tests.api.routes import ROUTES, Route
from tests.api.test_openapi import OPERATIONS
from tests.api.test_who_may import ask

OPEN = [name.partition(" ")[2] for name, each in OPERATIONS.items() if "security" not in each]
ELSEWHERE = re.compile(r"https?:|//")


def is_secure(answer: httpx.Response, *, kept: bool = False) -> None:
    headers = answer.headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert ("no-store" in headers.get("Cache-Control", "")) is not kept
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy or headers["Content-Type"].startswith("text/html")
    assert not ELSEWHERE.search(policy)
    for name in ("X-Content-Type-Options", "Content-Security-Policy", "Cache-Control"):
        assert len(headers.get_list(name)) <= 1
    assert "Server" not in headers


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_of_a_route_with_a_key(route: Route, playing: House) -> None:
    answer = ask(playing, route, playing.make_key(route.scope))

    assert answer.status_code == 200
    is_secure(answer)


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_of_a_refusal(route: Route, house: House) -> None:
    is_secure(ask(house, route, ""))
    is_secure(house.ask("TRACE", route.address))


@pytest.mark.parametrize("path", OPEN)
def test_of_a_route_without_a_key(path: str, house: House) -> None:
    address = path.replace("{slug}", "unauthenticated").replace("{name}", "a2g")

    is_secure(house.ask("GET", address, key=""), kept=path == "/verify")


@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json", "/nowhere", "/docs/nowhere"])
def test_of_pages_and_of_what_is_none(path: str, house: House) -> None:
    is_secure(house.ask("GET", path, key=""))


def test_files_may_be_kept(house: House) -> None:
    is_secure(house.ask("GET", "/static-offline-docs/swagger-ui.css", key=""), kept=True)


@pytest.mark.parametrize("path", ["/static-offline-docs/swagger-ui.css", "/verify"])
def test_what_has_not_changed_says_nothing_new(path: str, house: House) -> None:
    """A cache takes the headers of a 304 for those of what it has kept."""
    kept = house.ask("GET", path, key="")
    tag = {"If-None-Match": kept.headers.get("ETag", "")}
    again = house.ask("GET", path, key="", headers=tag)

    assert again.status_code == (304 if tag["If-None-Match"] else 200)
    assert again.headers["X-Content-Type-Options"] == "nosniff"
    for name in ("Cache-Control", "Content-Security-Policy"):
        assert again.headers.get(name) in (kept.headers.get(name), None)


def test_a_page_runs_its_own_scripts_and_loads_nothing_from_elsewhere(house: House) -> None:
    page = house.ask("GET", "/docs", key="")
    policy = page.headers["Content-Security-Policy"]
    (script_rule,) = re.findall(r"script-src ([^;]+)", policy)

    assert re.fullmatch(r"'self' 'sha256-[A-Za-z0-9+/]{43}='", script_rule)
    assert "default-src 'self'" in policy
    markup = re.sub(r"<script>.*?</script>|<!--.*?-->|<!DOCTYPE[^>]*>", "", page.text, flags=re.S)
    assert not ELSEWHERE.search(markup), "an address with an origin"
    (script,) = re.findall(r"<script>(.*?)</script>", page.text, re.S)
    assert not re.search(r"""["'](https?:)?//""", script)


def test_no_other_origin_is_let_in(house: House) -> None:
    """There is no CORS: a page of somebody else cannot read an answer, nor ask with a key."""
    origin = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
    for method in ("OPTIONS", "GET"):
        answer = house.ask(method, "/v1/tables", headers=origin)
        assert not [name for name in answer.headers if name.startswith("access-control")]
