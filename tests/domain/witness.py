"""A witness beside a table: plays commands on it and checks all that must hold after each."""

import random

from msgspec import json

from services.blackjack.domain import commands as c
from services.blackjack.domain import events as e
from services.blackjack.domain.cards import Card, is_natural
from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.decide import decide
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.moves import Move
from services.blackjack.domain.rules import Ruleset, fingerprint, most_cards
from services.blackjack.domain.table import Betting, Table
from shared.kernel.rejected import Rejected
from tests.domain.books import Books, stored
from tests.domain.chance import ChanceSeed, OtherFuture
from tests.domain.every_command import Listed, amounts_of, as_command, every_command
from tests.domain.story import AnyCommand


class Witness:
    """Raises AssertionError as soon as the table, the books, the log and the moves disagree."""

    def __init__(
        self, rules: Ruleset, host: str | None, players: list[str], seed: ChanceSeed
    ) -> None:
        opened = e.TableOpened("t", rules, fingerprint(rules), host, seed.sealed)
        self.table: Table = evolve(None, stored(opened))
        self.books = Books(*players)
        self.seed = seed
        self.now = 0
        self.dues: dict[str, int] = {}

    def moves(self, *types: str) -> list[Move]:
        return [move for move in Listed(self.table).moves if move.type in types]

    def play(self, command: AnyCommand) -> tuple[e.Event, ...]:
        """One command, a second after the last, through the rules, the fold and the books."""
        self.now += 1000
        before, at = self.table, self.now
        decision = decide(before, command, self.seed, at)
        assert decide(before, command, self.seed, at) == decision, "chance from beside the seed"
        self.table, _ = self.books.enter(before, decision.events, at)
        assert self.table == decision.table, "the fold of the stored events differs"
        if isinstance(before.stage, Betting):
            self.tale = Tale(before)
        self.tale.commands.append((command, at))
        self.tale.events += decision.events
        if any(isinstance(event, e.SeedRevealed) for event in decision.events):
            self.tale.assert_no_secret_was_told(self.seed)
            self.seed = self.seed.next()
        if isinstance(self.table.stage, Betting):
            assert self.table.stage.next == self.seed.sealed, "bets without a commitment"
        self.assert_listed_is_accepted_and_all_else_refused()
        self.assert_the_clock_is_right()
        return decision.events

    def time_out(self) -> None:
        """The clock runs out, if there is one, and nobody's risk grows by it."""
        if wait := waits_for(self.table):
            events = self.play(c.TimeOut(wait.turn))
            risky = (e.BetPlaced, e.InsuranceBought, e.HandDoubled, e.HandSplit)
            assert not any(isinstance(event, risky) for event in events)

    def assert_the_clock_is_right(self) -> None:
        """Whoever is to act has the full time, which nothing prolongs; then time may be out."""
        assert _refusal(self.table, c.TimeOut("another"), self.seed) is not None
        if wait := waits_for(self.table):
            seconds = getattr(self.table.rules.clock, f"{wait.kind}_seconds")
            assert wait.due == self.dues.setdefault(wait.turn, self.now + 1000 * seconds)
            assert _refusal(self.table, c.TimeOut(wait.turn), self.seed) is None

    def assert_listed_is_accepted_and_all_else_refused(self) -> None:
        listed, before = Listed(self.table), json.encode(self.table)
        for command in every_command(self.table):
            refusal = _refusal(self.table, command, self.seed)
            assert (refusal is None) is (command in listed), f"{command}: {refusal!r}"
        for move in listed.moves:
            amount = None if move.min is None else random.choice(amounts_of(move))
            command = as_command(move, amount, player="somebody-new")
            assert _refusal(self.table, command, self.seed) is None
        assert json.encode(self.table) == before


class Tale:
    """What the table has told since before the deal."""

    def __init__(self, before: Table) -> None:
        self.before = before
        self.commands: list[tuple[AnyCommand, int]] = []
        """Each with its time."""
        self.events: list[e.Event] = []

    def assert_no_secret_was_told(self, seed: ChanceSeed) -> None:
        """Another hole card and another rest of the shoe: the same events until the reveal."""
        reveal = next(n for n, x in enumerate(self.events) if isinstance(x, e.HoleCardRevealed))
        future = OtherFuture(seed, self._another_shoe(seed, self.events[:reveal]))
        table, events = self.before, []
        for command, at in self.commands:
            decision = decide(table, command, future, at)
            table, events = decision.table, [*events, *decision.events]
            if any(isinstance(event, e.HoleCardRevealed) for event in decision.events):
                break
        assert events[:reveal] == self.events[:reveal]
        assert isinstance(events[reveal], e.HoleCardRevealed)
        openings = [event for event in self.events if isinstance(event, e.SeedRevealed)]
        sealed = [event for event in self.events if event not in openings]
        assert openings[0].seed == seed.secret.hex()
        assert openings[0].drawn <= most_cards(table.rules)
        assert seed.secret.hex() not in json.encode(sealed).decode()

    def _another_shoe(self, seed: ChanceSeed, told: list[e.Event]) -> list[Card]:
        """A shoe that agrees with the real one on all that was told."""
        opened = next(event for event in told if isinstance(event, e.RoundOpened))
        dealt = next(event for event in told if isinstance(event, e.HandsDealt))
        decks, round_id = self.before.rules.decks, f"{self.before.id}.{opened.number}"
        shoe = list(seed.shoe(decks, round_id, opened.client_seeds))
        hole = 2 * len(dealt.hands) + 1
        drawn = hole + 1 + sum(isinstance(event, e.CardDealt | e.CardRedrawn) for event in told)
        unseen = [shoe[hole], *shoe[drawn:]]
        random.Random(seed.secret).shuffle(unseen)
        if any(isinstance(event, e.DealerPeeked) for event in told):
            natural = is_natural((dealt.upcard, shoe[hole]))
            unseen.sort(key=lambda card: is_natural((dealt.upcard, card)) is not natural)
        return [*shoe[:hole], unseen[0], *shoe[hole + 1 : drawn], *unseen[1:]]


def _refusal(table: Table, command: AnyCommand, seed: ChanceSeed) -> Rejected | None:
    """Why a command is refused: a reason with a class and a text of its own."""
    try:
        decide(table, command, seed)
    except Rejected as reason:
        return reason if type(reason) is not Rejected and reason.detail else None
    return None
