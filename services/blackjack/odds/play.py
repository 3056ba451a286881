"""The whole game: how to play best by composition, and what any way to play is worth."""

from dataclasses import dataclass, replace

import numpy as np

from services.blackjack.odds.facing import Facing, Policy, best_later, value_later
from services.blackjack.odds.game import Game
from services.blackjack.odds.hands import Bools, Floats, hands_of, kinds_of
from services.blackjack.odds.split import split_value, splittable


@dataclass(frozen=True)
class Moves:
    """What each move is worth against one upcard, in bets, when all later play is as the policy's.

    By the place of the hand; `split` by kind, nan where there is no such pair.
    """

    stand: Floats
    hit: Floats
    double: Floats
    surrender: Floats
    split: Floats


@dataclass(frozen=True)
class Against:
    """One upcard, solved: the policy, what its moves are worth and what the deal is worth."""

    facing: Facing
    policy: Policy
    moves: Moves
    later: Floats
    """(H + 1,): what each hand is worth when it is only hit or stood on."""
    value: float
    """Bets won a round with this upcard."""


def facings(game: Game) -> list[Facing]:
    """The upcards of a game."""
    hands = hands_of(game, kinds_of(game))
    return [Facing(game, hands, upcard) for upcard in range(len(hands.kinds))]


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
    whole = Policy(hit, double, surrender, np.zeros(len(hands.kinds), dtype=bool), insure=True)
    moves = moves_of(facing, whole, value)
    policy = replace(whole, split=better_split(Against(facing, whole, moves, value, 0.0)))
    return Against(facing, policy, moves, value, deal_value(facing, policy, moves, value))


def as_played(facing: Facing, policy: Policy) -> Against:
    """What a policy is worth."""
    value = value_later(facing, policy.hit)
    moves = moves_of(facing, policy, value)
    return Against(facing, policy, moves, value, deal_value(facing, policy, moves, value))


def better_split(played: Against) -> Bools:
    """(K,): whether splitting two cards of a kind is worth more than playing them as they are."""
    hands, policy, moves = played.facing.hands, played.policy, played.moves
    whole = np.where(policy.double, moves.double, played.later[:-1])
    whole = np.append(np.where(policy.surrender, moves.surrender, whole), np.nan)
    return np.array([bool(s > whole[hands.twice(kind)]) for kind, s in enumerate(moves.split)])


def surrendered(facing: Facing) -> Floats:
    """(H,): what it is worth to give a hand up; nothing is worse where that is not allowed."""
    refund = facing.game.surrender_refund
    if refund is None:
        return np.full(facing.hands.number, -np.inf)
    return (refund - 1) * facing.chances.alive


def moves_of(facing: Facing, policy: Policy, later: Floats) -> Moves:
    """What the moves are worth; `later` (H + 1,) is each hand's value under the policy."""
    hands = facing.hands
    split = np.full(len(hands.kinds), np.nan)
    for kind, card in enumerate(hands.kinds):
        if splittable(facing.game, hands.kinds, kind, facing.upcard) > 0 and card.cards > 1:
            split[kind] = split_value(facing, policy, kind)
    return Moves(
        stand=facing.stand[:-1],
        hit=facing.with_a_card(facing.chances, facing.all, later),
        double=facing.double,
        surrender=surrendered(facing),
        split=split,
    )


def deal_value(facing: Facing, policy: Policy, moves: Moves, later: Floats) -> float:
    """Bets won a round with this upcard: over all deals, their chance times their value."""
    cards, value = facing.shoe.sum(), 0.0
    for first, second, two in facing.hands.pairs():
        of_second = facing.shoe[second] - (first == second)
        ways = facing.shoe[first] * of_second * (1 + (first != second))
        if ways > 0:
            natural = facing.natural_behind(first, second)
            worth = insured(facing, policy, natural)
            if is_natural(facing, first, second):
                worth += facing.game.natural_pays * (1 - natural)
            else:
                worth += _dealt(facing, policy, moves, later, (first, second, two), natural)
            value += ways * worth
    return float(value / (cards * (cards - 1)))


def is_natural(facing: Facing, first: int, second: int) -> bool:
    """Whether these two cards are a natural, by what is printed on them."""
    cards = facing.hands.kinds[first], facing.hands.kinds[second]
    return any(kind.is_ace for kind in cards) and any(kind.is_ten for kind in cards)


def insured(facing: Facing, policy: Policy, natural: float) -> float:
    """What insurance adds when a dealer's natural is so likely."""
    offered = facing.hands.kinds[facing.upcard].is_ace
    worth = 3 * natural - 1
    return facing.game.insurance_price * worth if offered and policy.insure and worth > 0 else 0.0


def _dealt(
    facing: Facing,
    policy: Policy,
    moves: Moves,
    later: Floats,
    cards: tuple[int, int, int],
    natural: float,
) -> float:
    """What two cards that are no natural are worth, less what a dealer's natural takes at once."""
    game, hands = facing.game, facing.hands
    first, second, two = cards
    taken = natural if game.peek else 0.0
    names = hands.kinds[first].name, hands.kinds[second].name
    busts = {"".join(names), "".join(reversed(names))} & game.modifier.instant_busts
    if busts or two == hands.number:
        return (0.0 if game.modifier.bust_pushes else taken - 1) - taken
    value = float(moves.double[two] if policy.double[two] else later[two])
    if policy.surrender[two]:
        value = float(moves.surrender[two])
    if first == second and policy.split[first]:
        pair = splittable(game, hands.kinds, first, facing.upcard)
        if pair > 0:
            value += pair * (float(moves.split[first]) - value)
    return value - taken
