"""A table as its events have left it. `evolve` is the fold; it never decides."""

from typing import Any, Literal, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from services.blackjack.domain import events as e
from services.blackjack.domain.cards import Card, Cards, is_natural
from services.blackjack.domain.rules import Ruleset
from services.blackjack.domain.shoe import SealedSeed


class Hand(Struct, frozen=True):
    """Cards with a stake. `playing` may still act; a settled hand has an outcome."""

    cards: Cards
    stake: int
    status: Literal["playing", "stood", "settled"] = "playing"
    from_split: bool = False
    outcome: e.Outcome | None = None
    payout: int = 0

    @property
    def is_natural(self) -> bool:
        return not self.from_split and is_natural(self.cards)


class Seat(Struct, frozen=True):
    """A player with a stack. After a round the hands lie open until the next one is dealt."""

    player: str
    stack: int
    since: int
    """Grows with each arrival: the smallest of a table has sat the longest."""
    bet: int = 0
    client_seed: str | None = None
    sits_out: bool = False
    leaving: bool = False
    insurance: int = 0
    hands: tuple[Hand, ...] = ()

    @property
    def is_live(self) -> bool:
        """Whether the round still owes this seat a settlement."""
        return self.insurance > 0 or any(hand.status != "settled" for hand in self.hands)


class Round(Struct, frozen=True, tag="round"):
    """Cards are on the table. `offers` are the seats that have yet to answer on insurance."""

    number: int
    sealed: SealedSeed
    client_seeds: tuple[str, ...]
    drawn: int = 0
    dealer: Cards = ()
    """The dealer's open cards: the upcard, then the hole card once revealed, then the draws."""
    hole_at: int = 0
    """The place in the shoe of the card that lies face down."""
    peeked: bool = False
    offers: tuple[int, ...] = ()
    seed: str | None = None
    """In hex, once revealed."""


class Betting(Struct, frozen=True, tag="betting"):
    """Between rounds. `last` is the round before, open to the eye until the next deal."""

    last: Round | None = None


class Closed(Struct, frozen=True, tag="closed"):
    """For good."""


Stage: TypeAlias = Betting | Round | Closed
Seats: TypeAlias = tuple[Seat | None, ...]


class Table(Struct, frozen=True):
    """`seats[n]` is seat n + 1; None is a free seat."""

    id: str
    rules: Ruleset
    host: str | None
    seats: Seats
    stage: Stage = Betting()
    rounds: int = 0
    """How many rounds have been opened."""

    @property
    def round(self) -> Round:
        """The running round. Ask only while there is one."""
        assert isinstance(self.stage, Round)
        return self.stage

    def seat(self, number: int) -> Seat:
        """An occupied seat. Ask only for one that is."""
        seat = self.seats[number - 1]
        assert seat is not None
        return seat

    def seated(self) -> list[tuple[int, Seat]]:
        """The occupied seats with their numbers, in seat order."""
        return [(n, seat) for n, seat in enumerate(self.seats, 1) if seat is not None]

    def turn(self) -> tuple[int, int] | None:
        """The seat and hand to act, or to be given its second card."""
        for number, seat in enumerate(self.seats, 1):
            if seat is not None:
                for index, hand in enumerate(seat.hands):
                    if hand.status == "playing":
                        return number, index
        return None

    def round_id(self) -> str:
        """The round that is running, or was last."""
        return f"{self.id}.{self.rounds}"


State: TypeAlias = Table | None


def evolve(table: State, event: e.Event) -> Table:
    """The table after the event. The first event of a stream opens it."""
    if table is None:
        return _opened(event)
    match event:
        case e.CardDealt(seat, hand, card):
            table = _hand(table, seat, hand, cards=(*table.seat(seat).hands[hand].cards, card))
            return _round(table, drawn=table.round.drawn + 1)
        case e.HandStood(seat, hand):
            return _hand(table, seat, hand, status="stood")
        case e.HandSettled(seat, hand, outcome, _, payout):
            table = _hand(table, seat, hand, status="settled", outcome=outcome, payout=payout)
            return _stack(table, seat, payout)
        case e.HandDoubled(seat, hand, stake):
            table = _hand(table, seat, hand, stake=table.seat(seat).hands[hand].stake + stake)
            return _stack(table, seat, -stake)
        case e.HandSplit(seat, hand, stake):
            return _split(table, seat, hand, stake)
        case _:
            return _evolve_round(table, event)


