"""What a stake returns, and the ledger lines of every event that moves chips."""

from collections.abc import Callable
from typing import Any, Final

from services.blackjack.domain import events as e
from services.blackjack.domain.cards import Cards, is_natural
from services.blackjack.domain.modifiers import Modifiers, scoring
from services.blackjack.domain.table import Hand, Table
from shared.kernel.chips import ISSUANCE, Posting, bank, half, in_play, stack


def outcome(hand: Hand, dealer: Cards, modifiers: Modifiers = ()) -> e.Outcome:
    """How a hand that was neither bust nor surrendered fares against the dealer's final cards."""
    if is_natural(dealer):
        return "push" if hand.is_natural else "loss"
    if hand.is_natural:
        return "natural"
    count = scoring(modifiers)
    ours, theirs = count.total(hand.cards), count.total(dealer)
    if theirs > count.limit or ours > theirs:
        return "win"
    return "push" if ours == theirs else "loss"


def bust_outcome(hand: Hand, modifiers: Modifiers) -> e.Outcome:
    """What a bust of this hand comes to."""
    return "push" if hand.shielded or scoring(modifiers).reverse_bust else "bust"


def payout(outcome: e.Outcome, stake: int) -> int:
    """All chips that come back for a stake. A natural pays 3:2, rounded down."""
    match outcome:
        case "win":
            return 2 * stake
        case "push":
            return stake
        case "natural":
            return stake + half(3 * stake)
        case "surrender":
            return half(stake)
        case "loss" | "bust":
            return 0


def insurance_price(bet: int) -> int:
    """Half of the bet, rounded down; 0 means that insurance is not offered."""
    return half(bet)


def insurance_payout(stake: int, dealer_natural: bool) -> int:
    """The stake and 2:1 on it, or nothing."""
    return 3 * stake if dealer_natural else 0


def postings(table: Table, event: e.Event) -> tuple[Posting, ...]:
    """The ledger lines of an event at a table, balanced, given the table before or right after it.

    Buying in and cashing out have their table's leg here; the vault's leg is in the ledger.
    """
    kind = type(event)
    if lines := _LINES.get(kind):
        return lines(table, event)
    if brought := _BROUGHT.get(kind):
        return _to_stack(table, *brought(table, event))
    return ()


def to_vault(table: Table, event: e.Event) -> tuple[str, int] | None:
    """The player whose vault an event moves chips into (+) or out of (−), and how many.

    None when it moves none: the ledger's leg of buying in, cashing out and leaving.
    """
    brought = _BROUGHT.get(type(event))
    if brought is None:
        return None
    player, source, chips = brought(table, event)
    return (player, -chips) if chips and source == "vault" else None


def _stake(table: Table, seat: int, stake: int) -> tuple[Posting, ...]:
    player = table.seat(seat).player
    return Posting(stack(table.id, player), -stake), Posting(in_play(table.id), stake)


def _settled(table: Table, event: e.HandSettled | e.InsuranceSettled) -> tuple[Posting, ...]:
    stake, payout = event.stake, event.payout
    lines = (
        Posting(stack(table.id, table.seat(event.seat).player), payout),
        Posting(in_play(table.id), -stake),
        Posting(bank(table.id), stake - payout),
    )
    return tuple([line for line in lines if line.amount])


def _sold(table: Table, seat: int, price: int) -> tuple[Posting, ...]:
    player = table.seat(seat).player
    return Posting(stack(table.id, player), -price), Posting(bank(table.id), price)


def _to_stack(table: Table, player: str, source: e.Source, chips: int) -> tuple[Posting, ...]:
    if not chips:
        return ()
    line = Posting(stack(table.id, player), chips)
    return (line, Posting(ISSUANCE, -chips)) if source == "grant" else (line,)


def _bankroll(table: Table, player: str, chips: int) -> tuple[str, e.Source, int]:
    return player, "grant" if table.rules.bankroll == "session" else "vault", chips


def _run_ended(table: Table, event: e.RunEnded) -> tuple[str, e.Source, int]:
    seat = table.seat(event.seat)
    assert seat.run is not None, "what ends has begun"
    return seat.player, seat.run.source, -event.bankroll


_LINES: Final[dict[type[e.Event], Callable[[Table, Any], tuple[Posting, ...]]]] = {
    e.BetPlaced: lambda table, bet: _stake(table, bet.seat, bet.amount),
    e.BetWithdrawn: lambda table, bet: _stake(table, bet.seat, -bet.amount),
    e.HandDoubled: lambda table, doubled: _stake(table, doubled.seat, doubled.stake),
    e.HandSplit: lambda table, split: _stake(table, split.seat, split.stake),
    e.InsuranceBought: lambda table, bought: _stake(table, bought.seat, bought.stake),
    e.HandSettled: _settled,
    e.InsuranceSettled: _settled,
    e.ItemBought: lambda table, bought: _sold(table, bought.seat, bought.price),
}
"""The lines of what happens to a stake, and of a sale. Found by class, as in `evolve`."""

_BROUGHT: Final[dict[type[e.Event], Callable[[Table, Any], tuple[str, e.Source, int]]]] = {
    e.PlayerSat: lambda table, sat: _bankroll(table, sat.player, sat.buy_in),
    e.ChipsBoughtIn: lambda table, b: _bankroll(table, table.seat(b.seat).player, b.amount),
    e.ChipsCashedOut: lambda table, c: _bankroll(table, table.seat(c.seat).player, -c.amount),
    e.PlayerLeft: lambda table, left: _bankroll(table, left.player, -left.cash_out),
    e.RunStarted: lambda table, started: (started.player, started.source, started.stake),
    e.RunEnded: _run_ended,
}
"""Who brings how many chips to a stack, from where, or takes them back there (−)."""
