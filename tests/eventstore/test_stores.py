"""What both stores promise: the same tests for the one in Postgres and the one in memory."""

from collections.abc import Sequence

import pytest
from msgspec import structs

from shared.eventstore.chain import GENESIS, verify_chain
from shared.eventstore.rejections import InsufficientChips, KeyReused, Unbalanced, VersionConflict
from shared.eventstore.store import Append, Appended, EventStore, Head, HouseNotOpen, Snapshot
from shared.kernel.chips import ISSUANCE, bank, in_play, stack
from shared.kernel.rejected import Rejected
from tests.eventstore.appends import ADA, BOB, HOUSE, a_command, a_grant, an_event

STACK, IN_PLAY, BANK = stack("t", "ada"), in_play("t"), bank("t")
HUNDRED = a_grant("grant", ADA, 100)
OPENED = a_command("open", an_event("table-t"), an_event("table-t"), expected=0)

ANSWERS: dict[str, tuple[list[Append], Append, Appended | tuple[type[Rejected], dict[str, object]]]]
ANSWERS = {
    "the first command of a stream": (
        [],
        a_command("c", an_event("table-t"), an_event("table-t"), expected=0),
        Appended("table-t", 1, 2, 2),
    ),
    "the next": (
        [OPENED],
        a_command("c", an_event("table-t"), expected=2),
        Appended("table-t", 3, 3, 3),
    ),
    "whatever the version is": (
        [OPENED],
        a_command("c", an_event("table-t"), expected=None),
        Appended("table-t", 3, 3, 3),
    ),
    "into two streams": (
        [OPENED, HUNDRED],
        a_command("c", an_event("table-t"), an_event("vault-ada"), an_event("table-t")),
        Appended("table-t", 4, 6, 4),
    ),
    "into another stream alone": (
        [OPENED],
        Append("c", b"body", "table-t", 2, (an_event("vault-ada"),)),
        Appended("table-t", 3, 3, 2),
    ),
    "the same again": ([OPENED, HUNDRED], OPENED, Appended("table-t", 1, 2, 2, replayed=True)),
    "the same key for something else": (
        [OPENED],
        a_command("open", an_event("table-t"), body=b"other"),
        (KeyReused, {}),
    ),
    "a stale version": (
        [OPENED],
        a_command("c", an_event("table-t"), expected=1),
        (VersionConflict, {"actual": 2}),
    ),
    "a version not yet there": (
        [OPENED],
        a_command("c", an_event("table-t"), expected=3),
        (VersionConflict, {"actual": 2}),
    ),
    "a stream that is there already": (
        [OPENED],
        a_command("c", an_event("table-t"), expected=0),
        (VersionConflict, {"actual": 2}),
    ),
    "chips out of nowhere": (
        [],
        a_command("c", an_event("vault-ada", ISSUANCE, -5, ADA, 7)),
        (Unbalanced, {"off_by": 2}),
    ),
    "balanced over two events": (
        [HUNDRED],
        a_command("c", an_event("table-t", STACK, 5), an_event("vault-ada", ADA, -5)),
        Appended("table-t", 2, 3, 1),
    ),
    "all that is there": (
        [HUNDRED],
        a_command("c", an_event("table-t", ADA, -100, STACK, 100)),
        Appended("table-t", 2, 2, 1),
    ),
    "one more than is there": (
        [HUNDRED],
        a_command("c", an_event("table-t", ADA, -101, STACK, 101)),
        (InsufficientChips, {"account": ADA, "balance": 100, "needed": 101}),
    ),
    "from an account never used": (
        [],
        a_command("c", an_event("table-t", ADA, -1, STACK, 1)),
        (InsufficientChips, {"account": ADA, "balance": 0, "needed": 1}),
    ),
    "too much by its second posting": (
        [HUNDRED],
        a_command(
            "c", an_event("table-t", ADA, -60, BOB, 60), an_event("table-t", ADA, -60, BOB, 60)
        ),
        (InsufficientChips, {"account": ADA, "balance": 40, "needed": 60}),
    ),
    "spent before it came": (
        [],
        a_command(
            "c",
            an_event("table-t", IN_PLAY, -5, STACK, 5),
            an_event("table-t", STACK, -5, IN_PLAY, 5),
        ),
        (InsufficientChips, {"account": IN_PLAY, "balance": 0, "needed": 5}),
    ),
    "a bank may owe": (
        [],
        a_command("c", an_event("table-t", BANK, -50, STACK, 50)),
        Appended("table-t", 1, 1, 1),
    ),
}
ONE_BATCH = {
    name: (given, when, then)
    for name, (given, when, then) in ANSWERS.items()
    if when.command_id not in {append.command_id for append in given}  # the ids of a batch differ
}


