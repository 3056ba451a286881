"""Every round that a small shoe can give, played by the real engine.

The shoe does not deal a card, it forks the round on every rank, with its probability, and a card
that nobody has looked at is any of those left. What a round wins is read from its ledger lines.
Probabilities are fractions: nothing is rounded before the end.

Rounds that have come to the same point by another order of cards are played on once: same cards
in each hand, same stakes, same cards left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias, overload

import numpy as np
from msgspec.structs import replace

from services.blackjack.domain import commands as c
from services.blackjack.domain.cards import POINTS, RANKS, Card
from services.blackjack.domain.decide import decide
from services.blackjack.domain.events import TableOpened
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.modifiers import Modifier
from services.blackjack.domain.moves import legal_moves
from services.blackjack.domain.rules import Ruleset, Runs, fingerprint
from services.blackjack.domain.settlement import postings
from services.blackjack.domain.shoe import SealedSeed, commitment
from services.blackjack.domain.table import Hand, Round, Table
from services.blackjack.odds.facing import Policy
from services.blackjack.odds.hands import Hands
from services.blackjack.odds.play import Against
from shared.kernel.chips import stack

Left: TypeAlias = tuple[int, ...]
"""How many cards of each rank nobody has looked at, in the order of `RANKS`."""
Laid: TypeAlias = Mapping[int, Card]
"""The cards that somebody has looked at, the dealer included, by their place in the shoe."""
PLENTY = 10**6
ENDLESS = Runs(
    min_stake=1, max_stake=PLENTY, goal_multiple=1000, granted_stake=1, granted_goal=PLENTY
)
"""A run that no round ends."""


class Fork(Exception):
    """A card is looked at for the first time."""

    def __init__(self, place: int) -> None:
        self.place = place


class ShoeRanOut(Exception):
    """The shoe is too small for this game: nothing can be said about it."""


class BranchingSeed:
    """A seed whose shoe knows the cards that lie open and forks at any other."""

    def __init__(self, laid: Laid) -> None:
        self.secret = bytes(32)
        self.sealed = SealedSeed(commitment(self.secret), key_id="branching", box="c2VhbGVk")
        self._laid = laid

    def successor(self) -> SealedSeed:
        return self.sealed

    def shoe(self, decks: int, round_id: str, client_seeds: tuple[str, ...]) -> "BranchingShoe":
        return BranchingShoe(self._laid)


class BranchingShoe(Sequence[Card]):
    def __init__(self, laid: Laid) -> None:
        self._laid = laid

    def __len__(self) -> int:
        return PLENTY

    @overload
    def __getitem__(self, place: int) -> Card: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Card]: ...
    def __getitem__(self, place: int | slice) -> Card | Sequence[Card]:
        assert isinstance(place, int)
        if place not in self._laid:
            raise Fork(place)
        return self._laid[place]


@dataclass
class EveryRound:
    """All rounds of one seat under a ruleset, played by solved policies, one for each upcard.

    `modifier` is what the platform applies before the first decision, if anything.
    """

    rules: Ruleset
    bet: int
    played: Sequence[Against]
    modifier: Modifier | None = None
    decisions: int = 0
    """How often the engine was asked."""
    _known: dict[object, Fraction] = field(default_factory=dict)

    def net(self, shoe: Left) -> Fraction:
        """The chips that a round wins on average."""
        rules, sit = self.rules, c.Sit(1, "ada", PLENTY)
        if rules.run is not None:
            rules, sit = replace(rules, run=ENDLESS), c.StartRun(1, "ada", PLENTY)
        seed = BranchingSeed({})
        opened = TableOpened("t", rules, fingerprint(rules), "ada", seed.sealed)
        table = decide(evolve(None, opened), sit, seed).table
        return self._after(table, c.Bet(1, self.bet), shoe, {})

    def _after(self, table: Table, command: c.Command, left: Left, laid: Laid) -> Fraction:
        """What is won from now on, beginning with a command."""
        self.decisions += 1
        try:
            decision = decide(table, command, BranchingSeed(laid))
        except Fork as fork:
            return self._forked(table, command, left, laid, fork.place)
        won, before = 0, table
        for event in decision.events:
            won += sum(
                line.amount
                for line in postings(before, event)
                if line.account == stack(table.id, "ada")
            )
            before = evolve(before, event)
        return won + self._from(decision.table, left, laid)

    def _forked(
        self, table: Table, command: c.Command, left: Left, laid: Laid, place: int
    ) -> Fraction:
        cards, net = sum(left), Fraction(0)
        if not cards:
            raise ShoeRanOut
        for rank, number in enumerate(left):
            if number:
                fewer = (*left[:rank], number - 1, *left[rank + 1 :])
                further = {**laid, place: RANKS[rank] + "c"}
                net += Fraction(number, cards) * self._after(table, command, fewer, further)
        return net

    def _from(self, table: Table, left: Left, laid: Laid) -> Fraction:
        """What is won from a decision on."""
        if not isinstance(table.stage, Round):
            return (
                self._after(table, c.Deal("ada"), left, laid) if table.seat(1).bet else Fraction(0)
            )
        hole = laid.get(table.round.hole_at, "")
        point = table.round.dealer, hole, table.round.offers, table.seat(1).insurance, left
        point = *point, table.modifiers
        hands = table.seat(1).hands
        closed = sorted(_point(hand) for hand in hands if hand.status != "playing")
        known = *point, *closed, *(_point(hand) for hand in hands if hand.status == "playing")
        if known not in self._known:
            move = self._modified(table) or choose(table, self._against(table.round.dealer[0]))
            self._known[known] = self._after(table, move, left, laid)
        return self._known[known]

    def _modified(self, table: Table) -> c.Command | None:
        legal = {move.type for move in legal_moves(table)}
        return (
            c.ApplyModifier(self.modifier) if self.modifier and "apply_modifier" in legal else None
        )

    def _against(self, upcard: Card) -> Against:
        kinds = self.played[0].facing.hands.kinds
        return next(
            against for against in self.played if upcard[0] in kinds[against.facing.upcard].ranks
        )


def _point(hand: Hand) -> tuple[str, ...]:
    """All of a hand that matters for what is to come: of a pair, or of what came of one, the order
    of its cards does, since hands are split again in order."""
    if hand.status == "settled":
        return ("settled",)
    is_pair = len(hand.cards) == 2 and POINTS[hand.cards[0]] == POINTS[hand.cards[1]]
    first = hand.cards[0] if hand.from_split or is_pair else ""
    return first, *sorted(hand.cards), str(hand.stake), hand.status


def choose(table: Table, against: Against) -> c.Command:
    """The move of a policy, which the engine must have among its legal ones."""
    legal = {move.type for move in legal_moves(table)}
    seat, policy = table.seat(1), against.policy
    insurable = "insure" in legal and seat.insurance == 0
    if insurable and policy.insure and _insurance_pays(against, seat.hands[0]):
        return c.Insure(1)
    if "decline_insurance" in legal:
        return c.DeclineInsurance(1)
    turn = table.turn()
    assert turn is not None
    hand = seat.hands[turn[1]]
    if hand.is_natural:
        return c.Stand(*turn)
    place = _place(against.facing.hands, hand)
    if "split" in legal and policy.split[*_kinds(against.facing.hands, hand)]:
        return c.Split(*turn)
    return _unsplit(policy, place, hand, legal)(*turn)


def _unsplit(policy: Policy, place: int, hand: Hand, legal: set[str]) -> type[c.HandCommand]:
    if len(hand.cards) == 2 and policy.surrender[place] and not hand.from_split:
        assert "surrender" in legal
        return c.Surrender
    if len(hand.cards) == 2 and policy.double[place] and "double_down" in legal:
        return c.DoubleDown
    return c.Hit if policy.hit[place] else c.Stand


def _insurance_pays(against: Against, hand: Hand) -> bool:
    first, second = _kinds(against.facing.hands, hand)
    return 3 * against.facing.natural_behind(first, second) > 1


def _kinds(hands: Hands, hand: Hand) -> list[int]:
    return [
        next(place for place, kind in enumerate(hands.kinds) if card[0] in kind.ranks)
        for card in hand.cards
    ]


def _place(hands: Hands, hand: Hand) -> int:
    return hands.place(np.bincount(_kinds(hands, hand), minlength=len(hands.kinds)))
