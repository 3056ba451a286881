"""The whole system from one seed, judged by a model that shares nothing with it."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.api.croupier import ROOT
from tests.simulation import judge, timeless
from tests.simulation.memory import MemoryWorld
from tests.simulation.plan import draw
from tests.simulation.run import Run, simulate
from tests.simulation.servers import SERVER_FAULTS, ServedWorld, servers
from tests.simulation.world import Json

SEEDS = range(1, 5)
COMMANDS = 300


def simulated(seed: int, commands: int = COMMANDS) -> Run:
    plan = draw(seed, commands)
    print(plan)
    return timeless.run(simulate(plan, MemoryWorld(plan)))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_day_at_the_tables_holds_before_both_judges(seed: int) -> None:
    run = simulated(seed)

    assert run.tally["rounds"] > 10
    assert run.tally["accepted"] > COMMANDS / 2
    assert run.tally["retries"] > 0


def test_the_same_seed_gives_the_same_history_byte_for_byte() -> None:
    first, again, other = simulated(1), simulated(1), simulated(2)

    assert first.log == again.log
    assert first.tally == again.tally
    assert first.head != other.head


def test_another_process_gives_the_same_history_too() -> None:
    """Another one has other hashes of words, another age, other addresses."""
    run = simulated(3)
    command = ("-m", "tests.simulation", "--seed=3", f"--commands={COMMANDS}", "--memory")
    told = subprocess.run((sys.executable, *command), cwd=ROOT, capture_output=True, text=True)

    assert told.returncode == 0, told.stdout + told.stderr
    assert run.head in told.stdout


async def test_real_processes_hold_while_everything_is_killed_and_cut_off() -> None:
    """Printed with its seed and plan when it fails: `make simulate` plays more of them."""
    plan = draw(6, 200, SERVER_FAULTS)
    print(plan)
    with servers() as running:
        run = await simulate(plan, ServedWorld(plan, running))

    assert run.tally["accepted"] > 100
    assert run.tally["rounds"] > 5


def a_payout_is_one_more(log: list[Json]) -> None:
    settled = next(e for e in log if e["event"]["type"] == "blackjack.hand_settled")
    settled["event"]["data"]["payout"] += 1


def chips_come_from_nowhere(log: list[Json]) -> None:
    granted = next(e for e in log if e["event"]["type"] == "ledger.chips_granted")
    granted["event"]["postings"][1][1] += 1


def a_card_is_another(log: list[Json]) -> None:
    dealt = next(e for e in log if e["event"]["type"] == "blackjack.hands_dealt")
    cards = dealt["event"]["data"]["hands"][0]
    cards[1] = "2c" if cards[1] != "2c" else "3c"


def a_command_happens_twice(log: list[Json]) -> None:
    log.append(json.loads(json.dumps(log[0])))


def the_last_event_is_lost(log: list[Json]) -> None:
    log.pop()


def somebody_acts_who_was_not_asked(log: list[Json]) -> None:
    stranger = json.loads(json.dumps(log[0]))
    stranger["event"]["id"] = "stranger.0"
    log.append(stranger)


@pytest.fixture(scope="module")
def honest() -> Run:
    return simulated(4)


@pytest.mark.parametrize(
    "forge",
    [
        a_payout_is_one_more,
        chips_come_from_nowhere,
        a_card_is_another,
        a_command_happens_twice,
        the_last_event_is_lost,
        somebody_acts_who_was_not_asked,
    ],
)
def test_the_model_finds_what_is_forged_with_all_its_hashes(
    forge: Callable[[list[Json]], None], honest: Run
) -> None:
    log = [judge.entry(line) for line in honest.log]
    forge(log)

    with pytest.raises(AssertionError):
        judge.judge(judge.sealed_anew(log), honest.desk, honest.balances)


def test_the_judge_finds_an_answer_that_tells_another_story(honest: Run) -> None:
    sent = honest.desk.sent
    key = next(key for key in sent if sent[key].accepted and ".grant" not in key)
    told = sent[key].accepted
    assert told
    story = told.json | {"table": told.json["table"] | {"host": "somebody"}}
    lie = replace(sent[key], accepted=replace(told, body=json.dumps(story).encode()))
    forged = replace(honest.desk, sent=sent | {key: lie})

    with pytest.raises(AssertionError):
        judge.judge(honest.log, forged, honest.balances)
