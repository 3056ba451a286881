"""The event store in Postgres: one function call a batch, keyset pages in binary."""

import select
from collections.abc import Sequence
from datetime import datetime
from itertools import starmap
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg import AsyncConnection, AsyncCursor
from psycopg.abc import Params
from psycopg.rows import AsyncRowFactory, tuple_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from shared.eventstore import arrays
from shared.eventstore.columns import Columns
from shared.eventstore.rejections import Archived, Unreachable
from shared.eventstore.store import (
    NEWEST_SNAPSHOTS,
    SNAPSHOTS_APART,
    Append,
    Appended,
    Deadline,
    Fact,
    Head,
    HouseNotOpen,
    Outcome,
    Recorded,
    Snapshot,
)
from shared.kernel.rejected import Rejected

Row = tuple[Any, ...]
AFact = TypeVar("AFact", bound=Fact)

SERVING: dict[str, Any] = {
    "autocommit": True,
    "prepare_threshold": 0,
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "tcp_user_timeout": 20_000,
    "options": "-c role=croupier_app -c timezone=UTC -c lock_timeout=5s",
}
"""How every connection of a process that serves is made."""


class Readers(AsyncConnectionPool[AsyncConnection[Row]]):
    """Gives nobody a connection that was closed while it lay idle: after a restart of Postgres all
    of them are. A server that says something without being asked says farewell."""

    def __init__(self, url: str, *, max_size: int, patience_seconds: float = 5.0) -> None:
        super().__init__(
            url,
            min_size=1,
            max_size=max_size,
            timeout=patience_seconds,
            open=False,
            kwargs=SERVING,
        )

    async def getconn(
        self,
        timeout: float | None = None,  # noqa: ASYNC109  As the pool has it.
    ) -> AsyncConnection[Row]:
        while True:
            connection = await super().getconn(timeout)
            looking = select.poll()
            looking.register(connection.fileno(), select.POLLIN)
            if not looking.poll(0):
                return connection
            await connection.close()
            await self.putconn(connection)


