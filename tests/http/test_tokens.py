"""Tokens of an identity provider: believed when everything about them is right, else refused."""

import asyncio
import hashlib
import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from time import time
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from psycopg_pool import AsyncConnectionPool

from shared.eventstore.migrate import open_house
from shared.eventstore.rejections import Unreachable
from shared.http.auth import Caller, Forbidden, Keys, Unauthenticated, UnknownHouse
from shared.http.jwks import COOLDOWN_SECONDS, Jwks
from shared.http.quotas import Quota
from shared.http.strangers import Strangers, TooManyFailures
from shared.http.tokens import Claims, Tokens
from tests.conftest import Database
from tests.http.provider import AUDIENCE, ISSUER, WEAK_RSA, Provider
from tests.http.test_auth import Clock, bearer

CLAIMS = Claims(ISSUER, AUDIENCE)


@pytest.fixture(autouse=True)
def directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def provider() -> Iterator[Provider]:
    provider = Provider()
    provider.add("k1")
    with provider.answering():
        yield provider


@pytest.fixture
def clock() -> Clock:
    return Clock()


@asynccontextmanager
async def serving(
    provider: Provider, database: Database, clock: Clock, claims: Claims = CLAIMS, url: str = ""
) -> AsyncIterator[Keys]:
    open_house(database.owner_url, "north")
    async with (
        AsyncConnectionPool(database.app_url, min_size=1) as pool,
        Jwks(url or provider.url, lambda: keys.forget(), clock) as jwks,
    ):
        tokens = Tokens(jwks, claims, pool).caller
        keys = Keys(pool, clock, Strangers(Quota(100, 60), clock), tokens)
        yield keys


@pytest.fixture
async def service(provider: Provider, database: Database, clock: Clock) -> AsyncIterator[Keys]:
    async with serving(provider, database, clock) as keys:
        yield keys


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA", "RS256", "PS256"])
async def test_a_token_names_its_house_its_actor_and_its_scopes(
    algorithm: str, provider: Provider, service: Keys
) -> None:
    provider.add(algorithm, algorithm)

    caller = await service.authenticate(bearer(provider.token(algorithm)))

    assert caller == Caller("north", "jwt/auth0|ada", frozenset({"play", "read"}))


async def test_scopes_may_be_a_list_and_none_of_them_means_all(
    provider: Provider, service: Keys
) -> None:
    listed = await service.authenticate(bearer(provider.token(scope=["ledger", "email", 7])))
    none = await service.authenticate(bearer(provider.token(scope="* admin play*")))

    assert listed.scopes == {"ledger"}
    with pytest.raises(Forbidden, match="yours has none"):
        none.require("play")


async def test_the_claims_are_named_by_the_operator(
    provider: Provider, database: Database, clock: Clock
) -> None:
    own = Claims(ISSUER, AUDIENCE, "https://id.example/house", "roles", "client_id")
    said = {"https://id.example/house": "north", "roles": ["audit"], "client_id": "till-7"}
    async with serving(provider, database, clock, own) as service:
        caller = await service.authenticate(bearer(provider.token(**said)))

    assert caller == Caller("north", "jwt/till-7", frozenset({"audit"}))


def part(value: object) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(text).decode().rstrip("=")


def unsigned(provider: Provider, algorithm: str) -> str:
    """A good token's words, under a head that asks for no signature."""
    return f"{part({'alg': algorithm, 'kid': 'k1'})}.{provider.token().split('.')[1]}."


def signed_with_the_public_key(provider: Provider) -> str:
    """HS256, with what everybody knows as its secret."""
    public = provider.private["k1"][1].public_key()
    secret = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    words = f"{part({'alg': 'HS256', 'kid': 'k1'})}.{provider.token().split('.')[1]}"
    return f"{words}.{part(hmac.digest(secret, words.encode(), hashlib.sha256))}"


def of_another_key(provider: Provider) -> str:
    stranger = Provider()
    stranger.add("k1")
    return stranger.token()


def of_another_algorithm(provider: Provider) -> str:
    """Signed by EdDSA, said to be of a key that is for ES256."""
    stranger = Provider()
    stranger.add("k1", "EdDSA")
    return stranger.token()


