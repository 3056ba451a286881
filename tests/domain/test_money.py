"""Where chips go: bets and their limits, the ledger lines of every event, buy-in and cash-out."""

import pytest
from msgspec import DecodeError, json

from services.blackjack.domain import commands as c
from services.blackjack.domain.commands import (
    Bet,
    BuyIn,
    CashOut,
    Close,
    DoubleDown,
    Hit,
    Insure,
    Leave,
    Split,
    Stand,
    Surrender,
    WithdrawBet,
)
from services.blackjack.domain.events import BetPlaced, BetWithdrawn, HandSettled
from services.blackjack.domain.moves import legal_moves
from services.blackjack.domain.rejections import (
    BetAlreadyPlaced,
    BetNotAllowed,
    ChipsStayAtTheTable,
    NoBet,
    NoRound,
    NotEnoughChips,
    RoundInProgress,
)
from services.blackjack.domain.rules import BetLimits
from services.blackjack.domain.settlement import payout, postings
from shared.kernel.chips import MOST_CHIPS
from tests.domain.story import (
    a_round,
    a_table,
    given,
    rows,
    then,
    then_posted,
    then_refused,
    when,
)


@rows("""
    amount
    0
    -1
    5.5
    "5"
    true
    null
    NaN
    1e400
    9223372036854775808
    1000000000001
    [5]
""")
@pytest.mark.parametrize(
    "command",
    [
        '{"type": "bet", "seat": 1, "amount": %s}',
        '{"type": "buy_in", "seat": 1, "amount": %s}',
        '{"type": "cash_out", "seat": 1, "amount": %s}',
        '{"type": "sit", "seat": 1, "player": "ada", "buy_in": %s}',
    ],
)
def test_an_amount_is_a_whole_number_of_chips(command, amount):
    with pytest.raises(DecodeError):
        json.decode(command % amount, type=c.Command)


@rows("""
    game         stack   amount   verdict
    a2g          1000    2        ok
    a2g          1000    500      ok
    a2g          1000    502      BetNotAllowed
    a2g          1000    1        BetNotAllowed
    a2g          1000    3        BetNotAllowed
    a2g          100     100      ok
    a2g          100     102      BetNotAllowed
    a2g          101     101      BetNotAllowed
    a2g          1       2        NotEnoughChips
    coinlounge   1000    1        ok
    coinlounge   1000    500      ok
    coinlounge   1000    501      BetNotAllowed
    coinlounge   1       1        ok
    classic      100     5        ok
    classic      100     50       ok
    classic      100     51       BetNotAllowed
    classic      100     4        BetNotAllowed
    classic      101     50       ok
    classic      101     51       BetNotAllowed
    classic      10      5        ok
    classic      9       5        NotEnoughChips
    classic      5000    2500     ok
    european     1000    2        ok
    european     1000    500      ok
    european     1000    501      BetNotAllowed
    european     1       2        NotEnoughChips
""")
def test_a_bet_is_within_the_limits_and_the_stack(game, stack, amount, verdict):
    story = given(a_table(game, stack, cards="Ts 6c 8d 9d Tc Kc"))
    listed = [move for move in legal_moves(story.table) if move.type == "bet"]
    when(Bet(1, amount))
    if verdict == "ok":
        assert story.events[0] == BetPlaced(1, amount)
        assert amount in range(listed[0].min, listed[0].max + 1, listed[0].step)
    elif verdict == "NotEnoughChips":
        then_refused(NotEnoughChips)
        assert listed == []
    else:
        refusal = then_refused(BetNotAllowed)
        listed_range = {"min": listed[0].min, "max": listed[0].max, "step": listed[0].step}
        assert refusal.facts == listed_range, "the refusal says what would be accepted"


@rows("""
    game         min   step   max   amount   verdict
    a2g          10    10     50    30       ok
    a2g          10    10     50    35       BetNotAllowed
    a2g          10    10     50    60       BetNotAllowed
    coinlounge   25    25     100   75       ok
    coinlounge   25    25     100   1        BetNotAllowed
    classic      5     5      20    20       ok
    european     100   2      100   100      ok
    european     100   2      100   102      BetNotAllowed
""")
def test_a_table_may_have_limits_of_its_own(game, min, step, max, amount, verdict):
    limits = BetLimits(min=min, step=step, max=max)
    story = given(a_table(game, 1000, cards="Ts 6c 8d 9d Tc Kc", bet=limits))
    when(Bet(1, amount))
    if verdict == "ok":
        assert story.events[0] == BetPlaced(1, amount)
    else:
        then_refused(BetNotAllowed)


def test_no_listed_amount_is_more_than_a_command_may_name():
    story = given(a_table("a2g", MOST_CHIPS, bet=BetLimits(min=2, step=2)))
    when(BuyIn(1, MOST_CHIPS))
    assert all((move.max or 0) <= MOST_CHIPS for move in legal_moves(story.table))


