"""Addresses, queries, headers and methods that are wrong: documented answers, never a 500."""

import json
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from shared.tracing import is_trace
from tests.api.croupier import House
from tests.api.routes import ROUTES, Route

LEAVE = {"type": "leave", "seat": 1}


def problem(answer: httpx.Response, status: int, kind: str, says: str = "") -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    document = answer.json()
    assert (document["type"], document["status"]) == (f"/problems/{kind}", status)
    assert says in document["detail"]


NO_IDS = [
    "OAK",
    "-oak",
    "_",
    "oak ",
    "oák",
    "👑",
    "oak\n",
    "a" * 65,
    "a" * 5000,
    "%00",
    "oak%0a",
    "%ff%fe",
    "{table}",
    "oak;drop",
    "oak'--",
    "*",
]


@pytest.mark.parametrize("name", NO_IDS, ids=lambda name: ascii(name)[:20])
@pytest.mark.parametrize(
    "route", [r for r in ROUTES if "{" in r.path.replace("{size}", "")], ids=str
)
def test_an_id_in_an_address_is_plain(route: Route, name: str, quiet: House) -> None:
    head, given = quiet.head(), quote(name, safe="%")
    filled = route.path.replace("{round}", f"{given}.1")
    for place in ("{table}", "{player}", "{name}"):
        filled = filled.replace(place, given)
    filled = filled.replace("{cards}", "T42").replace("{upcard}", "6")

    answer = quiet.ask(route.method, filled, json=route.body)

    problem(answer, 422, "malformed", "[a-z0-9][a-z0-9._-]{0,63}")
    assert quiet.head() == head


@pytest.mark.parametrize("number", ["0", "-1", "01", "1.0.", "x", "", "9" * 16, "1%00"])
def test_a_round_is_named_by_its_table_and_number(number: str, quiet: House) -> None:
    for more in ("", "/recall", "/proof"):
        answer = quiet.ask("GET", f"/v1/rounds/oak.{number}{more}")
        problem(answer, 422, "malformed", "round")


@pytest.mark.parametrize(
    "address",
    [
        "/v1",
        "/v1/",
        "/v2/tables",
        "/v1/tables/",
        "/v1/tables/oak/",
        "/v1/tables//commands",
        "/v1/tables/oak/commands/",
        "/v1/tables/oak/x/commands",
        "/v1/tables/oak%2fcommands/x",
        "/v1/tables/%2e%2e%2foak",
        "/v1/rounds/../tables//oak",
        "/v1/rounds",
        "/v1/players/ada",
        "/v1/events.json",
        "/openapi.json/",
        "/problems/",
        "/.env",
        "/%00",
        "/" + "x" * 8000,
    ],
    ids=lambda address: address[:30],
)
def test_what_is_nowhere_is_not_found(address: str, quiet: House) -> None:
    for method in ("GET", "POST"):
        problem(quiet.ask(method, address), 404, "no-such-page", "")


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
WITHOUT_A_KEY = {"/v1/rulesets/{name}": "GET"}


@pytest.mark.parametrize("path", sorted({route.path for route in ROUTES}))
def test_an_address_names_the_methods_it_takes(path: str, quiet: House) -> None:
    routes = {route.method: route for route in ROUTES if route.path == path}
    address = next(iter(routes.values())).address
    taken = {*routes, *WITHOUT_A_KEY.get(path, "").split()}
    head = quiet.head()

    for method in METHODS:
        if method in taken:
            continue
        answer = quiet.ask(method, address)
        assert answer.status_code == 405, (method, answer.text)
        assert set(answer.headers["Allow"].split(", ")) == taken
        if method != "HEAD":
            problem(answer, 405, "method-not-allowed", ", ".join(sorted(taken)))
    assert quiet.head() == head


LISTS = [route for route in ROUTES if route.address.endswith(("entries", "accounts", "/events"))]
CURSORS = [route for route in LISTS if not set(route.path.split("/")) & {"accounts", "audit"}]


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "abc", "", "1.5", "1e3", "9" * 30, "%00"])
@pytest.mark.parametrize("route", LISTS, ids=str)
def test_a_page_has_one_to_a_thousand(route: Route, limit: str, quiet: House) -> None:
    problem(quiet.ask("GET", f"{route.address}?limit={limit}"), 422, "malformed", "limit")


@pytest.mark.parametrize("limit", ["0", "101", "x"])
def test_a_page_of_tables_has_one_to_a_hundred(limit: str, quiet: House) -> None:
    problem(quiet.ask("GET", f"/v1/tables?limit={limit}"), 422, "malformed", "limit")


