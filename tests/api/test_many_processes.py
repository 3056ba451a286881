"""Several processes on one address: any serves any table, a dead one is replaced, all stop well."""

import asyncio
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from signal import SIGCONT, SIGINT, SIGKILL, SIGSTOP, SIGTERM

import httpx
import pytest

from shared.local.process import until
from tests.api.conftest import a_croupier
from tests.api.croupier import PATIENCE_SECONDS, Croupier, House, children, key
from tests.api.test_metrics import parsed
from tests.conftest import Cluster

WORKERS = 3
PLAYERS = 24
ENOUGH = 200
"""Commands that are answered before something happens to the processes."""


@pytest.fixture
def crew(cluster: Cluster) -> Iterator[Croupier]:
    """Three processes, and time to hear that they stop."""
    settings = {"CROUPIER_WORKERS": str(WORKERS), "CROUPIER_DRAIN_SECONDS": "2"}
    with a_croupier(cluster, **settings) as croupier:
        yield croupier


@pytest.fixture
def house(crew: Croupier, http: httpx.Client) -> House:
    """A house in which every player has a table alone."""
    house = House(crew, http)
    for player in players():
        house.seat(f"{player}s", player)
    return house


def players() -> list[str]:
    return [f"player-{number}" for number in range(PLAYERS)]


