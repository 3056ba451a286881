"""An append reads every table by its key, however large it is and however small it began."""

import psycopg
from msgspec.structs import replace

from shared.eventstore.postgres import PostgresStore
from shared.eventstore.store import Append, Deadline
from shared.kernel.chips import ISSUANCE, vault
from tests.conftest import Database
from tests.eventstore.appends import HOUSE, NOW, a_command, an_event

BATCHES, SIZE = 60, 20
READS = """
    SELECT relname, seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
     WHERE relname IN ('log_head', 'stream_head', 'account', 'command_outcome', 'deadline')"""


async def test_the_rows_read_do_not_grow_with_the_tables(
    postgres: PostgresStore, database: Database
) -> None:
    async with PostgresStore(database.app_url) as store:  # its statistics come when it leaves
        for batch in range(BATCHES):
            await store.append_batch(HOUSE, [a_visit(batch, n) for n in range(SIZE)])
            if batch % 2:
                await store.append_batch(HOUSE, [a_visit(batch, n) for n in range(SIZE)])

    with psycopg.connect(database.owner_url) as owner:
        read = dict(owner.execute(READS).fetchall())

    appended = BATCHES * SIZE
    assert {table for table, rows in read.items() if rows > 4 * appended} == set()


def a_visit(batch: int, n: int) -> Append:
    """A new stream with a deadline, a new vault and a well-known one."""
    guest = f"{batch}-{n}"
    append = a_command(guest, an_event(f"table-{guest}", ISSUANCE, -1, vault(guest), 1))
    return replace(append, deadline=Deadline(append.stream, "turn", NOW))
