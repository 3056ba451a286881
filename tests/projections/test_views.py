"""A view is what a naive reader of the log finds, wherever its writers stopped, died or met."""

import asyncio
import subprocess
from base64 import urlsafe_b64encode
from random import Random

import psycopg
import pytest
from msgspec.structs import replace
from psycopg.errors import InsufficientPrivilege

from services.blackjack.application.plays import Moment, Plays
from services.blackjack.projections import HANDS, TABLES
from services.blackjack.projections.rounds import Rounds
from services.worker import VIEWS
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.migrate import open_house
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.projection import LEASE, PAGE, Page, Pages, Projector
from shared.local.process import until
from tests.api.croupier import ROOT, Croupier
from tests.cli.test_up import CROUPIER
from tests.conftest import Database
from tests.eventstore.appends import a_command, an_event
from tests.projections.evening import (
    CODEC,
    GAMES,
    HOUSE,
    SEED_KEY,
    a_projector,
    an_evening,
    positions,
    the_views_are_right,
    until_up_to_date,
)


@pytest.mark.parametrize("seed", range(4))
async def test_views_are_what_a_naive_reader_finds(seed: int, database: Database) -> None:
    async with an_evening(database.app_url, seed) as evening:
        await evening.goes_on(400)

        await until_up_to_date(evening.store, page=evening.chance.choice([7, 100, 1000]))

        await the_views_are_right(evening.store)


async def test_they_follow_play_and_go_on_wherever_a_worker_stopped(database: Database) -> None:
    async with an_evening(database.app_url, seed=0) as evening:
        for _ in range(30):
            async with a_projector(evening.store, evening.chance.randrange(1, 20)) as projector:
                await evening.goes_on(10)
                for _ in range(evening.chance.randrange(4)):
                    await projector.advance()

        await until_up_to_date(evening.store)

        await the_views_are_right(evening.store)


async def test_workers_side_by_side_write_everything_once(database: Database) -> None:
    """Each tries to write all the time: the leases are over at once."""
    async with an_evening(database.app_url, seed=1) as evening:
        await evening.goes_on(200)

        async def work(chance: Random) -> None:
            async with PostgresStore(database.app_url) as store:
                for _ in range(40):
                    async with a_projector(store, chance.randrange(1, 20)) as projector:
                        await projector.advance()

        await asyncio.gather(*(work(Random(seed)) for seed in range(4)))
        await until_up_to_date(evening.store)

        await the_views_are_right(evening.store)


async def test_one_worker_writes_and_another_takes_over_when_its_lease_is_over(
    database: Database,
) -> None:
    async with an_evening(database.app_url, seed=2) as evening:
        first, second = a_projector(evening.store), a_projector(evening.store)
        await first.advance()
        before = await positions(evening.store)
        await evening.goes_on(20)

        await second.advance()
        assert await positions(evening.store) == before

        async with evening.store.readers.connection() as connection:
            moved = await connection.execute(
                "UPDATE projection_checkpoint SET held_until = held_until - %s", (LEASE,)
            )
            assert moved.rowcount == len(VIEWS)
        await second.advance()
        await the_views_are_right(evening.store)
        await evening.goes_on(20)
        await first.advance()
        assert await positions(evening.store) != before
        await second.advance()
        await the_views_are_right(evening.store)


async def test_a_round_is_found_however_far_its_view_has_come(database: Database) -> None:
    """Before the first worker, behind by some rounds, and up to date: always the same places."""
    async with an_evening(database.app_url, seed=7) as evening:
        await evening.goes_on(300)
        rounds = Rounds(evening.store.readers, Checkpoints(evening.store.readers))

        async def places() -> list[tuple[int, int] | None]:
            every = [(game, number) for game in GAMES for number in range(1, 15)]
            return [await rounds.round(HOUSE, *each) for each in every]

        expected = await places()
        assert sum(place is not None for place in expected) > len(GAMES)
        async with a_projector(evening.store, page=100) as projector:
            while await projector.advance():
                assert await places() == expected
        assert await places() == expected


class Overtaken(Pages[Moment]):
    """Reads a page, and is so slow that others have done all there was before it is written."""

    async def read(self, house: str, after: int, limit: int = PAGE) -> Page[Moment]:
        page = await super().read(house, after, limit)
        await until_up_to_date(self.store)
        return page


async def test_who_was_overtaken_writes_nothing(database: Database) -> None:
    async with an_evening(database.app_url, seed=3) as evening:
        await until_up_to_date(evening.store)
        await evening.goes_on(100)
        store = evening.store

        async with Projector(Overtaken(store, Plays(store, CODEC).open), VIEWS, page=20) as slow:
            await slow.advance()

        await the_views_are_right(store)


