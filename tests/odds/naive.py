"""A second opinion on modified games: every order of the cards of a tiny shoe, without a thought.

No splits, no compositions, no numpy: the player looks at all that can come of each move, card by
card, and takes the best. Values are divided by nothing, as rounds with a dealer's natural are left
out where the dealer has peeked.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from services.blackjack.domain.cards import RANKS
from services.blackjack.odds.game import Game

Cards = str
Left = tuple[int, ...]


@dataclass(frozen=True)
class Naive:
    """A game of tiny shoes, played best by somebody who sees his own cards and the upcard."""

    game: Game

    def expectation(self) -> Fraction:
        """Bets won a round."""
        return sum(
            (
                chance * self._deal(first + second, up, left)
                for up, of_up, after_up in draws(self.game.shoe)
                for first, of_first, after_first in draws(after_up)
                for second, of_second, left in draws(after_first)
                for chance in [of_up * of_first * of_second]
            ),
            Fraction(0),
        )

    def _deal(self, hand: Cards, up: str, left: Left) -> Fraction:
        natural = sum((p for hole, p, _ in draws(left) if is_natural(up + hole)), Fraction(0))
        if is_natural(hand):
            return Fraction(self.game.natural_pays) * (1 - natural)
        return self._play(hand, up, left) - (natural if self.game.peek else 0)

    def _play(self, hand: Cards, up: str, left: Left) -> Fraction:
        """The best of what two cards may do, where a peeked natural counts nothing."""
        game = self.game
        if game.modifier.busts_at_once(*hand):
            return self._bust(up, left)
        if self.total(hand) > game.modifier.bust_limit:
            return self._bust(up, left)
        moves = [best_later(self, "".join(sorted(hand)), up, left)]
        if self.stands_by_itself(hand):
            return moves[0]
        if game.double:
            moves.append(
                2 * sum(p * self._end(hand + card, up, rest) for card, p, rest in draws(left))
            )
        if game.surrender_refund is not None:
            moves.append((Fraction(game.surrender_refund) - 1) * self._alive(up, left))
        return max(moves)

    def _end(self, hand: Cards, up: str, left: Left) -> Fraction:
        over = self.total(hand) > self.game.modifier.bust_limit
        return self._bust(up, left) if over else self.stand(hand, up, left)

    def _bust(self, up: str, left: Left) -> Fraction:
        return Fraction(0) if self.game.modifier.bust_pushes else -self._alive(up, left)

    def _alive(self, up: str, left: Left) -> Fraction:
        if not self.game.peek:
            return Fraction(1)
        return sum((p for hole, p, _ in draws(left) if not is_natural(up + hole)), Fraction(0))

    def stand(self, hand: Cards, up: str, left: Left) -> Fraction:
        """The dealer turns over every hole card, and draws every card."""
        value = Fraction(0)
        for hole, chance, rest in draws(left):
            if is_natural(up + hole):
                value -= 0 if self.game.peek else chance
            else:
                value += chance * dealer(self, self.total(hand), "".join(sorted(up + hole)), rest)
        return value

    def total(self, hand: Cards) -> int:
        """The best total, as this game counts: one ace after the other rises."""
        modifier = self.game.modifier
        total = self._low(hand)
        for _ in range(hand.count("A") * modifier.ace_rises):
            total += 10 if total + 10 <= modifier.bust_limit else 0
        return total

    def is_soft(self, hand: Cards) -> bool:
        return self.total(hand) != self._low(hand)

    def stands_by_itself(self, hand: Cards) -> bool:
        return self.total(hand) == self.game.modifier.bust_limit and not self.game.hit_on_21

    def _low(self, hand: Cards) -> int:
        return sum(self.game.modifier.points[RANKS.index(rank)] for rank in hand)


@cache
def best_later(naive: Naive, hand: Cards, up: str, left: Left) -> Fraction:
    """Hit or stand, whichever is better, to the end."""
    stands = naive.stand(hand, up, left)
    if naive.stands_by_itself(hand):
        return stands
    hits = Fraction(0)
    for card, chance, rest in draws(left):
        grown = "".join(sorted(hand + card))
        over = naive.total(grown) > naive.game.modifier.bust_limit
        worth = naive._bust(up, rest) if over else best_later(naive, grown, up, rest)
        hits += chance * worth
    return max(stands, hits)


@cache
def dealer(naive: Naive, against: int, cards: Cards, left: Left) -> Fraction:
    """The dealer draws to 17; 1, 0 or -1 for the player."""
    total, limit = naive.total(cards), naive.game.modifier.bust_limit
    soft_17 = naive.game.hits_soft_17 and total == 17 and naive.is_soft(cards)
    if total >= 17 and not soft_17:
        return Fraction(1 if total > limit else (against > total) - (against < total))
    return sum(
        (p * dealer(naive, against, "".join(sorted(cards + c)), r) for c, p, r in draws(left)),
        Fraction(0),
    )


def draws(left: Left) -> Iterator[tuple[str, Fraction, Left]]:
    """Every rank that may come next, with its chance and what is left then."""
    cards = sum(left)
    for place, number in enumerate(left):
        if number:
            rest = (*left[:place], number - 1, *left[place + 1 :])
            yield RANKS[place], Fraction(number, cards), rest


def is_natural(cards: Cards) -> bool:
    """By what is printed on them."""
    return len(cards) == 2 and "A" in cards and any(ten in cards for ten in "TJQK")
