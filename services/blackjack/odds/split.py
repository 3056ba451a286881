"""A split pair, exactly, when each hand is played by its own cards alone.

Then the value of a split is the sum of its hands' values, and it does not matter when a hand gets
its cards, only which further cards are known to be gone. What is known of the other hands' second
cards, that they were *not* such that they were split again, is inclusion and exclusion:

    E(a, g)     a hand that starts with a card of kind a when the cards g are gone
    N(a, g)     the same, but 0 when its second card is one to split again on
    q(c, g)     how likely the next card is one of the pair's, of kind c
    X(m, b, g)  X(m, g), but 0 when another hand, which starts with b, got one to split again on:
                X(m, g) − Σ q(c, g) · X(m, g + c), for all such c

Two cards of a pair have different kinds when a modifier has changed what one of them counts.
"""

from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from services.blackjack.odds.deals import Group
from services.blackjack.odds.facing import Facing, Policy
from services.blackjack.odds.hands import Bools, Floats, Ints

Firsts: TypeAlias = tuple[int, ...]
"""The kinds of the first cards of some hands."""
Gone: TypeAlias = tuple[int, ...]
"""(K,): how many cards of each kind have left the shoe, beside those of the hand itself."""


class Splits:
    """What splits are worth against one upcard, when all hands are played by one policy."""

    def __init__(self, facing: Facing, policy: Policy) -> None:
        self._facing, self._policy = facing, policy
        self._one_hand = lru_cache(maxsize=None)(self._of_one_hand)

    def value(self, first: int, second: int) -> float:
        """What splitting two kinds is worth, in bets, all hands that come of it together; nan when
        they are never a pair. Others are split again as the policy says."""
        pairs = self._facing.deals[first, second].pairs
        if not pairs:
            return np.nan
        splits = self._policy.split.copy()
        splits[first, second] = splits[second, first] = True
        orders = {(first, second), (second, first)}
        worth = 0.0
        for group, ways in pairs.items():
            split = _Split(self, group, self._again(splits, group))
            worth += ways * sum(split.value(order) for order in orders) / len(orders)
        return worth / pairs.total()

    def limit(self, kind: int) -> int:
        """How many hands may come of a card of a kind."""
        game = self._facing.game
        return game.hands_of_aces if self._facing.hands.kinds[kind].is_ace else game.hands

    def cards(self) -> float:
        """How many cards the shoe has before the hands are dealt."""
        return float(self._facing.shoe.sum())

    def one_hand(self, kind: int, gone: Gone) -> tuple[float, Floats]:
        """What one hand is worth that starts with a card of a kind.

        The second figure, (K,), is for each second card, when that is not split again.
        """
        return self._one_hand(kind, gone)

    def _again(self, splits: Bools, group: Group) -> list[list[int]]:
        """For each kind, the kinds of second cards on which a hand is split again."""
        hands = self._facing.hands
        may = np.append(~self._facing.closed, False)[hands.child[:, hands.singles]]
        both = splits & may & (np.array(group) > 0)
        return [[int(kind) for kind in np.flatnonzero(row)] for row in both]

    def _of_one_hand(self, kind: int, gone: Gone) -> tuple[float, Floats]:
        facing = self._facing
        hands, game, policy = facing.hands, facing.game, self._policy
        start = int(hands.singles[kind])
        doubles = policy.double & (hands.size == 2) & game.double & game.double_after_split
        hits = policy.hit & ~facing.closed
        if hands.kinds[kind].is_ace:
            doubles, hits = np.zeros_like(doubles), np.zeros_like(hits)
        doubles = doubles & ~facing.closed
        goes_on = hits | doubles
        rows = _reached(facing, start, goes_on)
        ends = np.concatenate((rows[~goes_on[rows]], hands.child[:, rows[doubles[rows]]].ravel()))
        stand = facing.standing(np.unique(ends[ends < hands.number]), gone)
        chances, value = facing.before(rows, gone), np.zeros(hands.number + 1)
        edges = np.searchsorted(rows, [level.start for level in hands.levels] + [hands.number])
        for begin, end in reversed(list(pairwise(edges))):
            if begin < end:
                level, some = rows[begin:end], chances.of(slice(begin, end))
                taken = facing.with_a_card(some, level, value)
                value[level] = np.where(hits[level], taken, stand[level])
                if (double := doubles[level]).any():
                    twice = 2 * facing.with_a_card(some, level, stand)
                    value[level] = np.where(double, twice, value[level])
        first = facing.before(np.array([start]), gone)
        any_card = facing.with_a_card(first, np.array([start]), value)[0]
        return float(any_card), value[hands.child[:, start]]