@pytest.mark.parametrize("after", ["-1", "abc", "", "0.5", str(2**53 + 1), str(2**63), "9" * 99])
@pytest.mark.parametrize("route", CURSORS, ids=str)
def test_a_cursor_is_a_position(route: Route, after: str, quiet: House) -> None:
    problem(quiet.ask("GET", f"{route.address}?after={after}"), 422, "malformed", "after")


@pytest.mark.parametrize("route", CURSORS, ids=str)
def test_behind_the_last_position_there_is_nothing(route: Route, quiet: House) -> None:
    if route.address == "/v1/events":
        problem(quiet.ask("GET", f"{route.address}?after={2**53}"), 404, "unknown-position")
        return
    assert quiet.get(route.address, after=2**53)["data"] == []


@pytest.mark.parametrize("text", ["%00", "a%00", "%ff", "é", "x" * 301, "a b"])
@pytest.mark.parametrize(
    "query",
    [
        "/v1/tables?after=",
        "/v1/tables?ruleset=",
        "/v1/ledger/accounts?after=",
        "/v1/ledger/accounts?prefix=",
        "/v1/ledger/entries?account=",
    ],
)
def test_a_name_in_a_query_is_plain(query: str, text: str, quiet: House) -> None:
    problem(quiet.ask("GET", query + text), 422, "malformed")


def test_entries_are_of_an_account(quiet: House) -> None:
    problem(quiet.ask("GET", "/v1/ledger/entries"), 422, "malformed", "account")


@pytest.mark.parametrize("version", ["0", "-1", "x", "", "1.5", str(2**53 + 1), str(2**63)])
def test_a_version_is_counted_from_one(version: str, quiet: House) -> None:
    answer = quiet.ask("GET", f"/v1/tables/oak?version={version}")
    problem(answer, 422, "malformed", "version")


def test_a_version_far_ahead_has_not_been(quiet: House) -> None:
    answer = quiet.ask("GET", f"/v1/tables/oak?version={2**53}")
    problem(answer, 404, "unknown-version", "ask for 1 to ")


@pytest.mark.parametrize("wait", ["-1", "31", "x", "", "0.5", "9" * 30])
def test_nobody_waits_longer_than_half_a_minute(wait: str, quiet: House) -> None:
    for address in ("/v1/events", "/v1/tables/oak/events"):
        problem(quiet.ask("GET", f"{address}?wait={wait}"), 422, "malformed", "wait")


@pytest.mark.parametrize("if_match", ["", "17", '"x"', '"-1"', "17,18", '"' + "9" * 19 + '"'])
def test_if_match_is_an_entity_tag(if_match: str, playing: House) -> None:
    head = playing.head()
    answer = playing.play("oak", headers={"If-Match": if_match}, **LEAVE)
    problem(answer, 422, "malformed", 'such as "17"')
    assert playing.head() == head


@pytest.mark.parametrize("key", ["", "two words", "k" * 129, "k" * 50_000, "schlüssel", "tab\tbed"])
def test_an_idempotency_key_is_short_and_visible(key: str, playing: House) -> None:
    head = playing.head()
    for path, body in (
        ("/v1/tables/oak/commands", LEAVE),
        ("/v1/players/ada/grants", {"amount": 1}),
    ):
        header = {b"Idempotency-Key": key.encode()}
        answer = playing.ask("POST", path, json=body, headers=header)
        problem(answer, 422, "malformed", "1 to 128 visible ASCII characters")
    assert playing.head() == head


def test_an_idempotency_key_of_the_greatest_length_is_one(playing: House) -> None:
    headers = {"Idempotency-Key": "~" * 128}
    first = playing.play("oak", headers=headers, **LEAVE)
    again = playing.play("oak", headers=headers, **LEAVE)

    assert (first.status_code, again.content) == (200, first.content)


NO_TRACES = [
    "",
    "x",
    "00-" + "g" * 32,
    "t" * 5000,
    f"00-{'0' * 32}-{'1' * 16}-01",
    f"00-{'1' * 32}-{'0' * 16}-01",
    f"ff-{'1' * 32}-{'1' * 16}-01",
    f"00-{'A' * 32}-{'1' * 16}-01",
]


@pytest.mark.parametrize("trace", NO_TRACES)
def test_a_trace_that_cannot_be_read_is_no_reason_to_refuse(trace: str, playing: House) -> None:
    answer = playing.play("oak", headers={"traceparent": trace}, **LEAVE)

    assert answer.status_code == 200
    assert is_trace(answer.headers["traceparent"].encode())


