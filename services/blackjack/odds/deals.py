"""The first two cards, told by rank: ranks of a kind play alike, but a deal may part them.

Two ranks make a pair or none, and meet the condition of an instant bust or do not.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import TypeAlias

from services.blackjack.domain.cards import RANKS
from services.blackjack.odds.game import PRINTED, Game
from services.blackjack.odds.hands import Bools, Hands
from services.blackjack.odds.kinds import Kind

Group: TypeAlias = tuple[int, ...]
"""(K,): the cards that may be split when two of them meet, by kind, without the upcard."""


@dataclass
class Deal:
    """In how many ways two kinds are dealt, upcard included, and what becomes of them."""

    ways: int = 0
    busts: int = 0
    """The ways that bust before any decision. Naturals never do; that is for who asks."""
    pairs: Counter[Group] = field(default_factory=Counter)
    """The ways that may be split."""

    @property
    def plays(self) -> int:
        """The ways that do not bust at once."""
        return self.ways - self.busts


def deals_to(game: Game, hands: Hands, closed: Bools, upcard: int) -> dict[tuple[int, int], Deal]:
    """All deals to an upcard of a kind, by the two kinds, the lower first.

    `closed` (H,): the hands that stand by themselves, and so are never split.
    """
    place = {rank: number for number, kind in enumerate(hands.kinds) for rank in kind.ranks}
    deals = {(first, second): Deal() for first, second, _ in hands.pairs()}
    for first, second in combinations_with_replacement(filter(place.__contains__, RANKS), 2):
        two = int(hands.child[place[second], hands.singles[place[first]]])
        lower, higher = sorted((place[first], place[second]))
        deal = deals[lower, higher]
        is_bust = two == hands.number or game.modifier.busts_at_once(first, second)
        splits = not is_bust and not closed[two] and _is_pair(game, first, second)
        for up, ways in _ways(game, hands.kinds[upcard], first, second):
            deal.ways += ways
            deal.busts += ways * is_bust
            if splits:
                deal.pairs[_group(game, hands, first, up)] += ways
    return deals


def _ways(game: Game, upcards: Kind, first: str, second: str) -> Iterator[tuple[str, int]]:
    """Each rank that the upcard may have, with the ways to deal these two, in any order, to it."""
    number = dict(zip(RANKS, game.shoe, strict=True))
    two = number[first] * (number[second] - (first == second)) * (1 + (first != second))
    for up in upcards.ranks:
        ways = two * (number[up] - (up == first) - (up == second))
        if ways > 0:
            yield up, ways


def _is_pair(game: Game, first: str, second: str) -> bool:
    if game.split == "same_rank":
        return first == second
    return game.split == "same_value" and _printed(first) == _printed(second)


def _group(game: Game, hands: Hands, rank: str, upcard: str) -> Group:
    def cards(kind: Kind) -> int:
        ranks = [other for other in kind.ranks if _is_pair(game, rank, other)]
        return sum(game.shoe[RANKS.index(other)] - (other == upcard) for other in ranks)

    return tuple(cards(kind) for kind in hands.kinds)


def _printed(rank: str) -> int:
    return PRINTED[RANKS.index(rank)]
