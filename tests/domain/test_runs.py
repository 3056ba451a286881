"""The classic run: what it begins with, when it is won or lost, and where its chips go."""

import pytest
from msgspec.structs import replace

from services.blackjack.domain.commands import (
    Bet,
    BuyIn,
    CashOut,
    Close,
    DoubleDown,
    Hit,
    Leave,
    Sit,
    Stand,
    StartRun,
    Surrender,
)
from services.blackjack.domain.events import (
    BetWithdrawn,
    HandSettled,
    HostMoved,
    PlayerLeft,
    PlayerSat,
    RunEnded,
    RunStarted,
    TableWasClosed,
)
from services.blackjack.domain.moves import Move, legal_moves
from services.blackjack.domain.rejections import (
    AlreadySeated,
    BankrollIsFixed,
    BetNotAllowed,
    NoRuns,
    NotEnoughChips,
    PlayedInRuns,
    RulesetNonsense,
    RunUnderWay,
    SeatTaken,
    StakeNotAllowed,
    UnknownSeat,
)
from services.blackjack.domain.rules import BetLimits, validate
from services.blackjack.domain.rulesets import PUBLISHED, ruleset
from services.blackjack.domain.run import bankroll
from services.blackjack.domain.view import RunView, view
from tests.domain.story import (
    Story,
    a_table,
    a_table_of,
    given,
    rows,
    seed_revealed,
    then,
    then_among,
    then_posted,
    then_refused,
    when,
)

NATURAL, WIN, LOSS = "As 6c Kd 9h", "Ts 6c 9d Th Kh", "Ts 9c 8d Th"


def a_run(stake: int | None, *, holds: int = 0, cards: str = WIN) -> Story:
    """A run that ada has begun with a stake, or was granted, and that has come to some chips."""
    story = a_table("classic", cards=cards).play(StartRun(1, "ada", stake))
    if holds:
        seat = replace(story.table.seat(1), stack=holds)
        story.table = replace(story.table, seats=(seat,))
        story.books.balance["table/t/player/ada/stack"] = holds
        story.books.balance["table/t/bank"] -= holds - (stake or 100)
    return story


@rows("""
    stake   verdict
    39      refused
    40      160
    41      164
    60      240
    100     400
    101     refused
""")
def test_bring_40_to_100_chips_and_the_goal_is_4_times_what_was_brought(stake, verdict):
    given(a_table("classic"))
    when(StartRun(1, "ada", stake))
    if verdict == "refused":
        assert then_refused(StakeNotAllowed).facts == {"min": 40, "max": 100}
    else:
        then(RunStarted(1, "ada", 1, "vault", stake, verdict))
        then_posted(f"""
            ada          +{stake}
            ada's vault  -{stake}
        """)


def test_without_a_vault_a_run_starts_with_100_chips_and_the_goal_is_300():
    given(a_table("classic"))
    when(StartRun(1, "ada"))
    then(RunStarted(1, "ada", 1, "grant", 100, 300))
    then_posted("""
        ada       +100
        issuance  -100
    """)


def test_one_sits_down_by_starting_a_run_and_the_first_to_do_so_hosts():
    story = given(a_table("classic"))
    story.table = replace(story.table, host=None)
    when(StartRun(1, "bob", 40))
    then(RunStarted(1, "bob", 1, "vault", 40, 160), HostMoved("bob"))
    assert (story.table.seat(1).player, story.table.seat(1).stack) == ("bob", 40)


def test_nobody_sits_down_in_any_other_way():
    given(a_table("classic"))
    when(Sit(1, "ada", 60))
    then_refused(PlayedInRuns)


def test_the_chips_of_a_run_are_what_it_began_with():
    given(a_run(60))
    for command in (BuyIn(1, 10), CashOut(1, 10)):
        when(command)
        then_refused(BankrollIsFixed)


@pytest.mark.parametrize("game", ["a2g", "coinlounge", "european"])
def test_other_games_have_no_runs(game):
    given(a_table(game))
    when(StartRun(1, "ada", 60))
    then_refused(NoRuns)
    assert "start_run" not in [move.type for move in legal_moves(a_table(game, 100).table)]


@rows("""
    holds   bet   verdict
    60      4     BetNotAllowed
    60      5     ok
    60      30    ok
    60      31    BetNotAllowed
    61      30    ok
    61      31    BetNotAllowed
    11      5     ok
    10      5     ok
    10      6     BetNotAllowed
    9       5     NotEnoughChips
""")
def test_a_bet_is_5_up_to_half_of_the_bankroll_rounded_down(holds, bet, verdict):
    given(a_run(60, holds=holds))
    when(Bet(1, bet))
    if verdict != "ok":
        then_refused({"BetNotAllowed": BetNotAllowed, "NotEnoughChips": NotEnoughChips}[verdict])


