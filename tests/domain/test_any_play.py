"""Random play over random rulesets, limits, seats and shoes. See `Witness` for what must hold.

A failing run prints its steps or its seed, the secrets of its shoes among them.
"""

import random

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from services.blackjack.domain.commands import Bet, Close, Sit, SitOut, StartRun
from services.blackjack.domain.items import ONE_OF_EACH, Item, Modify, Redraw
from services.blackjack.domain.modifiers import (
    BustLimit,
    FixedAce,
    Holds,
    InstantBust,
    Pair,
    RankValue,
    ReverseBust,
    TotalFrom,
)
from services.blackjack.domain.register import Proposal, register
from services.blackjack.domain.rejections import RulesetNonsense
from services.blackjack.domain.rules import BetLimits, Clocks, Ruleset, Runs, validate
from services.blackjack.domain.rulesets import PUBLISHED, ruleset
from services.blackjack.domain.table import Closed, Round
from shared.kernel.chips import in_play, stack
from tests.domain.chance import ChanceSeed
from tests.domain.every_command import amounts_of, as_command
from tests.domain.story import PLAY, endless
from tests.domain.witness import Witness

PLAYERS = [f"player-{n}" for n in range(12)]
EARLY = ["", "8", "A8", "TA", "A", "23A", "TJQK", "A23456"]
"""Ranks at the front of the shoe: real order, pairs, naturals, split aces, long hands."""
SEEDS = st.builds(ChanceSeed, st.binary(min_size=32, max_size=32), early=st.sampled_from(EARLY))
LIMITS = st.sampled_from([None, BetLimits(min=2, step=2), BetLimits(min=10, step=10, max=50)])
RUNS = st.sampled_from([None, PUBLISHED["classic"].run, Runs(2, 200, 2, 20, 21)])
FREE_FIELDS = (
    "clock", "deals", "double_after_split", "split", "surrender", "hit_on_21",
)  # fmt: skip
ANY_MODIFIER = st.one_of(
    st.builds(RankValue, st.sampled_from("23456789TJQK"), st.integers(1, 11)),
    st.builds(FixedAce, st.integers(1, 11)),
    st.builds(BustLimit, st.integers(17, 31)),
    st.builds(InstantBust, st.builds(Holds, st.sampled_from("A23456789TJQK"))),
    st.builds(InstantBust, st.builds(TotalFrom, st.integers(4, 20), st.integers(4, 20))),
    st.just(InstantBust(Pair())),
    st.just(ReverseBust()),
)
ENVIRONMENTS = st.just(()) | st.lists(ANY_MODIFIER, max_size=4).map(tuple)
ODD_SHOP = (
    Item("again", 1, Redraw()),
    Item("tens-are-elevens", 3, Modify(RankValue("T", 11))),
    Item("no-pairs", 2, Modify(InstantBust(Pair()))),
)
SETTLE = st.sampled_from(["before_play", "at_resolution"])
CHIPS = st.sampled_from([1000, 200, 5000, 75, 1])
CLIENT_SEEDS = st.sampled_from([None, "lucky", "_-" * 32])


@st.composite
def tables_of_a_published_game(draw):
    game = draw(st.sampled_from(sorted(PUBLISHED)))
    seats = draw(st.integers(1, PUBLISHED[game].seats))
    changes = {"environment": draw(ENVIRONMENTS)} if PUBLISHED[game].modifiers else {}
    return ruleset(game, bet=draw(LIMITS), seats=seats, **changes)


@st.composite
def games_never_published(draw):
    """Rules mixed at will, as far as they make sense together: the engine knows no game by name."""
    parents = st.sampled_from(sorted(PUBLISHED.values(), key=lambda game: game.name))
    free = {field: getattr(draw(parents), field) for field in FREE_FIELDS}
    peek = draw(st.sampled_from(["never", "ace_or_ten", "always"]))
    run = draw(RUNS)
    bankroll = "vault" if run else draw(st.sampled_from(["vault", "session"]))
    try:
        return validate(_mixed(draw, parents, free | {"run": run, "bankroll": bankroll}, peek))
    except RulesetNonsense:  # a shoe too small for cards that count that little
        reject()


