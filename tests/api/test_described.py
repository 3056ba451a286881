"""Schemathesis reads the API's description and asks whatever it allows, and what it does not."""

import secrets
from typing import Any

import httpx
import psycopg
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.specs.openapi.checks import (
    missing_required_header,
    negative_data_rejection,
    unsupported_method,
)

from services.app import create_app
from services.settings import SeedKey, Settings
from shared.http import keys
from tests.api.croupier import Croupier, House

CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    missing_required_header,
    unsupported_method,
]
"""All that a stateless look can judge. Not whether valid data is accepted: a command that is well
formed may be out of turn, and a key may have been used before."""


DESCRIPTION = create_app(
    Settings(database_url="postgresql://nowhere/none", seed_keys=(SeedKey("test", bytes(32)),))
).openapi()
PREFIX, SECRET = secrets.token_hex(5), secrets.token_hex(32)
schema = schemathesis.openapi.from_dict(
    DESCRIPTION,
    config=schemathesis.Config.from_dict(
        {
            "headers": {"Authorization": f"Bearer ck_{PREFIX}_{SECRET}"},
            "parameters": {"wait": 0, "wait_for": 0},
        }
    ),
).exclude(path_regex="/stream$")  # they never end; `test_streams` listens to them


@pytest.fixture(scope="module")
def played(croupier: Croupier, http: httpx.Client) -> House:
    """A house in which the examples of the description mean something, and the key of above."""
    house = House(croupier, http)
    with psycopg.connect(croupier.database.owner_url) as owner:
        owner.execute(
            "UPDATE api_key SET prefix = %s, secret_hash = %b WHERE house = %s",
            (PREFIX, keys.hashed(SECRET), house.name),
        )
    house.key = f"ck_{PREFIX}_{SECRET}"
    house.seat("table-3", "ada")
    for _ in range(5):
        house.deal("table-3", 20)
        house.finish("table-3")
    return house


@schema.parametrize()
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_answer_is_documented(case: schemathesis.Case, played: House) -> None:
    case.call_and_validate(base_url=played.croupier.address, checks=CHECKS)
