"""How often a key and a house may ask, over all processes, without asking Redis for each request.

Each limit is a bucket in Redis that holds a quota and fills evenly. A process takes requests out of
it in bulk, a sixteenth of the quota, and again before they are used up; what it has left it grants
by itself. Without Redis each process has buckets of its own: limits are then looser, and
`croupier_rate_leases_alone` counts.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from time import monotonic
from typing import Any, ClassVar, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from shared import telemetry
from shared.http.auth import Caller
from shared.http.quotas import Quota
from shared.kernel.rejected import Rejected

_PARTS: Final = 16
_MOST_REMEMBERED: Final = 10_000
_PATIENCE_SECONDS: Final = 0.25
_RETRY_SECONDS: Final = 1.0

_LEASE: Final = """
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
local most, rate, wanted = tonumber(ARGV[1]), ARGV[1] / ARGV[2], tonumber(ARGV[3])
local kept = redis.call('HMGET', KEYS[1], 'left', 'at')
local left = math.min(most, (kept[1] or most) + math.max(0, now - (kept[2] or now)) * rate)
local granted = math.max(0, math.min(wanted, math.floor(left)))
left = left - granted
redis.call('HSET', KEYS[1], 'left', string.format('%.6f', left), 'at', string.format('%.6f', now))
redis.call('EXPIRE', KEYS[1], math.ceil(most / rate) + 1)
return {granted, string.format('%.6f', left)}
"""


class TooManyRequests(Rejected):
    """You ask more often than you may.

    Nothing was done. `RateLimit-Policy` names the limits, of this key and of its house, and
    `RateLimit` what is left of each. Wait for `retry_after` seconds and send the request again.
    """

    status: ClassVar[int] = 429
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(self, whose: str, quota: Quota, wait_seconds: float) -> None:
        super().__init__(
            f"The {whose} may ask {quota.requests} times in {quota.seconds} s.",
            retry_after=max(1, ceil(wait_seconds)),
        )


class Bucket:
    """A quota that fills evenly, in this process: what the script above does, by our clock."""

    def __init__(self, quota: Quota) -> None:
        self._most, self._rate = quota.requests, quota.requests / quota.seconds
        self._left, self._at = float(quota.requests), 0.0

    def take(self, wanted: int, now: float) -> tuple[int, float]:
        """How many are granted at a time in seconds, and what is left then."""
        self._left = min(self._most, self._left + max(0.0, now - self._at) * self._rate)
        self._at = now
        granted = max(0, min(wanted, int(self._left)))
        self._left -= granted
        return granted, self._left


class Shared:
    """The buckets in Redis. While it does not answer it is left alone for a second at a time."""

    def __init__(self, redis: "Redis | None", clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._script = redis.register_script(_LEASE) if redis else None
        self._again = float("-inf")

    async def take(self, name: str, quota: Quota, wanted: int) -> tuple[int, float] | None:
        """As `Bucket.take`; None when nobody answers."""
        if not self._script or self.clock() < self._again:
            return None
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                said: Any = await self._script([f"croupier:rate:{name}"], [*quota, wanted])
        except (RedisError, OSError):
            self._again = self.clock() + _RETRY_SECONDS
            return None
        return int(said[0]), float(said[1])


class Allowance:
    """What one key, or one house, may still ask in this process."""

    def __init__(self, whose: str, name: str, quota: Quota, shared: Shared) -> None:
        """`whose` is `key` or `house`, `name` that of its bucket."""
        self.quota = quota
        self.policy = f'"{whose}";q={quota.requests};w={quota.seconds}'.encode()
        self._said = f'"{whose}";r=%d;t=%d'.encode()
        self._whose, self._name, self._shared = whose, name, shared
        self._alone = Bucket(quota)
        self._rate = quota.requests / quota.seconds
        self._lease = max(1, quota.requests // _PARTS)
        self._low = self._lease // 2
        self._left = 0
        self._waiting = 0
        self._behind = float(quota.requests)
        """What was left in the bucket when we took from it last."""
        self._again = float("-inf")
        self._leasing: asyncio.Task[None] | None = None

    async def take(self) -> None:
        """Counts one request. Raises TooManyRequests, and then counts none."""
        if self._left <= self._low:
            await self._lease_more()
        self._left -= 1

    def charge(self, more: int) -> None:
        """Counts further requests that came with one: they are let in, and the next ones wait."""
        self._left -= more

    def remaining(self) -> bytes:
        """What is left, and in how many seconds all of it is there again."""
        left = max(0, int(self._left + self._behind))
        return self._said % (left, ceil((self.quota.requests - left) / self._rate))

    async def _lease_more(self) -> None:
        """Waits only when nothing is left; before that it has more fetched meanwhile."""
        while True:
            now = self._shared.clock()
            if self._left <= 0 and now < self._again:
                telemetry.count_rate_refusal()
                raise TooManyRequests(self._whose, self.quota, self._again - now)
            if now >= self._again and (self._leasing is None or self._leasing.done()):
                self._leasing = asyncio.create_task(self._fetch())
            if self._left > 0:
                return
            if self._leasing:
                self._waiting += 1
                try:
                    await asyncio.shield(self._leasing)
                finally:
                    self._waiting -= 1

    async def _fetch(self) -> None:
        wanted = self._lease + self._waiting - min(0, self._left)
        found = await self._shared.take(self._name, self.quota, wanted)
        if found is None:
            telemetry.count_lone_lease()
            found = self._alone.take(wanted, self._shared.clock())
        granted, self._behind = found
        self._left += granted
        if granted < wanted:
            missing = 1 - self._behind - min(0, self._left)
            self._again = self._shared.clock() + missing / self._rate


class Limit:
    """All that one caller is held to."""

    def __init__(self, quota: Quota | None, allowances: Sequence[Allowance]) -> None:
        """`quota` is that of the caller's key alone, if it has one."""
        self.quota = quota
        self._allowances = allowances
        self._policies = b", ".join(each.policy for each in allowances)

    async def take(self) -> None:
        """Counts a request. Raises TooManyRequests, and then counts none."""
        for place, each in enumerate(self._allowances):
            try:
                await each.take()
            except BaseException:  # or its caller has gone meanwhile
                for taken in self._allowances[:place]:
                    taken.charge(-1)
                raise

    def charge(self, more: int) -> None:
        """Counts further ones that came with it."""
        for each in self._allowances:
            each.charge(more)

    def headers(self) -> list[tuple[bytes, bytes]]:
        """As in the draft of the IETF, `draft-ietf-httpapi-ratelimit-headers-10`."""
        left = b", ".join([each.remaining() for each in self._allowances])
        return [(b"ratelimit-policy", self._policies), (b"ratelimit", left)]


