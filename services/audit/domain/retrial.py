"""One table tried again: every command decided a second time, and compared with what was recorded.

A round can be tried once its seed is revealed. Until then its commands wait; what has no seed in
the end is judged as far as it can be without one.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

from services.audit.domain.books import Books
from services.audit.domain.differences import differences, misfiled
from services.audit.domain.faults import Fault, Kind
from services.audit.domain.lines import (
    Head,
    Line,
    Told,
    envelope_of,
    event_of,
    head_of,
    is_readable,
    revealed_in,
    told,
)
from services.audit.domain.rulebook import Rulebook
from services.audit.domain.seeds import RecordedChance, RevealedChance, SealedChance, StillSealed
from services.blackjack.domain import commands as c
from services.blackjack.domain import events as e
from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.decide import decide, open_table
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.legs import legs
from services.blackjack.domain.table import Round, Table
from services.ledger.domain.vault import Grant, Leg, moved
from shared.kernel.chips import Posting
from shared.kernel.moments import instant
from shared.kernel.rejected import Rejected

CLOCK = "clock"
"""Who sends time-outs, and nothing else."""

Lines: TypeAlias = Sequence[Line]
Chance: TypeAlias = RevealedChance | RecordedChance


class Retrial:
    """A table as an auditor follows it. `rounds` and `cards` count what was tried with its seed."""

    def __init__(self, stream: str, books: Books, rulebook: Rulebook) -> None:
        self.table: Table | None = None
        self.lost = False
        """Whether something was found after which the table cannot be followed."""
        self.rounds = self.cards = 0
        self._stream = stream
        self._books = books
        self._rulebook = rulebook
        self._waiting: list[Lines] = []
        self._current: Lines = ()

    def read(self, lines: Lines) -> Iterator[Fault]:
        """The events of the next command at the table, those of vaults included."""
        if self.lost:
            return
        self._current = lines
        try:
            yield from self._read(lines)
        except Exception as error:  # whatever the fold raises: it never expects such events
            yield from self._lose(error)
        self._current = ()

    def close(self) -> Iterator[Fault]:
        """The log ends, or cannot be followed further: what runs is judged without its seed."""
        waiting, self._waiting = self._waiting, []
        if not waiting or self.table is None:
            return
        try:
            chance = self._as_dealt(waiting)
            yield from self._all_tried(waiting, chance)
        except Exception as error:  # as above
            yield from self._lose(error)

    def _lose(self, error: Exception) -> Iterator[Fault]:
        """Something does not even make sense, so that nothing after it can be judged."""
        lines = self._current
        self.lost, self._waiting = True, []
        if isinstance(error, ValueError):
            line = next((line for line in lines if not is_readable(line)), lines[0])
            what = f"The event cannot be read: {error}"
            yield self._fault(
                line, f"{what}; {self._stream} is not followed further.", "form", "envelope"
            )
        else:
            what = f"The event does not follow from those before it ({error!r})"
            yield self._fault(lines[0], f"{what}; {self._stream} is not followed further.")

    def _read(self, lines: Lines) -> Iterator[Fault]:
        revealed = revealed_in(lines)
        if revealed is None and not self._waiting:
            try:
                yield from self._tried(lines, None)
            except StillSealed:
                self._waiting.append(lines)
            return
        self._waiting.append(lines)
        if revealed is not None:
            waiting, self._waiting = self._waiting, []
            yield from self._round(waiting, *revealed)

    def _round(self, waiting: list[Lines], end: Line, revealed: e.SeedRevealed) -> Iterator[Fault]:
        """All commands of a round, once its seed is known."""
        assert self.table is not None, "a round is played at a table"
        chance: Chance
        try:
            chance = RevealedChance(self.table, revealed)
        except ValueError:
            yield self._fault(
                end, f"The seed that was revealed does not give the commitment "
                f"{SealedChance(self.table).sealed.commitment}; no card can be checked.",
                "seed", "data.seed", "A seed is committed to before the bets, and revealed.",
            )  # fmt: skip
            chance = self._as_dealt(waiting, revealed)
        yield from self._all_tried(waiting, chance)
        self.rounds += 1
        self.cards += revealed.drawn

    def _as_dealt(
        self, waiting: list[Lines], revealed: e.SeedRevealed | None = None
    ) -> RecordedChance:
        """The cards of a round without a seed that fits: those that were recorded."""
        assert self.table is not None, "a round is played at a table"
        self._current = tuple(chain.from_iterable(waiting))
        return RecordedChance(self.table, self._events(*waiting), revealed)

    def _all_tried(self, waiting: list[Lines], chance: Chance) -> Iterator[Fault]:
        for lines in waiting:
            self._current = lines
            try:
                yield from self._tried(lines, chance)
            except StillSealed:
                what = "The command draws a card, or ends the round, which was not recorded."
                yield self._fault(lines[-1], what, "card", "type", "A command happens wholly.")
                yield from self._as_recorded(lines)
        assert self.table is not None, "a round is played at a table"
        for what in self._books.disagreements(self.table):
            yield self._fault(waiting[-1][-1], what, "chips", "postings")

    def _tried(self, lines: Lines, chance: Chance | None) -> Iterator[Fault]:
        """Decides the command again. Raises StillSealed when that takes a seed we do not have."""
        head = head_of(lines[0])
        now = instant(head.time)
        if head.subject != self._stream:
            yield from misfiled(lines[0], envelope_of(lines[0]))
            return
        if not head.id.endswith(".0"):
            what = f"The first events of {head.command_id!r} are missing; this is {head.id!r}."
            yield self._fault(lines[0], what, "order", "id")
            yield from self._as_recorded(lines)
            return
        command = told(head)
        try:
            legs, after = self._decided(command, now, chance, lines)
        except Rejected as refused:
            yield self._refused(lines[0], command, refused)
            yield from self._as_recorded(lines)
            return
        faults = [*self._clock(head, command, now, lines[0]), *differences(
            head, lines, legs, self._round_id()
        )]  # fmt: skip
        if not faults:
            yield from self._booked(lines, [leg[2] for leg in legs])
            self.table = after
            return
        yield from faults
        yield from self._as_recorded(lines)

    def _decided(
        self, command: Told, now: int, chance: Chance | None, lines: Lines
    ) -> tuple[list[Leg], Table]:
        table = self.table
        if table is None or isinstance(command, c.Open | Grant):
            if not isinstance(command, c.Open) or table is not None:
                raise Rejected("A table is opened first, and once.")
            opened = event_of(lines[0])
            own = self._rulebook.own(command.ruleset, opened.ruleset)
            event = open_table(self._stream.removeprefix("table-"), command, opened.next, own)
            return [(self._stream, event, ())], evolve(None, event, now)
        decision = decide(table, command, chance or SealedChance(table), now)
        return legs(self._stream, table, decision.events, moved), decision.table

    def _clock(self, head: Head, command: Told, now: int, line: Line) -> Iterator[Fault]:
        times_out = isinstance(command, c.TimeOut)
        rule = "A turn times out when its time is over, and only then."
        if times_out != (head.actor == CLOCK):
            what = f"{head.actor!r} sent {type(command).__name__}, which the clock alone sends."
            yield self._fault(line, what, "time-out", "actor", rule)
        elif times_out and self.table and (wait := waits_for(self.table)) and now < wait.due:
            what = f"Time was out {wait.due - now} ms before the turn {wait.turn} ended."
            yield self._fault(line, what, "time-out", "time", rule)

    def _refused(self, line: Line, command: Told, refused: Rejected) -> Fault:
        kind: Kind = "time-out" if isinstance(command, c.TimeOut) else "play"
        name = type(command).__name__
        what = f"{name} was accepted, which the rules refuse: {refused.detail}"
        return self._fault(line, what, kind, "command", f"{refused.title()}.")

    def _as_recorded(self, lines: Lines) -> Iterator[Fault]:
        """Goes on from what was recorded, so that what follows is judged by itself."""
        now = instant(head_of(lines[0]).time)
        yield from self._booked(lines, [envelope_of(line).postings for line in lines])
        for event in self._events(lines):
            self.table = evolve(self.table, event, now)

    def _events(self, *commands: Lines) -> list[Any]:
        """What happened at the table itself."""
        lines = chain.from_iterable(commands)
        return [event_of(line) for line in lines if line.stream == self._stream]

    def _booked(self, lines: Lines, entries: list[tuple[Posting, ...]]) -> Iterator[Fault]:
        """A command's postings sum to 0. Those of vaults are entered where vaults are followed."""
        if off := sum(posting.amount for posting in chain.from_iterable(entries)):
            what = f"The postings of the command sum to {off}, not to 0."
            yield self._fault(lines[0], what, "chips", "postings")
        for line, entry in zip(lines, entries, strict=True):
            if line.stream == self._stream:
                for what in self._books.enter(entry):
                    yield self._fault(line, what, "chips", "postings", "Floors hold.")

    def _round_id(self) -> str:
        table = self.table
        if table is None:
            return ""
        return f"{table.id}.{table.rounds + (not isinstance(table.stage, Round))}"

    def _fault(
        self, line: Line, what: str, kind: Kind = "play", field: str = "", rule: str = ""
    ) -> Fault:
        return Fault(line.position, what, kind, self._stream, self._round_id(), field, rule)
