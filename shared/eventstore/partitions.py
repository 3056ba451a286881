"""The partitions of `event_log`: made before they are needed, and taken out when they are sealed.

A partition is a range of positions, the same for every house. All of it is the work of the role
that owns the schema; the one that serves can neither add a partition nor take one away.
"""

import re
from collections.abc import Iterable
from typing import Final

import psycopg
from msgspec import Struct
from psycopg import Connection, sql
from psycopg.rows import TupleRow

Owner = Connection[TupleRow]

EVENTS: Final = 50_000_000
"""How many positions a partition spans: few partitions, because a stream is looked for in each."""

_LOCK_TIMEOUT: Final = "5s"
"""Behind a lock that waits, everybody waits. Rather give up and come again."""


class Partition(Struct, frozen=True):
    """A partition and the positions it is for; `last` is part of it."""

    name: str
    first: int
    last: int


def partitions(owner: Owner) -> list[Partition]:
    """Every partition but the default, by position."""
    found = [
        Partition(name, int(first), int(end) - 1)
        for name, bound in owner.execute(_BOUNDS).fetchall()
        for first, end in _RANGE.findall(bound.replace("MINVALUE", "'1'"))
    ]
    return sorted(found, key=lambda partition: partition.first)


def make_ahead(owner: Owner, events: int = EVENTS, spare: int = 1) -> list[Partition]:
    """Sees to it that `spare` empty partitions wait beyond the newest event of any house.

    Returns those it made: none, when enough were there. Repeating it is harmless, and so are two
    at once. Events that ran past the last partition, into the default, become one of their own.
    """
    if _enough(owner, spare) and not _ran_past(owner):
        return []
    with owner.transaction():
        _alone(owner)
        made = [_from_default(owner, events)] if _ran_past(owner) else []
        while not _enough(owner, spare):
            last = partitions(owner)[-1]
            made.append(_next(last, last.last + events))
            with_triggers(owner, made[-1].name)
            attach(owner, made[-1])
        return made


def keep_ahead(owner_url: str) -> list[Partition]:
    """`make_ahead` on a connection of its own."""
    with psycopg.connect(owner_url, autocommit=True, connect_timeout=5) as owner:
        return make_ahead(owner)


def sealed_houses(owner: Owner, partition: Partition) -> list[str]:
    """The houses with events in a partition that will write no more of them there."""
    found = owner.execute(
        sql.SQL(
            "SELECT h.house FROM log_head h WHERE h.position >= %s AND EXISTS "
            "(SELECT FROM {} e WHERE e.house = h.house) ORDER BY 1"
        ).format(sql.Identifier(partition.name)),
        (partition.last,),
    )
    return [house for (house,) in found]


def replace(owner: Owner, partition: Partition, leaving: Iterable[str]) -> int:
    """Takes a partition out, in the caller's transaction, and puts a new one in its place.

    It moves to the schema `detached`. The new one has the events of all houses that do not leave;
    returns how many. Nobody reads or appends meanwhile, so do no more in this transaction than
    has to be done.
    """
    _alone(owner)
    old = sql.Identifier("detached", partition.name)
    name = sql.Identifier(partition.name)
    owner.execute(sql.SQL("ALTER TABLE event_log DETACH PARTITION {}").format(name))
    owner.execute(sql.SQL("ALTER TABLE {} SET SCHEMA detached").format(name))
    with_triggers(owner, partition.name)
    stay = sql.SQL("INSERT INTO {} SELECT * FROM {} WHERE house <> ALL(%s)").format(name, old)
    stayed = owner.execute(stay, (list(leaving),)).rowcount
    attach(owner, partition)
    return stayed


def with_triggers(owner: Owner, name: str) -> None:
    """A table like `event_log`, append-only by itself: a trigger guards no other table."""
    table = sql.Identifier(name)
    owner.execute(sql.SQL("CREATE TABLE {} (LIKE event_log INCLUDING ALL)").format(table))
    owner.execute(
        sql.SQL(
            "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        ).format(table)
    )


def attach(owner: Owner, partition: Partition) -> None:
    """Makes a table a partition. Attached rather than created as one, it lets readers read on."""
    owner.execute(
        sql.SQL("ALTER TABLE event_log ATTACH PARTITION {} FOR VALUES FROM ({}) TO ({})").format(
            sql.Identifier(partition.name), partition.first, partition.last + 1
        )
    )


def _alone(owner: Owner) -> None:
    owner.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
    owner.execute("SELECT pg_advisory_xact_lock(hashtext('croupier partitions'))")


def _enough(owner: Owner, spare: int) -> bool:
    row = owner.execute("SELECT coalesce(max(position), 0) FROM log_head").fetchone()
    head = row[0] if row else 0
    return sum(partition.first > head for partition in partitions(owner)) >= spare


def _ran_past(owner: Owner) -> bool:
    return owner.execute("SELECT FROM event_log_rest LIMIT 1").rowcount == 1


def _next(before: Partition, last: int) -> Partition:
    number = int(before.name.rpartition("_")[2]) + 1
    return Partition(f"event_log_{number}", before.last + 1, last)


def _from_default(owner: Owner, events: int) -> Partition:
    """The default partition, as it is, becomes the next one, and a new default takes its place."""
    before = partitions(owner)[-1]
    owner.execute("LOCK TABLE event_log IN SHARE ROW EXCLUSIVE MODE")
    row = owner.execute("SELECT max(position) FROM event_log_rest").fetchone()
    last = before.last
    while row and last < row[0]:
        last += events
    made = _next(before, last)
    owner.execute("ALTER TABLE event_log DETACH PARTITION event_log_rest")
    owner.execute(
        sql.SQL("ALTER TABLE event_log_rest RENAME TO {}").format(sql.Identifier(made.name))
    )
    attach(owner, made)
    with_triggers(owner, "event_log_rest")
    owner.execute("ALTER TABLE event_log ATTACH PARTITION event_log_rest DEFAULT")
    return made


_RANGE: Final = re.compile(r"FROM \('(\d+)'\) TO \('(\d+)'\)")

_BOUNDS: Final = """
    SELECT c.relname, pg_get_expr(c.relpartbound, c.oid)
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'public.event_log'::regclass"""
