"""API keys: who gets in, who does not, and what they are told."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import psycopg
import pytest
from fastapi import FastAPI
from psycopg_pool import AsyncConnectionPool

from shared.http import keys
from shared.http.auth import (
    REMEMBERED_SECONDS,
    Caller,
    Forbidden,
    Keys,
    Unauthenticated,
    caller_with,
)
from tests.conftest import Database

Owner = psycopg.Connection[Any]


def bearer(token: str) -> bytes:
    return f"Bearer {token}".encode()


class Clock:
    """Seconds that pass when a test says so."""

    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def owner(database: Database) -> Iterator[Owner]:
    with psycopg.connect(database.owner_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def service(database: Database, clock: Clock) -> AsyncIterator[Keys]:
    async with AsyncConnectionPool(database.app_url, min_size=1) as pool:
        yield Keys(pool, clock)


async def test_a_key_names_its_house_its_actor_and_its_scopes(owner: Owner, service: Keys) -> None:
    token = keys.create(owner, "north", "till", ["play", "read"])

    caller = await service.authenticate(bearer(token))

    prefix = token.split("_")[1]
    assert caller == Caller("north", f"key/till/{prefix}", frozenset({"play", "read"}))
    assert await service.authenticate(bearer(token).replace(b"Bearer", b"bearer")) == caller


@pytest.mark.parametrize(
    "header",
    [
        None,
        b"",
        b"Bearer",
        b"Bearer ",
        b"Bearer ck_",
        b"Bearer ck_0123456789_" + b"0" * 64,
        b"Bearer ck_0123456789_" + b"0" * 63,
        b"Bearer ck_\0_\0",
        b"Bearer " + b"k" * 100_000,
        b"Bearer \xff\xfe",
        b"Basic dXNlcjpwYXNz",
    ],
)
async def test_no_key_or_an_unknown_one_is_refused(header: bytes | None, service: Keys) -> None:
    with pytest.raises(Unauthenticated) as refused:
        await service.authenticate(header)

    assert refused.value.status == 401
    assert refused.value.headers["WWW-Authenticate"].startswith("Bearer")


async def test_a_known_prefix_with_another_secret_is_refused(owner: Owner, service: Keys) -> None:
    token = keys.create(owner, "north", "till", ["play"])

    with pytest.raises(Unauthenticated):
        await service.authenticate(bearer(token[:-1] + ("1" if token[-1] == "0" else "0")))


async def test_an_expired_key_is_refused(owner: Owner, service: Keys) -> None:
    yesterday = datetime.now(UTC) - timedelta(days=1)
    token = keys.create(owner, "north", "till", ["play"], expires_at=yesterday)

    with pytest.raises(Unauthenticated):
        await service.authenticate(bearer(token))


async def test_many_at_once_with_one_key_cost_one_look_up(
    owner: Owner, database: Database, clock: Clock
) -> None:
    token = bearer(keys.create(owner, "north", "till", ["play"]))
    async with AsyncConnectionPool(database.app_url, min_size=1) as pool:
        service = Keys(pool, clock)

        callers = await asyncio.gather(*(service.authenticate(token) for _ in range(100)))

        assert len(set(callers)) == 1
        assert pool.get_stats()["requests_num"] == 1


async def test_a_revoked_key_is_refused_within_seconds(
    owner: Owner, service: Keys, clock: Clock
) -> None:
    token = keys.create(owner, "north", "till", ["play"])
    await service.authenticate(bearer(token))

    assert keys.revoke(owner, "north", token.split("_")[1])

    await service.authenticate(bearer(token))
    clock.seconds += REMEMBERED_SECONDS
    with pytest.raises(Unauthenticated):
        await service.authenticate(bearer(token))


async def test_a_key_is_not_remembered_beyond_its_end(
    owner: Owner, service: Keys, clock: Clock
) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=REMEMBERED_SECONDS / 2)
    token = keys.create(owner, "north", "till", ["play"], expires_at=soon)
    await service.authenticate(bearer(token))

    owner.execute("UPDATE api_key SET expires_at = now()")
    clock.seconds += REMEMBERED_SECONDS / 2

    with pytest.raises(Unauthenticated):
        await service.authenticate(bearer(token))


def test_a_missing_scope_is_named() -> None:
    caller = Caller("north", "key/till/0", frozenset({"play", "read"}))

    assert caller.require("play") is caller
    with pytest.raises(Forbidden) as refused:
        caller.require("ledger")
    assert refused.value.facts == {"needed": "ledger"}
    assert refused.value.detail == "This needs a key with the scope ledger; yours has play, read."


def test_keys_are_listed_by_house_without_their_secrets(owner: Owner) -> None:
    first = keys.create(owner, "north", "till", ["play"])
    keys.create(owner, "south", "till", ["play"])
    keys.create(owner, "north", "office", ["audit", "read"])
    keys.revoke(owner, "north", first.split("_")[1])

    listed = keys.listed(owner, "north")

    assert [(key.name, key.scopes, bool(key.revoked_at)) for key in listed] == [
        ("till", ["play"], True),
        ("office", ["audit", "read"], False),
    ]
    assert first.split("_")[2] not in str(listed)


def test_a_key_is_revoked_once_and_by_its_own_house(owner: Owner) -> None:
    prefix = keys.create(owner, "north", "till", ["play"]).split("_")[1]

    assert not keys.revoke(owner, "south", prefix)
    assert keys.revoke(owner, "north", prefix)
    assert not keys.revoke(owner, "north", prefix)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO api_key SELECT * FROM api_key",
        "UPDATE api_key SET revoked_at = NULL",
        "DELETE FROM api_key",
        "TRUNCATE api_key",
    ],
)
def test_who_serves_cannot_change_keys(statement: str, database: Database) -> None:
    with (
        psycopg.connect(database.app_url) as app,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        app.execute(statement.encode())


def test_a_key_is_found_without_a_scan(owner: Owner) -> None:
    owner.execute("SET enable_seqscan = off")
    plan = owner.execute("EXPLAIN SELECT house FROM api_key WHERE prefix = 'x'").fetchall()

    assert "api_key_prefix" in str(plan)


def test_the_openapi_document_declares_a_bearer_key() -> None:
    app = FastAPI()

    @app.get("/tables")
    async def tables(caller: Annotated[Caller, caller_with("read")]) -> None: ...

    document = app.openapi()
    scheme = document["components"]["securitySchemes"]["api_key"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert document["paths"]["/tables"]["get"]["security"] == [{"api_key": []}]
    assert "parameters" not in document["paths"]["/tables"]["get"]
