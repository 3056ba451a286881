"""Statements of random play add up in every range, and agree with the ledger at both ends of it."""

from bisect import bisect_left
from collections import Counter
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from random import Random

import pytest
from msgspec import json

from services.audit.projections.statements import BadRange, Range, Statements
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.rejections import UnknownPosition
from shared.eventstore.store import Recorded
from tests.conftest import Database
from tests.projections.evening import GAMES, HOUSE, PLAYERS, an_evening, until_up_to_date

EVERY = Range()


class Played:
    """A log with its statements, and a ledger that was kept beside it."""

    def __init__(self, statements: Statements, records: list[Recorded], chance: Random) -> None:
        self.statements, self.records, self.chance = statements, records, chance
        balances: Counter[str] = Counter()
        self._ledger = [Counter(balances)]
        for record in records:
            for account, amount in json.decode(record.envelope)["postings"]:
                balances[account] += amount
            self._ledger.append(Counter(balances))

    @property
    def head(self) -> int:
        return len(self.records)

    def whole(self, first: int, last: int) -> tuple[int, int]:
        """The range with whole commands at its ends, looked for one by one."""
        while first > 1 and self._command(first - 1) == self._command(first):
            first -= 1
        while last < self.head and self._command(last + 1) == self._command(last):
            last += 1
        return first, last

    def of_a_player(self, player: str, position: int) -> tuple[int, int]:
        """The vault and all stacks of a player after a position, by the ledger."""
        ledger = self._ledger[position]
        stacks = [n for account, n in ledger.items() if account.endswith(f"/player/{player}/stack")]
        return ledger[f"player/{player}/vault"], sum(stacks)

    def account(self, name: str, position: int) -> int:
        return self._ledger[position][name]

    def _command(self, position: int) -> str:
        return self.records[position - 1].command_id


@pytest.fixture(params=range(3))
async def played(request: pytest.FixtureRequest, database: Database) -> AsyncIterator[Played]:
    async with an_evening(database.app_url, request.param) as evening:
        await evening.goes_on(250)
        await until_up_to_date(evening.store, page=evening.chance.choice([17, 100, 1000]))
        records = list[Recorded]()
        while page := await evening.store.read_log(HOUSE, len(records)):
            records += page
        checkpoints = Checkpoints(evening.store.readers)
        yield Played(Statements(evening.store, checkpoints), records, evening.chance)


async def test_a_players_statement_adds_up_in_every_range(played: Played) -> None:
    for _ in range(100):
        player = played.chance.choice(PLAYERS)
        asked = sorted(played.chance.choices(range(1, played.head + 1), k=2))
        first, last = played.whole(*asked)

        found = await played.statements.of_a_player(HOUSE, player, Range(*asked), 0, 1000)

        assert (found.first_position, found.last_position, found.next) == (first, last, None)
        for has, position in ((found.opening, first - 1), (found.closing, last)):
            assert (has.vault, has.at_tables) == played.of_a_player(player, position)
            assert has.balance == has.vault + has.at_tables
        balance = found.opening.balance
        for line in found.data:
            assert first <= line.position <= last
            balance += line.amount
            assert line.balance == balance
            assert (line.vault, balance - line.vault) == played.of_a_player(player, line.position)
        assert balance == found.closing.balance


async def test_the_statement_of_a_bank_has_every_chip_of_it(played: Played) -> None:
    for table in GAMES:
        bank = f"table/{table}/bank"
        asked = sorted(played.chance.choices(range(1, played.head + 1), k=2))
        first, last = played.whole(*asked)

        found = await played.statements.of_a_bank(HOUSE, table, Range(*asked), 0, 1000)

        assert found.opening == played.account(bank, first - 1)
        assert found.closing == played.account(bank, last)
        moved = [
            (record.position, amount)
            for record in played.records[first - 1 : last]
            for account, amount in json.decode(record.envelope)["postings"]
            if account == bank
        ]
        assert [(line.position, line.amount) for line in found.data] == moved
        for line in found.data:
            assert line.balance == played.account(bank, line.position)


