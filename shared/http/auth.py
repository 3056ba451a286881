"""Who is calling: `Authorization: Bearer ck_<prefix>_<secret>`, and what that key may do."""

import asyncio
from collections.abc import Callable, Mapping
from hashlib import sha256
from hmac import compare_digest
from math import inf
from time import monotonic
from typing import Annotated, Any, ClassVar, Final

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from msgspec import Struct
from psycopg import OperationalError
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from shared.eventstore.rejections import Unreachable
from shared.http.keys import Scope, hashed, split
from shared.kernel.rejected import Rejected

REMEMBERED_SECONDS: Final = 5.0
"""How long an answer about a key is remembered: a revoked key is refused at the latest then."""

_MOST_REMEMBERED: Final = 10_000

CALLER: Final = "caller"
"""Where a request's scope has who sent it, once that is known."""


class Unauthenticated(Rejected):
    """Who are you?

    The request carries no API key, or one that is unknown, expired or revoked. Send the header
    `Authorization: Bearer <key>`. `croupier up` keeps a key for local use in `dev.key`; an
    operator makes others with `croupier keys create`.
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
        has = ", ".join(sorted(scopes))
        super().__init__(
            f"This needs a key with the scope {needed}; yours has {has}.", needed=needed
        )


class Caller(Struct, frozen=True):
    """Whoever holds a key. It sees and moves what belongs to its house, nothing else."""

    house: str
    actor: str
    """How events name who caused them: `key/<name>/<prefix>`."""
    scopes: frozenset[str]

    @property
    def key(self) -> str:
        """The prefix of its key, which is no secret."""
        return self.actor.rpartition("/")[2]

    def require(self, scope: Scope) -> "Caller":
        """Raises `Forbidden` unless the key has the scope."""
        if scope not in self.scopes:
            raise Forbidden(scope, self.scopes)
        return self


class Keys:
    """Looks keys up and remembers the answers, so that most requests cost one dict look-up."""

    def __init__(
        self, pool: AsyncConnectionPool[Any], clock: Callable[[], float] = monotonic
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._remembered: dict[bytes, tuple[Caller | None, float]] = {}
        self._looking: dict[bytes, asyncio.Task[Caller | None]] = {}

    async def authenticate(self, authorization: bytes | None) -> Caller:
        """The caller behind the value of an `Authorization` header.

        Raises `Unauthenticated`, and `Unreachable` when the key has to be looked up in vain.
        """
        fingerprint = sha256(authorization or b"").digest()  # A dump of our memory holds no key.
        caller, until = self._remembered.get(fingerprint, (None, 0.0))
        if until <= self._clock():
            caller = await self._look_up_once(fingerprint, authorization or b"")
        if not caller:
            raise Unauthenticated("This key is unknown, expired or revoked.")
        return caller

    async def _look_up_once(self, fingerprint: bytes, authorization: bytes) -> Caller | None:
        """One look-up for all who come at once: a busy key is due for hundreds of them."""
        looking = self._looking.get(fingerprint)
        if looking is None:
            looking = asyncio.create_task(self._look_up(fingerprint, authorization))
            looking.add_done_callback(lambda _: self._looking.pop(fingerprint))
            self._looking[fingerprint] = looking
        return await asyncio.shield(looking)

    async def _look_up(self, fingerprint: bytes, authorization: bytes) -> Caller | None:
        scheme, _, token = authorization.decode("latin-1").partition(" ")
        parts = split(token) if scheme.lower() == "bearer" else None
        if not parts:
            raise Unauthenticated("Send the header Authorization: Bearer ck_….")
        now = self._clock()
        try:
            caller, seconds_left = await self._read(*parts)
        except (OperationalError, PoolTimeout) as error:
            raise Unreachable("API keys cannot be looked up.") from error
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[fingerprint] = caller, now + min(REMEMBERED_SECONDS, seconds_left)
        return caller

    async def _read(self, prefix: str, secret: str) -> tuple[Caller | None, float]:
        """The caller, and for how many seconds its key is valid."""
        async with self._pool.connection() as connection:
            rows = await connection.execute(
                """
                SELECT house, name, scopes, secret_hash,
                       coalesce(extract(epoch FROM expires_at - now())::float8, 'infinity')
                  FROM api_key
                 WHERE prefix = %s AND revoked_at IS NULL
                   AND (expires_at IS NULL OR expires_at > now())
                """,
                (prefix,),
            )
            async for house, name, scopes, kept_hash, seconds_left in rows:
                if compare_digest(kept_hash, hashed(secret)):
                    caller = Caller(house, f"key/{name}/{prefix}", frozenset(scopes))
                    return caller, seconds_left
        return None, inf


_BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="api_key",
    bearerFormat="ck_<prefix>_<secret>",
    description="An API key. `croupier up` keeps one for local use in `dev.key`.",
)


def caller_with(scope: Scope) -> Any:
    """A FastAPI dependency: the caller, who has this scope.

    `async def tables(caller: Annotated[Caller, caller_with("read")])`. It expects the `Keys` in
    `app.state.keys` and shows in the OpenAPI document as an HTTP bearer key.
    """

    async def caller(
        request: Request,
        _: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
    ) -> Caller:
        return await admitted(request, scope)

    return Depends(caller)


async def admitted(request: Request, scope: Scope) -> Caller:
    """The caller of a request, who has this scope now. Raises as `authenticate` and `require`."""
    keys: Keys = request.app.state.keys
    raw = dict(request.headers.raw)
    caller = request.scope[CALLER] = await keys.authenticate(raw.get(b"authorization"))
    return caller.require(scope)
