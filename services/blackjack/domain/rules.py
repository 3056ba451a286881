"""What a ruleset may say: one immutable value. The engine asks it and never knows its name."""

from hashlib import sha256
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct, json

from services.blackjack.domain.cards import DECK, POINTS, Card, is_ace
from services.blackjack.domain.items import MOST_HELD, Catalogue, Item, Modify, Redraw
from services.blackjack.domain.modifiers import (
    HIGHEST_LIMIT,
    MOST_MODIFIERS,
    PRINTED,
    BustLimit,
    Modifier,
    RankValue,
)
from services.blackjack.domain.rejections import RulesetNonsense
from shared.kernel.chips import MOST_CHIPS, Chips, half


class BetLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """Which opening bets a seat may place: `min`, `min + step`, … up to the most."""

    min: Chips
    step: Chips = 1
    max: Chips | None = None
    """The most, in chips."""
    half_of_stack: bool = False
    """Whether the most is (also) half of the player's stack, rounded down."""


Level: TypeAlias = Literal["easy", "normal", "hard"]
"""How well a computer player plays."""

Seconds = Annotated[int, Meta(ge=1, le=3600)]


class Clocks(Struct, frozen=True, forbid_unknown_fields=True):
    """How long a table waits, in seconds; null for ever.

    `betting` from the first bet until the deal, `insurance` until the open offers are declined,
    `action` until a hand stands by time-out.
    """

    betting_seconds: Seconds | None = None
    insurance_seconds: Seconds | None = None
    action_seconds: Seconds | None = None


class Runs(Struct, frozen=True, forbid_unknown_fields=True):
    """How a game is played in runs: with chips brought once, up to a goal or until they are gone.

    From the vault a player brings `min_stake` to `max_stake` chips, and the goal is
    `goal_multiple` times as many. Without them a run has `granted_stake` and `granted_goal`.
    """

    min_stake: Chips
    max_stake: Chips
    goal_multiple: Annotated[int, Meta(ge=2, le=1000)]
    granted_stake: Chips
    granted_goal: Chips


Environment: TypeAlias = Annotated[tuple[Modifier, ...], Meta(max_length=MOST_MODIFIERS)]


