"""Who may do what: a key opens what its scopes name, in its own house and nowhere else."""

import asyncio

import psycopg
import pytest

from services.blackjack.api.examples import OWN_RULESET
from services.blackjack.domain.rejections import UnknownTable
from shared.http import keys
from shared.http.keys import SCOPES
from shared.seals.notes import COSIGNS, public_of
from tests.api.croupier import (
    PATIENCE_SECONDS,
    WITNESS,
    WITNESS_NAME,
    House,
    Json,
    cosigned,
)
from tests.api.listening import listening, opened
from tests.api.routes import ROUTES, Route

UNKNOWN = "ck_0123456789_" + "0" * 64


def ask(house: House, route: Route, key: str) -> Json:
    if route.endless:
        return opened(house, route.address, key)
    address, body = route.address, route.body
    if (route.path.startswith("/v1/audit") or route.path.endswith("/bundle")) and house.head():
        seal = house.sealed()
        address, body = route.at(size=str(seal["size"])), cosigned(seal) if body else None
    return house.ask(route.method, address, key=key, json=body)


def test_every_route_with_a_key_is_in_the_table(house: House) -> None:
    paths = house.ask("GET", "/openapi.json", key="").json()["paths"]
    guarded = {
        f"{method.upper()} {path}"
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "security" in operation
    }

    assert guarded == set(map(str, ROUTES))


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_the_scope_of_a_route_is_enough(route: Route, request: pytest.FixtureRequest) -> None:
    house: House = request.getfixturevalue("quiet" if route.method == "GET" else "playing")

    answer = ask(house, route, house.make_key(route.scope))

    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_all_other_scopes_together_are_not(route: Route, quiet: House) -> None:
    head = quiet.head()
    others = [scope for scope in SCOPES if scope != route.scope]

    refused = ask(quiet, route, quiet.make_key(*others))

    assert refused.status_code == 403
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert refused.json()["type"] == "/problems/forbidden"
    assert refused.json()["needed"] == route.scope
    assert quiet.head() == head


@pytest.mark.parametrize("key", ["", UNKNOWN, "ck_", "x" * 500], ids=["none", "unknown", "ck", "x"])
@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_without_a_key_that_works_nobody_gets_in(route: Route, key: str, quiet: House) -> None:
    head = quiet.head()

    refused = ask(quiet, route, key)

    assert refused.status_code == 401
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")
    assert refused.json()["type"] == "/problems/unauthenticated"
    assert quiet.head() == head


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_a_revoked_or_expired_key_opens_nothing(route: Route, quiet: House) -> None:
    revoked, expired = quiet.make_key(*SCOPES), quiet.make_key(*SCOPES)
    with psycopg.connect(quiet.croupier.database.owner_url) as owner:
        assert keys.revoke(owner, quiet.name, revoked.split("_")[1])
        owner.execute(
            "UPDATE api_key SET expires_at = now() WHERE prefix = %s", [expired.split("_")[1]]
        )

    for key in (revoked, expired):
        refused = ask(quiet, route, key)
        assert (refused.status_code, refused.json()["type"]) == (401, "/problems/unauthenticated")


