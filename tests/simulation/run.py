"""One run of a plan in a world: everybody plays, things go wrong, everybody goes home."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tests.simulation import judge
from tests.simulation.desk import Desk
from tests.simulation.plan import Fault, Plan
from tests.simulation.players import play
from tests.simulation.world import World


@dataclass
class Run:
    """What came of a plan."""

    plan: Plan
    log: list[bytes]
    """A line an event, in order."""
    desk: Desk
    """Everything that was asked and answered."""
    balances: dict[str, int]

    @property
    def tally(self) -> Counter[str]:
        return self.desk.tally

    @property
    def head(self) -> str:
        """The end of the hash chain, in hex: equal for equal logs only."""
        return str(judge.entry(self.log[-1])["chain"])


async def simulate(plan: Plan, world: World, seen: Callable[[Desk], None] = lambda _: None) -> Run:
    """Plays, and judges. Raises AssertionError for whatever should not be.

    `seen` is called now and then, to show how far we are.
    """
    desk = Desk(world)
    async with world:
        async with asyncio.TaskGroup() as around:
            around.create_task(_trouble(plan, world, desk))
            around.create_task(_watch(desk, seen))
            await _play(plan, desk)
        run = Run(plan, await world.log(), desk, await world.balances())
        assert await world.amiss() == []
    desk.tally.update(judge.judge(run.log, desk, run.balances))
    return run


async def _play(plan: Plan, desk: Desk) -> None:
    """Until enough is played, and everybody is at home."""
    async with asyncio.TaskGroup() as playing:
        for player in plan.players:
            playing.create_task(play(plan, player, desk))
        await desk.until_answered(plan.commands)
        desk.going_home = True
    await desk.close()


async def _trouble(plan: Plan, world: World, desk: Desk) -> None:
    """Each fault at its place. What lasts is mended when everybody has gone home at the latest."""
    async with asyncio.TaskGroup() as troubles:
        for fault in plan.faults:
            await desk.until_answered(fault.at)
            troubles.create_task(_hurt(world, fault, desk))


async def _hurt(world: World, fault: Fault, desk: Desk) -> None:
    desk.tally[f"fault: {fault.kind}"] += 1
    await world.hurt(fault, lambda: desk.until_answered(fault.at + fault.lasts))


async def _watch(desk: Desk, seen: Callable[[Desk], None]) -> None:
    while not desk.closed:
        await desk.until_answered(desk.answered + 50)
        seen(desk)
