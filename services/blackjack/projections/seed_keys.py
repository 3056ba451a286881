"""Which seed keys the tables of all houses still need: those under which their seeds are sealed."""

from collections.abc import Sequence
from typing import Final, LiteralString, NamedTuple

from psycopg import Connection
from psycopg.rows import class_row


class Needed(NamedTuple):
    """A seed key, how many tables need it for their next or running round, and one of them."""

    key_id: str
    tables: int
    house: str
    table: str


def needed_keys(connection: Connection, besides: Sequence[str] = ()) -> list[Needed]:
    """The keys that tables need, besides those that are named, by id.

    From the view of tables, and from what the log has beyond it: nothing is missed while the view
    is behind, but then it takes the longer the further.
    """
    with connection.cursor(row_factory=class_row(Needed)) as cursor:
        return cursor.execute(_NEEDED, {"besides": list(besides)}).fetchall()


_NEEDED: Final[LiteralString] = """
    WITH view AS (
        SELECT h.house, c.generation, coalesce(c.position, 0) AS position
          FROM log_head h
          LEFT JOIN projection_checkpoint c ON c.house = h.house AND c.name = 'tables'
    ), newer AS MATERIALIZED (
        SELECT DISTINCT ON (e.house, e.stream)
               e.house, substr(e.stream, length('table-') + 1) AS id,
               convert_from(e.envelope, 'UTF8')::jsonb #>> '{data,next,key_id}' AS seed_key
          FROM view v
          JOIN event_log e ON e.house = v.house AND e.position > v.position
         WHERE e.type IN ('blackjack.table_opened', 'blackjack.seed_revealed',
                          'blackjack.table_closed')
         ORDER BY e.house, e.stream, e.version DESC
    ), known AS (
        SELECT n.house, n.id, n.seed_key FROM newer n WHERE n.seed_key IS NOT NULL
        UNION ALL
        SELECT t.house, t.id, t.seed_key
          FROM view v
          JOIN projected_table t ON t.house = v.house AND t.generation = v.generation
         WHERE t.seed_key IS NOT NULL
           AND NOT EXISTS (SELECT FROM newer n WHERE n.house = t.house AND n.id = t.id)
    )
    SELECT seed_key AS key_id, count(*) AS tables, min(house) AS house,
           (min(ARRAY[house, id]))[2] AS table
      FROM known WHERE seed_key <> ALL (%(besides)s)
     GROUP BY seed_key ORDER BY seed_key"""
