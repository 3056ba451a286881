"""What a stake returns, and the ledger lines of every event that moves chips."""

from services.blackjack.domain import events as e
from services.blackjack.domain.cards import Cards, is_natural
from services.blackjack.domain.modifiers import PLAIN, Modifiers, scoring
from services.blackjack.domain.table import Hand, Table
from shared.kernel.chips import ISSUANCE, Posting, bank, half, in_play, stack


def outcome(hand: Hand, dealer: Cards, modifiers: Modifiers = ()) -> e.Outcome:
    """How a hand that was neither bust nor surrendered fares against the dealer's final cards."""
    if is_natural(dealer):
        return "push" if hand.is_natural else "loss"
    if hand.is_natural:
        return "natural"
    count = scoring(modifiers) if modifiers else PLAIN
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
        case "loss" | "bust":
            return 0
        case "push":
            return stake
        case "natural":
            return stake + half(3 * stake)
        case "surrender":
            return half(stake)


def insurance_price(bet: int) -> int:
    """Half of the bet, rounded down; 0 means that insurance is not offered."""
    return half(bet)


def insurance_payout(stake: int, dealer_natural: bool) -> int:
    """The stake and 2:1 on it, or nothing."""
    return 3 * stake if dealer_natural else 0


def postings(table: Table, event: e.Event) -> tuple[Posting, ...]:
    """The ledger lines of an event at a table, balanced, given the table before the event.

    Buying in and cashing out have their table's leg here; the vault's leg is in the ledger.
    """
    match event:
        case e.BetPlaced(seat, stake) | e.HandDoubled(seat, _, stake) | e.HandSplit(seat, _, stake):
            return _stake(table, seat, stake)
        case e.InsuranceBought(seat, stake):
            return _stake(table, seat, stake)
        case e.BetWithdrawn(seat, stake):
            return _stake(table, seat, -stake)
        case e.HandSettled(seat, _, _, stake, payout) | e.InsuranceSettled(seat, stake, payout):
            return _settled(table, seat, stake, payout)
        case e.ItemBought(seat, _, price):
            stack_account = stack(table.id, table.seat(seat).player)
            return Posting(stack_account, -price), Posting(bank(table.id), price)
        case e.PlayerSat(_, player, chips):
            return _brought(table, player, chips)
        case e.ChipsBoughtIn(seat, chips):
            return _brought(table, table.seat(seat).player, chips)
        case e.ChipsCashedOut(seat, chips):
            return _brought(table, table.seat(seat).player, -chips)
        case e.PlayerLeft(_, player, chips):
            return _brought(table, player, -chips)
        case _:
            return ()


def _stake(table: Table, seat: int, stake: int) -> tuple[Posting, ...]:
    player = table.seat(seat).player
    return Posting(stack(table.id, player), -stake), Posting(in_play(table.id), stake)


def _settled(table: Table, seat: int, stake: int, payout: int) -> tuple[Posting, ...]:
    lines = (
        Posting(stack(table.id, table.seat(seat).player), payout),
        Posting(in_play(table.id), -stake),
        Posting(bank(table.id), stake - payout),
    )
    return tuple(line for line in lines if line.amount)


def _brought(table: Table, player: str, chips: int) -> tuple[Posting, ...]:
    lines = [Posting(stack(table.id, player), chips)]
    if table.rules.bankroll == "session":
        lines.append(Posting(ISSUANCE, -chips))
    return tuple(lines) if chips else ()


def to_vault(table: Table, event: e.Event) -> tuple[str, int] | None:
    """The player whose vault an event moves chips into (+) or out of (−), and how many.

    None when it moves none: the ledger's leg of buying in, cashing out and leaving.
    """
    if table.rules.bankroll != "vault":
        return None
    match event:
        case e.PlayerSat(_, player, chips):
            return player, -chips
        case e.ChipsBoughtIn(seat, chips):
            return table.seat(seat).player, -chips
        case e.ChipsCashedOut(seat, chips):
            return table.seat(seat).player, chips
        case e.PlayerLeft(_, player, chips) if chips:
            return player, chips
        case _:
            return None
