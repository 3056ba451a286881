"""The public keys of an identity provider, fetched and kept."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic
from typing import Final
from urllib.parse import unquote, urlsplit

import httpx
import msgspec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK, PyJWTError

from shared.eventstore.rejections import Unreachable

ALGORITHMS: Final = frozenset(
    {"ES256", "ES384", "ES512", "EdDSA", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"}
)
"""All of them asymmetric: who can check a signature cannot make one."""

FRESH_SECONDS: Final = 300.0
"""How often the keys are fetched; a key that was withdrawn is believed no longer."""

COOLDOWN_SECONDS: Final = 10.0
"""Between two fetches: a stranger who makes up key ids cannot have us ask again and again."""

_TIMEOUT_SECONDS: Final = 5.0
_MOST_BYTES: Final = 256 * 1024
_MOST_KEYS: Final = 100
_LEAST_RSA_BITS: Final = 2048

_log = logging.getLogger(__name__)


class _Set(msgspec.Struct):
    keys: list[dict[str, object]]


class Jwks:
    """Use it as `async with Jwks(url, on_withdrawn) as keys`; the URL is https:, http: or file:.

    While the provider does not answer, the keys that are known stay good. `on_withdrawn` is
    called when one of them was withdrawn.
    """

    def __init__(
        self, url: str, on_withdrawn: Callable[[], None], clock: Callable[[], float] = monotonic
    ) -> None:
        self._url = url
        self._on_withdrawn = on_withdrawn
        self._clock = clock
        self._keys: Mapping[str, PyJWK] = {}
        self._next_fetch = float("-inf")
        self._fetching: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._http = httpx.AsyncClient(timeout=_TIMEOUT_SECONDS)

    async def __aenter__(self) -> "Jwks":
        self._refreshing = asyncio.create_task(self._refresh())
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in (self._refreshing, self._fetching):
            if task:
                task.cancel()
                await asyncio.wait({task})
        await self._http.aclose()

    async def key(self, kid: str) -> PyJWK | None:
        """The key with this id, or None. An id that is new has the keys fetched again.

        Raises `Unreachable` when none could ever be fetched.
        """
        if kid not in self._keys:
            await self._fetch_once()
        if not self._keys:
            raise Unreachable("The keys of the identity provider cannot be fetched.")
        return self._keys.get(kid)

    async def _refresh(self) -> None:
        while True:
            await self._fetch_once()
            await asyncio.sleep(FRESH_SECONDS if self._keys else COOLDOWN_SECONDS)

    async def _fetch_once(self) -> None:
        """One fetch for all who come at once, and none soon after it."""
        if self._fetching is None or self._fetching.done():
            if self._clock() < self._next_fetch:
                return
            self._next_fetch = self._clock() + COOLDOWN_SECONDS
            self._fetching = asyncio.create_task(self._fetch())
        await asyncio.shield(self._fetching)

    async def _fetch(self) -> None:
        """Never raises: what is known stays as it is."""
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):  # that of httpx is for each read
                published = await self._read()
            found = _usable(msgspec.json.decode(published, type=_Set))
        except Exception as error:  # it is somebody else's, who may say anything
            _log.warning("The keys of the identity provider cannot be fetched: %r", error)
            return
        if not found:
            _log.warning("The identity provider has no key that can be used; %s", self._url)
            return
        before, self._keys = self._keys, found
        if any(kid not in found or not _same(key, found[kid]) for kid, key in before.items()):
            self._on_withdrawn()

    async def _read(self) -> bytes:
        address = urlsplit(self._url)
        if address.scheme == "file":
            return await asyncio.to_thread(Path(unquote(address.path)).read_bytes)
        body = bytearray()
        async with self._http.stream("GET", self._url) as answer:
            answer.raise_for_status()
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > _MOST_BYTES:
                    raise ValueError(f"more than {_MOST_BYTES} bytes")
        return bytes(body)


def _usable(published: _Set) -> dict[str, PyJWK]:
    """Those that sign by an algorithm of ours, by id. Others may stand among them."""
    found: dict[str, PyJWK] = {}
    for each in published.keys[:_MOST_KEYS]:
        kid = each.get("kid")
        if not isinstance(kid, str) or each.get("use", "sig") != "sig":
            continue
        try:
            key = PyJWK(each)
        except (PyJWTError, ValueError, TypeError):
            continue
        weak = isinstance(key.key, RSAPublicKey) and key.key.key_size < _LEAST_RSA_BITS
        if key.algorithm_name in ALGORITHMS and not weak:
            found.setdefault(kid, key)
    return found


def _same(one: PyJWK, other: PyJWK) -> bool:
    return bool(one.algorithm_name == other.algorithm_name and one.key == other.key)
