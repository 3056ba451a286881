"""What becomes of hands by themselves, as they are counted in this round."""

from services.blackjack.domain.cards import is_ace
from services.blackjack.domain.modifiers import scoring
from services.blackjack.domain.table import Hand, Table


def live_hands(table: Table) -> list[tuple[int, int, Hand]]:
    """Seat, index and hand of all that is not settled yet."""
    return [
        (number, index, hand)
        for number, seat in table.seated()
        for index, hand in enumerate(seat.hands)
        if hand.status != "settled"
    ]


def stands_by_itself(table: Table, hand: Hand) -> bool:
    """Whether a hand takes no further card, though it might hold one."""
    if hand.is_natural:
        return False
    if hand.from_split and is_ace(hand.cards[0]):
        return True
    if table.rules.hit_on_21:
        return False
    count = scoring(table.modifiers)
    return count.total(hand.cards) == count.limit


def fallen_hands(table: Table) -> list[tuple[int, int, Hand]]:
    """The live hands that bust by the modifiers alone. A natural, by printed ranks, never does."""
    modifiers = table.modifiers
    if not modifiers:
        return []
    count = scoring(modifiers)
    return [
        (number, index, hand)
        for number, index, hand in live_hands(table)
        if not hand.is_natural
        and (
            count.total(hand.cards) > count.limit
            or (_is_starting(hand) and count.busts_at_once(hand.cards))
        )
    ]


def _is_starting(hand: Hand) -> bool:
    return hand.status == "playing" and len(hand.cards) == 2 and not hand.from_split
