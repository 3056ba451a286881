"""The games that a house can play: the published ones, and those that it has registered."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from services.blackjack.domain.events import RulesetRegistered
from services.blackjack.domain.register import (
    MOST_RULESETS,
    Proposal,
    Versions,
    register,
    registered,
    version_of,
)
from services.blackjack.domain.rejections import TooManyRulesets
from services.blackjack.domain.rules import Ruleset
from services.blackjack.domain.rulesets import PUBLISHED
from shared.eventstore.batcher import Batcher
from shared.eventstore.cause import Cause
from shared.eventstore.codec import Codec
from shared.eventstore.envelope import canonical
from shared.eventstore.loader import Loaded, Loader
from shared.eventstore.rejections import VersionConflict
from shared.eventstore.store import Append, EventStore
from shared.kernel.decider import Decider
from shared.kernel.ids import ID_PATTERN

RULESETS: Final[Decider[Versions, RulesetRegistered]] = Decider(
    initial=lambda stream: (),
    evolve=registered,
    state_type=Versions,
    format="ruleset.1",
)
_TRIES: Final = 5


def ruleset_stream(name: str) -> str:
    """The stream of a ruleset of the house's own."""
    return f"ruleset-{name}"


class Registered(Struct, frozen=True):
    """All versions of a ruleset, the oldest first, and whether there is one more than before."""

    versions: Versions
    is_new: bool


class Rulesets:
    """`clock` gives the time of recording, in UTC."""

    def __init__(
        self, store: EventStore, batcher: Batcher, codec: Codec, clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._batcher = batcher
        self._codec = codec
        self._clock = clock
        self._loader = Loader(store, codec, RULESETS, cache_size=1000)

    async def register(self, cause: Cause, proposal: Proposal) -> Registered:
        """Register a ruleset, or a further version of one. The same again changes nothing.

        Raises RulesetPublished, RulesetVersionTaken, RulesetNonsense, TooManyRulesets, KeyReused,
        Overloaded.
        """
        stream = ruleset_stream(proposal.name)
        for attempt in range(1, _TRIES + 1):
            loaded = await self._loader.load(cause.house, stream, fresh=True)
            event = register(loaded.state, proposal)
            if event is None:
                return Registered(loaded.state, is_new=False)
            if not loaded.state and await self._is_full(cause.house):
                raise TooManyRulesets(f"The house has {MOST_RULESETS} rulesets of its own.")
            try:
                return await self._record(cause, proposal, loaded, event)
            except VersionConflict:  # somebody else was faster
                if attempt == _TRIES:
                    raise
        raise AssertionError("every try returns or raises")

    async def versions(self, house: str, name: str) -> Versions:
        """All versions of a ruleset, the oldest first; none of one that there is not."""
        if name in PUBLISHED:
            return (PUBLISHED[name],)
        if not re.fullmatch(ID_PATTERN, name):  # no ruleset has it, and a NUL no database takes
            return ()
        return (await self._loader.load(house, ruleset_stream(name), fresh=True)).state

    async def find(self, house: str, name: str, version: str | None = None) -> Ruleset:
        """A published ruleset or one of the house's own. Raises UnknownRuleset."""
        return version_of(name, await self.versions(house, name), version)

    async def own(self, house: str, name: str, version: str | None = None) -> Ruleset | None:
        """One of the house's own, None for every other name. Raises UnknownRuleset."""
        versions = () if name in PUBLISHED else await self.versions(house, name)
        return version_of(name, versions, version) if versions else None

    async def names(self, house: str) -> Sequence[str]:
        """The names of the house's own rulesets, in order."""
        prefix = ruleset_stream("")
        streams = await self._store.streams(house, prefix, MOST_RULESETS)
        return [stream.removeprefix(prefix) for stream in streams]

    async def _is_full(self, house: str) -> bool:
        return len(await self.names(house)) >= MOST_RULESETS

    async def _record(
        self, cause: Cause, proposal: Proposal, loaded: Loaded[Versions], event: RulesetRegistered
    ) -> Registered:
        stream, body = ruleset_stream(proposal.name), canonical(proposal)
        sealed = self._codec.seal(
            [(stream, event, ())],
            house=cause.house,
            command_id=cause.id,
            command=body,
            actor=cause.actor,
            time=self._clock(),
            traceparent=cause.traceparent,
        )
        fingerprint = cause.fingerprint(stream, body)
        append = Append(cause.id, fingerprint, stream, loaded.version, sealed)
        appended = await self._batcher.append(cause.house, append)
        if appended.replayed:
            there = await self._loader.load(cause.house, stream, fresh=True)
            return Registered(there.state, is_new=False)
        after = registered(loaded.state, event)
        self._loader.remember(
            cause.house, stream, Loaded(after, appended.version, appended.last_position)
        )
        return Registered(after, is_new=True)
