"""Whether the dealer drew and paid by the rules: a second look at every settlement."""

from collections.abc import Iterator, Sequence

from services.audit.domain.changes import change_faults
from services.audit.domain.words import ORDINALS, points
from services.blackjack.domain import events as e
from services.blackjack.domain.cards import is_natural
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.hands import fallen_hands
from services.blackjack.domain.modifiers import scoring
from services.blackjack.domain.settlement import (
    bust_outcome,
    insurance_payout,
    outcome,
    payout,
)
from services.blackjack.domain.table import Hand, Table


def misjudged(table: Table, events: Sequence[e.Event]) -> Iterator[str]:
    """A sentence for each settlement or draw of a finished round that the rules do not give.

    `table` is the table before the events. Events that do not fit together raise what `evolve`
    raises.
    """
    hole = next((event.card for event in events if isinstance(event, e.HoleCardRevealed)), None)
    needed = False
    for before, event in zip([None, *events], events, strict=False):
        yield from change_faults(table, event, before)
        match event:
            case e.HandSettled():
                yield from _settled(table, event)
            case e.InsuranceSettled(seat, stake, paid):
                natural = hole is not None and is_natural((table.round.dealer[0], hole))
                if paid != (due := insurance_payout(stake, natural)):
                    yield f"The insurance of seat {seat} returned {paid} instead of {due}."
            case e.HoleCardRevealed(card):
                needed = _needs_dealer(table) and not is_natural((*table.round.dealer, card))
            case e.SeedRevealed():
                yield from _drawn(table, needed)
        table = evolve(table, event)


def _settled(table: Table, event: e.HandSettled) -> Iterator[str]:
    hand = table.seat(event.seat).hands[event.hand]
    whose = f"The {ORDINALS[event.hand]} hand of seat {event.seat}"
    if event.stake != hand.stake:
        yield f"{whose} had {hand.stake} at stake, but {event.stake} were settled."
    if event.outcome not in (right := _possible(table, hand)):
        yield f"{whose} was settled as {event.outcome}, the cards say {' or '.join(right)}."
    if event.payout != (due := payout(event.outcome, event.stake)):
        yield f"{whose} was paid {event.payout} instead of {due} for a {event.outcome}."


def _possible(table: Table, hand: Hand) -> list[e.Outcome]:
    """How the hand may be settled now; before the dealer's turn, only what is certain."""
    dealer, modifiers = table.round.dealer, table.modifiers
    count = scoring(modifiers)
    if len(dealer) > 1 and is_natural(dealer):
        return [outcome(hand, dealer)]
    if hand.is_natural and len(dealer) == 1:
        return ["natural"]
    fallen = hand in [each for _, _, each in fallen_hands(table)]
    if fallen or (count.total(hand.cards) > count.limit and not hand.is_natural):
        return [bust_outcome(hand, modifiers)]
    if len(dealer) > 1:
        return [outcome(hand, dealer, modifiers)]
    return ["surrender"] if table.rules.surrender and len(hand.cards) == 2 else []


def _needs_dealer(table: Table) -> bool:
    """Whether a hand waits for the dealer's total."""
    return any(
        hand.status == "stood" and not hand.is_natural
        for _, seat in table.seated()
        for hand in seat.hands
    )


def _drawn(table: Table, needed: bool) -> Iterator[str]:
    """The dealer draws to 17, if a hand needs it and not one card further."""
    dealer, modifiers = table.round.dealer, table.modifiers
    total, drew = scoring(modifiers).total, len(dealer) > 2
    if drew and not needed:
        yield "The dealer drew, though no hand needed it."
    elif drew and total(dealer[:-1]) >= 17:
        yield f"The dealer drew to {points(dealer[:-1], modifiers)} and went on."
    elif needed and total(dealer) < 17:
        yield f"The dealer stood on {points(dealer, modifiers)}."