@rows("""
    holds   bet   cards                comes_to   outcome
    200     40    Ts 6c 9d Th Kh       240        won
    200     41    Ts 6c 9d Th Kh       241        won
    200     39    Ts 6c 9d Th Kh       239        –
    214     18    As 6c Kd 9h          241        won
    19      9     Ts 9c 8d Th          10         –
    18      9     Ts 9c 8d Th          9          lost
    10      5     Ts 9c 8d Th          5          lost
    240     40    Ts 9c 8d Th          200        –
    239     5     Ts 9c 9d Th          239        –
""")
def test_after_a_round_a_run_is_won_at_the_goal_and_lost_when_no_bet_is_legal(
    holds, bet, cards, comes_to, outcome
):
    story = given(a_run(60, holds=holds, cards=cards))
    when(Bet(1, bet))
    if story.table.turn():
        when(Stand(1))
    ended = [event for event in story.events if isinstance(event, RunEnded)]
    assert ended == ([RunEnded(1, outcome, comes_to)] if outcome else [])
    assert bankroll(story.table, story.table.seat(1)) == comes_to


def test_a_double_of_the_largest_bet_may_lose_the_whole_bankroll_at_once():
    given(a_run(60, holds=20, cards="6s Tc 5d Th 2h"))
    when(Bet(1, 10), DoubleDown(1))
    then_among(HandSettled(1, 0, "loss", 20, 0), RunEnded(1, "lost", 0), seed_revealed(drawn=5))


def test_a_surrender_may_end_a_run():
    given(a_run(60, holds=11, cards="Ts Tc 6d 9h"))
    when(Bet(1, 5), Surrender(1))
    then_among(HandSettled(1, 0, "surrender", 5, 2), RunEnded(1, "lost", 8))


def test_a_run_ends_in_its_last_round_before_the_seed_is_told():
    given(a_run(60, holds=230, cards=NATURAL))
    when(Bet(1, 10))
    then_among(HandSettled(1, 0, "natural", 10, 25), RunEnded(1, "won", 245), seed_revealed(4))


def test_a_bankroll_that_was_won_goes_to_the_vault_it_came_from():
    given(a_run(60, holds=230, cards=NATURAL))
    when(Bet(1, 10))
    then_posted("""
        ada          -10
        in_play      +10
        ada          +25
        in_play      -10
        bank         -15
        ada          -245
        ada's vault  +245
    """)


def test_what_is_left_of_a_lost_bankroll_goes_back_too():
    given(a_run(60, holds=12, cards=LOSS))
    when(Bet(1, 6), Stand(1))
    then_posted("""
        ada          -6
        in_play      +6
        in_play      -6
        bank         +6
        ada          -6
        ada's vault  +6
    """)


@rows("""
    stake   lines
    60      ada -70, ada's vault +70
    –       ada -70, issuance +70
""")
def test_who_leaves_ends_the_run_and_the_bankroll_returns_to_where_it_came_from(stake, lines):
    given(a_run(stake or None, holds=70))
    when(Leave(1))
    then(HostMoved(None), RunEnded(1, "left", 70), PlayerLeft(1, "ada", 0))
    then_posted(lines.replace(",", "\n"))


def test_who_leaves_in_mid_round_stands_and_the_run_is_judged_first():
    given(a_run(60, holds=230, cards=WIN))
    when(Bet(1, 10), Leave(1))
    then_among(RunEnded(1, "won", 240), seed_revealed(drawn=5), PlayerLeft(1, "ada", 0))
    given(a_run(60, holds=100, cards=WIN))
    when(Bet(1, 10), Leave(1))
    then_among(seed_revealed(drawn=5), RunEnded(1, "left", 110), PlayerLeft(1, "ada", 0))


def test_who_has_lost_all_and_leaves_before_the_round_is_over_has_lost():
    """As long as others play, the round does not end and judge the run."""
    for_two = replace(PUBLISHED["classic"], seats=2)
    given(a_table_of(for_two, 12, 200, cards="Ts 9s 6c 8d 9d 9h Kc"))
    when(Bet(1, 6), Bet(2, 20), Hit(1))
    when(Leave(1))
    then(HostMoved("bob"), RunEnded(1, "lost", 6), PlayerLeft(1, "ada", 0))


