"""What a command causes: events, or the reason why not."""

from typing import assert_never

from msgspec import Struct

from services.blackjack.domain import commands as c
from services.blackjack.domain import events as e
from services.blackjack.domain import round as r
from services.blackjack.domain import run
from services.blackjack.domain.computers import name_of
from services.blackjack.domain.items import Effect, Item, Modify, Redraw, Shield
from services.blackjack.domain.reasons import check
from services.blackjack.domain.rules import Ruleset, fingerprint
from services.blackjack.domain.rulesets import ruleset
from services.blackjack.domain.settlement import insurance_price, payout
from services.blackjack.domain.shoe import SealedSeed, Seed
from services.blackjack.domain.table import Betting, Round, Table


class Decision(Struct, frozen=True, gc=False):
    """The events of one command, and the table that folding them gives."""

    events: tuple[e.Event, ...]
    table: Table


def open_table(
    table_id: str, command: c.Open, first: SealedSeed, own: Ruleset | None = None
) -> e.TableOpened:
    """The first event of a table, with the seed of its first round, sealed.

    `own` is the house's ruleset of that name, if it has one. Raises UnknownRuleset,
    RulesetNonsense.
    """
    rules = ruleset(
        command.ruleset,
        bet=command.bet,
        clock=command.clock,
        seats=command.seats,
        environment=command.environment,
        items=command.items,
        own=own,
    )
    return e.TableOpened(table_id, rules, fingerprint(rules), command.host, first)


def decide(table: Table, command: c.AnyCommand, seed: Seed, now: int = 0) -> Decision:
    """The events of a command at a table. Raises the Rejected that `check` finds.

    `seed` is the chance of the running round or the next, `now` the time in milliseconds since
    the epoch. The same table, command, seed and time give the same events.
    """
    check(table, command)
    play = r.Play(table, seed, now)
    match command:
        case c.Hit() | c.Stand() | c.DoubleDown() | c.Split() | c.Surrender():
            _play_hand(play, command)
        case c.Bet() | c.WithdrawBet() | c.SitOut() | c.Deal() | c.Close():
            _between_rounds(play, command)
        case c.Insure() | c.DeclineInsurance():
            _insurance(play, command)
        case c.Sit() | c.StartRun() | c.Leave() | c.BuyIn() | c.CashOut():
            _at_the_seat(play, command)
        case c.ApplyModifier() | c.BuyItem() | c.UseItem():
            _change(play, command)
        case c.SeatComputer():
            _seat_computer(play, command)
        case c.TimeOut():
            _time_out(play)
        case _:
            assert_never(command)
    return Decision(tuple(play.events), play.table)


def _play_hand(play: r.Play, command: c.HandCommand) -> None:
    seat, hand = command.seat, command.hand
    stake = play.table.seat(seat).hands[hand].stake
    match command:
        case c.Hit():
            play.draw(seat, hand)
            r.settle_a_bust(play, seat, hand)
        case c.Stand():
            play.tell(e.HandStood(seat, hand))
        case c.DoubleDown():
            play.tell(e.HandDoubled(seat, hand, stake))
            play.draw(seat, hand)
            r.settle_a_bust(play, seat, hand)
            if play.table.seat(seat).hands[hand].status == "playing":
                play.tell(e.HandStood(seat, hand))
        case c.Split():
            play.tell(e.HandSplit(seat, hand, stake))
        case c.Surrender():
            refund = payout("surrender", stake)
            play.tell(e.HandSettled(seat, hand, "surrender", stake, refund))
        case _:
            assert_never(command)
    r.advance(play)


def _change(play: r.Play, command: c.ApplyModifier | c.BuyItem | c.UseItem) -> None:
    match command:
        case c.ApplyModifier(modifier):
            play.tell(e.ModifierApplied(modifier))
            r.bust_the_fallen(play)
            r.advance(play)
        case c.BuyItem(seat, name):
            play.tell(e.ItemBought(seat, name, _item(play, name).price))
            _deal_if_ready(play)
        case c.UseItem(seat, name, hand):
            play.tell(e.ItemUsed(seat, hand, name))
            _take_effect(play, seat, hand, _item(play, name).effect)
            r.advance(play)
        case _:
            assert_never(command)


def _take_effect(play: r.Play, seat: int, hand: int, effect: Effect) -> None:
    match effect:
        case Modify(modifier):
            play.tell(e.ModifierApplied(modifier, seat))
            r.bust_the_fallen(play)
        case Redraw():
            play.redraw(seat, hand)
            r.settle_a_bust(play, seat, hand)
        case Shield():
            play.tell(e.HandShielded(seat, hand))
        case _:
            assert_never(effect)


def _item(play: r.Play, name: str) -> Item:
    item = play.table.rules.item(name)
    assert item is not None, "checked before"
    return item


