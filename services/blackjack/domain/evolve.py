"""The fold: a table after one more event. It never decides, and never fails on a real log."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from services.blackjack.domain import events as e
from services.blackjack.domain.hands import stands_by_itself
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

T = TypeVar("T")


def evolve(table: Table | None, event: e.Event, at: int = 0) -> Table:
    """The table after the event. The first event of a stream opens it.

    `at` is when it happened, in milliseconds since the epoch; only clocks look at it.
    """
    if table is None:
        return _opened(event)
    return _FOLDS[type(event)](table, event, at)


def _card_dealt(table: Table, event: e.CardDealt, at: int) -> Table:
    seat = table.seat(event.seat)
    hand = seat.hands[event.hand]
    hand = replace(hand, cards=(*hand.cards, event.card))
    seats = _swap(table.seats, event.seat - 1, _with_hand(seat, event.hand, hand))
    round = table.round
    stage = replace(round, drawn=round.drawn + 1, since=at, decided=True)
    return replace(table, seats=seats, stage=stage)


def _hand_stood(table: Table, event: e.HandStood, at: int) -> Table:
    seat = table.seat(event.seat)
    held = seat.hands[event.hand]
    decides = (
        bool(table.rules.modifiers)
        and not table.round.decided
        and not (held.is_natural or stands_by_itself(table, held))
    )
    seat = _with_hand(seat, event.hand, replace(held, status="stood"))
    return _acted(table, event.seat, seat, at, decides=decides)


def _hand_settled(table: Table, event: e.HandSettled, at: int) -> Table:
    seat, payout = table.seat(event.seat), event.payout
    hand = replace(seat.hands[event.hand], status="settled", outcome=event.outcome, payout=payout)
    seat = _with_hand(seat, event.hand, hand, stack=seat.stack + payout)
    return _acted(table, event.seat, seat, at, decides=event.outcome == "surrender")


def _hand_doubled(table: Table, event: e.HandDoubled, at: int) -> Table:
    seat = table.seat(event.seat)
    hand = seat.hands[event.hand]
    hand = replace(hand, stake=hand.stake + event.stake)
    stack = seat.stack - event.stake
    return _place(table, event.seat, _with_hand(seat, event.hand, hand, stack=stack))


def _hand_split(table: Table, event: e.HandSplit, at: int) -> Table:
    seat = table.seat(event.seat)
    before, split, after = _around(seat.hands, event.hand)
    first, second = split.cards
    pair = (
        Hand(cards=(first,), stake=split.stake, from_split=True, shielded=split.shielded),
        Hand(cards=(second,), stake=event.stake, from_split=True),
    )
    seat = replace(seat, hands=before + pair + after, stack=seat.stack - event.stake)
    return _place(table, event.seat, seat)


def _round_opened(table: Table, event: e.RoundOpened, at: int) -> Table:
    assert isinstance(table.stage, Betting), "a round follows bets"
    sealed = table.stage.next
    stage = Round(number=event.number, sealed=sealed, client_seeds=event.client_seeds)
    modifiers = table.rules.environment
    return replace(table, stage=stage, rounds=event.number, modifiers=modifiers)


def _hands_dealt(table: Table, event: e.HandsDealt, at: int) -> Table:
    seats = [seat and replace(seat, hands=()) for seat in table.seats]
    for number, first, second in event.hands:
        seat = table.seat(number)
        seats[number - 1] = replace(seat, hands=(Hand(cards=(first, second), stake=seat.bet),))
    last = 2 * len(event.hands) + 1
    stage = replace(table.round, dealer=(event.upcard,), hole_at=last, drawn=last + 1, since=at)
    return replace(table, seats=tuple(seats), stage=stage)


def _modifier_applied(table: Table, event: e.ModifierApplied, at: int) -> Table:
    """What is to be decided has changed: whoever decides it has the full time again."""
    round = table.round
    stage = replace(round, modified=round.modified or event.seat is None, since=at)
    return replace(table, stage=stage, modifiers=(*table.modifiers, event.modifier))


def _item_bought(table: Table, event: e.ItemBought, at: int) -> Table:
    seat = table.seat(event.seat)
    items, stack = (*seat.items, event.item), seat.stack - event.price
    return _place(table, event.seat, replace(seat, items=items, stack=stack))


def _item_used(table: Table, event: e.ItemUsed, at: int) -> Table:
    seat = table.seat(event.seat)
    used = seat.items.index(event.item)
    items = seat.items[:used] + seat.items[used + 1 :]
    return _place(table, event.seat, replace(seat, items=items))


def _card_redrawn(table: Table, event: e.CardRedrawn, at: int) -> Table:
    seat, round = table.seat(event.seat), table.round
    hand = seat.hands[event.hand]
    hand = replace(hand, cards=(*hand.cards[:-1], event.card))
    table = replace(table, stage=replace(round, drawn=round.drawn + 1))
    return _place(table, event.seat, _with_hand(seat, event.hand, hand))


def _hand_shielded(table: Table, event: e.HandShielded, at: int) -> Table:
    seat = table.seat(event.seat)
    hand = replace(seat.hands[event.hand], shielded=True)
    return _place(table, event.seat, _with_hand(seat, event.hand, hand))


def _hole_card_revealed(table: Table, event: e.HoleCardRevealed, at: int) -> Table:
    round = table.round
    return replace(table, stage=replace(round, dealer=(*round.dealer, event.card)))


def _dealer_drew(table: Table, event: e.DealerDrew, at: int) -> Table:
    round, cards = table.round, event.cards
    drawn = round.drawn + len(cards)
    return replace(table, stage=replace(round, dealer=round.dealer + cards, drawn=drawn))


def _seed_revealed(table: Table, event: e.SeedRevealed, at: int) -> Table:
    stage = Betting(next=event.next, last=replace(table.round, seed=event.seed))
    seats = tuple(
        [seat and replace(seat, bet=0, client_seed=None, sits_out=False) for seat in table.seats]
    )
    return replace(table, seats=seats, stage=stage)


def _dealer_peeked(table: Table, event: e.DealerPeeked, at: int) -> Table:
    return replace(table, stage=replace(table.round, since=at))


def _insurance_offered(table: Table, event: e.InsuranceOffered, at: int) -> Table:
    return replace(table, stage=replace(table.round, offers=event.seats))


def _insurance_bought(table: Table, event: e.InsuranceBought, at: int) -> Table:
    seat = table.seat(event.seat)
    seat = replace(seat, stack=seat.stack - event.stake, insurance=event.stake)
    table = _place(table, event.seat, seat)
    if table.round.offers:
        return _answered(table, event.seat)
    return replace(table, stage=replace(table.round, decided=True))


def _insurance_declined(table: Table, event: e.InsuranceDeclined, at: int) -> Table:
    return _answered(table, event.seat)


def _insurance_settled(table: Table, event: e.InsuranceSettled, at: int) -> Table:
    seat = table.seat(event.seat)
    return _place(table, event.seat, replace(seat, stack=seat.stack + event.payout, insurance=0))


def _bet_placed(table: Table, event: e.BetPlaced, at: int) -> Table:
    seat, amount = table.seat(event.seat), event.amount
    seat = replace(
        seat,
        stack=seat.stack - amount,
        bet=amount,
        client_seed=event.client_seed,
        sits_out=False,
    )
    table = _place(table, event.seat, seat)
    stage = table.stage
    assert isinstance(stage, Betting), "bets come before the cards"
    return table if stage.since is not None else replace(table, stage=replace(stage, since=at))


def _bet_withdrawn(table: Table, event: e.BetWithdrawn, at: int) -> Table:
    seat = table.seat(event.seat)
    seat = replace(seat, stack=seat.stack + event.amount, bet=0, client_seed=None)
    table = _place(table, event.seat, seat)
    if any(other.bet for _, other in table.seated()):
        return table
    return replace(table, stage=replace(table.stage, since=None))


def _seat_sat_out(table: Table, event: e.SeatSatOut, at: int) -> Table:
    return _place(table, event.seat, replace(table.seat(event.seat), sits_out=True))


def _player_sat(table: Table, event: e.PlayerSat, at: int) -> Table:
    seat = Seat(player=event.player, stack=event.buy_in, since=_arrival(table))
    return _place(table, event.seat, seat)


def _run_started(table: Table, event: e.RunStarted, at: int) -> Table:
    run = Run(event.number, event.source, event.stake, event.goal)
    if seat := table.seats[event.seat - 1]:
        seat = replace(seat, stack=event.stake, run=run)
    else:
        seat = Seat(player=event.player, stack=event.stake, since=_arrival(table), run=run)
    return replace(_place(table, event.seat, seat), runs=event.number)


def _run_ended(table: Table, event: e.RunEnded, at: int) -> Table:
    seat = table.seat(event.seat)
    assert seat.run is not None, "what ends has begun"
    run = replace(seat.run, outcome=event.outcome, bankroll=event.bankroll)
    left = seat.stack - event.bankroll
    return _place(table, event.seat, replace(seat, stack=left, run=run, items=()))


def _chips_bought_in(table: Table, event: e.ChipsBoughtIn, at: int) -> Table:
    seat = table.seat(event.seat)
    return _place(table, event.seat, replace(seat, stack=seat.stack + event.amount))


def _chips_cashed_out(table: Table, event: e.ChipsCashedOut, at: int) -> Table:
    seat = table.seat(event.seat)
    return _place(table, event.seat, replace(seat, stack=seat.stack - event.amount))


def _computer_seated(table: Table, event: e.ComputerSeated, at: int) -> Table:
    computer = Computer(event.level, event.buy_in, event.last_round)
    return _place(table, event.seat, replace(table.seat(event.seat), computer=computer))


def _player_leaving(table: Table, event: e.PlayerLeaving, at: int) -> Table:
    return _place(table, event.seat, replace(table.seat(event.seat), leaving=True))


def _player_left(table: Table, event: e.PlayerLeft, at: int) -> Table:
    return _place(table, event.seat, None)


def _host_moved(table: Table, event: e.HostMoved, at: int) -> Table:
    return replace(table, host=event.host)


def _table_opened(table: Table, event: e.TableOpened, at: int) -> Table:
    raise ValueError(f"table {table.id} is open already")


def _table_was_closed(table: Table, event: e.TableWasClosed, at: int) -> Table:
    return replace(table, stage=Closed())


_FOLDS: Final[dict[type[e.Event], Callable[[Table, Any, int], Table]]] = {
    e.CardDealt: _card_dealt,
    e.HandStood: _hand_stood,
    e.HandSettled: _hand_settled,
    e.HandDoubled: _hand_doubled,
    e.HandSplit: _hand_split,
    e.RoundOpened: _round_opened,
    e.HandsDealt: _hands_dealt,
    e.HoleCardRevealed: _hole_card_revealed,
    e.DealerDrew: _dealer_drew,
    e.SeedRevealed: _seed_revealed,
    e.DealerPeeked: _dealer_peeked,
    e.InsuranceOffered: _insurance_offered,
    e.InsuranceBought: _insurance_bought,
    e.InsuranceDeclined: _insurance_declined,
    e.InsuranceSettled: _insurance_settled,
    e.ModifierApplied: _modifier_applied,
    e.ItemBought: _item_bought,
    e.ItemUsed: _item_used,
    e.CardRedrawn: _card_redrawn,
    e.HandShielded: _hand_shielded,
    e.BetPlaced: _bet_placed,
    e.BetWithdrawn: _bet_withdrawn,
    e.SeatSatOut: _seat_sat_out,
    e.PlayerSat: _player_sat,
    e.RunStarted: _run_started,
    e.RunEnded: _run_ended,
    e.ComputerSeated: _computer_seated,
    e.ChipsBoughtIn: _chips_bought_in,
    e.ChipsCashedOut: _chips_cashed_out,
    e.PlayerLeaving: _player_leaving,
    e.PlayerLeft: _player_left,
    e.HostMoved: _host_moved,
    e.TableOpened: _table_opened,
    e.TableWasClosed: _table_was_closed,
}
"""One function an event, found by its class: a chain of `case`s costs a tenth of a round."""


def _opened(event: e.Event) -> Table:
    if not isinstance(event, e.TableOpened):
        raise ValueError(f"a table begins with TableOpened, not with {type(event).__name__}")
    rules = event.ruleset
    return Table(
        id=event.table,
        rules=rules,
        host=event.host,
        seats=(None,) * rules.seats,
        stage=Betting(next=event.next),
        modifiers=rules.environment,
    )


def _answered(table: Table, number: int) -> Table:
    offers = tuple(seat for seat in table.round.offers if seat != number)
    return replace(table, stage=replace(table.round, offers=offers))


def _arrival(table: Table) -> int:
    return 1 + max((seat.since for _, seat in table.seated()), default=0)


def _place(table: Table, number: int, seat: Seat | None) -> Table:
    return replace(table, seats=_swap(table.seats, number - 1, seat))


def _acted(table: Table, number: int, seat: Seat, at: int, *, decides: bool) -> Table:
    """The seat has changed: the next one has its time from now on. `decides`: by a decision."""
    round = table.round
    seats = _swap(table.seats, number - 1, seat)
    return replace(
        table, seats=seats, stage=replace(round, since=at, decided=decides or round.decided)
    )


def _with_hand(seat: Seat, index: int, hand: Hand, **changes: int) -> Seat:
    return replace(seat, hands=_swap(seat.hands, index, hand), **changes)


def _swap(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    return (*items[:index], item, *items[index + 1 :])


def _around(items: tuple[T, ...], index: int) -> tuple[tuple[T, ...], T, tuple[T, ...]]:
    return items[:index], items[index], items[index + 1 :]
