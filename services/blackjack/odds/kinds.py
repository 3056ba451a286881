"""The kinds of cards in a game: ranks that are played alike, under whatever modifiers."""

from dataclasses import dataclass
from math import comb
from typing import Final

from services.blackjack.domain.cards import RANKS
from services.blackjack.odds.game import Game

TENS: Final = "TJQK"
MOST_EFFORT: Final = 240_000_000
"""What is worked out, as `effort` has it: ten seconds of a core at most. Plain games have 29
million; a bust limit of 31 has eight times as many, and kings that count 1 have too many."""


@dataclass(frozen=True)
class Kind:
    """Ranks that are played alike, though they may make a pair or not, or bust when dealt."""

    ranks: str
    points: int
    rises: bool
    """Whether it may count 10 more: an ace, unless its value is fixed."""
    cards: int
    """How many the full shoe has."""

    @property
    def is_ace(self) -> bool:
        """By what is printed on it: naturals and split aces look at that."""
        return self.ranks == "A"

    @property
    def is_ten(self) -> bool:
        """By what is printed on it."""
        return self.ranks[0] in TENS

    @property
    def name(self) -> str:
        """Its first rank in the shoe: `T` for all the cards of ten."""
        return self.ranks[0]


def is_natural(one: Kind, other: Kind) -> bool:
    """Whether these two cards are a natural, by what is printed on them."""
    return (one.is_ace and other.is_ten) or (one.is_ten and other.is_ace)


def kinds_of(game: Game) -> tuple[Kind, ...]:
    """The kinds of cards in the shoe, in the order of their ranks."""
    alike: dict[tuple[object, ...], str] = {}
    for rank, points, cards in zip(RANKS, game.modifier.points, game.shoe, strict=True):
        if cards:
            same = rank == "A", rank in TENS, points
            alike[same] = alike.get(same, "") + rank
    return tuple(_kind(game, ranks) for ranks in alike.values())


def _kind(game: Game, ranks: str) -> Kind:
    return Kind(
        ranks,
        points=game.modifier.points[RANKS.index(ranks[0])],
        rises=ranks == "A" and game.modifier.ace_rises,
        cards=sum(game.shoe[RANKS.index(rank)] for rank in ranks),
    )


def names_of(game: Game) -> dict[str, str]:
    """How the tables of a game name each rank: by the kind that it belongs to."""
    return {rank: kind.name for kind in kinds_of(game) for rank in kind.ranks}


def effort(game: Game) -> int:
    """How much there is to add up for a game: for each kind of card, each hand of a player beside
    each that the dealer goes on with, and a twelfth of it again for each way in which split hands
    may be begun. Known in a quarter of a millisecond; the time grows with it.
    """
    limit = game.modifier.bust_limit
    kinds = kinds_of(game)
    ways = [1] + [0] * limit
    for kind in kinds:
        most = kind.cards * kind.points
        ways = [
            sum(ways[total - taken] for taken in range(0, min(most, total) + 1, kind.points))
            for total in range(limit + 1)
        ]
    return len(kinds) * sum(ways) * sum(ways[:17]) * (12 + _splits(game, kinds)) // 12


def _splits(game: Game, kinds: tuple[Kind, ...]) -> int:
    """How a hand of a split may begin: with which card, and with which the others have begun."""
    if game.split == "none":
        return 0
    tens = sum(kind.is_ten for kind in kinds) if game.split == "same_value" else 1
    return tens * comb(tens + game.hands - 2, game.hands - 1)
