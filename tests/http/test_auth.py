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
from shared.http.quotas import Quota
from shared.http.revocations import Revocations
from tests.api.croupier import PATIENCE_SECONDS
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


@pytest.mark.parametrize(
    ("header", "says"),
    [
        (b"", "Send the header Authorization: Bearer"),
        (b"Basic dXNlcjpwYXNz", "Send the header"),
        (b"Bearer nonsense", "This is no API key. Send the header"),
        (b"ck_0123456789_" + b"0" * 64, "The word Bearer is missing. Send the header"),
        (b"Bearer ck_0123456789_" + b"0" * 64, "This key is unknown, expired or revoked."),
    ],
)
async def test_who_is_refused_is_told_what_is_missing(
    header: bytes, says: str, service: Keys
) -> None:
    with pytest.raises(Unauthenticated) as refused:
        await service.authenticate(header)

    assert refused.value.detail.startswith(says)


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


async def test_a_revoked_key_is_refused_within_seconds_though_nobody_tells_of_it(
    owner: Owner, service: Keys, clock: Clock
) -> None:
    token = keys.create(owner, "north", "till", ["play"])
    await service.authenticate(bearer(token))

    assert keys.revoke(owner, "north", token.split("_")[1])

    await service.authenticate(bearer(token))
    clock.seconds += REMEMBERED_SECONDS
    with pytest.raises(Unauthenticated):
        await service.authenticate(bearer(token))


@pytest.mark.parametrize("end", ["revoke", "rotate"])
async def test_a_key_that_is_ended_is_refused_as_soon_as_it_is_heard_of(
    end: str, owner: Owner, database: Database, service: Keys
) -> None:
    """The clock stands still, so nothing is forgotten because of its age."""
    token = keys.create(owner, "north", "till", ["play"])
    async with Revocations(database.app_url, service.forget) as heard:
        await heard.listening()
        await service.authenticate(bearer(token))

        if end == "revoke":
            keys.revoke(owner, "north", token.split("_")[1])
        else:
            keys.rotate(owner, *keys.listed(owner, "north"), timedelta())

        await until_refused(service, token)


async def test_what_was_revoked_while_nobody_listened_is_looked_up_again(
    owner: Owner, database: Database, service: Keys
) -> None:
    token = keys.create(owner, "north", "till", ["play"])
    async with Revocations(database.app_url, service.forget) as heard:
        await heard.listening()
        await service.authenticate(bearer(token))

        owner.execute("UPDATE api_key SET revoked_at = now()")  # by somebody who tells nobody
        owner.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        )

        await until_refused(service, token)


async def test_a_look_up_that_a_revocation_overtakes_is_repeated(
    owner: Owner, database: Database, clock: Clock
) -> None:
    token = keys.create(owner, "north", "till", ["play"])

    class Overtaken(Keys):
        reads = 0

        async def _read(self, prefix: str, secret: str) -> Any:
            found = await super()._read(prefix, secret)
            self.reads += 1
            if self.reads == 1:
                keys.revoke(owner, "north", prefix)
                self.forget(prefix)
            return found

    async with AsyncConnectionPool(database.app_url, min_size=1) as pool:
        with pytest.raises(Unauthenticated):
            await Overtaken(pool, clock).authenticate(bearer(token))


async def refused(service: Keys, token: str) -> bool:
    await asyncio.sleep(0.01)  # so that whoever listens may hear something
    try:
        await service.authenticate(bearer(token))
    except Unauthenticated:
        return True
    return False


async def until_refused(service: Keys, token: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await refused(service, token):
            pass


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


@pytest.mark.parametrize(
    ("actor", "key"),
    [
        ("key/till/0123456789", "0123456789"),
        ("key/the/till/0123456789", "0123456789"),
        ("jwt/ada", "jwt/ada"),
        ("jwt/https://id.example/ada", "jwt/https://id.example/ada"),
    ],
)
def test_a_key_is_named_by_its_prefix_and_a_token_by_its_subject(actor: str, key: str) -> None:
    assert Caller("north", actor, frozenset()).key == key


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


def test_a_rotated_key_has_the_same_name_scopes_quota_and_end(owner: Owner) -> None:
    end = datetime.now(UTC) + timedelta(days=30)
    keys.create(owner, "north", "till", ["play", "read"], end, Quota(100, 1))

    token = keys.rotate(owner, *keys.listed(owner, "north"), timedelta(hours=1))

    old, new = keys.listed(owner, "north")
    assert token.split("_")[1] == new.prefix != old.prefix
    assert (new.name, new.scopes, new.limit()) == (old.name, old.scopes, Quota(100, 1))
    assert new.expires_at == end
    assert old.expires_at
    assert old.expires_at - new.created_at == timedelta(hours=1)


async def test_both_keys_work_until_the_overlap_is_over(owner: Owner, service: Keys) -> None:
    token = keys.create(owner, "north", "till", ["play"])

    new = keys.rotate(owner, *keys.listed(owner, "north"), timedelta(hours=1))

    assert not await refused(service, token)
    assert not await refused(service, new)
    owner.execute("UPDATE api_key SET expires_at = now() WHERE expires_at IS NOT NULL")
    service.forget()
    assert await refused(service, token)
    assert not await refused(service, new)


def test_an_overlap_does_not_make_a_key_last_longer(owner: Owner) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=1)
    keys.create(owner, "north", "till", ["play"], soon)

    keys.rotate(owner, *keys.listed(owner, "north"), timedelta(hours=1))

    assert [key.expires_at for key in keys.listed(owner, "north")] == [soon, soon]


async def test_the_list_tells_when_a_key_was_used_last(
    owner: Owner, service: Keys, clock: Clock
) -> None:
    used = keys.create(owner, "north", "till", ["play"])
    keys.create(owner, "north", "office", ["play"])
    await service.authenticate(bearer(used))
    owner.execute("UPDATE api_key_use SET used_at = used_at - interval '1 hour'")
    long_ago = keys.listed(owner, "north")[0].used_at

    clock.seconds += REMEMBERED_SECONDS
    await service.authenticate(bearer(used))

    till, office = keys.listed(owner, "north")
    assert long_ago
    assert till.used_at
    assert till.used_at > long_ago
    assert office.used_at is None


async def test_a_database_that_can_only_be_read_still_lets_in(
    owner: Owner, database: Database, service: Keys
) -> None:
    token = keys.create(owner, "north", "till", ["play"])
    name = owner.info.dbname
    owner.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on".encode())

    async with AsyncConnectionPool(database.app_url, min_size=1) as pool:
        assert (await Keys(pool).authenticate(bearer(token))).house == "north"


async def test_a_use_that_cannot_be_noted_is_no_reason_to_refuse(
    owner: Owner, database: Database
) -> None:
    """A dump, a migration or a slow disk holds the table of uses for longer than we wait."""
    token = keys.create(owner, "north", "till", ["play"])
    owner.execute(f"ALTER DATABASE {owner.info.dbname} SET lock_timeout = '50ms'".encode())

    async with AsyncConnectionPool(database.app_url, min_size=1) as pool:
        with owner.transaction():
            owner.execute("LOCK TABLE api_key_use IN EXCLUSIVE MODE")
            assert (await Keys(pool).authenticate(bearer(token))).house == "north"
        async with pool.connection() as connection:
            await connection.execute("SELECT")


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
