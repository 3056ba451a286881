"""Rate limits: what is granted over all processes, what is said of it, and what without Redis."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic

import pytest
from redis.asyncio import Redis

from shared.http.auth import Caller
from shared.http.limits import Bucket, Limit, Limits, Shared, TooManyRequests
from shared.http.quotas import Quota
from shared.telemetry import REGISTRY
from tests.api.croupier import PATIENCE_SECONDS
from tests.http.test_auth import Clock

HOUR = Quota(160, 3600)
"""So slow that nothing comes back during a test."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def redis(valkey_url: str) -> AsyncIterator["Redis"]:
    async with Redis.from_url(valkey_url) as redis:
        yield redis


def caller(name: str = "till", house: str = "north", quota: Quota | None = None) -> Caller:
    return Caller(house, f"key/{name}/0", frozenset({"play"}), quota)


def of(limits: Limits, who: Caller | None = None) -> Limit:
    limit = limits.of(who or caller())
    assert limit
    return limit


async def granted(limit: Limit, asked: int) -> int:
    """How many of so many requests, all at once, are let in."""
    answers = await asyncio.gather(*(limit.take() for _ in range(asked)), return_exceptions=True)
    refused = [each for each in answers if isinstance(each, TooManyRequests)]
    assert answers.count(None) + len(refused) == asked
    return answers.count(None)


def figure(name: str) -> float:
    return REGISTRY.get_sample_value(f"croupier_rate_{name}_total") or 0.0


def test_without_a_quota_there_is_no_limit() -> None:
    assert Limits().of(caller()) is None


