"""The best printed table: one move for each total against each upcard.

Policy iteration. Hands of one total share a move, so each counts by how likely it comes to a
decision under the table as it stands; a better table changes that, until nothing changes.
"""

from dataclasses import replace

import numpy as np

from services.blackjack.odds.facing import Facing, Policy, hit_or_stand
from services.blackjack.odds.hands import Bools, Floats, Ints
from services.blackjack.odds.kinds import is_natural
from services.blackjack.odds.play import (
    MOST_ROUNDS,
    Against,
    as_played,
    better_split,
    surrendered,
)


def cells_of(facing: Facing) -> Ints:
    """(H,): the row of the table that a hand is looked up in, for soft hands and hard ones."""
    cells: Ints = facing.hands.total + np.where(facing.hands.soft, facing.hands.limit + 1, 0)
    return cells


def best_by_total(best: Against) -> Against:
    """The best play by the total of the hand and whether it is soft or a pair.

    Begins with the best play by composition. A printed table never insures.
    """
    facing, policy = best.facing, replace(best.policy, insure=False)
    for _ in range(MOST_ROUNDS):
        policy = _settled(facing, policy)
        played = as_played(facing, policy)
        split = better_split(played)
        if np.array_equal(split, policy.split):
            break
        policy = replace(policy, split=split)
    return played


def _settled(facing: Facing, policy: Policy) -> Policy:
    """The best table for these splits."""
    always = hit_or_stand(facing.hands, ~facing.closed)
    cells, anyhow = cells_of(facing), decided(facing, always)
    for _ in range(MOST_ROUNDS):
        better = _better(facing, policy, cells, anyhow)
        if better.same_as(policy):
            break
        policy = better
    return policy


def decided(facing: Facing, policy: Policy) -> Floats:
    """(H,): how likely each hand comes to choose between hit and stand, in any deal."""
    hands = facing.hands
    reached = np.zeros(hands.number + 1)
    two = _two_cards(facing, policy)
    reached[:-1] = two * ~(policy.double | policy.surrender)
    for level in hands.levels:
        goes = reached[:-1][level] * policy.hit[level]
        for kind, child in enumerate(hands.child[:, level]):
            reached[child] += goes * facing.chances.draw[kind, level]
    return reached[:-1]


def _better(facing: Facing, policy: Policy, cells: Ints, anyhow: Floats) -> Policy:
    """The best table when hands come to their decisions as under this policy."""
    weights = _or_anyhow(decided(facing, policy), cells, anyhow)
    hit, later = _hit_by_cell(facing, weights, cells)
    two_cards = facing.hands.size == 2
    dealt = _two_cards(facing, policy)
    double = np.zeros_like(hit)
    if facing.game.double:
        gain = np.where(two_cards, facing.double - later, 0.0)
        double = two_cards & _wins(gain, dealt, cells) & ~facing.closed
    on_two = np.where(double, facing.double, later)
    surrender = np.zeros_like(hit)
    if facing.game.surrender_refund is not None:
        gain = np.where(two_cards, surrendered(facing) - on_two, 0.0)
        surrender = two_cards & _wins(gain, dealt, cells) & ~facing.closed
    return replace(policy, hit=hit, double=double, surrender=surrender)


def _hit_by_cell(facing: Facing, weights: Floats, cells: Ints) -> tuple[Bools, Floats]:
    """Whether a row of the table hits, and (H,) what its hands are worth then."""
    hands = facing.hands
    value, hit = np.zeros(hands.number + 1), np.zeros(hands.number, dtype=bool)
    for level in reversed(hands.levels):
        some = facing.chances.of(level)
        taken = facing.with_a_card(some, facing.all[level], value)
        gain = _wins(taken - facing.stand[:-1][level], weights[level], cells[level])
        hit[level] = gain & ~facing.closed[level]
        value[level] = np.where(hit[level], taken, facing.stand[:-1][level])
    return hit, value[:-1]


def _wins(gain: Floats, weights: Floats, cells: Ints) -> Bools:
    """Whether the hands of the same row gain together."""
    if not len(cells):
        return np.zeros(0, dtype=bool)
    result: Bools = np.bincount(cells, weights * gain)[cells] > 0
    return result


def _or_anyhow(weights: Floats, cells: Ints, anyhow: Floats) -> Floats:
    """Rows that are never reached are filled in as if everything had been hit before."""
    return np.where(np.bincount(cells, weights)[cells] > 0, weights, anyhow)


def _two_cards(facing: Facing, policy: Policy) -> Floats:
    """(H,): how likely two cards are dealt that are neither a natural, bust at once nor split."""
    dealt, kinds = np.zeros(facing.hands.number + 1), facing.hands.kinds
    for first, second, two in facing.hands.pairs():
        if not is_natural(kinds[first], kinds[second]):
            deal = facing.deals[first, second]
            dealt[two] = deal.plays - deal.pairs.total() * bool(policy.split[first, second])
    result: Floats = dealt[:-1] / sum(deal.ways for deal in facing.deals.values())
    return result
