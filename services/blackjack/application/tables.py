"""Opening tables and playing on them: load, decide, append."""

from collections.abc import Callable
from datetime import datetime

from msgspec import UNSET, UnsetType

from services.blackjack.application.answers import Answer, Answered, EventView
from services.blackjack.application.reading import Reading, table_stream
from services.blackjack.application.rulesets import Rulesets
from services.blackjack.application.shoes import Shoes
from services.blackjack.application.turns import Turns
from services.blackjack.domain import commands as c
from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.computers import asked
from services.blackjack.domain.decide import Decision, decide, open_table
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.legs import legs
from services.blackjack.domain.rejections import RulesetNonsense, TableExists, UnknownTable
from services.blackjack.domain.rules import Ruleset
from services.blackjack.domain.table import Round, Table
from services.blackjack.domain.view import view
from services.ledger.application import moved
from shared.eventstore.batcher import Batcher
from shared.eventstore.cause import Cause, StaleVersion
from shared.eventstore.codec import Codec
from shared.eventstore.envelope import canonical
from shared.eventstore.loader import Loaded
from shared.eventstore.rejections import (
    InsufficientChips,
    KeyReused,
    Overloaded,
    Unreachable,
    VersionConflict,
    WaitedTooLong,
)
from shared.eventstore.store import Append, Appended, Deadline, EventStore
from shared.kernel.moments import milliseconds, moment
from shared.kernel.rejected import Rejected

_TRIES = 5