def _mixed(draw, parents, free, peek):
    insurances = ["none", "on_turn"] if peek == "never" else ["none", "before_play"]
    return replace(
        draw(parents),
        seats=draw(st.integers(1, 7)),
        decks=8,
        bet=BetLimits(min=1, max=100, half_of_stack=draw(st.booleans())),
        natural_rounds_down=True,
        hands_per_seat=draw(st.integers(1, 4)),
        peek=peek,
        insurance=draw(st.sampled_from(insurances)),
        naturals_settle="at_resolution" if peek == "never" else "before_play",
        modifiers=draw(st.booleans()),
        environment=draw(ENVIRONMENTS),
        items=draw(st.sampled_from([(), ONE_OF_EACH, ODD_SHOP])),
        computers=() if free["run"] else draw(parents).computers,
        **free,
    )


@st.composite
def games_of_a_house(draw):
    """Whatever makes sense together can be registered."""
    peek = draw(st.sampled_from(["never", "ace_or_ten", "always"]))
    deals = draw(st.sampled_from(["host", "server"]))
    split = draw(st.sampled_from(["none", "same_rank", "same_value"]))
    exact, hurry = draw(st.booleans()), deals == "host" or draw(st.booleans())
    insurance = draw(st.sampled_from(["none", "on_turn" if peek == "never" else "before_play"]))
    seats = draw(st.integers(1, 4))
    least = 2 * draw(st.integers(1, 5))
    proposal = Proposal(
        name=draw(st.sampled_from(["own", "own-2", "7.up_"])),
        title="One of our own",
        version=draw(st.sampled_from(["0.0.1", "1.0.0", "12.30.400"])),
        seats=seats,
        decks=draw(st.integers(5, 8)),
        bet=BetLimits(
            min=least if exact else least + 1,
            step=2 if exact else draw(st.integers(1, 3)),
            max=draw(st.sampled_from([least + 2, 100])),
            half_of_stack=draw(st.booleans()),
        ),
        clock=Clocks(
            betting_seconds=30 if hurry and (seats > 1 or deals == "host") else None,
            insurance_seconds=15 if hurry and insurance == "before_play" else None,
            action_seconds=20 if hurry else None,
        ),
        bankroll=draw(st.sampled_from(["vault", "session"])),
        deals=deals,
        peek=peek,
        insurance=insurance,
        naturals_settle="at_resolution" if peek == "never" else draw(SETTLE),
        natural_rounds_down=not exact,
        double_after_split=split != "none" and draw(st.booleans()),
        split=split,
        hands_per_seat=1 if split == "none" else draw(st.integers(2, 4)),
        surrender=draw(st.booleans()),
        hit_on_21=draw(st.booleans()),
        house_edge="not published",
    )
    return register((), proposal).ruleset


@settings(
    max_examples=150,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    rules=tables_of_a_published_game() | games_never_published() | games_of_a_house(),
    host=st.sampled_from([None, PLAYERS[1], "not-at-the-table"]),
    buy_ins=st.lists(CHIPS, min_size=1, max_size=5),
    seed=SEEDS,
    data=st.data(),
)
def test_any_play(rules, host, buy_ins, seed, data):
    evening = Evening(data, Witness(rules, host, PLAYERS, seed))
    for number, buy_in in enumerate(buy_ins[: rules.seats], 1):
        evening.witness.play(arrival(rules, number, buy_in))
    for _ in range(data.draw(st.integers(3, 15), label="happenings")):
        evening.goes_on()
    close(evening.witness)


