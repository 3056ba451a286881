"""The dealer's final hand, exactly: every multiset of draws once, with its number of orders.

A shoe's distribution is one multiplication for each multiset, whatever the shoe, so thousands of
shoes are done side by side.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from services.blackjack.odds.game import Game
from services.blackjack.odds.hands import Floats, Ints
from services.blackjack.odds.kinds import Kind, is_natural

STANDS_ON: Final = 17
SIDE_BY_SIDE: Final = 256
"""Shoes done at once: as many as keep the multisets of one level in the processor's cache."""


@dataclass(frozen=True)
class Level:
    """The multisets of one size, each an inner one of the size before with one card more."""

    kinds: Ints
    had: Floats
    """(F, 1): with `kinds`, the F cards that may come: a kind, and how many there were of it."""
    parent: Ints
    card: Ints
    """Which of the F came to the parent."""
    inner: Ints
    """Those with which the dealer goes on."""
    final: Ints
    """The others, by outcome."""
    orders: Floats
    """(finals, 1): in how many orders each may come."""
    begins: Ints
    outcomes: Ints
    """The outcomes that there are, and where in `final` each of them begins."""


class Dealer:
    """The draws to one upcard. Outcomes: the totals from 17 to the limit, bust, natural."""

    def __init__(self, game: Game, kinds: tuple[Kind, ...], upcard: int) -> None:
        self._game, self._kinds, self._upcard = game, kinds, upcard
        self.totals = np.arange(STANDS_ON, game.modifier.bust_limit + 1)
        self.bust, self.natural = len(self.totals), len(self.totals) + 1
        self._levels = self._grown()

    def outcomes(self, unseen: Floats) -> Floats:
        """(outcomes, R): the chances of each in R shoes of unseen cards (K, R), hole included."""
        result = np.empty((self.natural + 1, unseen.shape[1]))
        for begin in range(0, unseen.shape[1], SIDE_BY_SIDE):
            some = slice(begin, begin + SIDE_BY_SIDE)
            result[:, some] = self._some_outcomes(unseen[:, some])
        return result

    def _some_outcomes(self, unseen: Floats) -> Floats:
        cards = unseen.sum(axis=0)
        result = np.zeros((self.natural + 1, len(cards)))
        reached = np.ones((1, len(cards)))
        for drawn, level in enumerate(self._levels):
            share = (unseen[level.kinds] - level.had) / np.maximum(cards - drawn, 1)
            grown = reached.take(level.parent, axis=0)
            grown *= share.take(level.card, axis=0)
            if len(level.final):
                ends = grown.take(level.final, axis=0)
                ends *= level.orders
                result[level.outcomes] += np.add.reduceat(ends, level.begins)
            reached = grown.take(level.inner, axis=0)
        return result

    def _grown(self) -> list[Level]:
        levels, inner = [], {(0,) * len(self._kinds): 1}
        while inner:
            level, inner = self._next_level(inner)
            levels.append(level)
        return levels

    def _next_level(
        self, before: dict[tuple[int, ...], int]
    ) -> tuple[Level, dict[tuple[int, ...], int]]:
        """One card more for each multiset, whose number of orders is given."""
        orders: dict[tuple[int, ...], int] = {}
        origin: dict[tuple[int, ...], tuple[int, int, int]] = {}
        for parent, (drawn, ways) in enumerate(before.items()):
            for kind in range(len(self._kinds)):
                grown = (*drawn[:kind], drawn[kind] + 1, *drawn[kind + 1 :])
                orders[grown] = orders.get(grown, 0) + ways
                origin.setdefault(grown, (parent, kind, drawn[kind]))
        outcome = np.array([self._outcome(drawn) for drawn in orders])
        inner = {
            drawn: ways for (drawn, ways), at in zip(orders.items(), outcome, strict=True) if at < 0
        }
        counted = np.array(list(orders.values()), dtype=float)
        return _level(np.array(list(origin.values())), outcome, counted), inner

    def _outcome(self, drawn: tuple[int, ...]) -> int:
        """What these draws make of the upcard: an outcome, or -1 when the dealer draws on."""
        upcard = self._kinds[self._upcard]
        if sum(drawn) == 1 and is_natural(upcard, self._kinds[drawn.index(1)]):
            return self.natural
        limit = self._game.modifier.bust_limit
        cards = [*drawn]
        cards[self._upcard] += 1
        hard = sum(count * kind.points for count, kind in zip(cards, self._kinds, strict=True))
        rising = sum(count * kind.rises for count, kind in zip(cards, self._kinds, strict=True))
        raised = max(0, min(rising, (limit - hard) // 10))
        total = hard + 10 * raised
        if total < STANDS_ON or (self._game.hits_soft_17 and raised and total == STANDS_ON):
            return -1
        return self.bust if total > limit else total - STANDS_ON


def _level(origin: Ints, outcome: Ints, orders: Floats) -> Level:
    """A level of n multisets: (n, 3) parent, kind and how many it had; (n,) outcome and orders."""
    cards, card = np.unique(origin[:, 1:], axis=0, return_inverse=True)
    order = np.argsort(outcome, kind="stable")
    final = order[outcome[order] >= 0]
    outcomes, begins = np.unique(outcome[final], return_index=True)
    return Level(
        kinds=cards[:, 0],
        had=cards[:, 1:].astype(float),
        parent=origin[:, 0],
        card=card,
        inner=np.flatnonzero(outcome < 0),
        final=final,
        orders=orders[final, None],
        begins=begins,
        outcomes=outcomes,
    )