def _evolve_round(table: Table, event: e.RoundEvent | e.SeatEvent) -> Table:
    match event:
        case e.HandsDealt(hands, upcard):
            return _dealt(table, hands, upcard)
        case e.RoundOpened(number, _, sealed, client_seeds):
            stage = Round(number=number, sealed=sealed, client_seeds=client_seeds)
            return replace(table, stage=stage, rounds=number)
        case e.HoleCardRevealed(card):
            return _round(table, dealer=(*table.round.dealer, card))
        case e.DealerDrew(cards):
            before = table.round
            return _round(table, dealer=before.dealer + cards, drawn=before.drawn + len(cards))
        case e.SeedRevealed(_, seed, _):
            return _ended(table, seed)
        case e.DealerPeeked():
            return _round(table, peeked=True)
        case e.InsuranceOffered(seats):
            return _round(table, offers=seats)
        case e.InsuranceBought(seat, stake):
            table = _seat(_stack(table, seat, -stake), seat, insurance=stake)
            return _answered(table, seat)
        case e.InsuranceDeclined(seat):
            return _answered(table, seat)
        case e.InsuranceSettled(seat, _, payout):
            return _seat(_stack(table, seat, payout), seat, insurance=0)
        case _:
            return _evolve_seats(table, event)


def _evolve_seats(table: Table, event: e.SeatEvent) -> Table:
    match event:
        case e.BetPlaced(seat, amount, client_seed):
            table = _seat(table, seat, bet=amount, client_seed=client_seed, sits_out=False)
            return _stack(table, seat, -amount)
        case e.BetWithdrawn(seat, amount):
            return _stack(_seat(table, seat, bet=0, client_seed=None), seat, amount)
        case e.SeatSatOut(seat):
            return _seat(table, seat, sits_out=True)
        case e.PlayerSat(seat, player, buy_in):
            since = 1 + max((taken.since for _, taken in table.seated()), default=0)
            return _place(table, seat, Seat(player=player, stack=buy_in, since=since))
        case e.ChipsBoughtIn(seat, amount):
            return _stack(table, seat, amount)
        case e.ChipsCashedOut(seat, amount):
            return _stack(table, seat, -amount)
        case e.PlayerLeaving(seat):
            return _seat(table, seat, leaving=True)
        case e.PlayerLeft(seat):
            return _place(table, seat, None)
        case e.HostMoved(host):
            return replace(table, host=host)
        case e.TableOpened():
            raise ValueError(f"table {table.id} is open already")
        case e.TableWasClosed():
            return replace(table, stage=Closed())
        case _:
            assert_never(event)


def _opened(event: e.Event) -> Table:
    if not isinstance(event, e.TableOpened):
        raise ValueError(f"a table begins with TableOpened, not with {type(event).__name__}")
    return Table(
        id=event.table, rules=event.ruleset, host=event.host, seats=(None,) * event.ruleset.seats
    )


def _dealt(table: Table, hands: tuple[tuple[int, Card, Card], ...], upcard: Card) -> Table:
    seats: list[Seat | None] = [seat and replace(seat, hands=()) for seat in table.seats]
    for number, first, second in hands:
        seat = table.seat(number)
        seats[number - 1] = replace(seat, hands=(Hand(cards=(first, second), stake=seat.bet),))
    last = 2 * len(hands) + 1
    stage = replace(table.round, dealer=(upcard,), hole_at=last, drawn=last + 1)
    return replace(table, seats=tuple(seats), stage=stage)


def _ended(table: Table, seed: str) -> Table:
    seats = tuple(
        seat and replace(seat, bet=0, client_seed=None, sits_out=False) for seat in table.seats
    )
    return replace(table, seats=seats, stage=Betting(last=replace(table.round, seed=seed)))


def _split(table: Table, number: int, index: int, stake: int) -> Table:
    hands = table.seat(number).hands
    first, second = hands[index].cards
    pair = (
        Hand(cards=(first,), stake=hands[index].stake, from_split=True),
        Hand(cards=(second,), stake=stake, from_split=True),
    )
    table = _seat(table, number, hands=hands[:index] + pair + hands[index + 1 :])
    return _stack(table, number, -stake)


def _place(table: Table, number: int, seat: Seat | None) -> Table:
    seats = table.seats
    return replace(table, seats=(*seats[: number - 1], seat, *seats[number:]))


def _seat(table: Table, number: int, **changes: Any) -> Table:
    return _place(table, number, replace(table.seat(number), **changes))


def _stack(table: Table, number: int, chips: int) -> Table:
    return _seat(table, number, stack=table.seat(number).stack + chips) if chips else table


def _hand(table: Table, number: int, index: int, **changes: Any) -> Table:
    hands = table.seat(number).hands
    hand = replace(hands[index], **changes)
    return _seat(table, number, hands=(*hands[:index], hand, *hands[index + 1 :]))


def _round(table: Table, **changes: Any) -> Table:
    return replace(table, stage=replace(table.round, **changes))


def _answered(table: Table, number: int) -> Table:
    offers = tuple(seat for seat in table.round.offers if seat != number)
    return _round(table, offers=offers)
