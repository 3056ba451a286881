"""Modified games against a naive second opinion, and what a modifier does to a known game."""

from typing import Any

import pytest
from msgspec.structs import replace

from services.blackjack.domain.cards import RANKS
from services.blackjack.odds.game import PRINTED, Game, Modifier
from services.blackjack.odds.solve import expectation, solve
from tests.odds.naive import Naive


def counting(**points: int) -> tuple[int, ...]:
    """The points of all ranks, some of them changed: `counting(K=5)`."""
    return tuple(points.get(rank, printed) for rank, printed in zip(RANKS, PRINTED, strict=True))


def game(**rules: Any) -> Game:
    """A tiny shoe of aces, sixes, nines, tens and kings, with late surrender and no split."""
    shoe = tuple(map("AAA6668999TTTKKK".count, RANKS))
    return Game(**{"shoe": shoe, "peek": True, "split": "none", "surrender_refund": 0.5} | rules)


MODIFIERS = {
    "none": Modifier(),
    "kings count 4": Modifier(points=counting(K=4)),
    "sixes count 11": Modifier(points=counting(**{"6": 11})),
    "aces count 1": Modifier(ace_rises=False),
    "aces count 11": Modifier(points=counting(A=11), ace_rises=False),
    "bust over 18": Modifier(bust_limit=18),
    "bust over 24": Modifier(bust_limit=24),
    "bust over 15": Modifier(bust_limit=15),
    "sixes and nines together bust": Modifier(instant_busts=frozenset({"69"})),
    "a bust pushes": Modifier(bust_pushes=True),
    "all at once": Modifier(
        points=counting(K=3, A=11),
        ace_rises=False,
        bust_limit=23,
        instant_busts=frozenset({"TT", "K9"}),
        bust_pushes=True,
    ),
}


@pytest.mark.parametrize("peek", [True, False], ids=["peek", "no peek"])
@pytest.mark.parametrize("name", MODIFIERS)
def test_any_modifier(name: str, peek: bool) -> None:
    modified = game(modifier=MODIFIERS[name], peek=peek)

    reached = expectation(solve(modified).by_composition)

    assert reached == pytest.approx(float(Naive(modified).expectation()), abs=1e-12)


@pytest.mark.parametrize("rules", [{"hits_soft_17": True}, {"double": False}, {"hit_on_21": True}])
def test_rules_that_no_published_game_has(rules: dict[str, Any]) -> None:
    other = game(**rules)

    reached = expectation(solve(other).by_composition)

    assert reached == pytest.approx(float(Naive(other).expectation()), abs=1e-12)


def test_a_natural_is_judged_by_what_is_printed() -> None:
    """Kings that count 4 still make naturals with an ace: only play changes."""
    plain, changed = game(double=False), game(double=False, modifier=MODIFIERS["kings count 4"])
    costly = replace(changed, natural_pays=changed.natural_pays + 1)

    more = expectation(solve(costly).by_composition) - expectation(solve(changed).by_composition)
    as_much = expectation(
        solve(replace(plain, natural_pays=plain.natural_pays + 1)).by_composition
    ) - expectation(solve(plain).by_composition)

    assert more == pytest.approx(as_much, abs=1e-12)