def tampered(provider: Provider) -> str:
    head, _, signature = provider.token().split(".")
    said = {"iss": ISSUER, "aud": AUDIENCE, "exp": time() + 600, "sub": "eve", "house": "north"}
    return f"{head}.{part(said)}.{signature}"


FORGED: dict[str, Any] = {
    "is signed by one of": lambda p: unsigned(p, "none"),
    "token is signed by one of": lambda p: unsigned(p, "NONE"),
    "A token is signed by one of": signed_with_the_public_key,
    "signature does not fit": of_another_key,
    "The token's signature does not fit": of_another_algorithm,
    "token's signature does not fit": tampered,
    "signature does not fit, or what": lambda p: p.token(head={"crit": ["b64"], "b64": False}),
    "kid is none of": lambda p: p.token(head={"kid": "k2"}),
    "token's kid is none of": lambda p: p.token(head={"kid": "../../etc/passwd"}),
    "The token's kid is none of": lambda p: p.token().replace(
        p.token().split(".")[0], part({"alg": "ES256"})
    ),
    "has expired": lambda p: p.token(exp=time() - 11),
    "lacks the claim exp": lambda p: p.token(exp=None),
    "lacks the claim aud": lambda p: p.token(aud=None),
    "lacks the claim iss": lambda p: p.token(iss=None),
    "is not valid yet": lambda p: p.token(nbf=time() + 60),
    "another audience": lambda p: p.token(aud="somebody-else"),
    "is for another audience": lambda p: p.token(aud=["a", "b"]),
    "another issuer": lambda p: p.token(iss="https://id.example.evil"),
    "claim house has to name one house": lambda p: p.token(house=None),
    "The claim house has to name one": lambda p: p.token(house=["north", "south"]),
    "claim house has to name": lambda p: p.token(house="*"),
    "claim sub has 1 to 128": lambda p: p.token(sub=None),
    "The claim sub has 1 to 128": lambda p: p.token(sub="two words"),
    "at most 8192 characters": lambda p: p.token(more="x" * 10_000),
    "neither ck_… nor a JSON Web Token": lambda p: "a.b.c",
    "The key is neither ck_…": lambda p: f"{part(b'[' * 5000)}.e30.e30",
    "key is neither": lambda p: "ck_0123456789_short",
}


@pytest.mark.parametrize("says", FORGED)
async def test_what_is_not_right_is_refused_and_said(
    says: str, provider: Provider, service: Keys
) -> None:
    assert await service.authenticate(bearer(provider.token()))

    with pytest.raises(Unauthenticated) as refused:
        await service.authenticate(bearer(FORGED[says](provider)))

    assert says in refused.value.detail


async def test_clocks_may_differ_by_seconds(provider: Provider, service: Keys) -> None:
    assert await service.authenticate(bearer(provider.token(exp=time() - 3)))
    assert await service.authenticate(bearer(provider.token(nbf=time() + 3)))


async def test_a_house_without_a_log_is_unknown(provider: Provider, service: Keys) -> None:
    with pytest.raises(UnknownHouse) as refused:
        await service.authenticate(bearer(provider.token(house="south")))

    assert (refused.value.status, refused.value.detail) == (403, "There is no house 'south' here.")


async def test_a_token_is_remembered_until_it_ends_and_no_longer(
    provider: Provider, service: Keys, clock: Clock
) -> None:
    token = bearer(provider.token(exp=time() + 100))
    caller = await service.authenticate(token)

    clock.seconds += 90
    assert await service.authenticate(token) is caller
    clock.seconds += 30
    assert await service.authenticate(token) is not caller


async def test_a_new_key_is_fetched_when_it_is_first_seen(
    provider: Provider, service: Keys, clock: Clock
) -> None:
    await service.authenticate(bearer(provider.token()))
    provider.add("k2")
    asked = provider.asked
    clock.seconds += COOLDOWN_SECONDS

    tokens = [bearer(provider.token("k2", sub=f"player-{number}")) for number in range(20)]
    callers = await asyncio.gather(*map(service.authenticate, tokens))

    assert len(callers) == 20
    assert provider.asked == asked + 1


async def test_made_up_key_ids_do_not_have_it_asked_again_and_again(
    provider: Provider, service: Keys, clock: Clock
) -> None:
    await service.authenticate(bearer(provider.token()))
    asked = provider.asked
    clock.seconds += COOLDOWN_SECONDS
    for number in range(20):
        with pytest.raises(Unauthenticated):
            await service.authenticate(bearer(provider.token(head={"kid": f"made-up-{number}"})))

    assert provider.asked == asked + 1


