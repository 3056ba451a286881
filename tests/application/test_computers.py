"""Computer players at real tables, attended to by several workers at once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from itertools import count, product
from secrets import token_bytes

import pytest

from services.audit.domain.verify import Report, verify
from services.blackjack.application.clocks import CLAIM
from services.blackjack.application.computers import (
    BestTables,
    announced_to,
    calls_of,
)
from services.blackjack.application.reading import table_stream
from services.blackjack.application.shoes import Shoes
from services.blackjack.application.tables import Tables
from services.blackjack.domain.commands import Bet, Command, Leave, Open, SeatComputer, Sit
from services.blackjack.domain.computers import asked
from services.blackjack.domain.rules import Clocks, Level, Ruleset
from services.blackjack.domain.rulesets import A2G, COINLOUNGE, ruleset
from services.blackjack.domain.table import Betting
from services.blackjack.odds.figures import Strategy
from services.blackjack.odds.game import Game, game_of
from services.blackjack.odds.rejections import NoExactOdds, OddsBusy
from services.blackjack.players.basic import BASIC
from shared.eventstore.batcher import Batcher
from shared.eventstore.cause import Cause
from shared.eventstore.migrate import open_house
from shared.eventstore.wakeups import Wakeups
from shared.kernel.chips import ISSUANCE, stack, vault
from tests.application.processes import CODEC, KEY, AtOnce, Clock, Process, a_process, told
from tests.conftest import Database
from tests.eventstore.appends import HOUSE

TABLES = [f"t{n:02}" for n in range(8)]
LEVELS = ("easy", "normal", "hard")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def twins(database: Database, clock: Clock) -> AsyncIterator[list[Process]]:
    """Two processes beside each other."""
    open_house(database.owner_url, HOUSE)
    commands = count()
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(a_process(database, clock, commands)) for _ in range(2)
        ]


async def opened(process: Process, table: str, game: str = "european") -> None:
    """A table in no hurry, unless a clock is what the test is about."""
    command = Open(game, clock=Clocks(), host="nobody")
    await process.tables.open(Cause(HOUSE, "key/test", f"open-{table}"), table, command)


async def seat(
    process: Process, table: str, number: int, level: Level = "easy", **more: int
) -> None:
    await process.play(table, SeatComputer(number, level, **{"buy_in": 100, **more}))


async def play_on(*processes: Process) -> None:
    """Each attends to what it finds, side by side, until there is nothing more to do."""
    while any(await asyncio.gather(*(each.clocks.fire_due(HOUSE) for each in processes))):
        pass


async def verified(process: Process) -> Report:
    """The whole log, read by the auditor: chain, ledger, rules and every card."""
    records = []
    while page := await process.store.read_log(HOUSE, len(records)):
        records += page
    report = verify(records)
    assert report.faults == ()
    return report


@pytest.mark.parametrize("game", ["a2g", "coinlounge", "european"])
async def test_a_table_of_computers_alone_plays_its_rounds(game: str, twins: list[Process]) -> None:
    one, other = twins
    await one.tables.open(Cause(HOUSE, "key/test", "open"), "oak", Open(game, clock=Clocks()))
    for number, level in enumerate(LEVELS, 1):
        await seat(one, "oak", number, level=level, rounds=20)

    await play_on(one, other)

    table = await one.state("oak")
    assert table.rounds == 20
    assert table.seated() == [], "and then they leave"
    assert (await verified(one)).rounds == 20
    actors = Counter(each.actor for each in await told(one))
    assert {"computer/easy", "computer/normal", "computer/hard"} < actors.keys()


async def test_two_workers_act_once_at_many_tables(twins: list[Process]) -> None:
    for table, number in product(TABLES, (1, 2, 3)):
        if number == 1:
            await opened(twins[0], table)
        await seat(twins[number % 2], table, number, rounds=3)

    await play_on(*twins)

    for table in TABLES:
        assert (await twins[0].state(table)).rounds == 3
    bets = [each for each in await told(twins[0]) if each.type == "bet"]
    assert Counter(each.table for each in bets) == dict.fromkeys(TABLES, 3 * 3)
    assert (await verified(twins[0])).rounds == 3 * len(TABLES)


async def test_even_if_both_claim_everything_none_acts_twice(twins: list[Process]) -> None:
    for table in TABLES:
        await opened(twins[0], table)
        await seat(twins[0], table, 1, rounds=3)
        await seat(twins[0], table, 2, rounds=3)

    while [table for table in TABLES if asked(await twins[0].state(table))]:
        acts = (each.computers.act(HOUSE, table_stream(t)) for t in TABLES for each in twins)
        await asyncio.gather(*acts)

    bets = [each for each in await told(twins[0]) if each.type == "bet"]
    assert Counter(each.table for each in bets) == dict.fromkeys(TABLES, 2 * 3)
    assert (await verified(twins[0])).rounds == 3 * len(TABLES)


async def test_it_waits_for_people_and_plays_with_them(twins: list[Process]) -> None:
    one, other = twins
    await opened(one, "oak")
    await one.play("oak", Sit(1, "ada", 100))
    await seat(one, "oak", 2, level="hard")
    await play_on(one, other)
    assert not (await one.state("oak")).seat(2).bet

    await one.play("oak", Bet(1, 20))
    await play_on(other)

    table = await one.state("oak")
    assert table.rounds == 1
    assert table.seat(2).hands
    assert table.turn() in {(1, 0), None}


async def test_what_it_brings_is_granted_and_what_is_left_goes_home(twins: list[Process]) -> None:
    one = twins[0]
    await opened(one, "oak", "a2g")
    seats = range(1, 8)
    for number in seats:
        await seat(one, "oak", number, buy_in=2, rounds=20)

    await play_on(*twins)

    brought = [each.type for each in await told(one)].count("buy_in")
    assert brought, "with two chips each and twenty rounds somebody has to bring some again"
    issued = -await one.store.balance(HOUSE, ISSUANCE)
    assert issued == 2 * (len(seats) + brought)
    report = await verified(one)
    home = 0
    for number in seats:
        assert await one.store.balance(HOUSE, stack("oak", f"computer-easy-{number}")) == 0
        home += report.balances[vault(f"computer-easy-{number}")]
    assert home + report.balances["table/oak/bank"] == issued


async def test_what_a_dead_worker_had_claimed_is_played_by_another(
    clock: Clock, twins: list[Process]
) -> None:
    dead, alive = twins
    await opened(dead, "oak")
    await seat(dead, "oak", 1, rounds=1)
    assert await dead.store.claim_deadlines(HOUSE, clock(), clock() + CLAIM)

    assert await alive.clocks.fire_due(HOUSE) == 0
    clock.now += CLAIM
    await play_on(alive)

    assert (await alive.state("oak")).rounds == 1


async def test_a_clock_that_ran_out_fires_instead(clock: Clock, twins: list[Process]) -> None:
    """Nobody has worked for a while: people must not wait any longer than the rules say."""
    one = twins[0]
    command = Open("european", clock=Clocks(betting_seconds=10, action_seconds=10))
    await one.tables.open(Cause(HOUSE, "key/test", "open"), "oak", command)
    await one.play("oak", Sit(1, "ada", 100))
    await seat(one, "oak", 2)
    await one.play("oak", Bet(1, 20))
    clock.goes_on(10)

    await play_on(one)

    assert [each.type for each in await told(one)][-1] == "time_out"
    table = await one.state("oak")
    assert table.rounds == 1
    assert not table.seat(2).hands


async def test_after_its_move_the_clock_of_the_next_one_runs(
    clock: Clock, twins: list[Process]
) -> None:
    one = twins[0]
    command = Open("european", clock=Clocks(betting_seconds=10))
    await one.tables.open(Cause(HOUSE, "key/test", "open"), "oak", command)
    for number, player in ((1, "ada"), (3, "bob")):
        await one.play("oak", Sit(number, player, 100))
    await seat(one, "oak", 2)
    await one.play("oak", Bet(1, 20))
    await play_on(one)
    assert (await one.state("oak")).seat(2).bet

    clock.goes_on(9)
    assert await one.clocks.fire_due(HOUSE) == 0
    clock.goes_on(1)
    assert await one.clocks.fire_due(HOUSE) == 1
    assert (await one.state("oak")).rounds == 1


async def test_a_player_that_fails_does_the_least_and_holds_up_nobody(
    database: Database, clock: Clock, twins: list[Process]
) -> None:
    class Broken(AtOnce):
        def of(self, rules: Ruleset) -> Strategy | None:
            raise ArithmeticError("no table today")

    one = twins[0]
    await opened(one, "oak")
    await one.play("oak", Sit(1, "ada", 100))
    await seat(one, "oak", 2, level="hard")
    await one.play("oak", Bet(1, 20))
    async with a_process(database, clock, count(10**6), Broken()) as broken:
        await play_on(broken)

    table = await one.state("oak")
    assert table.rounds == 1
    assert not table.seat(2).hands, "it has sat out"


async def test_a_hard_player_is_a_normal_one_where_there_are_no_exact_odds(
    database: Database, clock: Clock
) -> None:
    open_house(database.owner_url, HOUSE)

    async def none(game: Game) -> Strategy:
        raise NoExactOdds("Too many hands.")

    best = BestTables(none)
    async with a_process(database, clock, count(), best) as process:
        await opened(process, "oak")
        await seat(process, "oak", 1, level="hard", rounds=1)
        await play_on(process)
        assert (await process.state("oak")).rounds == 0, "nobody has counted the hands yet"

        await best.settle()
        clock.now += CLAIM
        await play_on(process)
        assert (await process.state("oak")).rounds == 1


async def test_nobody_waits_while_a_table_is_being_computed(
    database: Database, clock: Clock, twins: list[Process]
) -> None:
    may_end = asyncio.Event()

    async def slowly(game: Game) -> Strategy:
        await may_end.wait()
        return BASIC

    best = BestTables(slowly)
    async with a_process(database, clock, count(10**6), best) as slow:
        await opened(slow, "oak")
        await seat(slow, "oak", 1, level="hard", rounds=1)
        await opened(slow, "elm")
        await seat(slow, "elm", 1, level="easy", rounds=1)

        await play_on(slow)

        assert [(await slow.state(table)).rounds for table in ("oak", "elm")] == [0, 1]
        may_end.set()
        await best.settle()
        clock.now += CLAIM
        await play_on(slow)
        assert (await slow.state("oak")).rounds == 1


async def test_the_best_table_is_computed_once_for_equal_games() -> None:
    computed: list[Game] = []

    async def compute(game: Game) -> Strategy:
        computed.append(game)
        return BASIC

    best = BestTables(compute)
    for rules in (A2G, ruleset("a2g", seats=2, clock=Clocks()), COINLOUNGE) * 2:
        best.of(game_of(rules, 2))
        await best.settle()
        assert best.of(game_of(rules, 2)) == BASIC

    assert computed == [game_of(rules, 2) for rules in (A2G, COINLOUNGE)]


async def test_a_table_that_could_not_be_computed_is_tried_again() -> None:
    problems: list[Exception] = [OddsBusy("many wait"), ArithmeticError("no table today")]

    async def compute(game: Game) -> Strategy:
        if problems:
            raise problems.pop(0)
        return BASIC

    best, game = BestTables(compute), game_of(A2G, 2)
    for _ in range(3):
        assert best.of(game) is None
        await best.settle()
        with suppress(ArithmeticError):
            assert best.of(game) in (None, BASIC)

    assert best.of(game) == BASIC


async def test_a_computer_that_is_sent_away_is_asked_no_more(twins: list[Process]) -> None:
    one = twins[0]
    await opened(one, "oak")
    await seat(one, "oak", 1)
    await one.play("oak", Leave(1))

    assert await one.clocks.fire_due(HOUSE) == 0
    table = await one.state("oak")
    assert isinstance(table.stage, Betting)
    assert asked(table) is None


async def test_whoever_asks_a_computer_says_so_at_once(clock: Clock, twins: list[Process]) -> None:
    store = twins[0].store
    async with Wakeups() as wakeups, Batcher(store) as batcher:
        asking = Tables(
            *(store, batcher, CODEC, Shoes({"k": KEY}, "k", token_bytes), clock),
            announced_to(wakeups),
        )

        async def heard(command: Command | SeatComputer | Open) -> bool:
            known = wakeups.newest([calls_of(HOUSE)])
            cause = Cause(HOUSE, "key/test", f"{command}")
            if isinstance(command, Open):
                await asking.open(cause, "oak", command)
            else:
                await asking.play(cause, "oak", command)
            return await wakeups.wait_for_any(known, 0)

        assert not await heard(Open("european", clock=Clocks(), host="nobody"))
        assert not await heard(Sit(1, "ada", 100))
        assert not await heard(SeatComputer(2, "easy", 100))
        assert await heard(Bet(1, 20))
