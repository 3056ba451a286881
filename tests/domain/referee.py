"""A second opinion on every card played and every hand settled, from the rules as people say them.

Counts cards and compares hands in its own way, and asks the engine nothing.
"""

from collections.abc import Sequence

from services.blackjack.domain import events as e
from services.blackjack.domain.table import Hand, Seat, Table

FACES = {"A": (1, 11), "T": (10,), "J": (10,), "Q": (10,), "K": (10,)}


def watch(table: Table, event: e.Event) -> None:
    """Raises AssertionError when the event breaks a rule at this table."""
    match event:
        case e.HandSettled():
            _watch_settlement(table, event)
        case e.CardDealt(seat, hand, _):
            assert _best(table.seat(seat).hands[hand].cards) <= 21, "a card for a bust hand"
        case e.HandStood(seat, hand):
            assert _best(table.seat(seat).hands[hand].cards) <= 21, "a bust hand stands"
        case e.DealerDrew(drawn):
            before = [*table.round.dealer, *drawn]
            assert all(_best(before[:-n]) < 17 for n in range(1, len(drawn) + 1))
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
    allowed = _early_outcomes(hand) if early else {_outcome(hand, dealer)}
    assert event.outcome in allowed, f"{event} of {hand} against {dealer}"


def _early_outcomes(hand: Hand) -> set[str]:
    """What may come before the hole card is shown."""
    if _best(hand.cards) > 21:
        return {"bust"}
    if _natural(hand.cards) and not hand.from_split:
        return {"natural"}
    return {"surrender"} if len(hand.cards) == 2 else set()


def _outcome(hand: Hand, dealer: Sequence[str]) -> str:
    """Ranks a hand as bust dealer < 4 … 21 < natural, and compares."""
    ours, theirs = _rank(hand.cards, hand.from_split), _rank(dealer, from_split=False)
    if ours == theirs:
        return "push"
    if ours < theirs:
        return "loss"
    return "natural" if ours == 22 else "win"


def _rank(cards: Sequence[str], from_split: bool) -> int:
    if _natural(cards) and not from_split:
        return 22
    return _best(cards) if _best(cards) <= 21 else 0


def _watch_the_end(table: Table) -> None:
    """Everything is settled, and the dealer has played as far as was needed and no further."""
    hands = [hand for _, seat in table.seated() for hand in seat.hands]
    assert all(hand.status == "settled" for hand in hands)
    assert all(seat.insurance == 0 for _, seat in table.seated())
    assert not [seat for _, seat in table.seated() if _runs(seat) and _fate(table, seat)]
    played = {hand.outcome for hand in hands} & {"win", "push", "loss"}
    dealer = table.round.dealer
    if not played:
        assert len(dealer) == 2, "the dealer drew for nobody"
    elif not all(_natural(hand.cards) for hand in hands if hand.outcome in played):
        assert _best(dealer) >= 17


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


def _best(cards: Sequence[str]) -> int:
    """The highest way to count the cards up to 21, or the lowest of all."""
    ways = {0}
    for card in cards:
        ways = {way + points for way in ways for points in FACES.get(card[0]) or (int(card[0]),)}
    return max((way for way in ways if way <= 21), default=min(ways))
