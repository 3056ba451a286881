"""Rotating the keys that seal seeds, in the middle of rounds, and what is said when one is gone."""

import re
import secrets
import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from signal import SIGKILL, SIGTERM

import httpx
import psycopg
import pytest

from services.blackjack.domain.rulesets import PUBLISHED
from services.blackjack.projections.seed_keys import Needed, needed_keys
from tests.api.croupier import ROOT, Croupier, House
from tests.conftest import Cluster

CROUPIER = (sys.executable, "-c", "from services.cli import main; main()")


def a_key(name: str) -> str:
    return f"{name}:{urlsafe_b64encode(secrets.token_bytes(32)).decode()}"


ONE, TWO = a_key("one"), a_key("two")


@pytest.fixture
def croupier(cluster: Cluster) -> Iterator[Croupier]:
    """One with the key `one`, that may be started again with others."""
    database = cluster.create()
    croupier = Croupier(database)
    start(croupier, ONE)
    yield croupier
    croupier.end()
    cluster.drop(database)


@pytest.fixture
def house(croupier: Croupier, http: httpx.Client) -> House:
    return House(croupier, http)


def start(croupier: Croupier, *ring: str) -> None:
    croupier.end(SIGTERM)
    croupier.environment["CROUPIER_SEED_KEYS"] = ",".join(ring)
    croupier.start()


def type(croupier: Croupier, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*CROUPIER, *words],
        env=croupier.environment | more,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def needed(croupier: Croupier) -> list[Needed]:
    with psycopg.connect(croupier.database.owner_url) as owner:
        return needed_keys(owner)


def test_the_ring_is_rotated_in_the_middle_of_a_round(croupier: Croupier, house: House) -> None:
    house.seat("oak", "ada", ruleset="european")
    while (dealt := house.deal("oak", 20)["table"])["phase"] != "player_turn":
        pass  # a natural has ended the round at once

    start(croupier, TWO, ONE)
    over = house.finish("oak")

    assert over["phase"] == "betting"
    proof = house.get(f"/v1/rounds/{dealt['round']['id']}/proof")
    assert proof["commitment"] == dealt["round"]["commitment"]
    assert [(each.key_id, each.tables) for each in needed(croupier)] == [("two", 1)]
    start(croupier, TWO)
    house.deal("oak", 20)
    assert house.finish("oak")["phase"] == "betting"


@pytest.mark.parametrize("command", ["serve", "work", "up"])
def test_a_key_that_a_table_waits_for_is_missed_at_the_start(
    command: str, croupier: Croupier, house: House
) -> None:
    for table in ("elm", "oak"):
        house.seat(table, f"ada-{table}", ruleset="european")
    house.deal("oak", 20)
    croupier.end(SIGTERM)

    refused = type(
        croupier,
        command,
        CROUPIER_SEED_KEYS=TWO,
        CROUPIER_MIGRATION_URL=croupier.database.owner_url,
        REDIS_URL="redis://127.0.0.1:1/0",
    )

    assert refused.returncode == 1
    assert refused.stderr == (
        "CROUPIER_SEED_KEYS lacks the key 'one', which 2 tables need for a seed, such as 'elm' of "
        f"the house '{house.name}'.\n"
        "Add it behind the current one; `croupier seed-keys list` shows when it may go.\n"
    )


def test_the_log_beyond_the_view_is_looked_at(croupier: Croupier, house: House) -> None:
    """A table that no worker has seen yet needs its key as well, and one that moved on does not."""
    house.seat("oak", "ada", ruleset="european")
    house.sealed()
    croupier.end(SIGKILL)
    with psycopg.connect(croupier.database.owner_url, autocommit=True) as owner:
        assert needed(croupier) == [Needed("one", 1, house.name, "oak")]
        owner.execute("UPDATE projected_table SET seed_key = 'of long ago'")
        owner.execute("UPDATE projection_checkpoint SET position = 0 WHERE name = 'tables'")
        assert needed(croupier) == [Needed("one", 1, house.name, "oak")]
        owner.execute("DELETE FROM projected_table")
        owner.execute("DELETE FROM projection_checkpoint")
        assert needed(croupier) == [Needed("one", 1, house.name, "oak")]


def test_no_words_in_the_log_keep_anybody_from_starting(croupier: Croupier, house: House) -> None:
    """Older releases took any title. Postgres cannot make a text of every JSON string."""
    house.open("oak", "european")
    croupier.end(SIGKILL)
    with psycopg.connect(croupier.database.owner_url, autocommit=True) as owner:
        envelope = owner.execute("SELECT envelope FROM event_log").fetchall()[0][0]
        title = PUBLISHED["european"].title.encode()
        assert title in envelope
        owner.execute("ALTER TABLE event_log DISABLE TRIGGER USER")
        owner.execute(
            "UPDATE event_log SET envelope = %b", (envelope.replace(title, rb"a\u0000b"),)
        )
        owner.execute("ALTER TABLE event_log ENABLE TRIGGER USER")
        owner.execute("DELETE FROM projected_table")
        owner.execute("DELETE FROM projection_checkpoint")

    assert needed(croupier) == [Needed("one", 1, house.name, "oak")]


def test_a_closed_table_needs_no_key(croupier: Croupier, house: House) -> None:
    house.open("oak")
    house.do("oak", "close")

    start(croupier, TWO)

    assert needed(croupier) == []


def test_a_key_is_made_and_the_ring_is_shown(croupier: Croupier, house: House) -> None:
    house.seat("oak", "ada", ruleset="european")

    made = type(croupier, "seed-keys", "new").stdout.strip()
    assert re.fullmatch(r"key-[0-9a-f]{8}:[A-Za-z0-9_-]{43}=", made)
    name = made.partition(":")[0]
    listed = type(croupier, "seed-keys", "list", CROUPIER_SEED_KEYS=f"{made},{ONE}", COLUMNS="200")
    missing = type(croupier, "seed-keys", "list", CROUPIER_SEED_KEYS=made, COLUMNS="200")

    rows = [line.split() for line in listed.stdout.splitlines() if "│" in line]
    cells = [[cell for cell in row if cell != "│"] for row in rows]
    assert cells == [[name, "seals", "0"], ["one", "opens", "1", "oak", "of", house.name]]
    assert listed.returncode == 0
    assert missing.returncode == 1
    assert "missing" in missing.stdout
    assert ONE.partition(":")[2] not in listed.stdout
    refused = type(croupier, "seed-keys", "new", "--id", "No Id")
    assert refused.returncode == 2