class Evening:
    """What may happen at a table, drawn by Hypothesis, which shrinks what fails."""

    def __init__(self, data: st.DataObject, witness: Witness) -> None:
        self.data, self.witness = data, witness

    def goes_on(self) -> None:
        playing = isinstance(self.witness.table.stage, Round)
        main = self.somebody_plays if playing else self.everybody_bets_or_sits_out
        beside = [
            self.somebody_sits,
            self.somebody_leaves,
            self.somebody_moves_chips,
            self.somebody_shops,
            self.the_platform_applies_a_modifier,
            self.witness.time_out,
        ]
        self.data.draw(st.sampled_from([main] * 5 + beside), label="happening")()

    def everybody_bets_or_sits_out(self) -> None:
        early = self.data.draw(st.sampled_from(EARLY), label="early")
        self.witness.seed = self.witness.seed.with_early(early)
        for number, _ in self.witness.table.seated():
            bets = [amounts_of(bet) for bet in self.witness.moves("bet") if bet.seat == number]
            if bets and self.data.draw(st.integers(0, 9), label="sits out at 9") < 9:
                amount = self.data.draw(st.sampled_from(bets[0]), label="amount")
                client_seed = self.data.draw(CLIENT_SEEDS, label="client seed")
                self.witness.play(Bet(number, amount, client_seed))
            elif any(move.seat == number for move in self.witness.moves("sit_out")):
                self.witness.play(SitOut(number))
        self.one_of("deal")

    def somebody_plays(self) -> None:
        for _ in range(self.data.draw(st.integers(1, 8), label="decisions")):
            self.one_of(*PLAY, "use_item")

    def somebody_sits(self) -> None:
        seated = {seat.player for _, seat in self.witness.table.seated()}
        if free := self.witness.moves("sit", "start_run"):
            player = self.data.draw(st.sampled_from(sorted({*PLAYERS} - seated)), label="player")
            move = self.data.draw(st.sampled_from(free), label="move")
            amounts = amounts_of(move) if move.min is not None else [None]
            within = [chips for chips in (1000, 200, 75, 5, 1) if chips in amounts]
            amount = self.data.draw(st.sampled_from(within or amounts), label="brings")
            self.witness.play(as_command(move, amount, player))

    def somebody_leaves(self) -> None:
        self.one_of("leave")

    def somebody_moves_chips(self) -> None:
        self.one_of("buy_in", "cash_out", "withdraw_bet")

    def somebody_shops(self) -> None:
        for _ in range(self.data.draw(st.integers(1, 3), label="items")):
            self.one_of("buy_item")

    def the_platform_applies_a_modifier(self) -> None:
        for move in self.witness.moves("apply_modifier"):
            modifier = self.data.draw(ANY_MODIFIER, label="modifier")
            self.witness.play(as_command(move, modifier=modifier))

    def one_of(self, *types: str) -> None:
        """One of the legal moves of these types, if there is any."""
        if moves := self.witness.moves(*types):
            move = self.data.draw(st.sampled_from(moves), label="move")
            amount = None
            if move.min is not None:
                amount = self.data.draw(st.sampled_from(amounts_of(move)), label="amount")
            self.witness.play(as_command(move, amount))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("game", sorted(PUBLISHED))
def test_a_long_evening(game, seed):
    """Full tables and bold players: many splits, doubles and long hands in a few rounds."""
    rng = random.Random(f"{game} {seed}")
    rules = endless(PUBLISHED[game])
    witness = Witness(rules, PLAYERS[0], PLAYERS, ChanceSeed(rng.randbytes(32)))
    for number in range(1, len(witness.table.seats) + 1):
        witness.play(arrival(rules, number, 100_000))
    for early in EARLY:
        witness.seed = witness.seed.with_early(early)
        for number, _ in witness.table.seated():
            witness.play(Bet(number, rng.choice((6, 10, 12, 500))))
        for deal in witness.moves("deal"):
            witness.play(as_command(deal))
        while isinstance(witness.table.stage, Round):
            moves = witness.moves(*PLAY)
            weights = [{"stand": 1, "split": 9}.get(move.type, 3) for move in moves]
            witness.play(as_command(*rng.choices(moves, weights)))
    close(witness)


def arrival(rules: Ruleset, number: int, chips: int) -> Sit | StartRun:
    """A player comes with so many chips if the game allows them, else with granted ones."""
    player = PLAYERS[number]
    if (runs := rules.run) is None:
        return Sit(number, player, chips)
    allowed = runs.min_stake <= chips <= runs.max_stake
    return StartRun(number, player, chips if allowed else None)


def close(witness: Witness) -> None:
    """Everybody stands, the table closes, and all chips are where they came from or in the bank."""
    while isinstance(witness.table.stage, Round):
        witness.play(as_command(witness.moves("stand", "decline_insurance")[0]))
    witness.play(Close())
    assert witness.table.stage == Closed()
    assert witness.books.balance[in_play("t")] == 0
    assert not any(witness.books.balance[stack("t", player)] for player in PLAYERS)
