"""A view is made anew beside the one that is read, whatever goes on, and takes its place."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest

from services.blackjack.application.plays import Moment, Plays
from services.blackjack.projections import RETURNS, TABLES
from services.worker import VIEWS
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.projection import Pages, Projection
from shared.eventstore.rebuild import CannotRebuild, Rebuild
from tests.api.croupier import ROOT, Croupier
from tests.cli.test_up import CROUPIER
from tests.conftest import Database
from tests.projections.evening import (
    CODEC,
    HOUSE,
    Evening,
    a_projector,
    an_evening,
    rows,
    the_views_are_right,
    until_up_to_date,
)

CORRUPTIONS = {
    "a changed row": "UPDATE projected_table SET host = 'eve' WHERE id = 'a2g'",
    "a lost row": "DELETE FROM projected_table WHERE id = 'a2g'",
    "a row too many": "INSERT INTO projected_table SELECT house, generation, 'x', ruleset, phase, "
    "host, seats, players, rounds, version, position FROM projected_table WHERE id = 'a2g'",
}


def a_rebuild(store: PostgresStore, view: Projection[Moment]) -> Rebuild[Moment]:
    return Rebuild(Pages(store, Plays(store, CODEC).open), view, HOUSE)


def unseen(position: int, target: int) -> None:
    pass


@asynccontextmanager
async def played_on(evening: Evening, url: str) -> AsyncIterator[None]:
    """Somebody plays and a worker follows, as fast as they can."""
    over = asyncio.Event()

    async def play() -> None:
        while not over.is_set():
            await evening.goes_on(1)

    async def work() -> None:
        async with PostgresStore(url) as store, a_projector(store) as projector:
            while not over.is_set():
                await projector.advance()

    async with asyncio.TaskGroup() as group:
        group.create_task(play())
        group.create_task(work())
        yield
        over.set()


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
async def test_under_load_it_comes_to_the_same(
    view: Projection[Moment], database: Database
) -> None:
    async with an_evening(database.app_url, seed=0) as evening:
        await evening.goes_on(300)
        await until_up_to_date(evening.store)
        seen = list[int]()

        async with played_on(evening, database.app_url):
            rebuilt = await a_rebuild(evening.store, view).run(lambda at, _: seen.append(at))

        assert rebuilt.before == rebuilt.now
        assert rebuilt.differing == 0
        assert rebuilt.now.rows > 0
        assert seen == sorted(seen)
        await until_up_to_date(evening.store)
        await the_views_are_right(evening.store, {view.name: 2})


@pytest.mark.parametrize("corruption", CORRUPTIONS.values(), ids=CORRUPTIONS)
async def test_what_was_wrong_is_told_and_put_right(corruption: str, database: Database) -> None:
    async with an_evening(database.app_url, seed=1) as evening:
        await evening.goes_on(50)
        await until_up_to_date(evening.store)
        with psycopg.connect(database.owner_url) as owner:
            owner.execute(corruption.encode())

        rebuilt = await a_rebuild(evening.store, TABLES).run(unseen)

        assert rebuilt.before != rebuilt.now
        assert rebuilt.differing == 1
        await the_views_are_right(evening.store, {"tables": 2})


async def test_the_view_from_before_is_kept_until_the_next_rebuild(database: Database) -> None:
    async with an_evening(database.app_url, seed=2) as evening:
        await evening.goes_on(50)
        await until_up_to_date(evening.store)
        kept = await rows(evening.store, RETURNS)
        rebuild = a_rebuild(evening.store, RETURNS)
        await rebuild.run(unseen)
        await evening.goes_on(50)
        await until_up_to_date(evening.store)
        assert await rows(evening.store, RETURNS, 1) == kept

        await rebuild.roll_back()

        checkpoint = await Checkpoints(evening.store.readers).reached(HOUSE, "returns")
        assert checkpoint.generation == 1
        await until_up_to_date(evening.store)
        await the_views_are_right(evening.store)
        await rebuild.roll_back()
        await until_up_to_date(evening.store)
        await the_views_are_right(evening.store, {"returns": 2})
        await rebuild.run(unseen)
        assert await rows(evening.store, RETURNS, 1) == []


async def test_a_rebuild_that_broke_off_leaves_nothing_behind(database: Database) -> None:
    async with an_evening(database.app_url, seed=3) as evening:
        await evening.goes_on(50)
        await until_up_to_date(evening.store)
        with psycopg.connect(database.owner_url) as owner:
            owner.execute(
                "INSERT INTO projected_return SELECT house, 2, day, ruleset, 7, 7, 7, 7, 7, 7 "
                "FROM projected_return"
            )

        rebuilt = await a_rebuild(evening.store, RETURNS).run(unseen)

        assert rebuilt.before == rebuilt.now
        await the_views_are_right(evening.store, {"returns": 2})


async def test_only_one_rebuilds_a_view(database: Database) -> None:
    async with an_evening(database.app_url, seed=4) as evening:
        await evening.goes_on(20)
        await until_up_to_date(evening.store)
        async with PostgresStore(database.app_url) as other:
            async with a_rebuild(other, TABLES).alone():
                with pytest.raises(CannotRebuild, match="Somebody else rebuilds this view now"):
                    await a_rebuild(evening.store, TABLES).run(unseen)

            await a_rebuild(evening.store, TABLES).run(unseen)


async def test_there_is_no_way_back_before_the_first_rebuild(database: Database) -> None:
    async with an_evening(database.app_url, seed=5) as evening:
        await until_up_to_date(evening.store)

        with pytest.raises(CannotRebuild, match="no earlier view"):
            await a_rebuild(evening.store, TABLES).roll_back()


async def test_an_operator_is_told_in_words(database: Database) -> None:
    async with an_evening(database.app_url, seed=6) as evening:
        await evening.goes_on(20)
        await until_up_to_date(evening.store)

    def rebuild(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*CROUPIER, "rebuild", *words],
            env=Croupier(database).environment | {"COLUMNS": "120"},
            cwd=ROOT,
            capture_output=True,
            text=True,
        )

    assert "The view 'tables' of 'local' was right: at position" in rebuild("tables").stdout
    with psycopg.connect(database.owner_url) as owner:
        owner.execute(CORRUPTIONS["a lost row"].encode())
    assert "was wrong in 1 rows, and is read anew" in rebuild("tables").stdout
    assert "is read as it was kept" in rebuild("tables", "--rollback").stdout
    refused = rebuild("chairs")
    assert refused.returncode == 2
    assert all(view.name in refused.stderr for view in VIEWS)
