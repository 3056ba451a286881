"""Callers with a JSON Web Token of the operator's identity provider, instead of an API key."""

import re
from time import time
from typing import Any, Final, NamedTuple

import jwt
from jwt import PyJWTError
from psycopg import OperationalError
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from shared.eventstore.rejections import Unreachable
from shared.http.auth import Caller, Unauthenticated, UnknownHouse
from shared.http.jwks import ALGORITHMS, Jwks
from shared.http.keys import SCOPES
from shared.kernel.ids import ID_PATTERN

LEEWAY_SECONDS: Final = 10.0
"""How far the clock of the identity provider may be from ours."""

MOST_CHARACTERS: Final = 8 * 1024

_HOUSE: Final = re.compile(ID_PATTERN)
_ACTOR: Final = re.compile(r"[!-~]{1,128}")


class Claims(NamedTuple):
    """What the tokens of a provider have to say, and the claims in which they say it.

    `scopes` is a list of scopes, or a text with spaces between them.
    """

    issuer: str
    audience: str
    house: str = "house"
    scopes: str = "scope"
    actor: str = "sub"


class Tokens:
    """Says who a token is for, and for how long. It belongs to one house, which has to be there."""

    def __init__(self, keys: Jwks, claims: Claims, pool: AsyncConnectionPool[Any]) -> None:
        self._keys = keys
        self._claims = claims
        self._pool = pool

    async def caller(self, token: str) -> tuple[Caller, float]:
        """The caller, and for how many seconds. Raises Unauthenticated, UnknownHouse, Unreachable.

        Events name the caller as `jwt/<subject>`.
        """
        said = await self._verified(token)
        house, actor = said.get(self._claims.house), said.get(self._claims.actor)
        if not isinstance(house, str) or not _HOUSE.fullmatch(house):
            raise Unauthenticated(f"The claim {self._claims.house} has to name one house.")
        if not isinstance(actor, str) or not _ACTOR.fullmatch(actor):
            raise Unauthenticated(
                f"The claim {self._claims.actor} has 1 to 128 visible ASCII characters."
            )
        await self._has_log(house)
        caller = Caller(house, f"jwt/{actor}", _scopes(said.get(self._claims.scopes)))
        return caller, float(said["exp"]) + LEEWAY_SECONDS - time()

    async def _verified(self, token: str) -> dict[str, Any]:
        """What a token says, once its signature and its times are good."""
        if len(token) > MOST_CHARACTERS:
            raise Unauthenticated(f"A token has at most {MOST_CHARACTERS} characters.")
        try:
            head = jwt.get_unverified_header(token)
        except (PyJWTError, ValueError, RecursionError):
            raise Unauthenticated("The key is neither ck_… nor a JSON Web Token.") from None
        if head.get("alg") not in ALGORITHMS:
            raise Unauthenticated(f"A token is signed by one of {', '.join(sorted(ALGORITHMS))}.")
        kid = head.get("kid")
        key = await self._keys.key(kid) if isinstance(kid, str) else None
        if not key:
            raise Unauthenticated("The token's kid is none of the identity provider's keys.")
        try:
            said: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=self._claims.audience,
                issuer=self._claims.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (PyJWTError, ValueError, OverflowError, RecursionError) as error:
            raise Unauthenticated(_why(error)) from None
        return said

    async def _has_log(self, house: str) -> None:
        try:
            async with self._pool.connection() as connection:
                found = await connection.execute("SELECT FROM log_head WHERE house = %s", (house,))
        except (OperationalError, PoolTimeout) as error:
            raise Unreachable("Houses cannot be looked up.") from error
        if not found.rowcount:
            raise UnknownHouse(f"There is no house {house!r} here.")


def _scopes(said: object) -> frozenset[str]:
    """Those that are ours. An identity provider has others too, and none of them means all."""
    words = said.split() if isinstance(said, str) else said if isinstance(said, list) else []
    return frozenset(scope for scope in SCOPES if scope in words)


def _why(error: Exception) -> str:
    match error:
        case jwt.ExpiredSignatureError():
            return "The token has expired."
        case jwt.ImmatureSignatureError():
            return "The token is not valid yet."
        case jwt.InvalidAudienceError():
            return "The token is for another audience."
        case jwt.InvalidIssuerError():
            return "The token is of another issuer."
        case jwt.MissingRequiredClaimError():
            return f"The token lacks the claim {error.claim}."
    return "The token's signature does not fit, or what it says cannot be read."
