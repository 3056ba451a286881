"""Whoever tries keys has to wait, and those whose keys work do not notice."""

from collections.abc import AsyncIterator

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool

from shared.http import keys
from shared.http.auth import REMEMBERED_SECONDS, Keys, Unauthenticated
from shared.http.quotas import Quota
from shared.http.strangers import Strangers, TooManyFailures
from tests.conftest import Database
from tests.http.test_auth import Clock, bearer

QUOTA = Quota(3, 60)
HERE, THERE = ("192.0.2.1", 4711), ("192.0.2.2", 4711)


def wrong(number: int) -> bytes:
    return bearer(f"ck_{number:010x}_{'0' * 64}")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def service(database: Database, clock: Clock) -> AsyncIterator[Keys]:
    async with AsyncConnectionPool(database.app_url, min_size=1) as pool:
        yield Keys(pool, clock, Strangers(QUOTA, clock))


async def tries(service: Keys, times: int) -> None:
    for number in range(times):
        with pytest.raises(Unauthenticated):
            await service.authenticate(wrong(number), HERE)


async def test_after_so_many_failures_an_address_waits(service: Keys, clock: Clock) -> None:
    await tries(service, 3)
    clock.seconds += 20.5

    with pytest.raises(TooManyFailures) as refused:
        await service.authenticate(wrong(4), HERE)

    assert (refused.value.status, refused.value.facts) == (429, {"retry_after": 40})
    with pytest.raises(Unauthenticated):
        await service.authenticate(wrong(4), THERE)
    clock.seconds += 40
    await tries(service, 3)


async def test_the_same_wrong_key_again_and_again_counts(service: Keys) -> None:
    for _ in range(3):
        with pytest.raises(Unauthenticated):
            await service.authenticate(wrong(1), HERE)

    with pytest.raises(TooManyFailures):
        await service.authenticate(wrong(1), HERE)


async def test_no_key_at_all_is_no_try(service: Keys) -> None:
    for _ in range(5):
        with pytest.raises(Unauthenticated):
            await service.authenticate(None, HERE)


async def test_a_key_that_has_worked_goes_on_to_work_behind_the_same_address(
    service: Keys, clock: Clock, database: Database
) -> None:
    with psycopg.connect(database.owner_url) as owner:
        good, fresh = (bearer(keys.create(owner, "north", name, ["play"])) for name in "ab")
    await service.authenticate(good, HERE)
    await tries(service, 3)

    assert await service.authenticate(good, HERE)
    clock.seconds += REMEMBERED_SECONDS
    assert await service.authenticate(good, HERE)
    service.forget()  # as after a lost connection to Postgres
    assert await service.authenticate(good, HERE)
    with pytest.raises(TooManyFailures):  # the price: a new key waits for the others' failures
        await service.authenticate(fresh, HERE)


def test_an_ipv6_client_is_its_network(clock: Clock) -> None:
    strangers = Strangers(QUOTA, clock)
    for host in range(3):
        strangers.failed(f"2001:db8:0:1::{host}")

    with pytest.raises(TooManyFailures):
        strangers.admit("2001:db8:0:1:ffff::9")
    strangers.admit("2001:db8:0:2::1")


def test_an_ipv4_client_of_an_ipv6_listener_is_itself(clock: Clock) -> None:
    """The addresses of all of them are in one /64."""
    strangers = Strangers(QUOTA, clock)
    for _ in range(3):
        strangers.failed("::ffff:192.0.2.1")

    for same in ("::ffff:192.0.2.1", "192.0.2.1"):
        with pytest.raises(TooManyFailures):
            strangers.admit(same)
    strangers.admit("::ffff:192.0.2.2")


def test_what_is_no_address_is_remembered_by_its_beginning(clock: Clock) -> None:
    """A proxy says what it likes, at any length."""
    strangers = Strangers(QUOTA, clock)
    for number in range(3):
        strangers.failed("x" * 10_000 + str(number))

    with pytest.raises(TooManyFailures):
        strangers.admit("x" * 64)
    strangers.admit("y" * 64)


def test_ten_thousand_addresses_are_remembered_and_no_more(clock: Clock) -> None:
    strangers = Strangers(QUOTA, clock)
    for number in range(10_003):
        for _ in range(3):
            strangers.failed(f"client-{number}")

    strangers.admit("client-2")
    for number in (3, 10_002):
        with pytest.raises(TooManyFailures):
            strangers.admit(f"client-{number}")