async def test_a_withdrawn_key_opens_nothing_not_even_what_is_remembered(
    provider: Provider, service: Keys, clock: Clock
) -> None:
    old = bearer(provider.token())
    await service.authenticate(old)
    provider.withdraw("k1")
    provider.add("k2")
    clock.seconds += COOLDOWN_SECONDS

    await service.authenticate(bearer(provider.token("k2")))

    with pytest.raises(Unauthenticated, match="none of the identity provider's keys"):
        await service.authenticate(old)


@pytest.mark.parametrize(
    "trouble", ["gone", "failing", "nonsense", "nested", "empty", "endless", "trickling"]
)
async def test_known_keys_go_on_to_work_while_the_provider_is_in_trouble(
    trouble: str, database: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.http.jwks._TIMEOUT_SECONDS", 1.0)
    provider = Provider()
    provider.add("k1")
    with ExitStack() as answering:
        answering.enter_context(provider.answering())
        async with serving(provider, database, clock) as service:
            await service.authenticate(bearer(provider.token()))
            provider.add("k2")
            match trouble:
                case "gone":
                    answering.close()
                case "failing":
                    provider.status = 500
                case "empty":
                    provider.published = []
                case "nested":
                    provider.start = '{"keys": [{"kid":' + "[" * 100_000
                case "trickling":
                    provider.pause_seconds = 0.01
                case _:
                    provider.padding = "}" if trouble == "nonsense" else " " * 2**20
            for number in range(3):
                clock.seconds += COOLDOWN_SECONDS
                with pytest.raises(Unauthenticated, match="kid is none of"):
                    await service.authenticate(bearer(provider.token("k2", sub=f"{number}")))
                known = bearer(provider.token(sub=f"player-{number}"))
                assert await service.authenticate(known)


async def test_a_provider_that_was_away_at_the_start_is_asked_again(
    database: Database, clock: Clock
) -> None:
    provider = Provider()
    provider.add("k1")
    with provider.answering():
        port = int(provider.url.split(":")[2].split("/")[0])
    async with serving(provider, database, clock) as service:
        with pytest.raises(Unreachable, match="keys of the identity provider"):
            await service.authenticate(bearer(provider.token()))
        with provider.answering(port):
            clock.seconds += COOLDOWN_SECONDS
            assert await service.authenticate(bearer(provider.token()))


@pytest.mark.filterwarnings("ignore:The RSA key is 1024 bits long")
async def test_keys_that_are_for_something_else_sign_nothing(
    provider: Provider, service: Keys, clock: Clock
) -> None:
    provider.add("weak", "RS256", WEAK_RSA)
    provider.add("for-secrets")
    provider.published[-1]["use"] = "enc"
    provider.published.append({"kty": "oct", "kid": "shared", "k": part(b"secret"), "alg": "HS256"})
    provider.published.append({"kty": "???", "kid": "k3"})
    clock.seconds += COOLDOWN_SECONDS
    provider.add("k2")

    assert await service.authenticate(bearer(provider.token("k2")))
    for kid in ("weak", "for-secrets"):
        with pytest.raises(Unauthenticated, match="kid is none of"):
            await service.authenticate(bearer(provider.token(kid)))


async def test_keys_may_be_in_a_file(
    provider: Provider, database: Database, clock: Clock, tmp_path: Path
) -> None:
    file = tmp_path / "the keys.json"
    file.write_text(json.dumps({"keys": provider.published}))

    async with serving(provider, database, clock, url=file.as_uri()) as service:
        assert await service.authenticate(bearer(provider.token()))

    assert provider.asked == 0


async def test_tokens_that_are_no_good_count_as_failures(provider: Provider, service: Keys) -> None:
    for number in range(100):
        with pytest.raises(Unauthenticated):
            await service.authenticate(bearer(f"a.b.{number}"), ("192.0.2.1", 1))

    with pytest.raises(TooManyFailures):
        await service.authenticate(bearer(provider.token()), ("192.0.2.1", 1))
    assert await service.authenticate(bearer(provider.token()), ("192.0.2.2", 1))