class Limits:
    """The limits of all callers, of the latest 10,000 keys and houses. Without a quota: none."""

    def __init__(
        self,
        shared: Shared | None = None,
        by_key: Quota | None = None,
        by_house: Quota | None = None,
    ) -> None:
        """`by_key` holds for keys that have no quota of their own."""
        self._shared = shared or Shared(None)
        self._by_key, self._by_house = by_key, by_house
        self._none = by_key is None and by_house is None
        self._callers: OrderedDict[tuple[str, str], Limit] = OrderedDict()
        self._houses: OrderedDict[str, Allowance] = OrderedDict()

    def of(self, caller: Caller) -> Limit | None:
        """What a caller is held to."""
        if self._none and caller.quota is None:
            return None
        known = self._callers.get((caller.house, caller.actor))
        if known is None or known.quota != caller.quota:
            known = self._callers[caller.house, caller.actor] = self._limit(caller)
            _keep_bounded(self._callers)
        return known

    def _limit(self, caller: Caller) -> Limit:
        found = []
        if quota := caller.quota or self._by_key:
            name = f"{caller.house}/{caller.actor}"
            found.append(Allowance("key", name, quota, self._shared))
        if self._by_house:
            house = self._houses.get(caller.house)
            if house is None:
                house = Allowance("house", caller.house, self._by_house, self._shared)
                self._houses[caller.house] = house
                _keep_bounded(self._houses)
            found.append(house)
        return Limit(caller.quota, found)


def _keep_bounded(memory: OrderedDict[Any, Any]) -> None:
    if len(memory) > _MOST_REMEMBERED:
        memory.popitem(last=False)