@pytest.mark.parametrize(("given", "when", "then"), ANSWERS.values(), ids=ANSWERS)
async def test_what_a_command_is_answered(
    store: EventStore,
    given: list[Append],
    when: Append,
    then: Appended | tuple[type[Rejected], dict[str, object]],
) -> None:
    await all_accepted(store, given)
    before = await store.head(HOUSE)

    (answer,) = await store.append_batch(HOUSE, [when])

    if isinstance(then, Appended):
        assert answer == then
    else:
        assert (type(answer), getattr(answer, "facts", None)) == then
        assert await store.head(HOUSE) == before


@pytest.mark.parametrize(("given", "when", "then"), ONE_BATCH.values(), ids=ONE_BATCH)
async def test_a_batch_answers_as_one_command_after_the_other(
    store: EventStore,
    given: list[Append],
    when: Append,
    then: Appended | tuple[type[Rejected], dict[str, object]],
) -> None:
    *_, answer, after = await store.append_batch(
        HOUSE, [*given, when, a_command("after", an_event("elsewhere"))]
    )

    assert isinstance(after, Appended)
    if isinstance(then, Appended):
        assert answer == then
    else:
        assert (type(answer), getattr(answer, "facts", None)) == then


async def test_refused_commands_leave_nothing_between_the_others(store: EventStore) -> None:
    refused = a_command("r", an_event("table-t", ADA, -5, BOB, 5), an_event("table-t"))
    accepted = a_command("c", an_event("table-u", ISSUANCE, -5, BOB, 5), an_event("table-t"))
    batch = [refused, structs.replace(refused, command_id="s"), accepted]
    answers = await store.append_batch(HOUSE, [*batch, structs.replace(refused, command_id="t")])

    assert list(map(type, answers)) == [
        InsufficientChips,
        InsufficientChips,
        Appended,
        InsufficientChips,
    ]
    assert answers[2] == Appended("table-u", 1, 2, 1)
    assert [(r.stream, r.version) for r in await store.read_log(HOUSE)] == [
        ("table-u", 1),
        ("table-t", 1),
    ]
    assert await store.balance(HOUSE, BOB) == 5


async def test_what_was_written_is_read_in_order(store: EventStore) -> None:
    await all_accepted(store, [OPENED, HUNDRED, a_command("c", an_event("table-t"))])

    log = await store.read_log(HOUSE)
    table = await store.read_stream(HOUSE, "table-t")

    assert [(r.position, r.stream, r.version, r.command_id) for r in log] == [
        (1, "table-t", 1, "open"),
        (2, "table-t", 2, "open"),
        (3, "vault-house", 1, "grant"),
        (4, "table-t", 3, "c"),
    ]
    assert table == [log[0], log[1], log[3]]
    assert {(r.type, r.schema_version) for r in log} == {("test.happened", 1)}
    assert [r.envelope for r in table] == [event.envelope for event in OPENED.events] + [
        an_event("table-t").envelope
    ]
    assert verify_chain(log) == (4, log[-1].chain)
    assert await store.head(HOUSE) == Head(4, log[-1].chain)


async def test_pages_follow_each_other(store: EventStore) -> None:
    await all_accepted(store, [a_command(f"c{n}", an_event(f"table-{n % 2}")) for n in range(10)])

    assert [r.position for r in await store.read_log(HOUSE, after=3, limit=4)] == [4, 5, 6, 7]
    assert [r.version for r in await store.read_stream(HOUSE, "table-1", 2, 2)] == [3, 4]
    assert [f.position for f in await store.log_facts(HOUSE, after=3, limit=4)] == [4, 5, 6, 7]
    assert [f.version for f in await store.stream_facts(HOUSE, "table-1", 2, 2)] == [3, 4]
    assert await store.read_log(HOUSE, after=10) == []
    assert await store.read_stream(HOUSE, "table-2") == []


