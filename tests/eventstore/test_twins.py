"""The two stores are twins: whatever comes, they answer and keep the same."""

import asyncio
import secrets
from datetime import timedelta

import psycopg
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from shared.eventstore.memory import MemoryStore
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.store import Append, Appended, Deadline, EventStore, NewEvent
from shared.kernel.chips import ISSUANCE, Posting, bank, in_play, stack, vault
from shared.kernel.rejected import Rejected
from tests.conftest import Database
from tests.eventstore.appends import NOW

STREAMS = ("table-s", "table-t", "vault-ada")
ACCOUNTS = (ISSUANCE, vault("ada"), stack("t", "ada"), in_play("t"), bank("t"))
NOON, A_MILLISECOND, A_SECOND = NOW.replace(microsecond=0), timedelta(0, 0, 1000), timedelta(0, 1)
LATER = NOON + 9 * A_SECOND
COMMAND_IDS = tuple(f"c{n}" for n in range(12))

amounts = st.integers(-40, 40) | st.integers(-(2**40), 2**40)
moves = st.tuples(st.sampled_from(ACCOUNTS), st.sampled_from(ACCOUNTS), amounts)


@st.composite
def events(draw: st.DrawFn) -> NewEvent:
    lines = []
    for giver, taker, amount in draw(st.lists(moves, max_size=3)):
        lines += [Posting(giver, -amount), Posting(taker, amount)]
    if draw(st.integers(0, 19)) == 0:
        lines.append(Posting(draw(st.sampled_from(ACCOUNTS)), draw(amounts)))
    envelope = draw(st.binary(max_size=20))
    return NewEvent(draw(st.sampled_from(STREAMS)), "test.happened", 1, envelope, tuple(lines))


@st.composite
def appends(draw: st.DrawFn, command_id: str) -> Append:
    stream = draw(st.sampled_from(STREAMS))
    return Append(
        command_id=command_id,
        request_hash=stream.encode() + draw(st.sampled_from([b"", b"", b"", b" otherwise"])),
        stream=stream,
        expected_version=draw(st.none() | st.integers(0, 8)),
        events=tuple(draw(st.lists(events(), min_size=1, max_size=4))),
        deadline=draw(st.just(UNSET) | st.none() | deadlines(stream)),
    )


def deadlines(stream: str) -> st.SearchStrategy[Deadline]:
    due = st.integers(-3, 3).map(lambda n: NOON + n * A_MILLISECOND)
    return st.builds(Deadline, st.just(stream), st.sampled_from(["1.bets", "1.insurance"]), due)


@st.composite
def batches(draw: st.DrawFn) -> list[Append]:
    ids = draw(st.lists(st.sampled_from(COMMAND_IDS), min_size=1, max_size=6, unique=True))
    return [draw(appends(command_id)) for command_id in ids]


def test_any_batches_have_the_same_effect_on_both(database: Database) -> None:
    with (
        psycopg.connect(database.owner_url, autocommit=True) as owner,
        asyncio.Runner() as runner,
    ):
        postgres = runner.run(PostgresStore(database.app_url, readers=1).__aenter__())

        @settings(max_examples=150, deadline=None, print_blob=True)
        @given(st.lists(batches(), min_size=1, max_size=6))
        def tell_both(story: list[list[Append]]) -> None:
            house = secrets.token_hex(8)  # a log of its own for each story
            owner.execute("SELECT open_house(%s)", (house,))
            runner.run(compare(house, postgres, MemoryStore(house), story))

        try:
            tell_both()
        finally:
            runner.run(postgres.__aexit__())


async def compare(
    house: str, one: EventStore, other: EventStore, story: list[list[Append]]
) -> None:
    for batch in story:
        answers = await one.append_batch(house, batch)
        expected = await other.append_batch(house, batch)
        assert list(map(plain, answers)) == list(map(plain, expected))
        until = NOON + A_MILLISECOND
        claimed = await one.claim_deadlines(house, NOON, until, limit=1)
        assert claimed == await other.claim_deadlines(house, NOON, until, limit=1)
    assert await everything(one, house) == await everything(other, house)


def plain(answer: Appended | Rejected) -> object:
    if isinstance(answer, Rejected):
        return type(answer), answer.detail, answer.facts
    return answer


async def everything(store: EventStore, house: str) -> object:
    return (
        await store.head(house),
        await store.read_log(house),
        [await store.read_stream(house, stream) for stream in STREAMS],
        [await store.balance(house, account) for account in ACCOUNTS],
        [await store.outcome(house, command_id) for command_id in COMMAND_IDS],
        [await store.claim_deadlines(house, NOON + n * A_SECOND, LATER) for n in range(2)],
    )
