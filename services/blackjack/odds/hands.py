"""Every hand a player may hold without being bust, by composition: about 3,100 with 21 at most."""

from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.blackjack.odds.game import Game
from services.blackjack.odds.kinds import Kind, kinds_of

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Hands:
    """H hands over K kinds, from the lowest hard total to the highest.

    Arrays by hand have one place more at the end, for the bust: `child` leads there.
    """

    kinds: tuple[Kind, ...]
    limit: int
    counts: Ints
    """(K, H): how many cards of each kind."""
    size: Ints
    total: Ints
    """The best total."""
    soft: Bools
    """Whether an ace counts 10 more in it."""
    child: Ints
    """(K, H): the hand after one more card of a kind, H when that is bust."""
    levels: tuple[slice, ...]
    """The hands of each hard total: a further card leads to a later level."""
    singles: Ints
    """(K,): where the hand of one card of each kind is."""

    @property
    def number(self) -> int:
        """H."""
        return len(self.size)

    def place(self, counts: Ints) -> int:
        """Where a composition (K,) is; H when it is bust or not in the shoe."""
        found = np.flatnonzero((self.counts == counts[:, None]).all(axis=0))
        return int(found[0]) if len(found) else self.number

    def pairs(self) -> list[tuple[int, int, int]]:
        """All pairs of kinds with the place of the two, in a fixed order."""
        both = combinations_with_replacement(range(len(self.kinds)), 2)
        return [(a, b, int(self.child[b, self.singles[a]])) for a, b in both]


def hands_of(game: Game) -> Hands:
    """All hands that the shoe can give and that are not bust."""
    kinds, limit = kinds_of(game), game.modifier.bust_limit
    points = np.array([kind.points for kind in kinds])
    most = np.array([min(limit // kind.points, kind.cards) for kind in kinds])
    counts = np.zeros((len(kinds), 1), dtype=np.int64)
    for kind in range(len(kinds)):
        counts = np.repeat(counts, most[kind] + 1, axis=1)
        counts[kind] = np.tile(np.arange(most[kind] + 1), counts.shape[1] // (most[kind] + 1))
        counts = counts[:, points @ counts <= limit]
    counts = counts[:, counts.sum(axis=0) > 0]
    radix = np.cumprod(np.concatenate(([1], most[:-1] + 1)))
    hard = points @ counts
    order = np.lexsort((radix @ counts, hard))
    counts, hard = counts[:, order], hard[order]
    rising = np.array([kind.rises for kind in kinds])
    raised = np.minimum(counts[rising].sum(axis=0), (limit - hard) // 10)
    ones = np.eye(len(kinds), dtype=np.int64)[:, :, None]
    edges = np.searchsorted(hard, np.arange(limit + 2))
    return Hands(
        kinds=kinds,
        limit=limit,
        counts=counts,
        size=counts.sum(axis=0),
        total=hard + 10 * raised,
        soft=raised > 0,
        child=_children(counts, radix, most),
        levels=tuple(slice(*pair) for pair in pairwise(edges)),
        singles=np.array([np.flatnonzero((counts == one).all(axis=0))[0] for one in ones]),
    )


def _children(counts: Ints, radix: Ints, most: Ints) -> Ints:
    """The place of each hand with one more card of each kind, by the number that it spells."""
    spelt = radix @ counts
    order = np.argsort(spelt)
    number = len(spelt)
    children = np.full(counts.shape, number)
    for kind in range(len(radix)):
        grown = spelt + radix[kind]
        at = np.minimum(np.searchsorted(spelt[order], grown), number - 1)
        found = (spelt[order][at] == grown) & (counts[kind] < most[kind])
        children[kind, found] = order[at[found]]
    return children
