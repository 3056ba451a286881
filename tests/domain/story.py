"""Stories about a table, told as given / when / then.

    given(a_round("a2g", "As Ad", upcard="6c", next_cards="9h 5s"))
    when(Split(1))
    then(HandSplit(1, 0, 100), CardDealt(1, 0, "9h"), …)

The shoe of a story is prepared: its cards come in the order in which they are told. Beside every
story a ledger is kept and the stored events are folded; a story that does not add up fails.
"""

from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias

import pytest
from msgspec import convert
from msgspec.structs import replace

from services.blackjack.domain import commands as c
from services.blackjack.domain.decide import decide, open_table
from services.blackjack.domain.events import (
    Event,
    PlayerSat,
    RoundOpened,
    RunStarted,
    SeedRevealed,
    TableOpened,
)
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.moves import legal_moves
from services.blackjack.domain.rules import Ruleset, fingerprint
from services.blackjack.domain.shoe import ALGORITHM, SealedSeed, commitment
from services.blackjack.domain.table import Round, Table
from shared.kernel.chips import bank, in_play, stack, vault
from shared.kernel.rejected import Rejected
from tests.domain.books import Books

PLAYERS = ("ada", "bob", "cyd", "dan", "eve", "fay", "gus")
AnyCommand: TypeAlias = c.Command | c.TimeOut
PLAY = {"hit", "stand", "double_down", "split", "surrender", "insure", "decline_insurance"}


class PreparedSeed:
    """A seed whose shoe holds the cards of the story. It is the seed of every round."""

    def __init__(self, cards: str) -> None:
        self.secret = bytes(range(32))
        self.sealed = SealedSeed(commitment(self.secret), key_id="story", box="c2VhbGVk")
        self.cards = tuple(cards.split())

    def successor(self) -> SealedSeed:
        return self.sealed

    def shoe(self, decks: int, round_id: str, client_seeds: tuple[str, ...]) -> tuple[str, ...]:
        return self.cards


@dataclass
class Story:
    """A table, its cards to come, and what the last `when` made of it. `now` is in milliseconds."""

    table: Table
    seed: PreparedSeed
    now: int = 0
    books: Books = field(default_factory=lambda: Books(*PLAYERS))
    log: list[Event] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    posted: list[tuple[str, int]] = field(default_factory=list)
    refusal: Rejected | None = None

    def play(self, *commands: AnyCommand) -> "Story":
        self.events, self.posted, self.refusal = [], [], None
        for command in commands:
            assert self.refusal is None, f"{self.refusal!r} came before {command}"
            try:
                decision = decide(self.table, command, self.seed, self.now)
            except Rejected as refusal:
                self.refusal = refusal
                continue
            self.table, postings = self.books.enter(self.table, decision.events, self.now)
            assert self.table == decision.table, "the fold of the stored events differs"
            self.events += decision.events
            self.posted += [(line.account, line.amount) for line in postings]
        self.log += self.events
        return self


def a_table(game: str, *stacks: int, cards: str = "", name: str = "t", **limits: Any) -> Story:
    """A table at which ada, bob, … sit with these stacks. Its next rounds get these cards.

    Where a game is played in runs each has one, which may begin with any stack and goes far.
    """
    opened = open_table(name, c.Open(game, host="ada", **limits), PreparedSeed("").sealed)
    if stacks:
        opened = replace(opened, ruleset=endless(opened.ruleset))
    return _seated(opened, stacks, cards)


def a_table_of(rules: Ruleset, *stacks: int, cards: str = "") -> Story:
    """The same for a game of one's own."""
    rules, sealed = endless(rules), PreparedSeed("").sealed
    return _seated(TableOpened("t", rules, fingerprint(rules), "ada", sealed), stacks, cards)


def _seated(opened: TableOpened, stacks: tuple[int, ...], cards: str) -> Story:
    players = list(zip(count(1), PLAYERS, stacks, strict=False))
    sits: list[AnyCommand] = [c.Sit(*each) for each in players]
    if opened.ruleset.run:
        sits = [c.StartRun(*each) for each in players]
    story = Story(evolve(None, opened), PreparedSeed(cards), log=[opened])
    return story.play(*sits)


def endless(rules: Ruleset) -> Ruleset:
    """The same game; its runs may begin with any stack and are not won in the time of a story."""
    if rules.run is None:
        return rules
    return replace(rules, run=replace(rules.run, min_stake=1, max_stake=10**9, goal_multiple=1000))