class Tables:
    """The writing side. `clock` gives the time of recording, in UTC.

    `on_computer` is told the house, and the position of the log, when a computer player is asked.
    """

    def __init__(
        self,
        store: EventStore,
        batcher: Batcher,
        codec: Codec,
        shoes: Shoes,
        clock: Callable[[], datetime],
        on_computer: Callable[[str, int], None] = lambda house, position: None,
    ) -> None:
        self._store = store
        self._batcher = batcher
        self._codec = codec
        self._shoes = shoes
        self._clock = clock
        self._on_computer = on_computer
        self.reading = Reading(store, codec)
        self._turns = Turns()
        self.rulesets = Rulesets(store, batcher, codec, clock)

    async def open(self, cause: Cause, table_id: str, command: c.Open) -> Answered:
        """Open a table, once: the same body again answers with the table as it is now.

        Raises UnknownRuleset, RulesetNonsense, Overloaded; TableExists for another body.
        """
        stream, now = table_stream(table_id), self._clock()
        own = await self.rulesets.own(cause.house, command.ruleset)
        first_seed = self._shoes.fresh(cause.house, table_id, 1)
        try:
            event = open_table(table_id, command, first_seed, own)
        except RulesetNonsense:
            if answered := await self._opened_before(cause, table_id, command, own):
                return answered
            raise
        nothing: Loaded[Table | None] = Loaded(None, 0, 0)
        decision = Decision((event,), evolve(None, event))
        await self._turns.take((cause.house, stream))
        try:
            return await self._record(cause, canonical(command), now, nothing, decision)
        except VersionConflict:
            answered = await self._opened_before(cause, table_id, command, own)
            assert answered, "what is in the way is there"
            return answered
        finally:
            self._turns.give((cause.house, stream))

    async def _opened_before(
        self, cause: Cause, table_id: str, command: c.Open, own: Ruleset | None
    ) -> Answered | None:
        """The table as it is now, if this very command has opened it; None where there is none.

        It is judged by the version that the table plays by: there may be a later one since. Raises
        TableExists, RulesetNonsense.
        """
        first = await self._store.read_stream(cause.house, table_stream(table_id), limit=1)
        if not first:
            return None
        opened = self._codec.open(first[0])
        if own and opened.ruleset.name == own.name:
            own = await self.rulesets.own(cause.house, own.name, opened.ruleset.version)
        event = open_table(table_id, command, opened.next, own)
        if (opened.ruleset, opened.host) != (event.ruleset, event.host):
            raise TableExists(f"{table_id} was opened with another ruleset, host or limits.")
        return Answered(Answer(await self.reading.table(cause.house, table_id), ()), replayed=True)

    async def play(self, cause: Cause, table_id: str, command: c.AnyCommand) -> Answered:
        """One command at a table: it happens wholly or not at all, and once for each cause.

        Raises the Rejected that refuses it; UnknownTable, StaleVersion, KeyReused, Overloaded,
        WaitedTooLong; VersionConflict when other processes were faster every time.
        """
        stream, body = table_stream(table_id), canonical(command)
        deadline = self._batcher.deadline()
        await self._turns.take((cause.house, stream))
        try:
            self._batcher.refuse_the_late(deadline)
            return await self._play(cause, table_id, command, body, deadline)
        finally:
            self._turns.give((cause.house, stream))

    async def _play(
        self,
        cause: Cause,
        table_id: str,
        command: c.AnyCommand,
        body: bytes,
        deadline: float,
    ) -> Answered:
        stream = table_stream(table_id)
        for attempt in range(1, _TRIES + 1):
            # A cached table may be behind: what it refuses is judged again on a fresh one.
            loaded = await self.reading.loader.load(cause.house, stream, fresh=attempt > 1)
            now = self._clock()
            try:
                decision = self._decide(cause, table_id, now, loaded, command)
                return await self._record(cause, body, now, loaded, decision, deadline)
            except (InsufficientChips, KeyReused, Overloaded, Unreachable, WaitedTooLong):
                raise
            except VersionConflict:
                if attempt == _TRIES:
                    raise
            except Rejected:
                if attempt == 1:
                    continue
                # Looked for after the fresh look: what that saw happen was recorded before.
                if answered := await self._first_answer(cause, table_id, stream, body):
                    return answered
                raise
        raise AssertionError("every try returns or raises")

    def _decide(
        self,
        cause: Cause,
        table_id: str,
        now: datetime,
        loaded: Loaded[Table | None],
        command: c.AnyCommand,
    ) -> Decision:
        table = loaded.state
        if table is None:
            raise UnknownTable(f"{table_id} was never opened.")
        if cause.if_version not in (None, loaded.version):
            raise StaleVersion(
                f"The table is at version {loaded.version}, not {cause.if_version}.",
                actual=loaded.version,
            )
        seed = self._shoes.of(cause.house, table)
        decision = decide(table, command, seed, milliseconds(now))
        self._shoes.keep(seed, running=isinstance(decision.table.stage, Round))
        return decision

    async def _record(
        self,
        cause: Cause,
        body: bytes,
        now: datetime,
        loaded: Loaded[Table | None],
        decision: Decision,
        deadline: float | None = None,
    ) -> Answered:
        """Append what was decided, and answer with the table that it gives."""
        stream = table_stream(decision.table.id)
        sealed = self._codec.seal(
            legs(stream, loaded.state, decision.events, moved),
            house=cause.house,
            command_id=cause.id,
            command=body,
            actor=cause.actor,
            time=now,
            traceparent=cause.traceparent,
        )
        fingerprint = cause.fingerprint(stream, body)
        version = loaded.version + len(decision.events)
        waits = waits_after(stream, loaded.state, decision.table, version, now)
        append = Append(cause.id, fingerprint, stream, loaded.version, sealed, waits)
        appended = await self._batcher.append(cause.house, append, deadline)
        if appended.replayed:
            return await self._replay(cause.house, decision.table.id, appended)
        places = (at for at, new in enumerate(sealed) if new.stream == stream)
        events = tuple(
            EventView(appended.first_position + at, version, sealed[at].type, event)
            for version, (at, event) in enumerate(
                zip(places, decision.events, strict=True), loaded.version + 1
            )
        )
        if is_for_computers(waits):
            self._on_computer(cause.house, appended.last_position)
        after: Loaded[Table | None] = Loaded(decision.table, appended.version, events[-1].position)
        self.reading.loader.remember(cause.house, stream, after)
        return Answered(Answer(view(decision.table, after.version, after.position), events))

    async def _first_answer(
        self, cause: Cause, table_id: str, stream: str, body: bytes
    ) -> Answered | None:
        """The answer that this command had when it was recorded, if it was."""
        outcome = await self._store.outcome(cause.house, cause.id)
        if outcome is None:
            return None
        if outcome.request_hash != cause.fingerprint(stream, body):
            raise KeyReused(cause.id)
        return await self._replay(cause.house, table_id, outcome.appended)

    async def _replay(self, house: str, table_id: str, appended: Appended) -> Answered:
        count = appended.last_position - appended.first_position + 1
        span = await self.reading.span(
            house, table_id, max(1, appended.version - count + 1), appended.version
        )
        events = tuple(event for event in span.events if event.position >= appended.first_position)
        return Answered(Answer(span.table, events), replayed=True)


_COMPUTER = "computer at "


def is_for_computers(waits: Deadline | UnsetType | None) -> bool:
    """Whether a table waits for a computer player, so that it is due at once."""
    return isinstance(waits, Deadline) and waits.turn.startswith(_COMPUTER)


def waits_after(
    stream: str, before: Table | None, after: Table, version: int, now: datetime
) -> Deadline | UnsetType | None:
    """What a table waits for after a command that brought it to a version; UNSET when that is
    what it waited for before."""
    if asked(after):  # and the clock goes on: whoever answers this looks at it
        return Deadline(stream, f"{_COMPUTER}{version}", moment(milliseconds(now)))
    wait = waits_for(after)
    if wait == (before and waits_for(before)) and not (before and asked(before)):
        return UNSET
    return Deadline(stream, wait.turn, moment(wait.due)) if wait else None