def _insurance(play: r.Play, command: c.Insure | c.DeclineInsurance) -> None:
    number = command.seat
    offered = bool(play.table.round.offers)
    if isinstance(command, c.Insure):
        play.tell(e.InsuranceBought(number, insurance_price(play.table.seat(number).bet)))
    else:
        play.tell(e.InsuranceDeclined(number))
    if not offered:
        if play.table.seat(number).hands[0].is_natural:
            play.tell(e.HandStood(number, 0))
        r.advance(play)
    elif not play.table.round.offers:
        r.peek(play)


def _between_rounds(
    play: r.Play, command: c.Bet | c.WithdrawBet | c.SitOut | c.Deal | c.Close
) -> None:
    match command:
        case c.Bet(seat, amount, client_seed):
            play.tell(e.BetPlaced(seat, amount, client_seed))
            _deal_if_ready(play)
        case c.WithdrawBet(seat):
            play.tell(e.BetWithdrawn(seat, play.table.seat(seat).bet))
        case c.SitOut(seat):
            play.tell(e.SeatSatOut(seat))
            _deal_if_ready(play)
        case c.Deal():
            r.deal(play)
        case c.Close():
            for number, _ in play.table.seated():
                _go(play, number)
            play.tell(e.TableWasClosed())
        case _:
            assert_never(command)


def _at_the_seat(play: r.Play, command: c.Sit | c.StartRun | c.Leave | c.BuyIn | c.CashOut) -> None:
    match command:
        case c.Sit(seat, player, buy_in):
            play.tell(e.PlayerSat(seat, player, buy_in))
            _welcome(play, player)
        case c.StartRun(_, player):
            play.tell(run.started(play.table, command))
            _welcome(play, player)
        case c.BuyIn(seat, amount):
            play.tell(e.ChipsBoughtIn(seat, amount))
        case c.CashOut(seat, amount):
            play.tell(e.ChipsCashedOut(seat, amount))
            _deal_if_ready(play)
        case c.Leave(seat):
            _leave(play, seat)
            _deal_if_ready(play)
        case _:
            assert_never(command)


def _welcome(play: r.Play, player: str) -> None:
    """The first to sit down hosts."""
    if play.table.host is None:
        play.tell(e.HostMoved(player))


def _seat_computer(play: r.Play, command: c.SeatComputer) -> None:
    seat, level, buy_in = command.seat, command.level, command.buy_in
    player = name_of(level, seat)
    play.tell(e.PlayerSat(seat, player, buy_in))
    _welcome(play, player)
    play.tell(e.ComputerSeated(seat, level, buy_in, play.table.rounds + command.rounds))


def _time_out(play: r.Play) -> None:
    """Nobody acted in time. It never adds risk: no bet, no insurance, no card."""
    table = play.table
    if isinstance(table.stage, Betting):
        for number, seat in table.seated():
            if not seat.bet and not seat.sits_out:
                play.tell(e.SeatSatOut(number))
        r.deal(play)
    elif table.round.offers:
        for number in table.round.offers:
            play.tell(e.InsuranceDeclined(number))
        r.peek(play)
    elif turn := table.turn():
        play.tell(e.HandStood(*turn))
        r.advance(play)


def _leave(play: r.Play, number: int) -> None:
    """A seat with live hands stays until they are settled; they stand by themselves."""
    seat = play.table.seat(number)
    if seat.player == play.table.host:
        _move_host(play, number)
    if isinstance(play.table.stage, Round) and seat.is_live:
        _leave_after_the_round(play, number)
    else:
        _go(play, number)


def _go(play: r.Play, number: int) -> None:
    seat = play.table.seat(number)
    if seat.bet and isinstance(play.table.stage, Betting):
        play.tell(e.BetWithdrawn(number, seat.bet))
    r.leave(play, number)


def _leave_after_the_round(play: r.Play, number: int) -> None:
    play.tell(e.PlayerLeaving(number))
    offers = play.table.round.offers
    if number in offers:
        play.tell(e.InsuranceDeclined(number))
        if len(offers) == 1:
            r.peek(play)
    elif not offers:
        r.advance(play)


def _move_host(play: r.Play, leaving: int) -> None:
    """The longest-seated of the others hosts, or nobody."""
    others = [seat for n, seat in play.table.seated() if n != leaving and not seat.leaving]
    longest = min(others, key=lambda seat: seat.since, default=None)
    play.tell(e.HostMoved(longest.player if longest else None))


def _deal_if_ready(play: r.Play) -> None:
    """Deal when the ruleset waits for nobody any more."""
    table = play.table
    if not isinstance(table.stage, Betting) or table.rules.deals == "host":
        return
    somebody_bets = False
    for _, seat in table.seated():
        if seat.bet:
            somebody_bets = True
        elif not seat.sits_out and table.rules.bets(seat.stack):
            return  # a seat whose stack allows no bet spectates, this one may still bet
    if somebody_bets:
        r.deal(play)
