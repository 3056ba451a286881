"""A platform with an identity provider of its own plays with that one's tokens, over HTTP."""

from collections.abc import Iterator

import httpx
import pytest

from shared.http.keys import SCOPES
from tests.api.conftest import a_croupier
from tests.api.croupier import Croupier, House
from tests.api.routes import ROUTES, Route
from tests.api.test_who_may import ask
from tests.conftest import Cluster
from tests.http.provider import AUDIENCE, ISSUER, Provider


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    provider = Provider()
    provider.add("k1")
    with provider.answering():
        yield provider


@pytest.fixture(scope="module")
def croupier(cluster: Cluster, provider: Provider) -> Iterator[Croupier]:
    settings = {
        "CROUPIER_JWT_ISSUER": ISSUER,
        "CROUPIER_JWT_AUDIENCE": AUDIENCE,
        "CROUPIER_JWT_JWKS_URL": provider.url,
        "NO_PROXY": "127.0.0.1",
    }
    with a_croupier(cluster, **settings) as croupier:
        yield croupier


@pytest.fixture
def house(croupier: Croupier, http: httpx.Client) -> House:
    return House(croupier, http)


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_a_token_opens_what_its_scope_names_and_nothing_else(
    route: Route, playing: House, provider: Provider
) -> None:
    others = " ".join(scope for scope in SCOPES if scope != route.scope)

    refused = ask(playing, route, provider.token(house=playing.name, scope=others))
    answer = ask(playing, route, provider.token(house=playing.name, scope=route.scope))

    assert (refused.status_code, refused.json()["needed"]) == (403, route.scope)
    assert answer.status_code == 200, answer.text


def test_events_name_the_subject(house: House, provider: Provider) -> None:
    house.key = provider.token(house=house.name, scope=[*SCOPES])
    house.seat("oak", "ada")

    entries = house.get("/v1/events", limit=1000)["data"]

    assert {entry["event"]["actor"] for entry in entries} == {"jwt/auth0|ada"}


def test_a_token_of_no_house_here_is_told_so(house: House, provider: Provider) -> None:
    for method, path in (("GET", "/v1/tables"), ("POST", "/v1/tables/oak/commands")):
        refused = house.ask(method, path, key=provider.token(house="nowhere"))
        problem = refused.json()
        assert (refused.status_code, problem["type"]) == (403, "/problems/unknown-house")

        refused = house.ask(method, path, key=provider.token(house=house.name, exp=1))
        assert (refused.status_code, refused.json()["detail"]) == (401, "The token has expired.")


def test_api_keys_work_beside_tokens(house: House) -> None:
    assert house.ask("GET", "/v1/tables").status_code == 200