NO_OAK = {
    "type": "/problems/unknown-table",
    "title": UnknownTable.title(),
    "status": 404,
    "detail": "oak was never opened.",
}
NOTHING = {"data": [], "next": None}
NOTHING_YET = NOTHING | {"position": 0}
EMPTY = NOTHING | {"first_position": 1, "last_position": 0}
NO_CHIPS = {"balance": 0, "vault": 0, "at_tables": 0, "at_risk": 0}
UNHEARD_OF = {
    "GET /v1/tables": NOTHING_YET,
    "GET /v1/tables/{table}/rounds": NOTHING_YET,
    "GET /v1/players/{player}/hands": NOTHING_YET,
    "GET /v1/players/{player}/runs": NOTHING_YET,
    "GET /v1/ledger/returns": NOTHING_YET,
    "GET /v1/rulesets/{name}/odds": "unknown-ruleset",
    "GET /v1/rulesets/{name}/odds/{cards}/{upcard}": "unknown-ruleset",
    "GET /v1/rulesets/{name}/strategy": "unknown-ruleset",
    "POST /v1/rulesets/{name}/strategy": "unknown-ruleset",
    "GET /v1/rulesets/{name}/strategy.svg": "unknown-ruleset",
    "GET /v1/rulesets/{name}/returns": "unknown-ruleset",
    "GET /v1/rulesets/{name}/returns.svg": "unknown-ruleset",
    "GET /v1/tables/{table}/returns": "unknown-table",
    "GET /v1/tables/{table}/returns.svg": "unknown-table",
    "GET /v1/tables/{table}": "unknown-table",
    "POST /v1/tables/{table}/commands": "unknown-table",
    "POST /v1/tables/{table}/computers": "unknown-table",
    "POST /v1/commands": {"outcomes": [NO_OAK]},
    "GET /v1/tables/{table}/events": {"data": [], "next": 0},
    "GET /v1/rounds/{round}": "unknown-round",
    "GET /v1/rounds/{round}/recall": "unknown-round",
    "GET /v1/rounds/{round}/proof": "unknown-round",
    "GET /v1/rounds/{round}/bundle": "unknown-round",
    "GET /v1/players/{player}/vault": {"player": "ada", "balance": 0},
    "GET /v1/players/{player}/entries": NOTHING,
    "GET /v1/players/{player}/statement": {"player": "ada", **EMPTY}
    | {"opening": NO_CHIPS, "closing": NO_CHIPS},
    "GET /v1/players/{player}/statement.csv": b"\n0,,opening,,,,,,0,0,0\r\n0,,closing,",
    "GET /v1/players/{player}/statement.html": b"positions 1 to 0 of its log",
    "GET /v1/tables/{table}/statement": {"table": "oak", **EMPTY, "opening": 0, "closing": 0},
    "GET /v1/tables/{table}/statement.csv": b"\n0,,opening,,,,,,0\r\n0,,closing,",
    "GET /v1/tables/{table}/statement.html": b"positions 1 to 0 of its log",
    "GET /v1/ledger/accounts": NOTHING,
    "GET /v1/ledger/entries": NOTHING,
    "GET /v1/ledger/trial-balance": {"position": 0, "accounts": [], "total": 0, "balanced": True},
    "GET /v1/audit/seals": NOTHING,
    "GET /v1/audit/seals/latest": "unknown-seal",
    "GET /v1/audit/seals/{size}": "unknown-seal",
    "POST /v1/audit/seals/{size}/cosignatures": "unknown-seal",
    "GET /v1/audit/proofs/inclusion": "not-sealed-yet",
    "GET /v1/audit/proofs/consistency": "not-sealed-yet",
    "GET /v1/audit/keys": {
        "data": [],
        "witnesses": [str(public_of(WITNESS, WITNESS_NAME, COSIGNS))],
    },
    "GET /v1/audit/status": {
        "position": 0,
        "verified_position": 0,
        "sealed_at": None,
        "seal_age_seconds": None,
        "faults": 0,
    },
    "GET /v1/audit/events": NOTHING_YET,
    "GET /v1/audit/wins": {
        **{"first_day": "2001-01-01", "last_day": "2001-12-31"},
        **{"data": [], "position": 0},
    },
    "GET /v1/events": {"data": [], "next": 0},
    "GET /v1/events.jsonl": None,
}
"""What another house sees: JSON, a part of a document, the slug of a 404, or an empty body."""
MAKES_ITS_OWN = {
    "PUT /v1/rulesets/{name}",
    "PUT /v1/tables/{table}",
    "POST /v1/players/{player}/grants",
}


