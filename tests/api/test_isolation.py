"""What one house asks for keeps no other house waiting."""

import asyncio

import httpx
import psycopg

from tests.api.croupier import House


async def test_a_key_is_known_however_many_wait_for_what_they_read(
    house: House, http: httpx.Client
) -> None:
    """And however long: a report, a lock, a slow disk."""
    other = House(house.croupier, http)
    async with house.crowd() as slow, other.crowd() as fresh:
        with psycopg.connect(house.croupier.database.owner_url) as owner:
            owner.execute("LOCK TABLE account IN ACCESS EXCLUSIVE MODE")
            waiting = [
                asyncio.create_task(slow.get(f"/v1/players/player-{number}/vault"))
                for number in range(8)
            ]
            await asyncio.sleep(0.5)
            answer = await fresh.get("/v1/rulesets/a2g")
            assert not any(each.done() for each in waiting)

    assert answer.status_code == 200
    await asyncio.wait(waiting)