async def test_a_view_that_fails_holds_up_no_other(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    broken = replace(HANDS, write="SELECT 1 / 0")
    async with an_evening(database.app_url, seed=4) as evening:
        await evening.goes_on(100)

        async with a_projector(evening.store, views=[broken, TABLES]) as projector:
            for _ in range(3):
                await projector.advance()

        head = (await evening.store.head(HOUSE)).position
        assert await positions(evening.store) == {"hands": 0, "tables": head}
        assert "The view hands of local fails after 0" in caplog.text


async def test_a_house_whose_log_cannot_be_read_holds_up_no_other(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    open_house(database.owner_url, "before-local")
    async with an_evening(database.app_url, seed=5) as evening:
        await evening.store.append_batch("before-local", [a_command("c", an_event("table-t"))])
        await evening.goes_on(20)

        async with a_projector(evening.store) as projector:
            assert not await projector.advance(), "it is left alone for a while"
            assert not await projector.advance()

        assert "The log of before-local cannot be read after 0" in caplog.text
        await the_views_are_right(evening.store)


async def test_a_view_whose_log_was_archived_holds_up_no_other(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """As it is with a new version that has one view more."""
    async with an_evening(database.app_url, seed=8) as evening:
        await until_up_to_date(evening.store)
        with psycopg.connect(database.owner_url, autocommit=True) as owner:
            owner.execute("DELETE FROM projection_checkpoint WHERE name = 'statements'")
            owner.execute(
                "INSERT INTO archive VALUES (%s, 1, 3, sha256(''), sha256(''), sha256(''), 'tape')",
                (HOUSE,),
            )
        await evening.goes_on(20)

        async with a_projector(evening.store) as projector:
            for _ in range(3):
                await projector.advance()

        head = (await evening.store.head(HOUSE)).position
        others = {view.name: head for view in VIEWS if view.name != "statements"}
        assert await positions(evening.store) == others | {"statements": 0}
        assert "statements of local wait for what is in the archive" in caplog.text


async def test_a_gap_in_the_log_is_not_skipped(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with an_evening(database.app_url, seed=5) as evening:
        with psycopg.connect(database.owner_url, autocommit=True) as owner:
            owner.execute("ALTER TABLE event_log DISABLE TRIGGER USER")
            owner.execute("ALTER TABLE event_log_0 DISABLE TRIGGER USER")
            owner.execute("DELETE FROM event_log WHERE position = 3")

        async with a_projector(evening.store) as projector:
            assert not await projector.advance()

        assert await positions(evening.store) == {view.name: 0 for view in VIEWS}
        assert "At position 3: a gap" in caplog.text


async def test_the_serving_role_writes_views_and_nothing_that_counts(database: Database) -> None:
    async with (
        PostgresStore(database.app_url) as store,
        store.readers.connection() as connection,
    ):
        for view in VIEWS:
            await connection.execute(f"DELETE FROM {view.table}".encode())
        with pytest.raises(InsufficientPrivilege):
            await connection.execute("DELETE FROM event_log")


async def test_a_worker_killed_in_the_middle_of_a_page_doubles_nothing(
    database: Database,
) -> None:
    async with an_evening(database.app_url, seed=6) as evening:
        await evening.goes_on(100)
        with psycopg.connect(database.owner_url, autocommit=True) as owner:
            for _ in range(3):
                killed = asyncio.create_task(asyncio.to_thread(work_and_die, database, owner))
                while not killed.done():
                    await evening.goes_on(5)
                await killed

        await until_up_to_date(evening.store)

        await the_views_are_right(evening.store)


def work_and_die(database: Database, owner: "psycopg.Connection") -> None:
    """A worker that is killed as soon as it has moved anything, and leaves its leases."""
    before = owner.execute("SELECT sum(position) FROM projection_checkpoint").fetchone()
    ring = {"CROUPIER_SEED_KEYS": f"k:{urlsafe_b64encode(SEED_KEY).decode()}"}
    environment = Croupier(database).environment | ring
    with subprocess.Popen([*CROUPIER, "work"], env=environment, cwd=ROOT) as worker:
        moved = until(
            lambda: (
                owner.execute("SELECT sum(position) FROM projection_checkpoint").fetchone()
                != before
            )
        )
        worker.kill()
    assert moved, "a worker that never works doubles nothing either"
    owner.execute("UPDATE projection_checkpoint SET held_until = '-infinity'")
