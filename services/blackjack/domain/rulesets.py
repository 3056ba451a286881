"""The four published games. Where a source is silent, the gap is filled here, once."""

from typing import Final

from msgspec.structs import replace

from services.blackjack.domain.items import ONE_OF_EACH, Item
from services.blackjack.domain.modifiers import Modifiers
from services.blackjack.domain.rejections import RulesetNonsense, UnknownRuleset
from services.blackjack.domain.rules import BetLimits, Clocks, Ruleset, Runs, validate

A2G: Final = Ruleset(
    name="a2g",
    title="A2G Blackjack",
    version="1.0.0",
    seats=7,
    decks=6,
    bet=BetLimits(min=2, max=500, step=2),
    clock=Clocks(betting_seconds=25, action_seconds=20),
    bankroll="vault",
    deals="server",
    peek="never",
    insurance="on_turn",
    naturals_settle="at_resolution",
    natural_rounds_down=False,
    double_after_split=True,
    split="same_rank",
    hands_per_seat=4,
    surrender=False,
    hit_on_21=False,
    house_edge="about 0.5 %",
    computers=("easy", "normal", "hard"),
)

COINLOUNGE: Final = Ruleset(
    name="coinlounge",
    title="CoinLounge Blackjack",
    version="1.0.0",
    seats=5,
    decks=6,
    bet=BetLimits(min=1, max=500),
    clock=Clocks(betting_seconds=25, insurance_seconds=25, action_seconds=25),
    bankroll="vault",
    deals="host",
    peek="ace_or_ten",
    insurance="before_play",
    naturals_settle="before_play",
    natural_rounds_down=True,
    double_after_split=False,
    split="same_rank",
    hands_per_seat=2,
    surrender=False,
    hit_on_21=False,
    house_edge="about 0.6 %",
    computers=("easy", "normal", "hard"),
)

CLASSIC: Final = Ruleset(
    name="classic",
    title="Poker Head, Classic Table",
    version="1.0.0",
    seats=1,
    decks=1,
    bet=BetLimits(min=5, half_of_stack=True),
    clock=Clocks(),
    bankroll="vault",
    deals="server",
    peek="always",
    insurance="none",
    naturals_settle="before_play",
    natural_rounds_down=True,
    double_after_split=False,
    split="none",
    hands_per_seat=1,
    surrender=True,
    hit_on_21=False,
    house_edge="not published",
    run=Runs(min_stake=40, max_stake=100, goal_multiple=4, granted_stake=100, granted_goal=300),
    modifiers=True,
    items=ONE_OF_EACH,
)

EUROPEAN: Final = Ruleset(
    name="european",
    title="Evropský",
    version="1.0.0",
    seats=7,
    decks=6,
    bet=BetLimits(min=2, max=500, step=2),
    clock=Clocks(),
    bankroll="session",
    deals="server",
    peek="never",
    insurance="none",
    naturals_settle="at_resolution",
    natural_rounds_down=False,
    double_after_split=True,
    split="same_value",
    hands_per_seat=4,
    surrender=False,
    hit_on_21=True,
    house_edge="not published",
    computers=("easy", "normal", "hard"),
)

PUBLISHED: Final = {game.name: validate(game) for game in (A2G, COINLOUNGE, CLASSIC, EUROPEAN)}


def ruleset(
    name: str,
    *,
    bet: BetLimits | None = None,
    clock: Clocks | None = None,
    seats: int | None = None,
    environment: Modifiers = (),
    items: tuple[Item, ...] | None = None,
    own: Ruleset | None = None,
) -> Ruleset:
    """A published ruleset, or the house's `own`, with a table's limits, environment and catalogue.

    Raises UnknownRuleset, RulesetNonsense.
    """
    game = own or PUBLISHED.get(name)
    if game is None:
        raise UnknownRuleset(f"There is no {name!r}; there are {', '.join(PUBLISHED)}.")
    if seats is not None and seats > game.seats:
        raise RulesetNonsense(f"{game.title} has at most {game.seats} seats, not {seats}.")
    if environment and not game.modifiers:
        raise RulesetNonsense(f"{game.title} is played without modifiers.")
    if items and not game.items:
        raise RulesetNonsense(f"{game.title} has no shop.")
    limited = replace(
        game,
        bet=bet or game.bet,
        clock=clock or game.clock,
        seats=seats or game.seats,
        environment=environment or game.environment,
        items=game.items if items is None else items,
    )
    return validate(limited)
