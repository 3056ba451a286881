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
from shared.kernel.described import means
from shared.kernel.ids import ID_PATTERN


class BetLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """Which opening bets a seat may place: `min`, `min + step`, … up to the most."""

    min: Annotated[Chips, Meta(description="The least, in chips.")]
    step: Annotated[Chips, Meta(description="From one bet to the next larger one, in chips.")] = 1
    max: Annotated[Chips | None, Meta(description="The most, in chips; null: the stack.")] = None
    half_of_stack: Annotated[
        bool,
        Meta(description="Whether the most is (also) half of the player's stack, rounded down."),
    ] = False


Level: TypeAlias = Literal["easy", "normal", "hard"]
"""How well a computer player plays."""

Seconds = Annotated[int, Meta(ge=1, le=3600)]


class Clocks(Struct, frozen=True, forbid_unknown_fields=True):
    """How long a table waits, in seconds; null for ever."""

    betting_seconds: Annotated[
        Seconds | None, Meta(description="From the first bet until the deal.")
    ] = None
    insurance_seconds: Annotated[
        Seconds | None, Meta(description="Until the open offers are declined.")
    ] = None
    action_seconds: Annotated[
        Seconds | None, Meta(description="Until a hand stands by time-out.")
    ] = None


class Runs(Struct, frozen=True, forbid_unknown_fields=True):
    """How a game is played in runs: with chips brought once, up to a goal or until they are gone.

    From the vault a player brings `min_stake` to `max_stake` chips, and the goal is
    `goal_multiple` times as many. Without them a run has `granted_stake` and `granted_goal`.
    """

    min_stake: Annotated[Chips, Meta(description="The least from the vault.")]
    max_stake: Annotated[Chips, Meta(description="The most from the vault.")]
    goal_multiple: Annotated[
        int, Meta(ge=2, le=1000, description="How many times the stake the goal is.")
    ]
    granted_stake: Annotated[Chips, Meta(description="The chips of a granted run.")]
    granted_goal: Annotated[Chips, Meta(description="The goal of a granted run.")]


Environment: TypeAlias = Annotated[
    tuple[Modifier, ...],
    Meta(
        max_length=MOST_MODIFIERS,
        description="Modifiers of every round, in effect once naturals are dealt with.",
    ),
]


class Ruleset(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A game, as data. Field by field the table of the published rules.

    What it says nothing of is left out of its JSON: a field that is added later, with a default,
    leaves older rules and their fingerprints as they were.
    """

    name: Annotated[str, means("By which it is asked for.", pattern=ID_PATTERN)]
    title: Annotated[str, means("As players read it.")]
    version: Annotated[str, means("Three numbers: these rules, and no other, have it.")]
    seats: Annotated[int, Meta(ge=1, le=7, description="How many players there is room for.")]
    decks: Annotated[int, Meta(ge=1, le=8, description="How many packs of 52 make a shoe.")]
    bet: Annotated[BetLimits, Meta(description="Which opening bets a seat may place.")]
    clock: Annotated[Clocks, Meta(description="How long a table waits.")]
    bankroll: Annotated[
        Literal["vault", "session"],
        Meta(
            description="`vault`: chips come from the player's vault and go back to it. "
            "`session`: play chips granted for the session; they can be neither withdrawn nor "
            "transferred."
        ),
    ]
    deals: Annotated[
        Literal["host", "server"],
        Meta(
            description="`host`: on the host's word only. `server`: as soon as every seat has bet "
            "or sits out, so that at a single seat the bet itself deals."
        ),
    ]
    peek: Annotated[
        Literal["never", "ace_or_ten", "always"],
        Meta(description="Under which upcards the dealer looks at the hole card before play."),
    ]
    insurance: Annotated[
        Literal["none", "on_turn", "before_play"],
        Meta(description="When insurance may be bought against an ace."),
    ]
    naturals_settle: Annotated[
        Literal["before_play", "at_resolution"],
        Meta(description="When naturals are paid: before any decision, or with all other hands."),
    ]
    natural_rounds_down: Annotated[
        bool,
        Meta(description="A natural pays 3:2. False: exact, so the bet's step must be even."),
    ]
    double_after_split: Annotated[bool, Meta(description="Whether split hands may be doubled.")]
    split: Annotated[
        Literal["none", "same_rank", "same_value"],
        Meta(description="Which two cards are a pair."),
    ]
    hands_per_seat: Annotated[
        int, Meta(ge=1, le=4, description="How many hands splitting may make.")
    ]
    surrender: Annotated[
        bool, Meta(description="Whether a hand may be given up for half of its stake.")
    ]
    hit_on_21: Annotated[bool, Meta(description="False: a hand of 21 stands by itself.")]
    house_edge: Annotated[str, Meta(description="As published.")]
    run: Annotated[
        Runs | None,
        Meta(description="How the game is played in runs; null when players buy in."),
    ] = None
    modifiers: Annotated[
        bool,
        Meta(
            description="Whether the platform may apply a modifier a round, before the first "
            "decision."
        ),
    ] = False
    environment: Environment = ()
    items: Annotated[
        Catalogue, Meta(description="What the shop sells; nothing: there is none.")
    ] = ()
    computers: Annotated[
        tuple[Level, ...],
        Meta(description="The computer players that may take a seat."),
    ] = ()

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