class Ruleset(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A game, as data. Field by field the table of the published rules.

    What it says nothing of is left out of its JSON: a field that is added later, with a default,
    leaves older rules and their fingerprints as they were.
    """

    name: str
    title: str
    version: str
    seats: Annotated[int, Meta(ge=1, le=7)]
    decks: Annotated[int, Meta(ge=1, le=8)]
    bet: BetLimits
    clock: Clocks
    bankroll: Literal["vault", "session"]
    """`vault`: chips come from the player's vault and go back to it. `session`: play chips granted
    for the session; they can be neither withdrawn nor transferred."""
    deals: Literal["host", "server"]
    """`host`: on the host's word only. `server`: as soon as every seat has bet or sits out, so that
    at a single seat the bet itself deals."""
    peek: Literal["never", "ace_or_ten", "always"]
    insurance: Literal["none", "on_turn", "before_play"]
    naturals_settle: Literal["before_play", "at_resolution"]
    natural_rounds_down: bool
    """A natural pays 3:2. False: exact, so the bet's step must be even."""
    double_after_split: bool
    split: Literal["none", "same_rank", "same_value"]
    hands_per_seat: Annotated[int, Meta(ge=1, le=4)]
    surrender: bool
    hit_on_21: bool
    """False: a hand of 21 stands by itself."""
    house_edge: str
    """As published."""
    run: Runs | None = None
    """How the game is played in runs; null when players buy in."""
    modifiers: bool = False
    """Whether the platform may apply a modifier a round, before the first decision."""
    environment: Environment = ()
    """Modifiers of every round, in effect once naturals are dealt with."""
    items: Catalogue = ()
    """What the shop sells; nothing: there is none."""
    computers: tuple[Level, ...] = ()
    """The computer players that may take a seat; left away when there are none."""

    def peeks_at(self, upcard: Card) -> bool:
        """Whether the dealer looks at the hole card under this upcard before play."""
        if self.peek == "ace_or_ten":
            return POINTS[upcard] in (1, 10)
        return self.peek == "always"

    def insures(self, upcard: Card) -> bool:
        """Whether insurance exists against this upcard."""
        return self.insurance != "none" and is_ace(upcard)

    def bets(self, stack: int) -> range:
        """The opening bets that a player with this stack may place; empty when there is none."""
        most = min(stack, self.bet.max or MOST_CHIPS)
        if self.bet.half_of_stack:
            most = min(most, half(stack))
        return range(self.bet.min, most + 1, self.bet.step)

    def is_pair(self, first: Card, second: Card) -> bool:
        """Whether these two cards may be split."""
        if self.split == "same_rank":
            return first[0] == second[0]
        return self.split == "same_value" and POINTS[first] == POINTS[second]

    def item(self, name: str) -> Item | None:
        """The item of this name, if the shop has it."""
        return next((item for item in self.items if item.name == name), None)


def fingerprint(ruleset: Ruleset) -> str:
    """SHA-256 of the ruleset's canonical JSON, in hex."""
    return sha256(json.encode(ruleset, order="sorted")).hexdigest()


def most_cards(ruleset: Ruleset) -> int:
    """An upper bound on the cards of one round.

    Every hand draws its last card on a hard total up to the bust limit, the dealer below 17, so
    all cards but those last ones add up to at most 21, or the limit, a hand; taking the smallest
    cards of the shoe first makes them the most. Each redraw takes one card more.
    """
    hands = ruleset.seats * ruleset.hands_per_seat
    least, limit = _least_points(ruleset), _highest_limit(ruleset)
    points_left, cards = limit * hands + 21, 0
    for points in sorted(least[card[0]] for card in DECK * ruleset.decks):
        if points > points_left:
            break
        points_left -= points
        cards += 1
    redraws = any(isinstance(item.effect, Redraw) for item in ruleset.items)
    return cards + hands + 1 + redraws * ruleset.seats * MOST_HELD


def _foreseen(ruleset: Ruleset) -> list[Modifier]:
    """The modifiers that the ruleset itself names."""
    effects = [item.effect for item in ruleset.items]
    from_items = [effect.modifier for effect in effects if isinstance(effect, Modify)]
    return [*ruleset.environment, *from_items]


def _least_points(ruleset: Ruleset) -> dict[str, int]:
    """The least that the ranks can count in a round, under whatever modifiers."""
    least = PRINTED | {"A": 1}
    for modifier in _foreseen(ruleset):
        if isinstance(modifier, RankValue):
            least[modifier.rank] = min(least[modifier.rank], modifier.value)
    if ruleset.modifiers:  # the platform may do this to one rank
        least[max(least, key=least.__getitem__)] = 1
    return least


def _highest_limit(ruleset: Ruleset) -> int:
    limits = [modifier.limit for modifier in _foreseen(ruleset) if isinstance(modifier, BustLimit)]
    return max(21, *limits, HIGHEST_LIMIT if ruleset.modifiers else 0)


def validate(ruleset: Ruleset) -> Ruleset:
    """The ruleset itself. Raises RulesetNonsense when it could not be played to the end."""
    bet = ruleset.bet
    if bet.max is not None and bet.max < bet.min:
        raise RulesetNonsense(f"The most, {bet.max}, is less than the least bet, {bet.min}.")
    if not ruleset.natural_rounds_down and (bet.min % 2 or bet.step % 2):
        raise RulesetNonsense("An exact 3:2 needs an even least bet and an even step.")
    if ruleset.peek == "never" and ruleset.naturals_settle == "before_play":
        raise RulesetNonsense("Naturals settle before play only when the dealer peeks.")
    if ruleset.peek == "never" and ruleset.insurance == "before_play":
        raise RulesetNonsense("Insurance before play needs a dealer who peeks.")
    if ruleset.run is not None:
        _validate_runs(ruleset, ruleset.run)
    if ruleset.peek != "never" and ruleset.insurance == "on_turn":
        raise RulesetNonsense(
            "Insurance on one's turn comes after the peek and could only lose: offer "
            "insurance before_play, or let the dealer peek never."
        )
    if len({item.name for item in ruleset.items}) < len(ruleset.items):
        raise RulesetNonsense("Two items of the catalogue have the same name.")
    if most_cards(ruleset) > 52 * ruleset.decks:
        raise RulesetNonsense(
            f"A round may need {most_cards(ruleset)} cards, the shoe has {52 * ruleset.decks}."
        )
    return ruleset


def _validate_runs(ruleset: Ruleset, run: Runs) -> None:
    if ruleset.bankroll != "vault":
        raise RulesetNonsense("A run brings chips from the vault, not for the session.")
    if ruleset.computers:
        raise RulesetNonsense("Computer players buy in; they start no runs.")
    if run.max_stake < run.min_stake:
        raise RulesetNonsense(f"A run cannot begin with {run.min_stake} to {run.max_stake} chips.")
    if run.granted_goal <= run.granted_stake:
        raise RulesetNonsense("A granted run would be won before it begins.")
    least = min(run.min_stake, run.granted_stake)
    if not ruleset.bets(least):
        raise RulesetNonsense(f"A run of {least} chips would be lost before it begins.")
