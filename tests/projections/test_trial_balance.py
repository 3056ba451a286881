"""The trial balance at any position is what a fold of the entries up to it comes to."""

import asyncio
from collections import Counter, defaultdict
from itertools import zip_longest
from typing import Any

import pytest
from msgspec import json

from services.ledger.projections import Books, Kind
from shared.eventstore.rejections import UnknownPosition
from shared.eventstore.replica import ReplicaStore
from tests.conftest import Database
from tests.projections.evening import HOUSE, an_evening


@pytest.mark.parametrize("seed", range(2))
async def test_at_every_position_it_is_the_sum_of_all_entries_up_to_it(
    seed: int, database: Database
) -> None:
    async with an_evening(database.app_url, seed) as evening:
        await evening.goes_on(60)
        books = Books(ReplicaStore(evening.store))
        balances: Counter[str] = Counter()
        assert (await books.trial_balance(HOUSE, 0)).accounts == []

        records = await evening.store.read_log(HOUSE)
        amid = 0
        for record, next in zip_longest(records, records[1:]):
            for account, amount in json.decode(record.envelope)["postings"]:
                balances[account] += amount
            found = await books.trial_balance(HOUSE, record.position)
            assert (found.total, found.balanced) == (0, True)
            if next and next.command_id == record.command_id:
                assert found == await books.trial_balance(HOUSE, next.position)
                amid += 1
            else:
                assert found.position == record.position
                assert found.accounts == by_kind(balances)
        assert amid

        assert await books.trial_balance(HOUSE) == found


async def test_what_has_not_happened_yet_has_none(database: Database) -> None:
    async with an_evening(database.app_url, 0) as evening:
        books = Books(ReplicaStore(evening.store))
        head = (await evening.store.head(HOUSE)).position

        with pytest.raises(UnknownPosition, match=f"the log ends at {head}") as refused:
            await books.trial_balance(HOUSE, head + 1)

        assert refused.value.facts == {"newest": head}


class Slow(ReplicaStore):
    """A ledger in which nothing is found for a while."""

    def __init__(self) -> None:
        self.now: Counter[str] = Counter()
        self.most_of_all = self.most_of_one = 0

    async def read(self, house: str, read: Any) -> Any:
        self.now[house] += 1
        self.most_of_all = max(self.most_of_all, self.now.total())
        self.most_of_one = max(self.most_of_one, *self.now.values())
        await asyncio.sleep(0.01)
        self.now[house] -= 1
        return []


async def test_however_many_are_asked_for_they_leave_connections_to_those_who_play() -> None:
    ledger = Slow()
    books = Books(ledger)

    houses = [f"house-{number % 4}" for number in range(20)]
    await asyncio.gather(*map(books.trial_balance, houses))

    assert (ledger.most_of_all, ledger.most_of_one) == (2, 1)


def by_kind(balances: Counter[str]) -> list[Kind]:
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for account, balance in balances.items():
        kind = sums[account.rpartition("/")[2]]
        kind[0] += 1
        kind[1] += balance
    return [Kind(kind, *figures) for kind, figures in sorted(sums.items())]
