"""What happened at the tables and beside them, in the words of the domain: what all views are made
from."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct

from services.blackjack.application.reading import TABLES, table_stream
from services.blackjack.domain.events import Event
from services.blackjack.domain.table import Table
from shared.eventstore.codec import Codec
from shared.eventstore.loader import Loaded, Loader
from shared.eventstore.store import EventStore, Fact

_MOST_TABLES: Final = 20_000
_PREFIX: Final = table_stream("")


class Happened(Struct, frozen=True, gc=False):
    """An event at a table, and the table after it.

    `version` is its place in the table's stream, `position` in the log; `at` is the time, in
    milliseconds since the epoch.
    """

    position: int
    version: int
    at: int
    event: Event
    table: Table


class Elsewhere(Struct, frozen=True, gc=False):
    """An event that is not one of a table: at a vault, or of a game.

    `actor` is who caused it. It was `asked` for itself, or follows from a command at a table.
    """

    position: int
    at: int
    event: Any
    actor: str
    asked: bool


Moment: TypeAlias = Happened | Elsewhere
Rows: TypeAlias = Iterable[tuple[Any, ...]]


def at_tables(
    rows: Callable[[Sequence[Happened]], Rows],
) -> Callable[[Sequence[Moment]], Rows]:
    """The rows of a view that looks at tables alone."""
    return lambda items: rows([item for item in items if isinstance(item, Happened)])


class Plays:
    """Folds what happened into the tables, and remembers those that were used last."""

    def __init__(self, store: EventStore, codec: Codec) -> None:
        self._codec = codec
        self._loader = Loader(store, codec, TABLES)
        self._tables: OrderedDict[tuple[str, str], Loaded[Table | None]] = OrderedDict()

    async def open(self, house: str, records: Sequence[Fact]) -> list[Moment]:
        """What consecutive records of a house say."""
        happened: list[Moment] = []
        for record in records:
            if not record.stream.startswith(_PREFIX):
                event, at = self._codec.told(record)
                envelope = self._codec.envelope(record)
                asked = envelope.command is not UNSET
                happened.append(Elsewhere(record.position, at, event, envelope.actor, asked))
                continue
            before = (await self._before(house, record)).state
            event, at = self._codec.told(record)
            table = TABLES.evolve(before, event, at)
            assert table is not None
            self._tables[house, record.stream] = Loaded(table, record.version, record.position)
            happened.append(Happened(record.position, record.version, at, event, table))
        while len(self._tables) > _MOST_TABLES:
            self._tables.popitem(last=False)
        return happened

    async def _before(self, house: str, record: Fact) -> Loaded[Table | None]:
        """The table of a record before it: as we left it, or from the log."""
        known = self._tables.pop((house, record.stream), None)
        if known and known.version == record.version - 1:
            return known
        if record.version == 1:
            return Loaded(None, 0, 0)
        return await self._loader.load(house, record.stream, record.version - 1)