class PostgresStore:
    """Appends on one connection of its own, reads on a small pool.

    Both serve as the role `croupier_app`, which cannot change what is recorded, whoever the URL
    names. Use it as `async with PostgresStore(url) as store`. Every method raises Unreachable
    when Postgres does not answer, and connects again by itself when it does.
    """

    def __init__(self, url: str, *, readers: int = 4, patience_seconds: float = 5.0) -> None:
        self.readers = Readers(url, max_size=readers, patience_seconds=patience_seconds)
        self._url = url
        self._appender: AsyncConnection[Row] | None = None

    async def __aenter__(self) -> "PostgresStore":
        await self.readers.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._hang_up()
        await self.readers.close()

    async def append_batch(
        self, house: str, appends: Sequence[Append]
    ) -> list[Appended | Rejected]:
        """One call at a time: the connection is one. See EventStore."""
        columns = Columns(appends)
        try:
            connection = await self._appending()
            async with connection.cursor(binary=True) as cursor:
                await cursor.execute(_APPEND, (house, *columns.packed))
                row = await cursor.fetchone()
        except psycopg.Error as error:
            if error.sqlstate == _NOT_OPEN:
                raise HouseNotOpen(house) from None
            if _is_away(error):
                await self._hang_up()
                raise Unreachable("The database does not answer.") from error
            raise
        assert row
        return columns.answers(row[0])

    async def read_stream(
        self, house: str, stream: str, after: int = 0, limit: int = 1000
    ) -> list[Recorded]:
        return await self._stream(Recorded, house, stream, after, limit)

    async def streams(self, house: str, prefix: str, limit: int) -> list[str]:
        rows = await self._rows(_STREAMS, house, prefix, f"{prefix}\U0010ffff", limit)
        return [stream for (stream,) in rows]

    async def read_log(self, house: str, after: int = 0, limit: int = 1000) -> list[Recorded]:
        return await self._log(Recorded, house, after, limit)

    async def stream_facts(
        self, house: str, stream: str, after: int = 0, limit: int = 1000
    ) -> list[Fact]:
        return await self._stream(Fact, house, stream, after, limit)

    async def log_facts(self, house: str, after: int = 0, limit: int = 1000) -> list[Fact]:
        return await self._log(Fact, house, after, limit)

    async def outcome(self, house: str, command_id: str) -> Outcome | None:
        for request_hash, stream, first, last, version in await self._rows(
            _OUTCOME, house, command_id
        ):
            return Outcome(request_hash, Appended(stream, first, last, version, replayed=True))
        return None

    async def read_snapshot(
        self, house: str, stream: str, format: str, at_version: int | None = None
    ) -> Snapshot | None:
        newest = _NEWEST if at_version is None else at_version
        for row in await self._rows(_SNAPSHOT, house, stream, format, newest):
            return Snapshot(*row)
        return None

    async def write_snapshot(
        self, house: str, stream: str, format: str, snapshot: Snapshot
    ) -> None:
        version, position, state = snapshot.version, snapshot.position, snapshot.state
        await self._rows(_KEEP_SNAPSHOT, house, stream, format, version, position, state)
        await self.rows(
            _DROP_SNAPSHOTS,
            {"house": house, "stream": stream, "format": format}
            | {"newest": NEWEST_SNAPSHOTS - 1, "apart": SNAPSHOTS_APART},
        )

    async def claim_deadlines(
        self, house: str, now: datetime, until: datetime, limit: int = 100
    ) -> list[Deadline]:
        return list(starmap(Deadline, await self._rows(_CLAIM, house, now, until, limit)))

    async def houses_due(self, now: datetime) -> list[str]:
        """The houses in which a deadline is due that nobody has claimed.

        One statement over all of them: a claim in each would be as many as there are houses, ten
        times a second, where hardly ever anything is due.
        """
        return [house for (house,) in await self.rows(_HOUSES_DUE, (now, now))]

    async def head(self, house: str) -> Head:
        for row in await self._rows(_HEAD, house):
            return Head(*row)
        raise HouseNotOpen(house)

    async def balance(self, house: str, account: str) -> int:
        for (balance,) in await self._rows(_BALANCE, house, account):
            return int(balance)
        return 0

    async def command_at(self, house: str, position: int) -> tuple[int, int]:
        """The first and the last position of the command that the event at a position belongs to.

        Both are the position itself where there is no such event.
        """
        for first, last in await self._rows(_COMMAND_AT, house, position):
            return first, last
        for first, last in await self._rows(_ARCHIVED_COMMAND_AT, house, position, house, position):
            return first, last
        return position, position

    async def _stream(
        self, kind: type[AFact], house: str, stream: str, after: int, limit: int
    ) -> list[AFact]:
        rows = await self._rows(
            _STREAM[kind], house, stream, after, after + limit, house, house, stream, after
        )
        if rows and rows[-1][0] is None:
            _, place, version, *_ = rows[-1]
            detail = f"{stream} is archived up to version {version}: {place}."
            raise Archived(detail, place, last_version=version)
        return list(starmap(kind, rows))

    async def _log(self, kind: type[AFact], house: str, after: int, limit: int) -> list[AFact]:
        rows = await self._rows(_LOG[kind], house, after, after + limit, house, after, after)
        if rows and rows[-1][0] is None:
            _, place, position, _, _, chain, *_ = rows[-1]
            detail = f"The log is archived up to position {position}: {place}."
            raise Archived(detail, place, chain, last_position=position)
        return list(starmap(kind, rows))

    async def _appending(self) -> AsyncConnection[Row]:
        if self._appender is None or self._appender.closed:
            self._appender = await AsyncConnection.connect(self._url, **SERVING)
            arrays.register(self._appender)
        return self._appender

    async def _hang_up(self) -> None:
        if self._appender:
            await self._appender.close()
        self._appender = None

    async def _rows(self, query: LiteralString, *parameters: object) -> list[Row]:
        return await self.rows(query, parameters)

    async def rows(
        self, query: LiteralString, parameters: Params, as_what: AsyncRowFactory[Any] = tuple_row
    ) -> list[Any]:
        """A statement that may be repeated: on another connection, when that one breaks."""
        for _ in range(self.readers.max_size + 1):
            try:
                return await self._rows_once(query, parameters, as_what)
            except PoolTimeout as error:
                raise Unreachable("The database does not answer.") from error
            except psycopg.OperationalError as error:
                if not is_lost(error):
                    raise Unreachable("The database could not do that now.") from error
        raise Unreachable("Every connection to the log is broken.")

    async def _rows_once(
        self, query: LiteralString, parameters: Params, as_what: AsyncRowFactory[Any]
    ) -> list[Any]:
        async with self.readers.connection() as connection:
            cursor: AsyncCursor[Any] = connection.cursor(binary=True, row_factory=as_what)
            await cursor.execute(query, parameters)
            return await cursor.fetchall() if cursor.description else []


def is_lost(error: Exception) -> bool:
    """Whether a connection broke, or none was to be had, rather than that a statement failed."""
    if isinstance(error, psycopg.OperationalError):
        return (error.sqlstate or _LOST[0]).startswith(_LOST)
    return isinstance(error, Unreachable)


def _is_away(error: psycopg.Error) -> bool:
    """Whether it is the server that cannot, rather than the command that is wrong."""
    state = error.sqlstate or ("08" if isinstance(error, psycopg.OperationalError) else "")
    return state.startswith(_AWAY)


