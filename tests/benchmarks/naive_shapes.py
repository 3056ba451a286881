"""The requests and answers of the naive service, as pydantic models."""

from typing import Any, Literal

import msgspec
from pydantic import BaseModel, Field

from services.blackjack.domain.cards import is_soft, total
from services.blackjack.domain.commands import Command
from services.blackjack.domain.moves import legal_moves
from services.blackjack.domain.table import Betting, Round, Seat, Table
from services.blackjack.domain.view import Phase, phase

CommandType = Literal[
    "bet", "hit", "stand", "double_down", "split", "surrender", "insure", "decline_insurance",
    "deal", "sit", "leave", "buy_in", "cash_out", "withdraw_bet", "sit_out", "close",
    "start_run",
]  # fmt: skip


class TableBody(BaseModel):
    ruleset: str
    host: str | None = None


class GrantBody(BaseModel):
    amount: int = Field(gt=0)


class CommandBody(BaseModel):
    type: CommandType
    seat: int | None = None
    hand: int | None = None
    player: str | None = None
    amount: int | None = Field(None, gt=0)
    buy_in: int | None = Field(None, gt=0)
    stake: int | None = Field(None, gt=0)

    def command(self) -> Command:
        """The command that the rules understand. Raises msgspec.ValidationError."""
        return msgspec.convert(self.model_dump(exclude_none=True), Command)


class HandView(BaseModel):
    hand: int
    cards: list[str]
    total: int
    soft: bool
    stake: int
    status: str


class SeatView(BaseModel):
    seat: int
    player: str
    stack: int
    bet: int
    insurance: int
    hands: list[HandView]


class RoundView(BaseModel):
    id: str
    number: int
    commitment: str


class DealerView(BaseModel):
    cards: list[str]
    total: int
    soft: bool


class TableView(BaseModel):
    id: str
    ruleset: str
    version: int
    phase: Phase
    round: RoundView | None
    dealer: DealerView | None
    seats: list[SeatView]
    turn: dict[str, int] | None
    legal_moves: list[dict[str, Any]]


class Answer(BaseModel):
    table: TableView
    events: list[dict[str, Any]]


class Balance(BaseModel):
    account: str
    amount: int


def answer(table: Table, version: int, events: list[dict[str, Any]]) -> Answer:
    """What the caller of a command gets back."""
    stage = table.stage
    shown = stage.last if isinstance(stage, Betting) else stage
    round = shown if isinstance(shown, Round) else None
    turn = table.turn()
    view = TableView(
        id=table.id,
        ruleset=table.rules.name,
        version=version,
        phase=phase(table),
        round=_round_view(table, round) if round else None,
        dealer=_dealer_view(round) if round else None,
        seats=[_seat_view(number, seat) for number, seat in table.seated()],
        turn={"seat": turn[0], "hand": turn[1]} if turn else None,
        legal_moves=[msgspec.to_builtins(move) for move in legal_moves(table)],
    )
    return Answer(table=view, events=events)


def _round_view(table: Table, shown: Round) -> RoundView:
    return RoundView(
        id=f"{table.id}.{shown.number}", number=shown.number, commitment=shown.sealed.commitment
    )


def _dealer_view(shown: Round) -> DealerView:
    cards = shown.dealer
    return DealerView(cards=list(cards), total=total(cards), soft=is_soft(cards))


def _seat_view(number: int, seat: Seat) -> SeatView:
    hands = [
        HandView(
            hand=index,
            cards=list(hand.cards),
            total=total(hand.cards),
            soft=is_soft(hand.cards),
            stake=hand.stake,
            status=hand.status,
        )
        for index, hand in enumerate(seat.hands)
    ]
    return SeatView(
        seat=number,
        player=seat.player,
        stack=seat.stack,
        bet=seat.bet,
        insurance=seat.insurance,
        hands=hands,
    )
