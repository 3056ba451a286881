"""Time-outs by several processes at once: each clock fires once, whoever fires it."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import count, pairwise

import pytest

from services.audit.application.rounds import Auditor
from services.blackjack.application.clocks import CLAIM
from services.blackjack.application.reading import table_stream
from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.commands import Bet, Hit, Open, Sit
from services.blackjack.domain.rules import Clocks
from services.blackjack.domain.table import Betting, Round
from shared.eventstore.cause import Cause
from shared.eventstore.migrate import open_house
from shared.kernel.rejected import Rejected
from tests.application.processes import Clock, Process, Told, a_process, told
from tests.conftest import Database
from tests.eventstore.appends import HOUSE, a_command, an_event

TABLES = [f"t{n:02}" for n in range(24)]
OPEN = Open("european", clock=Clocks(betting_seconds=1, action_seconds=1))
"""Session chips, so that a player may sit down without a vault; no insurance."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def twins(
    request: pytest.FixtureRequest, database: Database, clock: Clock
) -> AsyncIterator[list[Process]]:
    """Two processes. The second is ahead of the first by so many seconds as asked for, or none."""
    ahead = timedelta(seconds=getattr(request, "param", 0))
    open_house(database.owner_url, HOUSE)
    commands = count()
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(a_process(database, now, commands))
            for now in (clock, lambda: clock() + ahead)
        ]


async def a_bet_at_each(process: Process, *seats: int) -> None:
    """At every table ada and bob sit down, and these seats bet."""
    for table in TABLES:
        await process.tables.open(Cause(HOUSE, "key/test", f"open-{table}"), table, OPEN)
        await process.play(table, Sit(1, "ada", 100))
        await process.play(table, Sit(2, "bob", 100))
        for seat in seats:
            await process.play(table, Bet(seat, 10))


async def fire_until_nothing_is_due(clock: Clock, *processes: Process) -> None:
    """Nobody acts any more: second after second, all fire side by side what they find."""
    while True:
        clock.goes_on(1)
        if not any(await asyncio.gather(*(each.clocks.fire_due(HOUSE) for each in processes))):
            return


def time_outs(commands: list[Told]) -> list[Told]:
    fired = [command for command in commands if command.type == "time_out"]
    assert {command.actor for command in fired} <= {"clock"}
    return fired


@pytest.mark.parametrize("twins", [0, 5], indirect=True)
async def test_two_workers_fire_each_clock_once(clock: Clock, twins: list[Process]) -> None:
    """Even if one is ahead by more than a claim, and takes what the other has just claimed."""
    await a_bet_at_each(twins[0], 1)

    await fire_until_nothing_is_due(clock, *twins)

    fired = time_outs(await told(twins[0]))
    assert set(Counter(fired).values()) == {1}
    assert len(fired) == sum(len(process.late) for process in twins)
    betting = [each.table for each in fired if "bets" in str(each.turn)]
    assert sorted(betting) == TABLES
    for table in TABLES:
        state = await twins[0].state(table)
        assert isinstance(state.stage, Betting)
        assert (state.rounds, waits_for(state)) == (1, None)


async def test_the_recall_of_a_round_tells_that_the_clock_acted(
    clock: Clock, twins: list[Process]
) -> None:
    class Catalogue:
        async def round(self, house: str, table_id: str, number: int) -> tuple[int, int]:
            loaded = await twins[0].tables.reading.loader.load(house, table_stream(table_id))
            return 2, loaded.version

    await a_bet_at_each(twins[0], 1)
    await fire_until_nothing_is_due(clock, *twins)

    for table in TABLES[:4]:
        recall = await Auditor(twins[0].tables.reading, Catalogue()).recall(HOUSE, f"{table}.1")
        steps = [step.text for step in recall.steps]
        up = [after for step, after in pairwise(steps) if step == "ada's time is up."]
        assert steps[1] == "The time to bet is up."
        assert all(after.startswith("ada stands on ") for after in up)
        stood = [step for step in steps if step.startswith("ada stands on ")]
        assert len(up) == len([step for step in stood if not step.endswith(" 21.")])


async def test_before_its_time_no_clock_fires(clock: Clock, twins: list[Process]) -> None:
    await a_bet_at_each(twins[0], 1)

    clock.goes_on(0.998)
    assert await twins[1].clocks.fire_due(HOUSE) == 0
    clock.goes_on(3.002)
    assert await twins[1].clocks.fire_due(HOUSE) == len(TABLES)
    late = timedelta(seconds=3)
    assert all(late <= each < late + timedelta(milliseconds=1) for each in twins[1].late)


async def test_a_table_that_cannot_be_read_holds_up_no_other(
    clock: Clock, twins: list[Process], caplog: pytest.LogCaptureFixture
) -> None:
    await a_bet_at_each(twins[0], 1)
    await twins[0].store.append_batch(HOUSE, [a_command("c", an_event(f"table-{TABLES[0]}"))])
    clock.goes_on(1)

    assert await twins[1].clocks.fire_due(HOUSE) == len(TABLES)

    assert len(twins[1].late) == len(TABLES) - 1
    assert f"What is due at table-{TABLES[0]} of {HOUSE} fails" in caplog.text


async def test_what_a_dead_worker_had_claimed_is_fired_by_another(
    clock: Clock, twins: list[Process]
) -> None:
    await a_bet_at_each(twins[0], 1)
    clock.goes_on(1)
    dead, alive = twins
    claimed = await dead.store.claim_deadlines(HOUSE, clock(), clock() + CLAIM)
    assert len(claimed) == len(TABLES)

    assert await alive.clocks.fire_due(HOUSE) == 0
    clock.now += CLAIM
    assert await alive.clocks.fire_due(HOUSE) == len(TABLES)

    assert len(time_outs(await told(alive))) == len(TABLES)


async def test_of_a_hit_and_a_time_out_at_one_version_exactly_one_wins(
    clock: Clock, twins: list[Process]
) -> None:
    player, worker = twins
    await a_bet_at_each(player, 1, 2)
    states = [await player.state(table) for table in TABLES]
    turns = {state.id: turn for state in states if (turn := state.turn())}
    assert turns, "every round was over at once"
    clock.goes_on(1)

    async def hit(table: str) -> bool:
        cause = Cause(HOUSE, "key/test", f"hit-{table}")
        try:
            await player.tables.play(cause, table, Hit(*turns[table]))
        except Rejected:
            return False
        return True

    _, *hits = await asyncio.gather(worker.clocks.fire_due(HOUSE), *map(hit, turns))

    commands = await told(worker)
    wins = Counter(each.table for each in commands if each.type in ("hit", "time_out"))
    assert wins == Counter(turns.keys())
    assert sum(hits) == sum(each.type == "hit" for each in commands)
    assert len(worker.late) == len(time_outs(commands))


async def test_a_player_who_acts_in_time_leaves_nothing_to_fire(
    clock: Clock, twins: list[Process]
) -> None:
    player, worker = twins
    await a_bet_at_each(player, 1)
    stream = table_stream(TABLES[0])
    clock.goes_on(0.9)
    after = await player.play(TABLES[0], Bet(2, 10))
    clock.goes_on(0.2)

    claimed = await worker.store.claim_deadlines(HOUSE, clock(), clock() + CLAIM)

    assert isinstance(after.stage, Round) or waits_for(after) is None
    assert stream not in {deadline.stream for deadline in claimed}
    assert len(claimed) == len(TABLES) - 1