def a_round(
    game: str,
    *hands: str,
    upcard: str,
    hole: str = "9d",
    next_cards: str = "",
    bet: int = 100,
    stack: int = 900,
    **limits: Any,
) -> Story:
    """A round just dealt: a hand a seat, each with this bet and, after it, this stack."""
    first, second = zip(*(hand.split() for hand in hands), strict=True)
    cards = " ".join((*first, upcard, *second, hole, next_cards))
    story = a_table(game, *(bet + stack for _ in hands), cards=cards, **limits)
    bets = [c.Bet(n, bet) for n in range(1, len(hands) + 1)]
    by_hand = [c.Deal("ada")] if story.table.rules.deals == "host" else []
    story.play(*bets, *by_hand)
    assert story.refusal is None, repr(story.refusal)
    return story


def a_command(words: str) -> c.Command:
    """`hit`, `split 2`, `double_down 1 3`: a command, its seat (1) and its hand (0)."""
    name, *numbers = words.split()
    place = zip(("seat", "hand"), map(int, numbers or ["1"]), strict=False)
    return convert({"type": name, **dict(place)}, c.Command)


def round_opened(number: int = 1, *client_seeds: str) -> RoundOpened:
    """The first event of a round under the seed of all stories."""
    return RoundOpened(number, ALGORITHM, PreparedSeed("").sealed.commitment, client_seeds)


def seed_revealed(drawn: int, number: int = 1) -> SeedRevealed:
    """The last event of a round under the seed of all stories."""
    seed = PreparedSeed("")
    return SeedRevealed(number, seed.secret.hex(), drawn, seed.successor())


_told: Story


def given(story: Story) -> Story:
    """Begin a story."""
    global _told
    _told = story
    return story


def when(*commands: AnyCommand) -> Story:
    """Commands, one after the other; only the last may be refused."""
    return _told.play(*commands)


def when_all_stand() -> Story:
    """Everybody declines insurance and stands until the round is over."""
    commands: list[c.Command] = []
    shadow = _told.table
    while isinstance(shadow.stage, Round):
        offers, turn = shadow.stage.offers, shadow.turn()
        command = c.DeclineInsurance(offers[0]) if offers else c.Stand(*(turn or ()))
        shadow = decide(shadow, command, _told.seed).table
        commands.append(command)
    return _told.play(*commands)


def then(*events: Event) -> None:
    """Exactly these events came of the last `when`."""
    assert _told.refusal is None, repr(_told.refusal)
    assert _told.events == list(events)


def then_among(*events: Event) -> None:
    """These events came in this order, others perhaps between them."""
    assert _told.refusal is None, repr(_told.refusal)
    assert [event for event in _told.events if event in events] == list(events)


def then_refused(reason: type[Rejected]) -> Rejected:
    """The last command was refused for this reason, which says something and has a title."""
    refusal = _told.refusal
    assert type(refusal) is reason, f"{refusal!r} after {_told.events}"
    assert refusal.detail
    return refusal


def then_posted(lines: str) -> None:
    """Exactly these ledger lines, an account and an amount each; `ada` is ada's stack."""
    names = {bank("t"): "bank", in_play("t"): "in_play"}
    names |= {stack("t", player): player for player in PLAYERS}
    names |= {vault(player): f"{player}'s vault" for player in PLAYERS}
    posted = [f"{names.get(account, account)} {amount:+}" for account, amount in _told.posted]
    assert posted == [" ".join(line.split()) for line in lines.strip().splitlines()]


def then_legal(moves: str, seat: int | None = None) -> None:
    """Exactly these moves of play are listed, for one seat or for all together."""
    listed = [move for move in legal_moves(_told.table) if move.type in PLAY]
    assert [move.type for move in listed if seat in (None, move.seat)] == moves.split()


def then_net(chips: int, seat: int = 1) -> None:
    """The round is over, and so many chips more than before lie on the seat's stack."""
    assert not isinstance(_told.table.stage, Round), "the round is not over"
    brought = [
        sat.buy_in if isinstance(sat, PlayerSat) else sat.stake
        for sat in _told.log
        if isinstance(sat, PlayerSat | RunStarted) and sat.seat == seat
    ]
    assert _told.table.seat(seat).stack - brought[-1] == chips


def rows(table: str) -> pytest.MarkDecorator:
    """A text table as parameters: names in the first line, columns two spaces apart.

    A cell of digits is a number, `–` is nothing.
    """
    head, *lines = [line.strip() for line in table.strip().splitlines()]
    names = head.split()
    body = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines if line]
    for line, cells in zip(lines, body, strict=False):
        assert len(cells) == len(names), f"{line!r} does not fit {names}"
    values = [[_value(cell) for cell in cells] for cells in body]
    return pytest.mark.parametrize(names, values, ids=[", ".join(cells) for cells in body])


def _value(cell: str) -> str | int:
    if cell == "–":
        return ""
    return int(cell) if cell.lstrip("+-−").isdigit() else cell