async def test_what_players_have_at_risk_is_what_lies_on_the_tables(played: Played) -> None:
    """At the tables of an evening nobody else sits."""
    for position in played.chance.sample(range(1, played.head + 1), 30):
        _, position = played.whole(position, position)
        at_risk = [
            (await played.statements.of_a_player(HOUSE, player, Range(None, position), 0, 1))
            for player in PLAYERS_AND_COMPUTERS
        ]
        in_play = sum(played.account(f"table/{table}/in_play", position) for table in GAMES)
        assert sum(each.closing.at_risk for each in at_risk) == in_play


PLAYERS_AND_COMPUTERS = [
    *PLAYERS,
    *(f"computer-{level}-{seat}" for level in ("easy", "normal", "hard") for seat in range(1, 8)),
]


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
async def test_pages_of_any_size_have_the_same_lines(size: int, played: Played) -> None:
    statements = played.statements
    for player in PLAYERS[:3]:
        whole = await statements.of_a_player(HOUSE, player, EVERY, 0, 1000)
        lines, after = [], 0
        while True:
            part = await statements.of_a_player(HOUSE, player, EVERY, after, size)
            assert (part.opening, part.closing) == (whole.opening, whole.closing)
            assert len(part.data) <= size
            lines += part.data
            if part.next is None:
                break
            assert part.data
            after = part.next
        assert lines == whole.data


async def test_a_time_is_the_place_of_the_first_line_from_then_on(played: Played) -> None:
    player = PLAYERS[0]
    whole = await played.statements.of_a_player(HOUSE, player, EVERY, 0, 1000)
    times = [line.time for line in whole.data]
    moments = [
        times[0] - timedelta(days=1),
        times[-1] + timedelta(days=1),
        *(time + timedelta(milliseconds=more) for time in times[::5] for more in (-1, 0, 1)),
    ]

    for _ in range(40):
        first, last = sorted(played.chance.choices(moments, k=2))
        asked: Range = Range(first, last)
        found = await played.statements.of_a_player(HOUSE, player, asked, 0, 1000)
        assert found.data == whole.data[bisect_left(times, first) : bisect_left(times, last)]
        if found.data:
            again = Range(found.first_position, found.last_position)
            assert await played.statements.of_a_player(HOUSE, player, again, 0, 1000) == found


async def test_a_range_that_ended_never_changes(database: Database) -> None:
    async with an_evening(database.app_url, 5) as evening:
        await evening.goes_on(100)
        await until_up_to_date(evening.store)
        statements = Statements(evening.store, Checkpoints(evening.store.readers))
        then = (await statements.of_a_player(HOUSE, PLAYERS[1], EVERY, 0, 1000)).last_position
        before = await statements.of_a_player(HOUSE, PLAYERS[1], Range(1, then), 0, 1000)

        await evening.goes_on(100)
        await until_up_to_date(evening.store)

        assert await statements.of_a_player(HOUSE, PLAYERS[1], Range(1, then), 0, 1000) == before


async def test_what_cannot_be_is_refused_with_what_can(played: Played) -> None:
    of, head = played.statements.of_a_player, played.head

    for first, last in ((None, head + 1), (head + 1, None), (head + 5, head + 9)):
        with pytest.raises(UnknownPosition, match=f"the log ends at {head}"):
            await of(HOUSE, "ada", Range(first, last), 0, 10)
    with pytest.raises(BadRange, match="`from` is 7, which is after `to`, 3"):
        await of(HOUSE, "ada", Range(7, 3), 0, 10)
    late, early = datetime.fromisoformat("2099-01-01T00:00Z"), 1
    with pytest.raises(BadRange):
        await of(HOUSE, PLAYERS[0], Range(late, early), 0, 10)
