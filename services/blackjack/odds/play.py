"""The whole game: how to play best by composition, and what any way to play is worth."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from services.blackjack.odds.deals import Deal
from services.blackjack.odds.facing import Facing, Policy, best_later, hit_or_stand, value_later
from services.blackjack.odds.hands import Bools, Floats
from services.blackjack.odds.kinds import is_natural
from services.blackjack.odds.split import Splits

MOST_ROUNDS: Final = 12
"""Three or four are enough for every game that was tried."""


@dataclass(frozen=True)
class Moves:
    """What each move is worth against one upcard, in bets, when all later play is as the policy's.

    By the place of the hand; `split` (K, K) by the two kinds, nan where they are no pair.
    """

    stand: Floats
    hit: Floats
    double: Floats
    surrender: Floats
    split: Floats


@dataclass(frozen=True)
class Against:
    """One upcard and a way to play against it, with what that is worth."""

    facing: Facing
    policy: Policy
    moves: Moves
    later: Floats
    """(H + 1,): what each hand is worth when it is only hit or stood on."""

    @cached_property
    def value(self) -> float:
        """Bets won a round with this upcard: over all deals, their chance times their value."""
        facing, value, ways = self.facing, 0.0, 0
        for first, second, two in facing.hands.pairs():
            deal = facing.deals[first, second]
            if deal.ways:
                value += _dealt(self, first, second, two, deal)
                ways += deal.ways
        return value / ways


def chance_of(facing: Facing) -> float:
    """How likely the upcard is."""
    return float(facing.hands.kinds[facing.upcard].cards / (facing.shoe.sum() + 1))


def best_by_composition(facing: Facing) -> Against:
    """The best play by all cards of the hand; after a split as before it."""
    hands, game = facing.hands, facing.game
    hit, value = best_later(facing)
    two_cards, later = (hands.size == 2) & ~facing.closed, value[:-1]
    double = (facing.double > later) & two_cards & game.double
    surrender = two_cards & (surrendered(facing) > np.where(double, facing.double, later))
    unsplit = hit_or_stand(hands, hit)
    whole = replace(unsplit, double=double, surrender=surrender, insure=True)
    return _well_split(Against(facing, whole, moves_of(facing, whole, value), value))


def _well_split(played: Against) -> Against:
    """The same with the best splits. Only with pairs of two kinds one split depends on another."""
    for _ in range(MOST_ROUNDS):
        split = better_split(played)
        if np.array_equal(split, played.policy.split):
            break
        policy, moves = replace(played.policy, split=split), played.moves
        if np.isfinite(moves.split).sum() > np.isfinite(moves.split.diagonal()).sum():
            moves = moves_of(played.facing, policy, played.later)
        played = replace(played, policy=policy, moves=moves)
    return played


def as_played(facing: Facing, policy: Policy) -> Against:
    """What a policy is worth."""
    value = value_later(facing, policy.hit)
    return Against(facing, policy, moves_of(facing, policy, value), value)


def better_split(played: Against) -> Bools:
    """(K, K): whether splitting two cards is worth more than playing them as they are."""
    hands, policy, moves = played.facing.hands, played.policy, played.moves
    whole = np.where(policy.double, moves.double, played.later[:-1])
    whole = np.append(np.where(policy.surrender, moves.surrender, whole), np.nan)
    better: Bools = moves.split > whole[hands.child[:, hands.singles]]
    return better


def surrendered(facing: Facing) -> Floats:
    """(H,): what it is worth to give a hand up; nothing is worse where that is not allowed."""
    refund = facing.game.surrender_refund
    if refund is None:
        return np.full(facing.hands.number, -np.inf)
    return (refund - 1) * facing.chances.alive


def moves_of(facing: Facing, policy: Policy, later: Floats) -> Moves:
    """What the moves are worth; `later` (H + 1,) is each hand's value under the policy."""
    hands = facing.hands
    split = np.full((len(hands.kinds), len(hands.kinds)), np.nan)
    splits = Splits(facing, policy)
    for first, second in facing.deals:
        split[first, second] = split[second, first] = splits.value(first, second)
    return Moves(
        stand=facing.stand[:-1],
        hit=facing.with_a_card(facing.chances, facing.all, later),
        double=facing.double,
        surrender=surrendered(facing),
        split=split,
    )


def _dealt(played: Against, first: int, second: int, two: int, deal: Deal) -> float:
    """What two cards are worth before anybody has acted, times their ways; `two` is their place."""
    facing, game, kinds = played.facing, played.facing.game, played.facing.hands.kinds
    natural = facing.natural_behind(first, second)
    insurance = _insurance(played, natural)
    if is_natural(kinds[first], kinds[second]):
        return deal.ways * (insurance + game.natural_pays * (1 - natural))
    taken = natural if game.peek else 0.0
    bust = -taken - (0.0 if game.modifier.bust_pushes else 1 - taken)
    value = deal.busts * (bust + insurance * _insures_without_a_turn(facing))
    if deal.plays:
        may_insure = _insures_without_a_turn(facing) or not facing.closed[two]
        whole = deal.plays - deal.pairs.total() * bool(played.policy.split[first, second])
        value += deal.plays * (insurance * may_insure - taken)
        value += whole * _unsplit(played, two)
        if whole < deal.plays:
            value += (deal.plays - whole) * float(played.moves.split[first, second])
    return value


def _insures_without_a_turn(facing: Facing) -> bool:
    """Insurance is bought before the peek; where there is none, by a hand whose turn it is."""
    return facing.game.peek


def _insurance(played: Against, natural: float) -> float:
    """What insurance adds when a dealer's natural is so likely."""
    offered = played.facing.hands.kinds[played.facing.upcard].is_ace
    bought = offered and played.policy.insure and 3 * natural > 1
    return played.facing.game.insurance_price * (3 * natural - 1) if bought else 0.0


def _unsplit(played: Against, two: int) -> float:
    """What the policy's first move is worth, where a peeked natural counts nothing."""
    policy, moves = played.policy, played.moves
    if policy.surrender[two]:
        return float(moves.surrender[two])
    return float(moves.double[two] if policy.double[two] else played.later[two])
