"""Looking at tables, now and in the past."""

from services.blackjack.application.answers import Answer, EventView
from services.blackjack.domain.events import Event
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.rejections import UnknownTable, UnknownVersion
from services.blackjack.domain.table import Table
from services.blackjack.domain.view import TableView, view
from shared.eventstore.codec import Codec
from shared.eventstore.loader import Loaded, Loader
from shared.eventstore.store import EventStore, Recorded
from shared.kernel.decider import Decider

TABLES: Decider[Table | None, Event] = Decider(
    initial=lambda stream: None,
    evolve=evolve,
    state_type=Table,
    format="table.6",
)


def table_stream(table_id: str) -> str:
    """The stream of a table."""
    return f"table-{table_id}"


def table_id(stream: str) -> str:
    """The table of a stream."""
    return stream.removeprefix("table-")


class Reading:
    """Tables as the log has them: cache, snapshot, tail."""

    def __init__(self, store: EventStore, codec: Codec) -> None:
        self._store = store
        self._codec = codec
        self.loader = Loader(store, codec, TABLES)

    async def table(self, house: str, table_id: str, version: int | None = None) -> TableView:
        """A table now, or as it was at a version. Raises UnknownTable, UnknownVersion."""
        stream = table_stream(table_id)
        loaded = await self.loader.load(house, stream, at_version=version, fresh=True)
        return self._view(table_id, loaded, version)

    async def records(self, house: str, table_id: str, first: int, last: int) -> list[Recorded]:
        """The events of a table from version `first` to `last`, as they lie in the log."""
        return await self._store.read_stream(
            house, table_stream(table_id), first - 1, last - first + 1
        )

    async def span(self, house: str, table_id: str, first: int, last: int) -> Answer:
        """The table at version `last`, with its events from version `first` on."""
        stream = table_stream(table_id)
        records = await self.records(house, table_id, first, last)
        loaded = await self.loader.load(house, stream, at_version=last)
        return Answer(self._view(table_id, loaded, last), tuple(map(self._event, records)))

    def _view(self, table_id: str, loaded: Loaded[Table | None], version: int | None) -> TableView:
        if loaded.state is None:
            raise UnknownTable(f"{table_id} was never opened.")
        if version is not None and loaded.version != version:
            raise UnknownVersion(
                f"{table_id} is at version {loaded.version}; ask for 1 to {loaded.version}.",
                newest=loaded.version,
            )
        return view(loaded.state, loaded.version, loaded.position)

    def _event(self, record: Recorded) -> EventView:
        event = self._codec.open(record)
        return EventView(record.position, record.version, record.type, event)