def test_closing_the_table_ends_the_run():
    """Another seat's bet would not deal, so that here a bet waits."""
    story = given(a_run(60))
    seat = replace(story.table.seat(1), stack=50, bet=10)
    story.table = replace(story.table, seats=(seat,))
    story.books.balance["table/t/player/ada/stack"] -= 10
    story.books.balance["table/t/in_play"] += 10
    when(Close())
    then(
        BetWithdrawn(1, 10),
        RunEnded(1, "left", 60),
        PlayerLeft(1, "ada", 0),
        TableWasClosed(),
    )


def test_after_a_run_the_player_keeps_the_seat_and_may_start_the_next():
    story = given(a_run(60, holds=230, cards=NATURAL))
    when(Bet(1, 10))
    assert legal_moves(story.table) == [
        Move("sit_out", 1),
        Move("start_run", 1, player="ada", min=40, max=100, step=1),
        Move("start_run", 1, player="ada"),
        Move("leave", 1),
        Move("close"),
    ]
    when(StartRun(1, "bob", 60))
    then_refused(SeatTaken)
    when(StartRun(1, "ada", 50))
    then(RunStarted(1, "ada", 2, "vault", 50, 200))
    when(Leave(1))
    then_among(RunEnded(1, "left", 50))


def test_one_run_at_a_time():
    given(a_run(60))
    when(StartRun(1, "ada", 60))
    then_refused(RunUnderWay)
    when(StartRun(1, "bob", 60))
    then_refused(SeatTaken)
    when(StartRun(2, "bob", 60))
    then_refused(UnknownSeat)


def test_one_seat_a_player_where_a_game_of_runs_has_more():
    story = given(a_table("classic"))
    rules = validate(replace(PUBLISHED["classic"], seats=2, decks=2))
    story.table = replace(story.table, rules=rules, seats=(None, None))
    when(StartRun(1, "ada", 60), StartRun(2, "ada", 60))
    then_refused(AlreadySeated)


def test_the_legal_moves_of_a_free_seat_are_a_run_from_the_vault_and_a_granted_one():
    assert legal_moves(a_table("classic").table) == [
        Move("start_run", 1, min=40, max=100, step=1),
        Move("start_run", 1),
        Move("close"),
    ]


def test_a_seat_shows_its_run():
    story = given(a_run(60, cards="Ts 6c 6d Th Kh"))
    assert run_seen(story) == RunView(1, "vault", 60, 240, 60, None)
    when(Bet(1, 30))
    assert run_seen(story) == RunView(1, "vault", 60, 240, 60, None)
    when(DoubleDown(1))
    assert run_seen(story) == RunView(1, "vault", 60, 240, 0, "lost")


def test_the_bankroll_has_the_chips_at_risk_in_it():
    story = given(a_run(60, cards="6s 6c 5d Th Kh 5c"))
    when(Bet(1, 10))
    assert (story.table.seat(1).stack, run_seen(story).bankroll) == (50, 60)
    when(DoubleDown(1))
    assert (story.table.seat(1).stack, run_seen(story).bankroll) == (60, 60)


@rows("""
    field           value   why
    max_stake       39      cannot begin with 40 to 39
    granted_goal    100     won before it begins
    min_stake       9       A run of 9 chips would be lost
    granted_stake   9       A run of 9 chips would be lost
""")
def test_runs_that_make_no_game_are_refused(field, value, why):
    classic = PUBLISHED["classic"]
    with pytest.raises(RulesetNonsense, match=why):
        validate(replace(classic, run=replace(classic.run, **{field: value})))


def test_computer_players_start_no_runs():
    with pytest.raises(RulesetNonsense, match="start no runs"):
        validate(replace(PUBLISHED["classic"], computers=("easy",)))


def test_a_run_needs_a_vault_and_limits_that_let_it_bet():
    with pytest.raises(RulesetNonsense, match="chips from the vault"):
        validate(replace(PUBLISHED["classic"], bankroll="session"))
    assert ruleset("classic", bet=BetLimits(min=20, half_of_stack=True))
    with pytest.raises(RulesetNonsense, match="A run of 40 chips would be lost"):
        ruleset("classic", bet=BetLimits(min=21, half_of_stack=True))


def test_a_classic_table_that_was_opened_before_there_were_runs_goes_on_as_it_was():
    story = given(a_table("classic"))
    story.table = replace(story.table, rules=replace(story.table.rules, run=None))
    when(Sit(1, "ada", 500), BuyIn(1, 10), CashOut(1, 10))
    then_among(PlayerSat(1, "ada", 500))


def run_seen(story: Story) -> RunView:
    run = view(story.table, 1, 1).seats[0].run
    assert isinstance(run, RunView)
    return run