def test_a_stake_is_reserved_when_it_is_placed():
    given(a_table("coinlounge", 100))
    when(Bet(1, 60))
    then(BetPlaced(1, 60))
    then_posted("""
        ada      -60
        in_play  +60
    """)
    when(CashOut(1, 41))
    then_refused(NotEnoughChips)
    when(Bet(1, 40))
    then_refused(BetAlreadyPlaced)
    when(WithdrawBet(1))
    then(BetWithdrawn(1, 60))
    then_posted("""
        ada      +60
        in_play  -60
    """)
    when(WithdrawBet(1))
    then_refused(NoBet)


@rows("""
    outcome     stake   ada    in_play   bank
    natural     100     +250   -100      -150
    natural     25      +62    -25       -37
    win         100     +200   -100      -100
    push        100     +100   -100      –
    loss        100     –      -100      +100
    bust        100     –      -100      +100
    surrender   5       +2     -5        +3
    surrender   1       –      -1        +1
""")
def test_a_settlement_takes_the_stake_out_of_play(outcome, stake, ada, in_play, bank):
    table = a_table("coinlounge", 100).table
    lines = postings(table, HandSettled(1, 0, outcome, stake, payout(outcome, stake)))
    amounts = {line.account.rpartition("/")[2]: line.amount for line in lines}
    expected = {"stack": ada, "in_play": in_play, "bank": bank}
    assert amounts == {account: amount for account, amount in expected.items() if amount}


def test_a_surrender_shares_the_stake():
    given(a_round("classic", "Ts 6d", upcard="Tc", bet=5))
    when(Surrender(1))
    then_posted("""
        ada      +2
        in_play  -5
        bank     +3
    """)


def test_a_bust_goes_to_the_bank():
    given(a_round("a2g", "Ts 6d", upcard="Tc", next_cards="Kh"))
    when(Hit(1))
    then_posted("""
        in_play  -100
        bank     +100
    """)


@rows("""
    hole   pays
    Kh     yes
    7h     no
""")
def test_insurance_moves_half_the_bet_and_back_three_times_or_never(hole, pays):
    given(a_round("coinlounge", "Ts 9d", upcard="Ac", hole=hole))
    when(Insure(1))
    bought = "ada -50\nin_play +50\n"
    won = "ada +150\nin_play -50\nbank -100\nin_play -100\nbank +100"
    lost = "in_play -50\nbank +50"
    then_posted(bought + (won if pays == "yes" else lost))


def test_a_split_and_a_double_take_one_more_bet_each_no_less_and_no_more():
    given(a_round("a2g", "8s 8d", upcard="6c", hole="Kh", next_cards="3h 9h 9c Kc"))
    when(Split(1))
    then_posted("""
        ada      -100
        in_play  +100
    """)
    when(DoubleDown(1, 0))
    then_posted("""
        ada      -100
        in_play  +100
    """)
    when(Stand(1, 1))
    then_posted("""
        ada      +400
        in_play  -200
        bank     -200
        ada      +200
        in_play  -100
        bank     -100
    """)


def test_buying_in_and_cashing_out_move_chips_between_vault_and_stack():
    given(a_table("a2g", 100))
    when(BuyIn(1, 50))
    then_posted("""
        ada          +50
        ada's vault  -50
    """)
    when(CashOut(1, 150))
    then_posted("""
        ada          -150
        ada's vault  +150
    """)
    when(CashOut(1, 1))
    then_refused(NotEnoughChips)
    when(Leave(1))
    then_posted("")


def test_the_chips_of_a_european_session_are_granted_and_go_back_to_where_they_came_from():
    given(a_table("european", 100))
    when(BuyIn(1, 50))
    then_posted("""
        ada       +50
        issuance  -50
    """)
    when(CashOut(1, 50))
    then_refused(ChipsStayAtTheTable)
    when(Leave(1))
    then_posted("""
        ada       -150
        issuance  +150
    """)


def test_a_live_hand_keeps_its_stack_as_it_is():
    given(a_round("a2g", "Ts 6d", "Ts 6h", upcard="Tc", next_cards="Kh"))
    for command in (BuyIn(1, 50), CashOut(1, 50)):
        when(command)
        then_refused(RoundInProgress)
    when(Hit(1))
    when(BuyIn(1, 50), CashOut(1, 20))
    then_posted("""
        ada          +50
        ada's vault  -50
        ada          -20
        ada's vault  +20
    """)


def test_one_decision_is_decided_once():
    """Whoever asks again with another key finds the turn gone."""
    given(a_round("a2g", "Ts 9d", upcard="Tc", hole="8h"))
    when(Stand(1))
    for _ in range(4):
        when(Stand(1))
        then_refused(NoRound)


def test_closing_the_table_gives_everything_back():
    given(a_table("coinlounge", 100, 200))
    when(Bet(1, 60), Close())
    then_posted("""
        ada          -60
        in_play      +60
        ada          +60
        in_play      -60
        ada          -100
        ada's vault  +100
        bob          -200
        bob's vault  +200
    """)
