"""A split pair, exactly, when each hand is played by its own cards alone.

Then the value of a split is the sum of its hands' values, and any hand is as good as the first:
which cards the others got does not matter, only how many more cards of the pair are gone. What is
known of the others' second cards, that they were *not* of the pair, is inclusion and exclusion:

    E(0, j)  a hand that starts with one card of the pair when j further ones are gone
    N(0, j)  the same, but 0 when its second card is of the pair
    q(j)     how likely the next card is of the pair
    X(m, j)  X(0, j), but 0 when one of m other hands had a second card of the pair:
             X(m − 1, j) − q(j) · X(m − 1, j + 1)
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np

from services.blackjack.domain.cards import RANKS
from services.blackjack.odds.facing import Facing, Policy
from services.blackjack.odds.game import Game
from services.blackjack.odds.hands import Bools, Ints, Kind


@dataclass(frozen=True)
class Pair:
    """Cards that may be split when two of them meet, as many as `cards` before the upcard.

    `ways` is in how many ways the deal makes this pair; `facing_itself`: the upcard is one too.
    """

    cards: int
    facing_itself: bool
    ways: int


def pairs(game: Game, kinds: tuple[Kind, ...], kind: int, upcard: int) -> Iterator[Pair]:
    """The pairs that two cards of a kind may be, for an upcard of some kind."""
    for cards in _pair_sizes(game, kinds[kind]):
        ordered = cards * (cards - 1)
        if kind != upcard:
            yield Pair(cards, False, ordered * kinds[upcard].cards)
        else:
            yield Pair(cards, True, ordered * (cards - 2))
            yield Pair(cards, False, ordered * (kinds[kind].cards - cards))


def splittable(game: Game, kinds: tuple[Kind, ...], kind: int, upcard: int) -> float:
    """How likely two cards of a kind are a pair."""
    cards = kinds[kind].cards
    left = cards - 2 if kind == upcard else kinds[upcard].cards
    ways = cards * (cards - 1) * left
    return sum(pair.ways for pair in pairs(game, kinds, kind, upcard)) / ways if ways > 0 else 0.0


def split_value(facing: Facing, policy: Policy, kind: int) -> float:
    """What splitting two cards of a kind is worth, in bets, all hands that come of it together."""
    game, kinds = facing.game, facing.hands.kinds
    limit = game.hands_of_aces if kinds[kind].is_ace else game.hands
    hands = [_one_hand(facing, policy, kind, gone) for gone in range(1, 2 * limit - 2)]
    possible = [pair for pair in pairs(game, kinds, kind, facing.upcard) if pair.ways > 0]
    if not possible:
        return 0.0
    worth = [pair.ways * _all_hands(facing, pair, hands, limit) for pair in possible]
    return sum(worth) / sum(pair.ways for pair in possible)


def _pair_sizes(game: Game, kind: Kind) -> list[int]:
    if game.split == "none":
        return []
    if game.split == "same_value":
        return [kind.cards]
    return [game.shoe[RANKS.index(rank)] for rank in kind.ranks]


def _all_hands(facing: Facing, pair: Pair, hands: list[tuple[float, float]], limit: int) -> float:
    """The sum over all hands. `hands[j - 1]`: E(0, j), and what two cards of the pair are worth."""
    cards = float(facing.shoe.sum())
    of_the_pair = pair.cards - pair.facing_itself

    def next_is_one(gone: int) -> float:
        return max(of_the_pair - 1 - gone, 0) / max(cards - 1 - gone, 1)

    def worth(excluded: int, gone: int, own: bool) -> float:
        """E(excluded, gone); with `own` N(excluded, gone)."""
        if excluded:
            more = next_is_one(gone) * worth(excluded - 1, gone + 1, own)
            return worth(excluded - 1, gone, own) - more
        any_card, another = hands[gone - 1]
        return any_card - next_is_one(gone) * another if own else any_card

    value = 0.0
    for (number, waiting), orders in _histories(limit).items():
        closed, gone = number - waiting, number - 1
        way = orders * prod(next_is_one(drawn) for drawn in range(1, number - 1))
        value += way * waiting * worth(closed, gone, False) if waiting else 0.0
        value += way * closed * worth(closed - 1, gone, True) if closed else 0.0
    return value


def _histories(limit: int) -> Counter[tuple[int, int]]:
    """In how many orders of second cards a split ends with (hands, hands that wait for any card).

    A second card of the pair makes one hand more, until there are as many as may be.
    """
    found: Counter[tuple[int, int]] = Counter()

    def go_on(hands: int, waiting: int) -> None:
        if hands == limit or not waiting:
            found[hands, waiting] += 1
        else:
            go_on(hands + 1, waiting + 1)
            go_on(hands, waiting - 1)

    go_on(2, 2)
    return found


def _one_hand(facing: Facing, policy: Policy, kind: int, gone: int) -> tuple[float, float]:
    """What one hand is worth that starts with a card of a kind when `gone` further ones have left.

    The second figure is for a second card of the same kind that is not split again.
    """
    hands, game = facing.hands, facing.game
    start = int(hands.singles[kind])
    doubles = policy.double & (hands.size == 2) & game.double & game.double_after_split
    hits = policy.hit & ~facing.closed
    if hands.kinds[kind].is_ace:
        doubles, hits = np.zeros_like(doubles), np.zeros_like(hits)
    doubles = doubles & ~facing.closed
    goes_on = hits | doubles
    rows = _reached(facing, start, goes_on)
    ends = np.concatenate((rows[~goes_on[rows]], hands.child[:, rows[doubles[rows]]].ravel()))
    stand = facing.standing(np.unique(ends[ends < hands.number]), kind, gone)
    chances, value = facing.before(rows, kind, gone), np.zeros(hands.number + 1)
    edges = np.searchsorted(rows, [level.start for level in hands.levels] + [hands.number])
    for begin, end in reversed(list(pairwise(edges))):
        if begin < end:
            level, some = rows[begin:end], chances.of(slice(begin, end))
            taken = facing.with_a_card(some, level, value)
            value[level] = np.where(hits[level], taken, stand[level])
            if (double := doubles[level]).any():
                twice = 2 * facing.with_a_card(some, level, stand)
                value[level] = np.where(double, twice, value[level])
    first = facing.before(np.array([start]), kind, gone)
    any_card = facing.with_a_card(first, np.array([start]), value)[0]
    return float(any_card), float(value[hands.twice(kind)])


def _reached(facing: Facing, start: int, goes_on: Bools) -> Ints:
    """The places of all hands that may come of one card when some of them take another."""
    hands = facing.hands
    reached = np.zeros(hands.number + 1, dtype=bool)
    reached[hands.child[:, start]] = True
    for level in hands.levels:
        onward = np.flatnonzero(reached[:-1][level] & goes_on[level]) + level.start
        reached[hands.child[:, onward]] = True
    return np.flatnonzero(reached[:-1])
