"""Which seed keys the tables of all houses still need: those under which their seeds are sealed."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, LiteralString, NamedTuple

import msgspec
from msgspec import Struct
from psycopg import Connection


class Needed(NamedTuple):
    """A seed key, how many tables need it for their next or running round, and one of them."""

    key_id: str
    tables: int
    house: str
    table: str


def needed_keys(connection: Connection, besides: Sequence[str] = ()) -> list[Needed]:
    """The keys that tables need, besides those that are named, by id.

    From the view of tables, and from what the log has beyond it: nothing is missed while the view
    is behind, but then it takes the longer the further. What a database makes of the words in an
    envelope does not matter: of those that are newer than the view, this reads what it needs.
    """
    tables: defaultdict[str, int] = defaultdict(int)
    first: dict[str, tuple[str, str]] = {}
    for number, house, table, key_id, envelope in connection.execute(_NEEDED):
        if envelope is not None:
            key_id = _key_id(envelope)
        if key_id is None or key_id in besides:
            continue
        tables[key_id] += number
        first[key_id] = min(first.get(key_id, (house, table)), (house, table))
    return [Needed(key_id, tables[key_id], *first[key_id]) for key_id in sorted(tables)]


class _Next(Struct):
    key_id: str


class _Data(Struct):
    next: _Next | None = None


class _Sealed(Struct):
    data: _Data


_sealed: Final = msgspec.json.Decoder(_Sealed)


def _key_id(envelope: bytes) -> str | None:
    """Under which key the next seed of a table is sealed; None where none is, or none is told."""
    try:
        found = _sealed.decode(envelope).data.next
    except ValueError:  # whoever loads this table will say so
        return None
    return found.key_id if found else None


_NEEDED: Final[LiteralString] = """
    WITH view AS (
        SELECT h.house, c.generation, coalesce(c.position, 0) AS position
          FROM log_head h
          LEFT JOIN projection_checkpoint c ON c.house = h.house AND c.name = 'tables'
    ), newest AS MATERIALIZED (
        SELECT DISTINCT ON (e.house, e.stream)
               e.house, e.position, substr(e.stream, length('table-') + 1) AS id
          FROM view v
          JOIN event_log e ON e.house = v.house AND e.position > v.position
         WHERE e.type IN ('blackjack.table_opened', 'blackjack.seed_revealed',
                          'blackjack.table_closed')
         ORDER BY e.house, e.stream, e.version DESC
    )
    SELECT 1, n.house, n.id, NULL, e.envelope
      FROM newest n JOIN event_log e ON e.house = n.house AND e.position = n.position
     UNION ALL
    SELECT count(*), min(t.house), (min(ARRAY[t.house, t.id]))[2], t.seed_key, NULL
      FROM view v
      JOIN projected_table t ON t.house = v.house AND t.generation = v.generation
     WHERE t.seed_key IS NOT NULL
       AND NOT EXISTS (SELECT FROM newest n WHERE n.house = t.house AND n.id = t.id)
     GROUP BY t.seed_key"""
