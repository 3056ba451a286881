"""The table as anybody may see it. Clients and computer players get this and nothing else."""

from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from services.blackjack.domain.cards import Card, Cards
from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.events import Outcome, RunOutcome, Source
from services.blackjack.domain.modifiers import Modifiers, Scoring, scoring
from services.blackjack.domain.moves import Move, legal_moves
from services.blackjack.domain.run import bankroll
from services.blackjack.domain.table import (
    Betting,
    Closed,
    Computer,
    Hand,
    Round,
    Run,
    Seat,
    Table,
)
from shared.kernel.moments import moment

Phase: TypeAlias = Literal["betting", "insurance", "player_turn", "closed"]


class RoundView(Struct, frozen=True, gc=False):
    """The running round or, while betting, the one before. `seed` is null until it has ended."""

    id: str
    number: int
    commitment: str
    seed: str | None


class DealerView(Struct, frozen=True, gc=False):
    """The dealer's open cards and their total."""

    cards: Cards
    hole: Literal["face_down", "revealed"]
    total: int
    soft: bool


class HandView(Struct, frozen=True, gc=False):
    """A hand with its total, all modifiers included. `outcome` and `payout` come with the
    settlement, `shielded` with an item."""

    hand: int
    cards: Cards
    total: int
    soft: bool
    stake: int
    status: Literal["playing", "stood", "settled"]
    shielded: bool | UnsetType = UNSET
    outcome: Outcome | UnsetType = UNSET
    payout: int | UnsetType = UNSET


class RunView(Struct, frozen=True, gc=False):
    """A run: `bankroll` of it is won at `goal`. It goes back to its source when the run is over.

    `bankroll` has the chips at risk in it; of a run that is over, it is what the run came to.
    """

    number: int
    source: Source
    stake: int
    goal: int
    bankroll: int
    outcome: RunOutcome | None


class SeatView(Struct, frozen=True, gc=False):
    """A seated player. While betting, `hands` are those of the round before.

    `run` is the running run, or the last one; only games that are played in runs have it.
    `items` are bought and not used yet; only games with a shop have them.
    """

    seat: int
    player: str
    stack: int
    bet: int
    insurance: int
    sits_out: bool
    leaving: bool
    hands: tuple[HandView, ...]
    run: RunView | UnsetType = UNSET
    items: tuple[str, ...] | UnsetType = UNSET
    computer: Computer | UnsetType = UNSET
    """What kind of computer plays here; left away when a person does."""


class Turn(Struct, frozen=True, gc=False):
    """The hand that acts next."""

    seat: int
    hand: int


class ClockView(Struct, frozen=True, gc=False):
    """Until when the table waits, and for what: then seats sit out, decline or stand."""

    kind: Literal["betting", "insurance", "action"]
    due: datetime


class TableView(Struct, frozen=True, gc=False):
    """A table at a version, with everything that may be done now.

    `next_commitment` is that of the round to bet on; a running round has its own.

    `version` is the number of its events, `position` the place of the last of them in the log.

    By `modifiers` all totals here are counted: those of the table, then those of the round shown,
    as they came. Of two that say something else of one thing, the later wins.
    """

    id: str
    ruleset: str
    version: int
    position: int
    phase: Phase
    host: str | None
    round: RoundView | None
    next_commitment: str | None
    modifiers: Modifiers
    dealer: DealerView | None
    seats: tuple[SeatView, ...]
    turn: Turn | None
    clock: ClockView | None
    legal_moves: list[Move]


def view(table: Table, version: int, position: int) -> TableView:
    """The public view of a table as its events up to `version` have left it."""
    stage = table.stage
    current = stage.last if isinstance(stage, Betting) else stage
    count = scoring(table.modifiers)
    turn = table.turn() if isinstance(stage, Round) and not stage.offers else None
    return TableView(
        id=table.id,
        ruleset=table.rules.name,
        version=version,
        position=position,
        phase=phase(table),
        host=table.host,
        round=_round(table, current) if isinstance(current, Round) else None,
        next_commitment=stage.next.commitment if isinstance(stage, Betting) else None,
        modifiers=table.modifiers,
        dealer=_dealer(current.dealer, count) if isinstance(current, Round) else None,
        seats=tuple([_seat(table, number, seat, count) for number, seat in table.seated()]),
        turn=Turn(*turn) if turn else None,
        clock=_clock(table),
        legal_moves=legal_moves(table),
    )


def phase(table: Table) -> Phase:
    """What the table waits for."""
    match table.stage:
        case Betting():
            return "betting"
        case Closed():
            return "closed"
        case Round(offers=offers):
            return "insurance" if offers else "player_turn"


def _clock(table: Table) -> ClockView | None:
    wait = waits_for(table)
    if wait is None:
        return None
    return ClockView(wait.kind, moment(wait.due))


def _round(table: Table, round: Round) -> RoundView:
    return RoundView(table.round_id(), round.number, round.sealed.commitment, round.seed)


def _dealer(cards: tuple[Card, ...], count: Scoring) -> DealerView:
    hole: Literal["face_down", "revealed"] = "face_down" if len(cards) == 1 else "revealed"
    return DealerView(cards, hole, count.total(cards), count.is_soft(cards))


def _seat(table: Table, number: int, seat: Seat, count: Scoring) -> SeatView:
    return SeatView(
        seat=number,
        player=seat.player,
        stack=seat.stack,
        bet=seat.bet,
        insurance=seat.insurance,
        sits_out=seat.sits_out,
        leaving=seat.leaving,
        hands=tuple([_hand(index, hand, count) for index, hand in enumerate(seat.hands)]),
        run=_run(table, seat, seat.run) if seat.run else UNSET,
        items=seat.items if table.rules.items else UNSET,
        computer=seat.computer or UNSET,
    )


def _run(table: Table, seat: Seat, run: Run) -> RunView:
    return RunView(
        *(run.number, run.source, run.stake, run.goal, bankroll(table, seat), run.outcome)
    )


def _hand(index: int, hand: Hand, count: Scoring) -> HandView:
    return HandView(
        hand=index,
        cards=hand.cards,
        total=count.total(hand.cards),
        soft=count.is_soft(hand.cards),
        stake=hand.stake,
        status=hand.status,
        shielded=hand.shielded or UNSET,
        outcome=hand.outcome or UNSET,
        payout=UNSET if hand.outcome is None else hand.payout,
    )
