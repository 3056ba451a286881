"""Many writers and a reader at its heels, on connections of their own."""

import asyncio
from collections import Counter

import psycopg
from msgspec import structs

from shared.eventstore.batcher import Batcher
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.rejections import InsufficientChips, VersionConflict
from shared.eventstore.store import Append, Recorded
from shared.eventstore.subscription import follow
from tests.conftest import Database
from tests.eventstore.appends import ADA, BOB, HOUSE, a_command, a_grant, an_event

WRITERS, COMMANDS = 8, 50
EVENTS = WRITERS * COMMANDS * 2


async def test_a_reader_behind_eight_writers_misses_nothing_and_doubles_nothing(
    postgres: PostgresStore, database: Database
) -> None:
    async with asyncio.timeout(60):
        reading = asyncio.create_task(tail(postgres))
        await asyncio.gather(*(write(database, writer) for writer in range(WRITERS)))
        read = await reading

    assert [record.position for record in read] == list(range(1, EVENTS + 1))
    by_command = Counter(record.command_id for record in read)
    assert by_command == {f"{w}-{n}": 2 for w in range(WRITERS) for n in range(COMMANDS)}
    versions: Counter[str] = Counter()
    for record in read:
        versions[record.stream] += 1
        assert record.version == versions[record.stream]


async def test_writers_on_one_stream_never_overwrite_each_other(
    postgres: PostgresStore, database: Database
) -> None:
    async with asyncio.timeout(60):
        await asyncio.gather(*(increment(database, writer) for writer in range(WRITERS)))

    stream = await postgres.read_stream(HOUSE, "counter")
    assert [record.version for record in stream] == list(range(1, WRITERS * 10 + 1))


async def test_a_hundred_debits_over_many_connections_leave_what_one_leaves(
    postgres: PostgresStore, database: Database
) -> None:
    await postgres.append_batch(HOUSE, [a_grant("grant", ADA, 100)])

    async def debits(writer: int) -> list[object]:
        async with PostgresStore(database.app_url) as store, Batcher(store) as batcher:
            return await asyncio.gather(
                *(
                    batcher.append(HOUSE, debit)
                    for n in range(25)
                    for debit in [a_command(f"{writer}-{n}", an_event(f"t-{n}", ADA, -60, BOB, 60))]
                ),
                return_exceptions=True,
            )

    answers = [a for answers in await asyncio.gather(*map(debits, range(4))) for a in answers]

    refused = [answer for answer in answers if isinstance(answer, InsufficientChips)]
    assert (len(answers), len(refused)) == (100, 99)
    assert [await postgres.balance(HOUSE, account) for account in (ADA, BOB)] == [40, 60]


async def test_the_books_balance_after_a_crowd(postgres: PostgresStore, database: Database) -> None:
    await asyncio.gather(*(write(database, writer) for writer in range(WRITERS)))

    with psycopg.connect(database.owner_url) as owner:
        wrong = owner.execute("""
            SELECT account FROM account a
             WHERE balance <> (SELECT sum(amount) FROM posting p WHERE p.account = a.account)
                OR balance <> (SELECT balance_after FROM posting p WHERE p.account = a.account
                                ORDER BY position DESC, line DESC LIMIT 1)""").fetchall()
        (total,) = owner.execute("SELECT sum(balance) FROM account").fetchone() or (None,)

    assert (wrong, total) == ([], 0)


async def tail(store: PostgresStore) -> list[Recorded]:
    read: list[Recorded] = []
    async for page in follow(store, HOUSE, look_again_seconds=0.001, page=7):
        read += page
        if len(read) >= EVENTS:
            break
    return read


async def write(database: Database, writer: int) -> None:
    """Commands into a stream of its own and one that all share, chips from hand to hand."""
    async with PostgresStore(database.app_url) as store, Batcher(store) as batcher:
        await asyncio.gather(
            *(
                batcher.append(
                    HOUSE,
                    a_command(
                        f"{writer}-{n}",
                        an_event(f"own-{writer}", "bank", -n, f"bank-{writer}", n),
                        an_event("shared", f"bank-{writer}", -1, f"bank-{n % WRITERS}", 1),
                    ),
                )
                for n in range(COMMANDS)
            )
        )


async def increment(database: Database, writer: int) -> None:
    """Ten optimistic commands on one counter, each tried until it fits."""
    async with PostgresStore(database.app_url) as store, Batcher(store) as batcher:
        version = 0
        for n in range(10):
            command: Append = a_command(f"{writer}-{n}", an_event("counter"))
            while True:
                try:
                    expecting = structs.replace(command, expected_version=version)
                    version = (await batcher.append(HOUSE, expecting)).version
                    break
                except VersionConflict as conflict:
                    version = conflict.facts["actual"]
