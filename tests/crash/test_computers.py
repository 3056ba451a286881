"""Kill -9 of the worker in the middle of a game: its computer players go on where they were."""

import os
from collections import Counter
from signal import SIGKILL

from shared.local.process import command_of, until
from tests.api.croupier import House, children
from tests.crash.audit import verified

TABLES = ("oak", "elm", "ash")
SEATS, ROUNDS, DEATHS = (1, 2, 3), 10, 3


def test_the_worker_is_killed_while_it_plays_for_computers(house: House) -> None:
    for table in TABLES:
        house.open(table, "a2g", clock={})
    for table in TABLES:
        for seat, level in zip(SEATS, ("easy", "normal", "hard"), strict=True):
            body = {"seat": seat, "level": level, "buy_in": 20, "rounds": ROUNDS}
            sat = house.ask("POST", f"/v1/tables/{table}/computers", json=body)
            assert sat.status_code == 200

    for death in range(1, DEATHS + 1):
        part = house.head() + 60
        assert until(lambda part=part: house.head() >= part), death
        for worker in workers(house):
            os.kill(worker, SIGKILL)
    assert until(lambda: all(nobody_sits(house, table) for table in TABLES))

    report = verified(house)
    bets = Counter(
        entry["event"]["subject"]
        for entry in house.walk("/v1/events", limit=1000)
        if entry["event"]["type"] == "blackjack.bet_placed"
    )
    # Each bets once in each of its rounds, whenever it sat down, and no round is without it.
    assert bets == {f"table-{table}": len(SEATS) * ROUNDS for table in TABLES}
    dealt = [house.get(f"/v1/tables/{table}")["round"]["number"] for table in TABLES]
    assert report.rounds == sum(dealt)


def workers(house: House) -> set[int]:
    """The processes beside the serving one that work."""
    return {pid for pid in children(house.croupier) if "spawn_main" in command_of(pid)}


def nobody_sits(house: House, table: str) -> bool:
    return house.get(f"/v1/tables/{table}")["seats"] == []
