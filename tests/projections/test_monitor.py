"""The worker holds what was played against the odds, and says so when it does not fit."""

import logging
from collections.abc import AsyncIterator

import psycopg
import pytest

from services.blackjack.application.odds import OddsDesk
from services.blackjack.application.rulesets import Rulesets
from services.blackjack.domain.rules import Ruleset
from services.blackjack.odds.luck import Exact
from services.blackjack.odds.rejections import NoExactOdds
from services.blackjack.projections.curves import Curves, Total
from services.blackjack.projections.monitor import Monitor
from shared.eventstore.batcher import Batcher
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.migrate import open_house
from shared.eventstore.postgres import PostgresStore
from shared.telemetry import WORK
from tests.application.processes import Clock
from tests.conftest import Database
from tests.projections.evening import CODEC, HOUSE

ROUNDS = 100_000


@pytest.fixture
async def curves(database: Database) -> AsyncIterator[Curves]:
    async with PostgresStore(database.app_url) as store:
        yield Curves(store.readers, Checkpoints(store.readers))


@pytest.fixture
async def monitor(database: Database, curves: Curves) -> AsyncIterator[Monitor]:
    clock = Clock()
    async with PostgresStore(database.app_url) as store, Batcher(store) as batcher:
        desk = OddsDesk()
        yield Monitor(curves, Rulesets(store, batcher, CODEC, clock), desk.returns)
        await desk.close()


def played(
    database: Database, table: str, percent: float, *, game: str = "classic", house: str = HOUSE
) -> None:
    """So many rounds with bets of ten, in which players won so many percent of them."""
    stake = 10 * ROUNDS
    payout = stake + round(stake * percent / 100)
    with psycopg.connect(database.owner_url) as owner:
        for step, part in ((0, 0), (ROUNDS // 2, 2), (ROUNDS, 1)):
            figures = [figure // part if part else 0 for figure in (ROUNDS, stake, stake, payout)]
            owner.execute(
                """
                INSERT INTO projected_curve
                VALUES (%s, 1, %s, %s, '1.0.0', %s, %s, %s, %s, %s, 0, %s)
                ON CONFLICT (house, generation, table_id, ruleset, version, step) DO UPDATE
                   SET payout = excluded.payout
                """,
                (house, table, game, step, *figures, 120 * figures[0]),
            )


def figure(name: str, **labels: str) -> float | None:
    return WORK.get_sample_value(name, labels)


async def test_the_newest_sums_of_every_game_and_table(database: Database, curves: Curves) -> None:
    for table, game in (("", "classic"), ("", "a2g"), ("oak", "classic"), ("elm", "a2g")):
        played(database, table, -1, game=game)

    totals = await curves.totals(HOUSE)

    assert [(total.table, total.ruleset) for total in totals] == [
        ("", "a2g"),
        ("", "classic"),
        ("elm", "a2g"),
        ("oak", "classic"),
    ]
    assert all(total.played.rounds == ROUNDS and isinstance(total, Total) for total in totals)
    assert await curves.totals("elsewhere") == []


async def test_games_without_exact_odds_are_passed_over(
    database: Database, curves: Curves, monitor: Monitor
) -> None:
    async def exact(rules: Ruleset) -> Exact:
        raise NoExactOdds("Too many hands.")

    monitor._exact = exact
    played(database, "", -90)
    played(database, "oak", -90)

    await monitor.look([HOUSE])

    assert figure("croupier_return_alarms") == 0
    assert figure("croupier_rounds_total", ruleset="classic") == ROUNDS


async def test_what_fits_is_shown_and_raises_no_alarm(
    database: Database, monitor: Monitor, caplog: pytest.LogCaptureFixture
) -> None:
    open_house(database.owner_url, "second")
    played(database, "", -1)
    played(database, "", -3, house="second")
    played(database, "oak", -1)

    await monitor.look([HOUSE, "second"])

    assert figure("croupier_return_alarms") == 0
    ratio = {
        name: figure("croupier_return_ratio", ruleset="classic", figure=name) or 0.0
        for name in ("realised", "exact", "low", "high")
    }
    assert ratio["realised"] == pytest.approx(0.98), "both houses together"
    assert ratio["exact"] == pytest.approx(1 - 0.00309880, abs=1e-7)
    assert ratio["low"] < ratio["realised"] < ratio["high"]
    assert not caplog.records


async def test_an_alarm_is_counted_and_told_once(
    database: Database, monitor: Monitor, caplog: pytest.LogCaptureFixture
) -> None:
    played(database, "", -1)
    played(database, "oak", 4)
    played(database, "elm", -9)

    with caplog.at_level(logging.WARNING):
        await monitor.look([HOUSE])
        await monitor.look([HOUSE])

    assert figure("croupier_return_alarms") == 2
    told = sorted(record.getMessage() for record in caplog.records)
    assert len(told) == 2
    assert "classic 1.0.0 at elm in the house local is outside of its band, too_little" in told[0]
    assert "classic 1.0.0 at oak in the house local is outside of its band, too_much" in told[1]
    assert f"after {ROUNDS} rounds" in told[0]


async def test_an_alarm_that_is_over_may_come_again(
    database: Database, monitor: Monitor, caplog: pytest.LogCaptureFixture
) -> None:
    for percent in (4, -1, 4):
        played(database, "oak", percent)
        await monitor.look([HOUSE])

    assert len(caplog.records) == 2


async def test_a_game_that_this_release_does_not_know_is_left_alone(
    database: Database, monitor: Monitor
) -> None:
    played(database, "", 9, game="pontoon")

    await monitor.look([HOUSE])

    assert figure("croupier_return_alarms") == 0