_NOT_OPEN = "CR404"
_LOST = ("08", "57P")
"""Connection lost, shutting down."""

_AWAY = ("08", "25006", "40", "53", "55", "57")
"""Connection lost, read-only, rolled back, out of resources, locked, shutting down."""

_NEWEST = 2**63 - 1

_APPEND: LiteralString = (
    "SELECT append_batch(%b, "  # house, and the columns
    "%b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b)"
)

# What is read of each event, and what stands there in a row that is none.
_READ: dict[type[Fact], tuple[LiteralString, LiteralString]] = {
    Fact: ("", ""),
    Recorded: (", command_id, leaf, chain", ", '', '', ''"),
}

# Places have no gaps, so a page is a range of them: a plan for it can neither sort the rest of the
# log nor look into partitions where the page is not, whatever is known of the table.
# The last row of these two has no position when what they ask for is in the archive, in part or
# all of it. Asked in the same statement, neither can be true of another moment than the other.
_STREAM: dict[type[Fact], LiteralString] = {
    kind: f"""
    (SELECT position, stream, version, type, schema_version, envelope{columns} FROM event_log
      WHERE house = %b AND stream = %b AND version > %b AND version <= %b ORDER BY version)
    UNION ALL
    SELECT NULL, (SELECT place FROM archive WHERE house = %b ORDER BY last_position DESC LIMIT 1),
           version, '', 0, ''{blanks}
      FROM archived_stream WHERE house = %b AND stream = %b AND version > %b"""
    for kind, (columns, blanks) in _READ.items()
}

_STREAMS: LiteralString = """
    SELECT stream FROM stream_head
     WHERE house = %b AND stream >= %b AND stream < %b ORDER BY stream LIMIT %b"""

_LOG: dict[type[Fact], LiteralString] = {
    kind: f"""
    (SELECT position, stream, version, type, schema_version, envelope{columns} FROM event_log
      WHERE house = %b AND position > %b AND position <= %b ORDER BY position)
    UNION ALL
    SELECT NULL, place, last_position, '', 0, chain{blanks}
      FROM archive WHERE house = %b AND last_position > %b AND first_position <= %b + 1"""
    for kind, (columns, blanks) in _READ.items()
}

_COMMAND_AT: LiteralString = """
    SELECT o.first_position, o.last_position
      FROM event_log e JOIN command_outcome o ON o.house = e.house AND o.command_id = e.command_id
     WHERE e.house = %b AND e.position = %b"""

# Outcomes outlive the events that are archived, but are not found by position: this reads them all.
_ARCHIVED_COMMAND_AT: LiteralString = """
    SELECT first_position, last_position FROM command_outcome
     WHERE house = %b AND %b BETWEEN first_position AND last_position
       AND EXISTS (SELECT FROM archive WHERE house = %b AND last_position >= %b)"""

_OUTCOME: LiteralString = """
    SELECT request_hash, stream, first_position, last_position, version
      FROM command_outcome WHERE house = %b AND command_id = %b"""

_SNAPSHOT: LiteralString = """
    SELECT version, position, state FROM snapshot
     WHERE house = %b AND stream = %b AND format = %b AND version <= %b
     ORDER BY version DESC LIMIT 1"""

_KEEP_SNAPSHOT: LiteralString = """
    INSERT INTO snapshot (house, stream, format, version, position, state)
    VALUES (%b, %b, %b, %b, %b, %b) ON CONFLICT DO NOTHING"""

_DROP_SNAPSHOTS: LiteralString = """
    DELETE FROM snapshot s
     WHERE s.house = %(house)b AND s.stream = %(stream)b AND s.format = %(format)b
       AND s.version < (SELECT n.version FROM snapshot n
                         WHERE n.house = %(house)b AND n.stream = %(stream)b
                           AND n.format = %(format)b
                         ORDER BY n.version DESC OFFSET %(newest)b LIMIT 1)
       AND EXISTS (SELECT FROM snapshot o
                    WHERE o.house = %(house)b AND o.stream = %(stream)b
                      AND o.format = %(format)b AND o.version < s.version
                      AND o.version / %(apart)b = s.version / %(apart)b)"""

_HOUSES_DUE: LiteralString = """
    SELECT h.house FROM log_head h
     WHERE EXISTS (SELECT FROM deadline d
                    WHERE d.house = h.house AND d.due_at <= %b
                      AND (d.claimed_until IS NULL OR d.claimed_until <= %b))
     ORDER BY h.house"""

_CLAIM: LiteralString = "SELECT * FROM claim_deadlines(%b, %b, %b, %b)"

_HEAD: LiteralString = "SELECT position, chain FROM log_head WHERE house = %b"

_BALANCE: LiteralString = "SELECT balance FROM account WHERE house = %b AND account = %b"