class _Split:
    """Splits of one group of cards. `again`: for each kind, what it is split again on."""

    def __init__(self, splits: Splits, group: Group, again: list[list[int]]) -> None:
        self._splits, self._group, self._again = splits, group, again
        self._cards = splits.cards()

    def value(self, two: Firsts) -> float:
        """The sum over all hands that come of these two cards."""
        value = 0.0
        for (waiting, closed), chance in self._endings(two).items():
            firsts = self._gone(*waiting, *closed)
            for kind, number in Counter(waiting).items():
                gone = _without(firsts, kind)
                value += chance * number * self._worth(kind, closed, gone, own=False)
            for kind, number in Counter(closed).items():
                others = list(closed)
                others.remove(kind)
                gone = _without(firsts, kind)
                value += chance * number * self._worth(kind, tuple(others), gone, own=True)
        return value

    def _endings(self, two: Firsts) -> dict[tuple[Firsts, Firsts], float]:
        """How a split may end, with the chance of the cards that it was split again on: the hands
        that wait for any second card, and those whose second card made no further hand.

        The hands get their second cards in order, until there are as many hands as may be.
        """
        found: dict[tuple[Firsts, Firsts], float] = {}
        limit = self._splits.limit(two[0])

        def go_on(waiting: Firsts, closed: Firsts, chance: float) -> None:
            if len(waiting) + len(closed) == limit or not waiting:
                ending = tuple(sorted(waiting)), tuple(sorted(closed))
                found[ending] = found.get(ending, 0.0) + chance
                return
            first, *others = waiting
            go_on(tuple(others), (*closed, first), chance)
            for kind in self._again[first]:
                if next_is := self._next_is(kind, self._gone(*waiting, *closed)):
                    go_on((first, kind, *others), closed, chance * next_is)

        go_on(two, (), 1.0)
        return found

    def _worth(self, kind: int, closed: Firsts, gone: Gone, *, own: bool) -> float:
        """X of a hand and other ones that are closed; with `own` it is closed itself."""
        if closed:
            first, *others = closed
            worth = self._worth(kind, tuple(others), gone, own=own)
            for card in self._again[first]:
                if next_is := self._next_is(card, _with(gone, kind)):
                    more = self._worth(kind, tuple(others), _with(gone, card), own=own)
                    worth -= next_is * more
            return worth
        any_card, seconds = self._splits.one_hand(kind, gone)
        if not own:
            return any_card
        seen = _with(gone, kind)
        again = self._again[kind]
        return any_card - sum(self._next_is(card, seen) * float(seconds[card]) for card in again)

    def _next_is(self, kind: int, seen: Gone) -> float:
        """How likely the next card is one of the group's, of this kind."""
        return max(self._group[kind] - seen[kind], 0) / max(self._cards - sum(seen), 1)

    def _gone(self, *kinds: int) -> Gone:
        return tuple(kinds.count(kind) for kind in range(len(self._group)))


def _with(gone: Gone, kind: int, more: int = 1) -> Gone:
    return (*gone[:kind], gone[kind] + more, *gone[kind + 1 :])


def _without(gone: Gone, kind: int) -> Gone:
    return _with(gone, kind, -1)


def _reached(facing: Facing, start: int, goes_on: Bools) -> Ints:
    """The places of all hands that may come of one card when some of them take another."""
    hands = facing.hands
    reached = np.zeros(hands.number + 1, dtype=bool)
    reached[hands.child[:, start]] = True
    for level in hands.levels:
        onward = np.flatnonzero(reached[:-1][level] & goes_on[level]) + level.start
        reached[hands.child[:, onward]] = True
    return np.flatnonzero(reached[:-1])