async def test_streams_are_found_by_how_their_names_begin(store: EventStore) -> None:
    names = ["table-s", "table-t", "table-.", "tablet", "vault-table-t", "table"]
    events = [an_event(name) for name in names]
    await store.append_batch(HOUSE, [a_command("c", *events)])

    assert await store.streams(HOUSE, "table-", 10) == ["table-.", "table-s", "table-t"]
    assert await store.streams(HOUSE, "table-", 2) == ["table-.", "table-s"]
    assert await store.streams(HOUSE, "ruleset-", 10) == []
    assert await store.streams("elsewhere", "table-", 10) == []


async def test_an_empty_house_is_at_the_beginning(store: EventStore) -> None:
    assert await store.head(HOUSE) == Head(0, GENESIS)
    assert await store.read_log(HOUSE) == []


async def test_a_house_that_is_not_open(store: EventStore) -> None:
    with pytest.raises(HouseNotOpen, match="'elsewhere' is not open"):
        await store.append_batch("elsewhere", [OPENED])
    with pytest.raises(HouseNotOpen):
        await store.head("elsewhere")
    assert await store.read_log("elsewhere") == []


async def test_the_outcome_of_a_command_is_kept_when_it_was_accepted(store: EventStore) -> None:
    broke = a_command("broke", an_event("table-t", ADA, -1, BOB, 1))
    await store.append_batch(HOUSE, [OPENED, broke])

    outcome = await store.outcome(HOUSE, "open")

    assert outcome
    assert outcome.request_hash == OPENED.request_hash
    assert outcome.appended == Appended("table-t", 1, 2, 2, replayed=True)
    assert await store.outcome(HOUSE, "broke") is None


async def test_a_refused_command_may_be_sent_again(store: EventStore) -> None:
    broke = a_command("broke", an_event("table-t", ADA, -100, BOB, 100))

    first = await store.append_batch(HOUSE, [broke, HUNDRED])
    second = await store.append_batch(HOUSE, [broke])

    assert [type(answer) for answer in first + second] == [InsufficientChips, Appended, Appended]


async def test_balances(store: EventStore) -> None:
    refused = a_command("c", an_event("table-t", ADA, -30, "nobody/vault", 30), expected=7)
    await store.append_batch(HOUSE, [HUNDRED, refused])
    await store.append_batch(HOUSE, [a_command("d", an_event("t", ADA, -30, BOB, 30))])

    accounts = (ADA, BOB, ISSUANCE, "nobody/vault")
    assert [await store.balance(HOUSE, account) for account in accounts] == [70, 30, -100, 0]


async def test_snapshots_by_version_and_format(store: EventStore) -> None:
    for version in (200, 400):
        snapshot = Snapshot(version, version + 7, b"state %d" % version)
        await store.write_snapshot(HOUSE, "table-t", "table.1", snapshot)
        await store.write_snapshot(HOUSE, "table-t", "table.1", snapshot)

    async def version(format: str, at_version: int | None) -> int | None:
        found = await store.read_snapshot(HOUSE, "table-t", format, at_version)
        return found and found.version

    assert await store.read_snapshot(HOUSE, "table-t", "table.1") == Snapshot(
        400, 407, b"state 400"
    )
    assert await version("table.1", 399) == 200
    assert await version("table.1", 400) == 400
    assert await version("table.1", 199) is None
    assert await version("table.1", 0) is None
    assert await version("table.2", None) is None


def test_a_command_without_an_event_is_nothing_to_append() -> None:
    with pytest.raises(ValueError, match="has no event"):
        Append("c", b"", "table-t", None, ())


async def all_accepted(store: EventStore, appends: Sequence[Append]) -> None:
    for append in appends:
        (answer,) = await store.append_batch(HOUSE, [append])
        assert isinstance(answer, Appended)