@pytest.mark.parametrize("second", [b"x", b"t" * 60_000, "schlüssel".encode(), b"\xff"])
def test_a_trace_that_cannot_be_read_behind_a_good_one_goes_nowhere(
    second: bytes, playing: House, http: httpx.Client
) -> None:
    """What is in the log is in its hash chain for good, so it is the one that was checked."""
    good = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    head = playing.head()
    answer = http.post(
        f"{playing.croupier.address}/v1/tables/oak/commands",
        json=LEAVE,
        headers=[
            (b"authorization", f"Bearer {playing.key}".encode()),
            (b"traceparent", good),
            (b"traceparent", second),
        ],
    )

    assert answer.status_code == 200, answer.text
    told = {entry["event"]["traceparent"] for entry in playing.walk("/v1/events", after=head)}
    assert told == {answer.headers["traceparent"]} == {good.decode()}


@pytest.mark.parametrize("size", [20_000, 60_000])
def test_many_and_large_headers_are_read_or_refused(size: int, playing: House) -> None:
    answer = playing.ask("GET", "/v1/tables/oak", headers={"X-Large": "x" * size})

    assert answer.status_code in (200, 400, 431)


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "nonsense", ""])
def test_a_body_is_read_as_json_whatever_it_is_called(kind: str, playing: House) -> None:
    headers: dict[str, Any] = {"Content-Type": kind}
    answer = playing.ask(
        "POST", "/v1/tables/oak/commands", content=json.dumps(LEAVE), headers=headers
    )

    assert answer.status_code == 200


QUERIED = [route for route in ROUTES if route.method == "GET" and not route.endless]


@pytest.mark.parametrize("route", QUERIED, ids=str)
def test_a_query_that_no_route_takes_is_refused(route: Route, quiet: House) -> None:
    """What is misspelt would be left out, and another range answered than was meant."""
    address = route.address + ("&" if route.query else "?")

    for misspelt in ("frm=1", "form=2026-01-01", "=1", "From=1"):
        answer = quiet.ask("GET", address + misspelt)
        name = misspelt.partition("=")[0]
        problem(answer, 422, "malformed", f"query.{name}: No such parameter. ")
        assert answer.json()["errors"][0]["at"] == f"query.{name}"


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("players/nobody/hands?frm=1", "It is one of: before, limit, wait_for."),
        ("players/ada/statement?form=x", "It is one of: after, limit, from, to, wait_for."),
        ("rulesets?name=a2g", "There is none here."),
        ("rulesets/a2g?versoin=1.0.0", "It is one of: version."),
        ("schemas?type=x", "There is none here."),
        ("events/stream?last=1", "It is one of: after."),
    ],
)
def test_it_is_answered_with_those_there_are(address: str, says: str, quiet: House) -> None:
    problem(quiet.ask("GET", f"/v1/{address}"), 422, "malformed", says)


def test_pages_and_probes_take_whatever_comes(quiet: House) -> None:
    for address in ("/livez", "/readyz", "/metrics", "/docs", "/verify", "/problems"):
        assert quiet.ask("GET", f"{address}?utm=1", key="").status_code == 200


@pytest.mark.parametrize(
    ("method", "address", "at", "says"),
    [
        ("GET", "rounds/oak-1/recall", "path.round", "its table and number, such as table-3.5."),
        ("GET", "players/ADA/hands", "path.player", "The player's id, such as ada. It matches ^[a"),
        ("GET", "tables/OAK", "path.table", "The table's id, such as table-3. It matches ^[a"),
        ("POST", "players/ADA/grants", "path.player", "The id of a player matches ^[a"),
        ("POST", "audit/seals/x/cosignatures", "path.size", "by the number of events it seals."),
        ("GET", "players/ada/statement?from=yesterday", "query.from", "or a day (UTC)."),
        ("GET", "audit/wins?from=2026-01-02&to=2026-01-01", "query.from", "are not 1 to 366 days"),
        ("GET", "events?limit=0", "query.limit", "greater than or equal to 1"),
    ],
)
def test_what_does_not_fit_is_named_with_what_would(
    method: str, address: str, at: str, says: str, quiet: House
) -> None:
    body = None if method == "GET" else {"amount": 1, "cosignature": "x"}

    answer = quiet.ask(method, f"/v1/{address}", json=body)

    problem(answer, 422, "malformed", says)
    (error,) = answer.json()["errors"]
    assert error["at"] == at
    assert answer.json()["detail"] == f"{at}: {error['why']}"


def test_headers_that_do_not_fit_are_named(playing: House) -> None:
    for name, value in (("Idempotency-Key", "a b"), ("If-Match", "17")):
        answer = playing.play("oak", headers={name: value}, **LEAVE)
        assert answer.json()["errors"][0]["at"] == f"header.{name}"


def test_who_is_lost_is_told_where_to_look(quiet: House) -> None:
    told = quiet.ask("GET", "/v1/nowhere").json()

    assert told["detail"] == "/docs lists every address."
