"""API keys as they are made, listed, rotated and revoked: by the operator, with the role that
migrates."""

import re
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, Literal, get_args

from msgspec import Struct
from psycopg import Connection
from psycopg.rows import class_row

from shared.http.quotas import Quota

Scope = Literal["play", "read", "ledger", "audit", "ops"]

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
"""play: commands of a table · read: tables and rounds · ledger: vaults, grants and accounts ·
audit: the log and its proofs · ops: running the service."""

CHANGED: Final = "croupier_api_key"
"""The channel where Postgres tells every serving process the prefix of a key that has changed."""

_TOKEN: Final = re.compile("ck_([0-9a-f]{10})_([0-9a-f]{64})")


class Key(Struct, frozen=True):
    """A key as the operator sees it. Its secret is shown once, when it is made.

    `used_at` is the last use, to a minute.
    """

    house: str
    prefix: str
    name: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None
    quota: int | None
    quota_seconds: int | None

    def limit(self) -> Quota | None:
        """How often it may ask, where that was said of this key."""
        return Quota(self.quota, self.quota_seconds) if self.quota and self.quota_seconds else None


def split(token: str) -> tuple[str, str] | None:
    """`ck_<prefix>_<secret>` → prefix and secret; None for anything else."""
    found = _TOKEN.fullmatch(token)
    return (found[1], found[2]) if found else None


def hashed(secret: str) -> bytes:
    """What is kept of a secret."""
    return sha256(secret.encode()).digest()


def create(
    owner: Connection,
    house: str,
    name: str,
    scopes: Iterable[Scope],
    expires_at: datetime | None = None,
    quota: Quota | None = None,
) -> str:
    """Makes a key and returns it whole. This is the only time that its secret can be seen."""
    prefix, secret = secrets.token_hex(5), secrets.token_hex(32)
    owner.execute(
        """
        INSERT INTO api_key (house, prefix, name, secret_hash, scopes, expires_at,
                             quota, quota_seconds)
        VALUES (%s, %s, %s, %b, %s, %s, %s, %s)
        """,
        (house, prefix, name, hashed(secret), list(scopes), expires_at, *(quota or (None, None))),
    )
    return f"ck_{prefix}_{secret}"


def works(owner: Connection, house: str, token: str) -> bool:
    """Whether a house knows this key, and it is neither expired nor revoked."""
    prefix, secret = split(token) or ("", "")
    found = owner.execute(
        """
        SELECT FROM api_key
         WHERE house = %s AND prefix = %s AND secret_hash = %b AND revoked_at IS NULL
           AND (expires_at IS NULL OR expires_at > now())
        """,
        (house, prefix, hashed(secret)),
    )
    return found.rowcount == 1


def listed(owner: Connection, house: str) -> list[Key]:
    """The keys of a house, also the revoked ones, oldest first."""
    with owner.cursor(row_factory=class_row(Key)) as cursor:
        return cursor.execute(
            """
            SELECT house, prefix, name, scopes, created_at, expires_at, revoked_at, used_at,
                   quota, quota_seconds
              FROM api_key LEFT JOIN api_key_use USING (house, prefix)
             WHERE house = %s ORDER BY created_at, prefix
            """,
            (house,),
        ).fetchall()


def revoke(owner: Connection, house: str, prefix: str) -> bool:
    """Ends a key for ever, and tells every process that serves, which may remember it.

    False when the house has none of that prefix that still works.
    """
    with owner.transaction():
        revoked = owner.execute(
            """
            UPDATE api_key SET revoked_at = now()
             WHERE house = %s AND prefix = %s AND revoked_at IS NULL
            """,
            (house, prefix),
        ).rowcount
        _tell(owner, prefix)
    return bool(revoked)


def rotate(
    owner: Connection, key: Key, overlap: timedelta, expires_at: datetime | None = None
) -> str:
    """Makes a key that may do what another one may, which then ends after the overlap.

    The new key ends when the old one was to end, or at `expires_at`. An overlap cannot make the old
    one last longer; without one it is revoked. Returns the new key, whole.
    """
    end = expires_at or key.expires_at
    with owner.transaction():
        token = create(owner, key.house, key.name, key.scopes, end, key.limit())
        if not overlap:
            revoke(owner, key.house, key.prefix)
            return token
        owner.execute(
            """
            UPDATE api_key SET expires_at = least(expires_at, now() + %s)
             WHERE house = %s AND prefix = %s
            """,
            (overlap, key.house, key.prefix),
        )
        _tell(owner, key.prefix)
    return token


def _tell(owner: Connection, prefix: str) -> None:
    """Heard when the transaction is committed, and not before."""
    owner.execute("SELECT pg_notify(%s, %s)", (CHANGED, prefix))
