"""A second opinion on every card played and every hand settled, from the rules as people say them.

Counts cards and compares hands in its own way, and asks the engine nothing.
"""

from collections.abc import Sequence

from services.blackjack.domain import events as e
from services.blackjack.domain import modifiers as m
from services.blackjack.domain.modifiers import Modifiers
from services.blackjack.domain.table import Hand, Seat, Table

NATURAL = 99
FACES = {"A": (1, 11), "T": (10,), "J": (10,), "Q": (10,), "K": (10,)}


def watch(table: Table, event: e.Event) -> None:
    """Raises AssertionError when the event breaks a rule at this table."""
    match event:
        case e.HandSettled():
            _watch_settlement(table, event)
        case e.CardDealt(seat, hand) | e.CardRedrawn(seat, hand) | e.HandStood(seat, hand):
            held, changes = table.seat(seat).hands[hand], table.modifiers
            fell = _best(held.cards, changes) > _limit(changes)
            assert _natural(held.cards) or not fell, "a bust hand goes on"
        case e.DealerDrew(drawn):
            before = [*table.round.dealer, *drawn]
            totals = [_best(before[:-n], table.modifiers) for n in range(1, len(drawn) + 1)]
            assert max(totals) < 17
        case e.ItemBought(seat, name, price):
            assert price == {item.name: item.price for item in table.rules.items}[name]
            assert table.seat(seat).bet == 0
        case e.ItemUsed(seat, _, name):
            assert name in table.seat(seat).items
        case e.ModifierApplied(seat=None):
            assert table.rules.modifiers
            assert not table.round.modified
        case e.InsuranceBought(seat, stake):
            assert table.round.dealer[0][0] == "A"
            assert 0 < 2 * stake <= table.seat(seat).bet < 2 * stake + 2
        case e.DealerPeeked():
            assert not table.round.offers, "somebody has yet to answer on insurance"
        case e.RunStarted():
            _watch_the_start(table, event)
        case e.RunEnded(seat, outcome, bankroll):
            held = table.seat(seat)
            assert _runs(held)
            assert (outcome, bankroll) == (_fate(table, held) or "left", held.stack)
        case e.SeedRevealed():
            _watch_the_end(table)


def _watch_the_start(table: Table, event: e.RunStarted) -> None:
    runs = table.rules.run
    assert runs is not None
    assert event.player not in [seat.player for _, seat in table.seated() if _runs(seat)]
    if event.source == "vault":
        assert runs.min_stake <= event.stake <= runs.max_stake
        assert event.goal == event.stake * runs.goal_multiple
    else:
        assert (event.stake, event.goal) == (runs.granted_stake, runs.granted_goal)


def _watch_settlement(table: Table, event: e.HandSettled) -> None:
    hand, dealer = table.seat(event.seat).hands[event.hand], table.round.dealer
    assert event.stake == hand.stake
    early = event.outcome in ("bust", "surrender") or len(dealer) == 1
    changes = table.modifiers
    allowed = _early_outcomes(hand, changes) if early else {_outcome(hand, dealer, changes)}
    assert event.outcome in allowed, f"{event} of {hand} against {dealer}"


def _early_outcomes(hand: Hand, changes: Modifiers) -> set[str]:
    """What may come before the hole card is shown."""
    if _natural(hand.cards) and not hand.from_split:
        return {"natural"}
    fall = {"push"} if hand.shielded or m.ReverseBust() in changes else {"bust"}
    if _best(hand.cards, changes) > _limit(changes):
        return fall
    if len(hand.cards) != 2:
        return set()
    return {"surrender"} | (fall if _falls_at_once(hand, changes) else set())


def _falls_at_once(hand: Hand, changes: Modifiers) -> bool:
    ranks = [card[0] for card in hand.cards]
    for change in changes:
        match change:
            case m.InstantBust(m.Pair()) if ranks[0] == ranks[1]:
                return True
            case m.InstantBust(m.Holds(rank)) if rank in ranks:
                return True
            case m.InstantBust(m.TotalFrom(least, most)):
                if least <= _best(hand.cards, changes) <= most:
                    return True
    return False


def _outcome(hand: Hand, dealer: Sequence[str], changes: Modifiers) -> str:
    """Ranks a hand as bust dealer < 4 … 21 < natural, and compares."""
    ours = _rank(hand.cards, changes, hand.from_split)
    theirs = _rank(dealer, changes, from_split=False)
    if ours == theirs:
        return "push"
    if ours < theirs:
        return "loss"
    return "natural" if ours == NATURAL else "win"


def _rank(cards: Sequence[str], changes: Modifiers, from_split: bool) -> int:
    if _natural(cards) and not from_split:
        return NATURAL
    best = _best(cards, changes)
    return best if best <= _limit(changes) else 0


def _watch_the_end(table: Table) -> None:
    """Everything is settled, and the dealer has played as far as was needed and no further."""
    hands = [hand for _, seat in table.seated() for hand in seat.hands]
    assert all(hand.status == "settled" for hand in hands)
    assert all(seat.insurance == 0 for _, seat in table.seated())
    assert not [seat for _, seat in table.seated() if _runs(seat) and _fate(table, seat)]
    dealer, changes = table.round.dealer, table.modifiers
    if m.ReverseBust() in changes or any(hand.shielded for hand in hands):
        hands = [hand for hand in hands if hand.outcome != "push"]  # it may have been a bust
        assert all(hand.outcome != "bust" or not hand.shielded for hand in hands)
    elif not any(hand.outcome in ("win", "push", "loss") for hand in hands):
        assert len(dealer) == 2, "the dealer drew for nobody"
    if any(hand.outcome in ("win", "push", "loss") and not _natural(hand.cards) for hand in hands):
        assert _natural(dealer) or _best(dealer, changes) >= 17


def _runs(seat: Seat) -> bool:
    return seat.run is not None and seat.run.outcome is None


def _fate(table: Table, seat: Seat) -> str | None:
    """What becomes of a run after a round. Half of the stack has to make a bet, or all of it."""
    if seat.run is not None and seat.stack >= seat.run.goal:
        return "won"
    limits = table.rules.bet
    least = 2 * limits.min if limits.half_of_stack else limits.min
    return "lost" if seat.stack < least else None


def _natural(cards: Sequence[str]) -> bool:
    return sorted("T" if card[0] in "JQK" else card[0] for card in cards) == ["A", "T"]


def _best(cards: Sequence[str], changes: Modifiers) -> int:
    """The highest way to count the cards up to the limit, or the lowest of all."""
    faces = dict(FACES)
    for change in changes:
        match change:
            case m.RankValue(rank, value):
                faces[rank] = (value,)
            case m.FixedAce(value):
                faces["A"] = (value,)
    ways = {0}
    for card in cards:
        ways = {way + points for way in ways for points in faces.get(card[0]) or (int(card[0]),)}
    return max((way for way in ways if way <= _limit(changes)), default=min(ways))


def _limit(changes: Modifiers) -> int:
    return [21, *(change.limit for change in changes if isinstance(change, m.BustLimit))][-1]
