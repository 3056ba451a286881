"""A game from beginning to end: every upcard solved, and the figures that come of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from services.blackjack.domain.cards import RANKS
from services.blackjack.odds.facing import Facing
from services.blackjack.odds.figures import Hand, Odds, Strategy, Upcard
from services.blackjack.odds.game import Game
from services.blackjack.odds.hands import Hands, hands_of
from services.blackjack.odds.kinds import is_natural
from services.blackjack.odds.play import Against, as_played, best_by_composition, chance_of
from services.blackjack.odds.rejections import NoSuchHand
from services.blackjack.odds.strategy import policy_of, strategy_of
from services.blackjack.odds.table import best_by_total


@dataclass(frozen=True)
class Solution:
    """A game with its upcards solved, in the order of the kinds of its cards."""

    game: Game
    hands: Hands
    by_composition: tuple[Against, ...]
    by_total: tuple[Against, ...]

    def hand(self, cards: str, upcard: str) -> Hand:
        """Any hand, by its ranks, against any upcard. Raises NoSuchHand."""
        return _looked_up(self.by_composition[_kind(self.hands, upcard)], cards, upcard)


def hand_of(game: Game, cards: str, upcard: str) -> Hand:
    """Any hand against any upcard, when nothing else is asked. Raises NoSuchHand."""
    hands = hands_of(game)
    return _looked_up(best_by_composition(Facing(game, hands, _kind(hands, upcard))), cards, upcard)


def _looked_up(against: Against, cards: str, upcard: str) -> Hand:
    facing, hands = against.facing, against.facing.hands
    places = [_kind(hands, rank) for rank in cards]
    kinds = [hands.kinds[place] for place in places]
    counts = np.bincount(places, minlength=len(hands.kinds))
    place = hands.place(counts)
    in_the_shoe = bool((counts <= facing.shoe).all())
    undealt = len(kinds) == 2 and (is_natural(*kinds) or facing.game.modifier.busts_at_once(*cards))
    if place == hands.number or len(kinds) < 2 or undealt or not in_the_shoe:
        raise NoSuchHand(f"{cards} against {upcard} is bust, a natural or not in the shoe.")
    return _figures(against, place, "".join(kind.name for kind in kinds))


def _kind(hands: Hands, rank: str) -> int:
    for place, kind in enumerate(hands.kinds):
        if rank and rank in kind.ranks:
            return place
    raise NoSuchHand(f"No card of the shoe has the rank {rank!r}; ranks are {RANKS}.")


def solve(game: Game, progress: Callable[[int, int], None] = lambda done, of: None) -> Solution:
    """Solve a game; `progress` is told how many of how many upcards are done."""
    hands = hands_of(game)
    best: list[Against] = []
    number = len(hands.kinds)
    by_total: list[Against] = []
    for upcard in range(number):
        best.append(best_by_composition(Facing(game, hands, upcard)))
        by_total.append(best_by_total(best[-1]))
        progress(upcard + 1, number)
    return Solution(game, hands, tuple(best), tuple(by_total))


def expectation(played: Sequence[Against]) -> float:
    """Bets won a round, over all upcards."""
    return sum(chance_of(against.facing) * against.value for against in played)


def expectation_of(game: Game, strategy: Strategy) -> float:
    """Bets won a round by whoever plays a printed table. Raises StrategyIncomplete."""
    hands = hands_of(game)
    facings = [Facing(game, hands, upcard) for upcard in range(len(hands.kinds))]
    return expectation([as_played(facing, policy_of(strategy, facing)) for facing in facings])


def odds_of(solution: Solution) -> Odds:
    """All figures of a solved game."""
    game, kinds = solution.game, solution.hands.kinds
    pairs = zip(solution.by_composition, solution.by_total, strict=True)
    names = [kind.name for kind in kinds]
    return Odds(
        game=game.key,
        by_composition=expectation(solution.by_composition),
        by_total=expectation(solution.by_total),
        insurance=_insurance(solution),
        strategy=strategy_of(solution.by_total),
        upcards=[_upcard(best, table) for best, table in pairs],
        hands=[
            _figures(against, two, names[first] + names[second])
            for against in solution.by_composition
            for first, second, two in solution.hands.pairs()
            if against.facing.deals[first, second].plays > 0
            and not is_natural(kinds[first], kinds[second])
        ],
    )


def _upcard(best: Against, table: Against) -> Upcard:
    facing = best.facing
    outcomes = [float(chance) for chance in facing.dealer.outcomes(facing.shoe[:, None])[:, 0]]
    names = [*map(str, facing.dealer.totals), "bust", "natural"]
    return Upcard(
        upcard=facing.hands.kinds[facing.upcard].name,
        chance=chance_of(facing),
        dealer=dict(zip(names, outcomes, strict=True)),
        by_composition=best.value,
        by_total=table.value,
    )


def _insurance(solution: Solution) -> float | None:
    for against in solution.by_composition:
        facing = against.facing
        if solution.hands.kinds[facing.upcard].is_ace and solution.game.insurance_price > 0:
            return float(3 * (facing.holes @ facing.shoe) / facing.shoe.sum() - 1)
    return None


def _figures(against: Against, place: int, cards: str) -> Hand:
    """The moves of a hand that has not been split, given that its round goes on."""
    facing, moves = against.facing, against.moves
    worth = {"stand": facing.stand[place]}
    if not facing.closed[place]:
        worth["hit"] = moves.hit[place]
        if len(cards) == 2:
            worth |= _first_moves(against, place)
    alive = facing.chances.alive[place]
    given = {move: float(value / alive) for move, value in worth.items() if np.isfinite(value)}
    best = max(given, key=given.__getitem__)
    return Hand(cards, facing.hands.kinds[facing.upcard].name, best, **given)


def _first_moves(against: Against, place: int) -> dict[str, float]:
    facing, moves = against.facing, against.moves
    first = {"surrender": moves.surrender[place]}
    if facing.game.double:
        first["double_down"] = moves.double[place]
    two = np.flatnonzero(facing.hands.counts[:, place])
    return first | {"split": moves.split[two[0], two[-1]]}