async def test_processes_share_a_quota_and_grant_neither_more_nor_less(
    redis: "Redis", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is as a process: they have nothing but Redis in common, for which they wait here."""
    monkeypatch.setattr("shared.http.limits._PATIENCE_SECONDS", PATIENCE_SECONDS)
    processes = [Limits(Shared(redis), by_key=HOUR) for _ in range(4)]

    at_once = await asyncio.gather(*(granted(of(each), 100) for each in processes))
    kept = [await granted(of(each), 100) for each in processes]

    assert sum(at_once) + sum(kept) == HOUR.requests
    assert max(kept) <= HOUR.requests / 16


async def test_what_is_left_comes_back_evenly(
    redis: "Redis", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.http.limits._PATIENCE_SECONDS", PATIENCE_SECONDS)
    limit = of(Limits(Shared(redis), by_key=Quota(1000, 1)))
    since = monotonic()
    while await granted(limit, 100) == 100:
        since = monotonic()

    await asyncio.sleep(0.1)

    came = await granted(limit, 2_000)
    assert 50 <= came <= 1000 * (monotonic() - since) + 10, "Redis has a clock of its own"


async def test_redis_is_asked_once_for_many(redis: "Redis") -> None:
    shared = Shared(redis)
    asked = 0

    class Counting(Shared):
        async def take(self, name: str, quota: Quota, wanted: int) -> tuple[int, float] | None:
            nonlocal asked
            asked += 1
            return await shared.take(name, quota, wanted)

    limit = of(Limits(Counting(redis), by_key=Quota(16_000, 3600)))
    for _ in range(5_000):
        await limit.take()

    assert 5 <= asked <= 12


async def test_a_refused_flood_does_not_ask_redis(redis: "Redis") -> None:
    limit = of(Limits(Shared(redis), by_key=HOUR))
    await granted(limit, 200)
    await redis.aclose()
    refusals = figure("refusals")

    assert await granted(limit, 1000) == 0
    assert figure("refusals") == refusals + 1000


async def test_a_request_may_weigh_more_than_what_is_left_and_the_next_ones_wait(
    clock: Clock,
) -> None:
    limit = of(Limits(Shared(None, clock), by_key=Quota(10, 10)))
    await limit.take()
    limit.charge(14)  # of fifteen commands, five go on account

    with pytest.raises(TooManyRequests) as refused:
        await limit.take()

    assert refused.value.facts == {"retry_after": 6}
    clock.seconds += 6
    await limit.take()
    with pytest.raises(TooManyRequests):
        await limit.take()


async def test_a_house_has_a_limit_over_its_keys_and_no_other_house_feels_it(
    clock: Clock,
) -> None:
    limits = Limits(Shared(None, clock), by_key=Quota(20, 60), by_house=Quota(30, 60))

    assert await granted(of(limits, caller("a")), 25) == 20
    assert await granted(of(limits, caller("b")), 25) == 10
    assert await granted(of(limits, caller("a", "south")), 25) == 20
    with pytest.raises(TooManyRequests, match="The house may ask 30 times in 60 s"):
        await of(limits, caller("c")).take()


async def test_what_the_house_refuses_is_not_taken_from_the_key(clock: Clock) -> None:
    limit = of(Limits(Shared(None, clock), by_key=Quota(5, 60), by_house=Quota(2, 60)))

    assert await granted(limit, 20) == 2
    assert dict(limit.headers())[b"ratelimit"].startswith(b'"key";r=3;')


async def test_a_key_may_have_a_quota_of_its_own(clock: Clock) -> None:
    limits = Limits(Shared(None, clock), by_key=Quota(5, 60))

    assert await granted(of(limits), 10) == 5
    assert await granted(of(limits, caller("big", quota=Quota(8, 60))), 10) == 8
    assert await granted(of(Limits(), caller("small", quota=Quota(3, 60))), 10) == 3
    assert await granted(of(limits, caller("big", quota=Quota(9, 60))), 10) == 9


async def test_headers_say_what_there_is_and_what_is_left(clock: Clock) -> None:
    limit = of(Limits(Shared(None, clock), by_key=Quota(100, 1), by_house=Quota(600, 60)))
    for _ in range(30):
        await limit.take()

    assert dict(limit.headers()) == {
        b"ratelimit-policy": b'"key";q=100;w=1, "house";q=600;w=60',
        b"ratelimit": b'"key";r=70;t=1, "house";r=570;t=3',
    }


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", None])
async def test_without_redis_each_process_holds_the_limit_alone_and_says_so(
    url: str | None, clock: Clock
) -> None:
    alone = figure("leases_alone")
    redis = Redis.from_url(url) if url else None
    limit = of(Limits(Shared(redis, clock), by_key=Quota(100, 60)))

    assert await granted(limit, 200) == 100
    clock.seconds += 30
    assert await granted(limit, 200) == 50
    assert figure("leases_alone") > alone
    if redis:
        await redis.aclose()


async def test_a_redis_that_hangs_is_not_waited_for(clock: Clock) -> None:
    async def never(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async with await asyncio.start_server(never, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with Redis.from_url(f"redis://127.0.0.1:{port}") as redis:
            limit = of(Limits(Shared(redis, clock), by_key=Quota(100, 60)))
            async with asyncio.timeout(10):
                assert await granted(limit, 200) == 100


def test_a_bucket_holds_no_more_than_its_quota() -> None:
    bucket = Bucket(Quota(10, 5))

    assert bucket.take(4, 100.0) == (4, 6.0)
    assert bucket.take(9, 100.25) == (6, 0.5)
    assert bucket.take(1, 100.0) == (0, 0.5)  # a clock that goes back takes nothing away
    assert bucket.take(99, 1000.0) == (10, 0.0)


@pytest.mark.parametrize(
    ("text", "quota"), [("100/s", (100, 1)), ("6000/m", (6000, 60)), ("1/h", (1, 3600))]
)
def test_a_quota_is_written_as_it_is_read(text: str, quota: tuple[int, int]) -> None:
    assert Quota.read(text) == quota
    assert str(Quota.read(text)) == text


@pytest.mark.parametrize("text", ["", "0/s", "-1/s", "100", "100/d", "1.5/s", "100/s ", "1e3/s"])
def test_what_is_no_quota_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="written as 100/s"):
        Quota.read(text)
