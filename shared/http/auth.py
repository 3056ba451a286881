"""Who is calling: `Authorization: Bearer ck_<prefix>_<secret>`, and what that key may do."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from hmac import compare_digest
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, LiteralString, TypeAlias, TypeVar

import psycopg
from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from msgspec import Struct
from psycopg import OperationalError
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from starlette import types

from shared.eventstore.rejections import Unreachable
from shared.http.keys import Scope, hashed, split
from shared.http.parameters import known
from shared.http.quotas import Quota
from shared.http.secured import LIMIT
from shared.http.strangers import Strangers
from shared.kernel.rejected import Rejected

if TYPE_CHECKING:
    from shared.http.limits import Limits

REMEMBERED_SECONDS: Final = 5.0
"""How long an answer about a key is remembered. Whoever revokes a key tells us (`revocations`); for
this long it may work nevertheless while that cannot be heard."""

_MOST_REMEMBERED: Final = 10_000
_LONG_AGO: Final = -inf
_SEND: Final = "Send the header Authorization: Bearer ck_…."
_NO_BEARER: Final = f"The word Bearer is missing. {_SEND}"
_NO_KEY: Final = f"This is no API key. {_SEND}"
_UNKNOWN: Final = "This key is unknown, expired or revoked."

Client: TypeAlias = tuple[str, int] | None
"""The address and the port that a request came from, where there are such."""

T = TypeVar("T")

CALLER: Final = "caller"
"""Where a request's scope has who sent it, once that is known."""


class Unauthenticated(Rejected):
    """Who are you?

    The request carries no API key, or one that is unknown, expired or revoked. Send the header
    `Authorization: Bearer <key>`. `croupier up` keeps a key for local use in `dev.key`; an
    operator makes others with `croupier keys create`. Where the operator has named an identity
    provider, one of its tokens does as well.
    """

    status: ClassVar[int] = 401
    headers: ClassVar[Mapping[str, str]] = {"WWW-Authenticate": 'Bearer realm="croupier"'}


class Forbidden(Rejected):
    """This key may not do that.

    Every key has scopes: `play` for the commands of a table, `read` for tables and rounds,
    `ledger` for vaults, grants and accounts, `audit` for the log and its proofs, `ops` for running
    the service. `needed` is the scope that was missing; ask the operator for a key that has it.
    """

    status: ClassVar[int] = 403

    def __init__(self, needed: Scope, scopes: frozenset[str]) -> None:
        has = ", ".join(sorted(scopes)) or "none"
        super().__init__(
            f"This needs a key with the scope {needed}; yours has {has}.", needed=needed
        )


class UnknownHouse(Rejected):
    """There is no such house.

    The token is good, but the house that it names has no log here. An operator opens one with
    `croupier migrate`.
    """

    status: ClassVar[int] = 403


class Caller(Struct, frozen=True):
    """Whoever holds a key. It sees and moves what belongs to its house, nothing else."""

    house: str
    actor: str
    """How events name who caused them: `key/<name>/<prefix>` or `jwt/<subject>`."""
    scopes: frozenset[str]
    quota: Quota | None = None
    """How often it may ask, where that was said of this key alone."""

    @property
    def key(self) -> str:
        """The prefix of its key, which is no secret, or the actor who has none."""
        return self.actor.rpartition("/")[2] if self.actor.startswith("key/") else self.actor

    def require(self, scope: Scope) -> "Caller":
        """Raises `Forbidden` unless the key has the scope."""
        if scope not in self.scopes:
            raise Forbidden(scope, self.scopes)
        return self


Verify: TypeAlias = Callable[[str], Awaitable[tuple[Caller | None, float]]]


