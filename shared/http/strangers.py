"""Who tries keys: so many failures an address, then it has to wait."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv6Network, ip_address
from math import ceil
from time import monotonic
from typing import ClassVar, Final

from shared.http.quotas import Quota
from shared.kernel.rejected import Rejected

_MOST_ADDRESSES: Final = 10_000
_MOST_CHARACTERS: Final = 64
"""Of what is said to be an address, and is none."""


class TooManyFailures(Rejected):
    """Too many keys that do not work.

    So many requests from this address had a key that is unknown, expired or revoked that no
    further one is looked at, but for keys that have worked here before. Wait for `retry_after`
    seconds, then send the right key.
    """

    status: ClassVar[int] = 429
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(self, quota: Quota, retry_after: int) -> None:
        super().__init__(
            f"{quota.requests} requests from your address had no key that works.",
            retry_after=retry_after,
        )


class Strangers:
    """Counts failures by address, at most 10,000 of them; who comes new pushes out the oldest.

    An IPv6 address counts as its /64, which is what one client is given, but one that stands for an
    IPv4 address as that.
    """

    def __init__(self, quota: Quota, clock: Callable[[], float] = monotonic) -> None:
        self._quota = quota
        self._clock = clock
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def admit(self, address: str) -> None:
        """Raises TooManyFailures."""
        failures, until = self._failures.get(_client(address), (0, 0.0))
        left = until - self._clock()
        if failures >= self._quota.requests and left > 0:
            raise TooManyFailures(self._quota, ceil(left))

    def failed(self, address: str) -> None:
        """Another request from this address had a key that does not work."""
        client, now = _client(address), self._clock()
        failures, until = self._failures.get(client, (0, 0.0))
        if until <= now:
            self._failures.pop(client, None)  # it begins anew, as the youngest
            failures, until = 0, now + self._quota.seconds
        self._failures[client] = failures + 1, until
        if len(self._failures) > _MOST_ADDRESSES:
            self._failures.popitem(last=False)


def _client(address: str) -> str:
    try:
        found = ip_address(address)
    except ValueError:
        return address[:_MOST_CHARACTERS]
    if isinstance(found, IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or IPv6Network((int(found), 64), strict=False))