class Crowd:
    """Everybody buys in again and again, each on a connection that is kept until told to leave."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.answered = Counter[str]()
        self.statuses = Counter[int]()
        self._enough = asyncio.Event()

    async def play(self, player: str) -> None:
        """Returns when an answer says that the connection closes. Raises when one is cut off."""
        async with self.house.crowd() as http:
            closing = False
            while not closing:
                name = f"{player}.{self.answered[player]}"
                body = {"type": "buy_in", "seat": 1, "amount": 1}
                path = f"/v1/tables/{player}s/commands"
                answer = await http.post(path, json=body, headers=key(name))
                closing = answer.headers.get("Connection") == "close"
                self.statuses[answer.status_code] += 1
                self.answered[player] += answer.status_code == 200
                if self.answered.total() >= ENOUGH:
                    self._enough.set()

    async def until_warm(self) -> None:
        await self._enough.wait()


def bought(house: House, player: str) -> int:
    """What the table of a player knows of it."""
    stack = house.get(f"/v1/tables/{player}s")["seats"][0]["stack"]
    return int(stack) - 400


async def test_whoever_is_served_while_all_processes_are_told_to_stop_is_answered(
    crew: Croupier, house: House
) -> None:
    crowd = Crowd(house)
    async with asyncio.TaskGroup() as playing:
        for player in players():
            playing.create_task(crowd.play(player))
        await crowd.until_warm()
        await asyncio.to_thread(crew.end, SIGTERM)

    assert set(crowd.statuses) == {200}
    crew.start()
    assert {player: bought(house, player) for player in players()} == crowd.answered
    assert house.get("/v1/ledger/trial-balance")["balanced"]


async def test_one_that_was_told_to_stop_is_draining_and_serves_whoever_comes(
    crew: Croupier,
) -> None:
    """Even when all who were there have left: whoever balances the load may not know it yet."""
    async with visitor(crew) as first, visitor(crew) as second, visitor(crew) as new:
        for http in (first, second):
            assert (await http.get("/readyz")).json()["status"] == "ready"
        stopped = asyncio.create_task(asyncio.to_thread(crew.end, SIGTERM))
        ready = await _until_draining(first)
        assert (await second.get("/livez")).status_code == 200
        await asyncio.sleep(0.5)
        assert (await new.get("/livez")).status_code == 200

    assert (ready.status_code, ready.json()["database"]) == (503, "reachable")
    await stopped


def visitor(croupier: Croupier) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=croupier.address, timeout=PATIENCE_SECONDS, trust_env=False)


async def _until_draining(http: httpx.AsyncClient) -> httpx.Response:
    while True:
        ready = await http.get("/readyz")
        if ready.json()["status"] == "draining":
            assert ready.headers["Connection"] == "close"
            return ready


async def test_by_ctrl_c_or_told_again_it_does_not_wait(cluster: Cluster) -> None:
    """That is a person, who does."""
    with a_croupier(cluster, CROUPIER_DRAIN_SECONDS="600") as patient:
        async with visitor(patient) as idle:
            await idle.get("/livez")
            await asyncio.wait_for(asyncio.to_thread(patient.end, SIGINT), PATIENCE_SECONDS)
        patient.start()
        told = patient.pid
        stopped = asyncio.create_task(asyncio.to_thread(patient.end, SIGTERM))
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not stopped.done():  # two that come before the first is heard are one
                with suppress(ProcessLookupError):
                    os.kill(told, SIGTERM)
                await asyncio.sleep(0.1)


async def test_one_that_only_works_keeps_nobody_waiting_at_the_door(crew: Croupier) -> None:
    """It may take longer to end than those who serve: the kernel would let callers in for it."""
    worker = max(family := children(crew))
    os.kill(worker, SIGSTOP)
    stopped = asyncio.create_task(asyncio.to_thread(crew.end, SIGTERM))
    try:
        assert await asyncio.to_thread(until, lambda: not serving(family - {worker}))
        async with visitor(crew) as late:
            with pytest.raises(httpx.ConnectError):
                await late.get("/livez")
    finally:
        os.kill(worker, SIGCONT)
    await stopped


def serving(processes: set[int]) -> bool:
    """Whether any of them lives."""
    listed = subprocess.run(("ps", "-A", "-o", "pid=,stat="), capture_output=True, text=True)
    found = map(str.split, listed.stdout.splitlines())
    lives = {int(pid) for pid, state in found if not state.startswith("Z")}
    return bool(processes & lives)


async def test_a_dead_one_is_replaced_and_whoever_comes_meanwhile_is_served(
    crew: Croupier, house: House
) -> None:
    before = children(crew)
    assert len(before) == WORKERS + 1, "they serve, and one works"

    for child in before:
        os.kill(child, SIGKILL)
    answers = await asyncio.gather(*(_look(house) for _ in range(PLAYERS)))

    assert set(answers) == {200}
    assert until(lambda: len(children(crew) - before) == WORKERS + 1)


async def _look(house: House) -> int:
    """The status of an answer on a connection of its own."""
    async with house.crowd() as http:
        return (await http.get("/v1/tables/player-1s")).status_code


def test_without_their_supervisor_they_end_and_free_the_address(
    crew: Croupier, house: House
) -> None:
    crew.end(SIGKILL)  # returns when nobody is left who could say something
    crew.start()

    assert house.do("player-1s", "buy_in", seat=1, amount=1)


def test_a_scrape_has_the_figures_of_all_whichever_it_reaches(crew: Croupier, house: House) -> None:
    def accepted() -> dict[str, float]:
        """Commands, by process."""
        with httpx.Client(trust_env=False) as scraper:  # on a connection of its own each time
            text = scraper.get(f"{crew.address}/metrics").text
        return {
            sample.labels["process"]: sample.value
            for sample in parsed(text)
            if sample.name == "croupier_commands_total" and sample.labels["outcome"] == "accepted"
        }

    seen = [accepted() for _ in range(10)]

    assert seen[0].keys() <= {str(number) for number in range(WORKERS)}
    assert sum(seen[0].values()) == PLAYERS * 3  # opened, granted, seated
    assert all(each == seen[0] for each in seen)


def test_a_scrape_stands_together_by_name_and_knows_the_log_once(
    crew: Croupier, house: House
) -> None:
    text = house.ask("GET", "/metrics", key="").text

    names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")]
    assert len(names) == len(set(names))
    assert text.count("\ncroupier_log_events ") == 1
    assert {
        sample.labels["process"]
        for sample in parsed(text)
        if sample.name == "process_start_time_seconds"
    } == {str(number) for number in range(WORKERS)}


def test_a_scrape_goes_without_a_process_that_does_not_answer(crew: Croupier, house: House) -> None:
    stopped = min(children(crew))  # The worker is the last one.
    os.kill(stopped, SIGSTOP)
    try:
        with httpx.Client(trust_env=False, timeout=5.0) as scraper:
            texts = []
            while len(texts) < 5:
                try:
                    texts.append(scraper.get(f"{crew.address}/metrics").text)
                except httpx.TimeoutException:  # It was the one that was asked.
                    continue
    finally:
        os.kill(stopped, SIGCONT)

    for text in texts:
        told = {sample.labels.get("process", "") for sample in parsed(text)} - {""}
        assert len(told) == WORKERS - 1
