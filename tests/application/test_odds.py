"""The desk that has the odds: one question at a time, in a process of its own, asked once."""

import asyncio

import pytest
from msgspec.structs import replace

from services.blackjack.application.odds import (
    GIVEN_UP_SECONDS,
    MOST_WAITING,
    OddsDesk,
    bet_and_game,
)
from services.blackjack.domain.modifiers import RankValue
from services.blackjack.domain.rulesets import A2G
from services.blackjack.odds.figures import Strategy
from services.blackjack.odds.rejections import NoExactOdds, NoSuchHand, OddsBusy
from tests.odds.games import casino, solved


async def test_what_was_worked_out_is_kept() -> None:
    desk = OddsDesk()

    first = await desk.odds(casino())
    again = await desk.odds(casino())

    assert again is first
    assert first.by_total == pytest.approx(
        sum(up.chance * up.by_total for up in first.upcards), abs=1e-15
    )


async def test_whoever_asks_at_the_same_time_gets_the_same() -> None:
    desk = OddsDesk()

    one, other = await asyncio.gather(
        desk.hand(casino(), "88", "T"), desk.hand(casino(), "88", "T")
    )

    assert one is other
    assert one == solved("peek").hand("88", "T")


async def test_a_refusal_is_kept_too() -> None:
    desk = OddsDesk()
    for _ in range(2):
        with pytest.raises(NoSuchHand, match="TT2 against T is bust"):
            await desk.hand(casino(), "TT2", "T")


async def test_too_many_questions_are_turned_away_and_closing_ends_all() -> None:
    desk = OddsDesk()
    games = [casino(natural_pays=1 + share / 100) for share in range(MOST_WAITING)]
    waiting = [asyncio.create_task(desk.odds(game)) for game in games]
    await asyncio.sleep(0)

    with pytest.raises(OddsBusy) as busy:
        await desk.odds(casino(natural_pays=2))
    assert busy.value.facts == {"retry_after": 5}
    await desk.close()
    answers = await asyncio.gather(*waiting, return_exceptions=True)

    assert all(isinstance(answer, asyncio.CancelledError) for answer in answers)


async def test_one_who_goes_away_takes_nothing_from_the_others() -> None:
    desk = OddsDesk()
    impatient = asyncio.create_task(desk.hand(casino(), "A7", "3"))
    patient = asyncio.create_task(desk.hand(casino(), "A7", "3"))
    await asyncio.sleep(0)

    impatient.cancel()

    assert await patient == solved("peek").hand("A7", "3")


async def test_a_game_with_too_many_hands_is_refused_before_it_is_tried() -> None:
    desk = OddsDesk(most_seconds=0)
    rules = replace(A2G, environment=(RankValue("K", 1), RankValue("Q", 2)))
    _, game = bet_and_game(rules, None)

    for asked in (
        desk.odds(game),
        desk.hand(game, "88", "T"),
        desk.worth(game, Strategy((), {}, {}, {})),
        desk.returns(rules),
    ):
        with pytest.raises(NoExactOdds, match="too many hands to add up: let fewer ranks"):
            await asked


async def test_what_took_too_long_is_refused_and_not_tried_again_for_a_while() -> None:
    now = 1000.0
    desk = OddsDesk(most_seconds=0, clock=lambda: now)
    with pytest.raises(NoExactOdds, match="not worked out in 0 seconds"):
        await desk.hand(casino(), "88", "T")

    desk._most_seconds = 60
    with pytest.raises(NoExactOdds):
        await desk.hand(casino(), "88", "T")
    assert await desk.hand(casino(), "A7", "3") == solved("peek").hand("A7", "3")
    now += GIVEN_UP_SECONDS
    assert await desk.hand(casino(), "88", "T") == solved("peek").hand("88", "T")
