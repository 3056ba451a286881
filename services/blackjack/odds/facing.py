"""One upcard: what every hand is worth against it, for each move and for any way to play.

Values are bets won. They are not divided by the chance that the dealer has no natural: when the
dealer has peeked, a natural is worth 0 here and is paid for once a round; without a peek it takes
all that is staked. So a card comes with its plain share of the unseen cards, the hole card among
them, and both kinds of game are one sum.
"""

from dataclasses import dataclass

import numpy as np

from services.blackjack.odds.dealer import STANDS_ON, Dealer
from services.blackjack.odds.deals import deals_to
from services.blackjack.odds.game import Game
from services.blackjack.odds.hands import Bools, Floats, Hands, Ints
from services.blackjack.odds.kinds import is_natural


@dataclass(frozen=True)
class Policy:
    """How to play against one upcard, by the place of the hand. After a split alike."""

    hit: Bools
    """(H,) Whether to take a card when neither of the following is done."""
    double: Bools
    """(H,) Whether to double two cards, where that is allowed."""
    surrender: Bools
    """(H,) Whether to give up two cards."""
    split: Bools
    """(K, K) Whether to split a card of a kind and one of another, or of the same."""
    insure: bool = False
    """Whether to buy insurance whenever the cards in sight make it pay."""

    def same_as(self, other: "Policy") -> bool:
        """Whether both play every hand alike."""
        ours = self.hit, self.double, self.surrender, self.split
        theirs = other.hit, other.double, other.surrender, other.split
        return all(map(np.array_equal, ours, theirs))


def hit_or_stand(hands: Hands, hit: Bools) -> Policy:
    """Nothing but taking cards, with these hands (H,), and standing."""
    never, kinds = np.zeros(hands.number, dtype=bool), len(hands.kinds)
    return Policy(hit, never, never, np.zeros((kinds, kinds), dtype=bool))


@dataclass(frozen=True)
class Chances:
    """What R hands have before them."""

    draw: Floats
    """(K, R): how likely the next card is of a kind."""
    alive: Floats
    """(R,): how likely the hand counts; less than 1 if the dealer peeks and may have a natural."""
    natural: Floats
    """(R,): how likely the dealer has a natural."""
    bust: Floats
    """(K, R): what it is worth to bust with a card of a kind."""

    def of(self, some: slice) -> "Chances":
        """Those of fewer hands."""
        return Chances(
            self.draw[:, some],
            self.alive[some],
            self.natural[some],
            self.bust[:, some],
        )


class Facing:
    """The hands of a game against one upcard."""

    def __init__(self, game: Game, hands: Hands, upcard: int) -> None:
        self.game, self.hands, self.upcard = game, hands, upcard
        self.dealer = Dealer(game, hands.kinds, upcard)
        self.shoe = np.array([float(kind.cards) for kind in hands.kinds])
        self.shoe[upcard] -= 1
        self.holes = np.array([float(is_natural(hands.kinds[upcard], k)) for k in hands.kinds])
        self.closed = (hands.total == hands.limit) & (not game.hit_on_21)
        self.deals = deals_to(game, hands, self.closed, upcard)
        self.all = np.arange(hands.number)
        self._standing: dict[tuple[int, ...], Floats] = {}
        self.chances = self.before(self.all)
        self.stand = self.standing(self.all)
        self.double = 2 * self.with_a_card(self.chances, self.all, self.stand)

    def before(self, rows: Ints, gone: tuple[int, ...] = ()) -> Chances:
        """The chances of some hands when `gone` (K,) further cards have left the shoe."""
        unseen = self._unseen(rows, gone)
        cards = np.maximum(unseen.sum(axis=0), 1.0)
        natural = self.holes @ unseen / cards
        draw = unseen / cards
        bust = np.zeros_like(draw)
        if not self.game.modifier.bust_pushes:
            bust -= 1.0
            if self.game.peek:
                holes_left = np.maximum(self.holes @ unseen - self.holes[:, None], 0.0)
                bust += holes_left / np.maximum(cards - 1, 1.0)
        alive = 1 - natural if self.game.peek else np.ones_like(natural)
        return Chances(draw, alive, natural, bust)

    def with_a_card(self, chances: Chances, rows: Ints, after: Floats) -> Floats:
        """What some hands are worth that take a card, if `after` (H + 1,) is their value then."""
        child = self.hands.child[:, rows]
        worth = np.where(child == self.hands.number, chances.bust, after[child])
        result: Floats = (chances.draw * worth).sum(axis=0)
        return result

    def natural_behind(self, first: int, second: int) -> float:
        """How likely the dealer has a natural when a hand has these two cards."""
        unseen = self.shoe.copy()
        unseen[first] -= 1
        unseen[second] -= 1
        return float(self.holes @ unseen / max(unseen.sum(), 1))

    def standing(self, rows: Ints, gone: tuple[int, ...] = ()) -> Floats:
        """(H + 1,): what it is worth to stand, for these hands at least; it is worked out once."""
        worth = self._standing.setdefault(gone, np.append(np.full(self.hands.number, np.nan), 0.0))
        new = rows[np.isnan(worth[rows])]
        worth[new] = self._stand(new, self._unseen(new, gone))
        return worth

    def _unseen(self, rows: Ints, gone: tuple[int, ...]) -> Floats:
        """(K, R): the cards that a hand does not see, the hole card among them."""
        unseen = self.shoe[:, None] - self.hands.counts[:, rows]
        if gone:
            unseen -= np.array(gone)[:, None]
        return np.maximum(unseen, 0.0)

    def _stand(self, rows: Ints, unseen: Floats) -> Floats:
        outcomes = self.dealer.outcomes(unseen)
        finals = outcomes[: self.dealer.bust]
        below = np.vstack((outcomes[self.dealer.bust], finals)).cumsum(axis=0)
        place = self.hands.total[rows] - STANDS_ON
        columns = np.arange(len(rows))
        wins = below[np.clip(place, 0, len(finals)), columns]
        reaches = below[np.clip(place + 1, 0, len(finals)), columns]
        loses = below[-1] - reaches
        if not self.game.peek:
            loses = loses + outcomes[self.dealer.natural]
        result: Floats = wins - loses
        return result


def best_later(facing: Facing) -> tuple[Bools, Floats]:
    """Whether each hand had better take a card than stand, and (H + 1,) its value then."""
    hands = facing.hands
    value, hit = np.zeros(hands.number + 1), np.zeros(hands.number, dtype=bool)
    for level in reversed(hands.levels):
        rows = facing.all[level]
        some = facing.chances.of(level)
        taken = facing.with_a_card(some, rows, value)
        hit[level] = (taken > facing.stand[:-1][level]) & ~facing.closed[level]
        value[level] = np.where(hit[level], taken, facing.stand[:-1][level])
    return hit, value


def value_later(facing: Facing, hit: Bools) -> Floats:
    """(H + 1,): what each hand is worth if it is played on so, with nothing but hit and stand."""
    value = np.zeros(facing.hands.number + 1)
    for level in reversed(facing.hands.levels):
        some = facing.chances.of(level)
        taken = facing.with_a_card(some, facing.all[level], value)
        value[level] = np.where(hit[level] & ~facing.closed[level], taken, facing.stand[:-1][level])
    return value