@pytest.mark.parametrize(
    "route",
    [r for r in ROUTES if str(r) not in MAKES_ITS_OWN and not r.endless],
    ids=str,
)
def test_another_house_sees_nothing_of_it(route: Route, quiet: House, other_house: House) -> None:
    expected = UNHEARD_OF[str(route)]
    before = quiet.get("/v1/events", limit=1000)

    answer = ask(other_house, route, other_house.key)

    if isinstance(expected, str):
        assert answer.status_code == 404
        assert answer.json()["type"] == f"/problems/{expected}"
    elif isinstance(expected, bytes):
        assert answer.status_code == 200
        assert expected in answer.content
        assert b"oak.1" not in answer.content
    elif expected is None:
        assert (answer.status_code, answer.content) == (200, b"")
    else:
        assert (answer.status_code, answer.json()) == (200, expected)
    assert quiet.get("/v1/events", limit=1000) == before


def test_every_route_has_a_wall_that_is_tested() -> None:
    endless = {str(route) for route in ROUTES if route.endless}

    assert UNHEARD_OF.keys() | MAKES_ITS_OWN | endless == set(map(str, ROUTES))


@pytest.mark.parametrize("route", [r for r in ROUTES if r.endless], ids=str)
async def test_another_house_hears_nothing_of_it(
    route: Route, playing: House, other_house: House
) -> None:
    async with other_house.crowd() as http, listening(http, route.address) as heard:
        playing.do("oak", "leave", seat=1)
        other_house.open("oak", "classic", host="zoe")
        async with asyncio.timeout(PATIENCE_SECONDS):
            first = await anext(each async for each in heard if each.id)

    assert (first.id, first.type) == (1, "blackjack.table_opened")
    assert first.data["event"]["data"]["ruleset"]["name"] == "classic"


def test_a_ruleset_of_one_house_is_none_of_another(playing: House, other_house: House) -> None:
    own = OWN_RULESET | {"decks": OWN_RULESET["decks"] - 1}
    before = playing.get("/v1/events", limit=1000)

    assert other_house.register(own).status_code == 201

    table = other_house.open("oak", OWN_RULESET["name"]).json()["events"][0]["data"]
    assert table["ruleset"]["decks"] == own["decks"]
    assert playing.get("/v1/events", limit=1000) == before


def test_the_same_names_in_two_houses_are_two_tables_and_two_players(
    playing: House, other_house: House
) -> None:
    before = playing.get("/v1/tables/oak"), playing.head(), playing.balance("player/ada/vault")

    opened = other_house.open("oak", "classic", host="zoe")
    granted = other_house.grant("ada", 7)

    assert (opened.status_code, opened.json()["table"]["position"]) == (201, 1)
    assert (granted.json()["balance"], granted.json()["position"]) == (7, 2)
    after = playing.get("/v1/tables/oak"), playing.head(), playing.balance("player/ada/vault")
    assert after == before


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/v1/tables/oak", {"ruleset": "a2g"}),
        ("POST", "/v1/players/ada/grants", {"amount": 1}),
        ("GET", "/v1/events?wait=1", None),
        ("GET", "/v1/events.jsonl", None),
        ("GET", "/v1/events/stream", None),
        ("GET", "/v1/tables/oak/events/stream", None),
    ],
)
def test_a_house_without_a_log_is_said_to_have_none(
    method: str, path: str, body: Json, house: House
) -> None:
    with psycopg.connect(house.croupier.database.owner_url) as owner:
        token = keys.create(owner, f"{house.name}-not-open", "till", SCOPES)

    refused = house.ask(method, path, key=token, json=body)

    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/house-not-open")


def test_events_name_the_key_that_caused_them(playing: House) -> None:
    token = playing.make_key("play")
    playing.ask(
        "POST", "/v1/tables/oak/commands", key=token, json={"type": "leave", "seat": 1}
    ).raise_for_status()

    newest = playing.get("/v1/events", limit=1000)["data"][-1]["event"]

    assert newest["actor"] == f"key/till/{token.split('_')[1]}"