class Keys:
    """Looks keys up and remembers the answers, so that most requests cost one dict look-up."""

    def __init__(
        self,
        pool: AsyncConnectionPool[Any],
        clock: Callable[[], float] = monotonic,
        strangers: Strangers | None = None,
        tokens: Verify | None = None,
    ) -> None:
        """`tokens` says who a key is for that is none of ours, and for how many seconds."""
        self._pool = pool
        self._tokens = tokens
        self._clock = clock
        self._strangers = strangers
        self._remembered: dict[bytes, tuple[Caller, float]] = {}
        self._refused: dict[bytes, tuple[str, float]] = {}
        self._looking: dict[bytes, asyncio.Task[Caller]] = {}
        self._changes = 0

    async def authenticate(self, authorization: bytes | None, client: Client = None) -> Caller:
        """The caller behind the value of an `Authorization` header, sent by a client.

        Raises `Unauthenticated`, `TooManyFailures`, and `Unreachable` when the key has to be
        looked up in vain.
        """
        if not authorization:
            raise Unauthenticated(_SEND)
        fingerprint = sha256(authorization).digest()  # A dump of our memory holds no key.
        if known := self._remembered.get(fingerprint):
            if known[1] > self._clock():
                return known[0]
            return await self._look_up_once(fingerprint, authorization)
        return await self._admit(fingerprint, authorization, client[0] if client else "")

    def forget(self, prefix: str | None = None) -> None:
        """Look keys with this prefix up again, or all of them, before they are believed."""
        self._changes += 1
        self._refused.clear()
        for fingerprint, (caller, _) in self._remembered.items():
            if prefix is None or caller.actor.endswith(f"/{prefix}"):
                self._remembered[fingerprint] = caller, _LONG_AGO  # it has worked here, for _admit

    async def _admit(self, fingerprint: bytes, authorization: bytes, address: str) -> Caller:
        """Somebody whose key has not worked here of late, and may be trying keys."""
        if self._strangers:
            self._strangers.admit(address)
        try:
            why, until = self._refused.get(fingerprint, ("", 0.0))
            if until > self._clock():
                raise Unauthenticated(why)
            return await self._look_up_once(fingerprint, authorization)
        except Unauthenticated:
            if self._strangers:
                self._strangers.failed(address)
            raise

    async def _look_up_once(self, fingerprint: bytes, authorization: bytes) -> Caller:
        """One look-up for all who come at once: a busy key is due for hundreds of them."""
        looking = self._looking.get(fingerprint)
        if looking is None:
            looking = asyncio.create_task(self._look_up(fingerprint, authorization))
            looking.add_done_callback(lambda _: self._looking.pop(fingerprint))
            self._looking[fingerprint] = looking
        return await asyncio.shield(looking)

    async def _look_up(self, fingerprint: bytes, authorization: bytes) -> Caller:
        try:
            caller, until = await self._find(authorization)
        except Unauthenticated as refusal:
            self._remembered.pop(fingerprint, None)
            again = self._clock() + REMEMBERED_SECONDS
            _remember(self._refused, fingerprint, refusal.detail, again)
            raise
        _remember(self._remembered, fingerprint, caller, until)
        return caller

    async def _find(self, authorization: bytes) -> tuple[Caller, float]:
        """The caller, and until when that may be remembered."""
        scheme, _, token = authorization.decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthenticated(_NO_BEARER if scheme.startswith("ck_") else _SEND)
        parts, changes = split(token), -1
        while changes != self._changes:  # else what was read may be older than a revocation
            changes, now = self._changes, self._clock()
            if parts:
                caller, seconds_left = await self._read(*parts)
                seconds_left = min(REMEMBERED_SECONDS, seconds_left)
            elif self._tokens:
                caller, seconds_left = await self._tokens(token)
            else:
                raise Unauthenticated(_NO_KEY if token else _SEND)
        if not caller:
            raise Unauthenticated(_UNKNOWN)
        return caller, now + seconds_left

    async def _read(self, prefix: str, secret: str) -> tuple[Caller | None, float]:
        """The caller, and for how many seconds its key is valid. Raises `Unreachable`."""
        try:
            async with self._pool.connection() as connection:
                rows = await connection.execute(_KEY, (prefix,))
                for row in await rows.fetchall():
                    house, name, scopes, kept_hash, *quota, seconds_left, noted = row
                    if compare_digest(kept_hash, hashed(secret)):
                        if not noted:
                            with suppress(psycopg.Error):  # that it works is what counts
                                await connection.execute(_NOTE_USE, (house, prefix))
                        limit = Quota(*quota) if quota[0] else None
                        actor = f"key/{name}/{prefix}"
                        return Caller(house, actor, frozenset(scopes), limit), seconds_left
        except (OperationalError, PoolTimeout) as error:
            raise Unreachable("API keys cannot be looked up.") from error
        return None, inf


def _remember(memory: "dict[bytes, tuple[T, float]]", what: bytes, answer: T, until: float) -> None:
    if len(memory) >= _MOST_REMEMBERED:
        memory.clear()
    memory[what] = answer, until


_KEY: LiteralString = """
    SELECT house, name, scopes, secret_hash, quota, quota_seconds,
           coalesce(extract(epoch FROM expires_at - now())::float8, 'infinity'),
           coalesce(used_at > now() - interval '1 minute', false)
      FROM api_key LEFT JOIN api_key_use USING (house, prefix)
     WHERE prefix = %s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())"""

_NOTE_USE: LiteralString = """
    INSERT INTO api_key_use AS u (house, prefix, used_at) VALUES (%s, %s, now())
    ON CONFLICT (house, prefix) DO UPDATE SET used_at = excluded.used_at
     WHERE u.used_at < excluded.used_at - interval '1 minute'"""


_BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="api_key",
    bearerFormat="ck_<prefix>_<secret>",
    description="An API key; `croupier up` keeps one for local use in `dev.key`. Or a JSON Web "
    "Token of the operator's identity provider, where there is one.",
)


def caller_with(scope: Scope) -> Any:
    """A FastAPI dependency: the caller, who has this scope.

    `async def tables(caller: Annotated[Caller, caller_with("read")])`. It expects the `Keys` in
    `app.state.keys` and the `Limits` in `app.state.limits`, and shows in the OpenAPI document as
    an HTTP bearer key. Whoever may ask is also refused a query that the route does not take.
    """

    async def caller(
        request: Request,
        _: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
    ) -> Caller:
        state, authorization = request.app.state, _authorization(request)
        found = await admit(state.keys, state.limits, request.scope, scope, authorization)
        await known(request)
        return found

    return Depends(caller)


async def admit(
    keys: Keys,
    limits: "Limits",
    request: types.Scope,
    scope: Scope,
    authorization: bytes | None,
) -> Caller:
    """The caller of a request, which counts, if who sends it may not do that as well.

    Leaves the caller and what it is held to in the request. Raises as `authenticate`, `Limit.take`
    and `require`.
    """
    caller = request[CALLER] = await keys.authenticate(authorization, request["client"])
    if limit := limits.of(caller):
        request[LIMIT] = limit
        await limit.take()
    return caller.require(scope)


async def admitted(request: Request, scope: Scope) -> Caller:
    """The caller of a request, who has this scope now. Raises as `authenticate` and `require`."""
    keys: Keys = request.app.state.keys
    caller = await keys.authenticate(_authorization(request), request.client)
    request.scope[CALLER] = caller
    return caller.require(scope)


def _authorization(request: Request) -> bytes | None:
    return dict(request.headers.raw).get(b"authorization")
