"""A log is sealed as it grows, by whoever is there, and never when it is not what it was."""

import asyncio
import shutil
from hashlib import sha256

import psycopg
import pytest

from shared.eventstore.chain import ChainBroken
from shared.eventstore.migrate import open_house
from shared.seals.keyfile import add_key, read_keys, retire_keys
from shared.seals.merkle import Tree, check_consistency, root_from
from shared.seals.notes import Note, public_of
from shared.seals.rejections import NotSealedYet, UnknownSeal
from shared.seals.sealing import NotSealed
from shared.seals.served import Seals
from shared.seals.shelf import latest_name, seal_name
from tests.eventstore.appends import ADA, HOUSE, a_grant
from tests.seals.conftest import ORIGIN, Sealed


async def root_of_the_log(sealed: Sealed, size: int) -> bytes:
    """From the envelopes alone."""
    tree = Tree()
    for after in range(0, size, 1000):
        for record in await sealed.store.read_log(HOUSE, after, min(1000, size - after)):
            tree.append(sha256(b"\x00" + record.envelope).digest())
    assert tree.size == size
    return tree.root()


async def test_each_seal_has_the_root_of_the_log(sealed: Sealed) -> None:
    size = 0
    for events in (1, 2, 255, 3, 700, 1300):
        await sealed.record(events)
        size += events
        assert not await sealed.seal()
        checkpoint = sealed.latest().checkpoint
        assert (checkpoint.origin, checkpoint.size) == (ORIGIN, size)
        assert checkpoint.root == await root_of_the_log(sealed, size)
    assert not await sealed.seal()


async def test_what_is_served_proves_every_event_and_every_growth(sealed: Sealed) -> None:
    for events in (3, 300, 1):
        await sealed.record(events)
        await sealed.seal()
    seals = Seals(sealed.store)
    roots = {seal.size: seal.root for seal in (await seals.page(HOUSE, 2**53, 10)).data}
    log = await sealed.store.read_log(HOUSE, 0, 1000)

    for size, root in roots.items():
        for position in range(1, size + 1, 7):
            (proof,) = await seals.inclusion(HOUSE, [position], size)
            path = [bytes.fromhex(each) for each in proof.hashes]
            leaf = log[position - 1].leaf
            assert (proof.leaf, proof.root) == (leaf.hex(), root)
            assert root_from(position - 1, size, leaf, path).hex() == root
        for old in range(1, size + 1, 7):
            grown = await seals.consistency(HOUSE, old, size)
            path = [bytes.fromhex(each) for each in grown.hashes]
            assert grown.new_root == root
            check_consistency(
                old, size, bytes.fromhex(grown.old_root), bytes.fromhex(grown.new_root), path
            )
    assert list(roots) == [304, 303, 3]


async def test_nothing_is_proven_that_is_not_sealed(sealed: Sealed) -> None:
    seals = Seals(sealed.store)
    with pytest.raises(UnknownSeal):
        await seals.latest(HOUSE)
    await sealed.record(5)
    await sealed.seal()
    await sealed.record(1)
    with pytest.raises(UnknownSeal):
        await seals.at(HOUSE, 4)
    for positions, size in (([6], None), ([6], 6), ([5], 4)):
        with pytest.raises(NotSealedYet):
            await seals.inclusion(HOUSE, positions, size)
    for old, new in ((6, None), (5, 6), (5, 4)):
        with pytest.raises(NotSealedYet):
            await seals.consistency(HOUSE, old, new)
    status = await seals.status(HOUSE)
    assert (status.position, status.verified_position, status.faults) == (6, 5, 0)


async def test_a_log_is_sealed_when_it_is_due(sealed: Sealed) -> None:
    patient = sealed.sealer(events=10, seconds=3600)
    await sealed.record(1)
    await patient.seal_due()
    assert sealed.latest().checkpoint.size == 1
    await sealed.record(9)
    await patient.seal_due()
    assert sealed.latest().checkpoint.size == 1
    await sealed.record(1)
    await patient.seal_due()
    assert sealed.latest().checkpoint.size == 11
    await sealed.record(1)
    sealed.tamper("UPDATE seal_head SET sealed_at = now() - interval '1 hour'")
    await patient.seal_due()
    assert sealed.latest().checkpoint.size == 12


async def test_many_workers_seal_one_growing_log(sealed: Sealed) -> None:
    busy = True

    async def a_worker() -> None:
        sealer = sealed.sealer()
        while busy:
            await sealer.seal_due()
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as working:
        for _ in range(3):
            working.create_task(a_worker())
        for _ in range(40):
            await sealed.record(37)
        busy = False
    await sealed.seal()

    assert sealed.latest().checkpoint.size == 40 * 37
    for seal in (await Seals(sealed.store).page(HOUSE, 2**53, 1000)).data:
        written = sealed.shelf.read(seal_name(HOUSE, seal.size)) or b""
        note = Note.read(written)
        assert note.check(sealed.known(), ORIGIN).root == await root_of_the_log(sealed, seal.size)
        assert seal.note.encode() == written


async def test_a_seal_that_was_written_outside_alone_is_taken_up(sealed: Sealed) -> None:
    await sealed.record(5)
    await sealed.seal()
    with psycopg.connect(sealed.database.owner_url) as owner:
        kept = owner.execute("SELECT size, chain FROM seal_head").fetchone()
    await sealed.record(3)
    await sealed.seal()
    outside = sealed.latest()
    sealed.tamper("DELETE FROM seal WHERE size = 8")  # as if we had died before the commit
    sealed.tamper("UPDATE seal_head SET size = %s, chain = %s", *(kept or ()))
    await sealed.record(2)

    assert await sealed.seal()
    assert (await Seals(sealed.store).latest(HOUSE)).note == str(outside)
    assert not await sealed.seal()
    assert sealed.latest().checkpoint.size == 10


async def test_a_new_key_seals_beside_the_old_one_and_then_alone(sealed: Sealed) -> None:
    await sealed.record(1)
    await sealed.seal()
    old = public_of(read_keys(sealed.key_file)[0], ORIGIN)
    new = public_of(add_key(sealed.key_file)[0], ORIGIN)
    for action in (None, retire_keys):
        if action:
            action(sealed.key_file)
        await sealed.record(1)
        await sealed.seal()

    seals = Seals(sealed.store)
    signers = [
        Note.read(seal.note.encode()).signers([old, new])
        for seal in (await seals.page(HOUSE, 2**53, 10)).data
    ]
    assert signers == [[new], [new, old], [old]]
    assert [(key.public_key, key.first_size) for key in (await seals.keys(HOUSE)).data] == [
        (str(old), 1),
        (str(new), 2),
    ]
    assert sealed.known() == [old, new]
    assert sealed.key_file.stat().st_mode & 0o777 == 0o600


TAMPERED = {
    "an envelope behind the seal": ("UPDATE event_log SET envelope = '{}' WHERE position = 7", 7),
    "a leaf behind the seal": ("UPDATE event_log SET leaf = %s WHERE position = 7", 7),
    "a chain behind the seal": ("UPDATE event_log SET chain = %s WHERE position = 7", 7),
    "an event behind the seal is gone": ("DELETE FROM event_log WHERE position = 7", 7),
    "the tail is cut": ("UPDATE log_head SET position = 3", 4),
    "a leaf of the tree": (
        "UPDATE seal_tile SET hashes = overlay(hashes PLACING %s FROM 33)",
        5,
    ),
    "the tree is gone": ("DELETE FROM seal_tile", 5),
    "the database never sealed": ("UPDATE seal_head SET size = 0, chain = %s", 5),
    "the database sealed more": ("UPDATE seal_head SET size = 8", 8),
}


@pytest.mark.parametrize("name", TAMPERED)
async def test_what_is_not_as_it_was_is_not_sealed(name: str, sealed: Sealed) -> None:
    await sealed.record(5)
    await sealed.seal()
    await sealed.record(4)
    statement, position = TAMPERED[name]
    if name == "the database never sealed":
        sealed.rewrite(2)
    sealed.tamper(statement, *([bytes(32)] if "%s" in statement else []))

    before = sealed.latest()
    await sealed.sealer().seal_due()

    assert sealed.latest() == before
    with psycopg.connect(sealed.database.owner_url) as owner:
        found = owner.execute("SELECT position FROM seal_fault").fetchall()
    assert found == [(position,)]
    assert (await Seals(sealed.store).status(HOUSE)).faults == 1


async def test_seals_outside_that_are_gone_or_of_others_stop_it(sealed: Sealed) -> None:
    await sealed.record(5)
    await sealed.seal()
    await sealed.record(1)
    kept = sealed.shelf.read(latest_name(HOUSE)) or b""
    for there in (kept.replace(b"\n5\n", b"\n4\n"), b"nothing of ours"):
        sealed.shelf.write(latest_name(HOUSE), there)
        with pytest.raises(NotSealed, match="not one of ours"):
            await sealed.seal()
    shutil.rmtree(sealed.directory)
    with pytest.raises(NotSealed, match="bring back"):
        await sealed.seal()
    sealed.shelf.write(latest_name(HOUSE), kept)
    await sealed.seal()
    assert sealed.latest().checkpoint.size == 6


async def test_the_serving_role_can_change_no_seal(sealed: Sealed) -> None:
    await sealed.record(1)
    await sealed.seal()
    for statement in ("UPDATE seal SET note = ''", "DELETE FROM seal", "DELETE FROM seal_key"):
        with (
            psycopg.connect(sealed.database.app_url) as app,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            app.execute(statement.encode())


async def test_one_bad_house_holds_up_no_other(sealed: Sealed) -> None:
    open_house(sealed.database.owner_url, "a-bad-one")
    await sealed.record(1)
    sealed.tamper("INSERT INTO seal_head VALUES ('a-bad-one', 5, %s, now())", bytes(32))
    await sealed.sealer().seal_due()

    assert sealed.latest().checkpoint.size == 1


async def test_one_whose_seals_cannot_be_read_holds_up_no_other(sealed: Sealed) -> None:
    open_house(sealed.database.owner_url, "a-bad-one")
    await sealed.store.append_batch("a-bad-one", [a_grant("grant", ADA, 1)])
    (sealed.directory / latest_name("a-bad-one")).mkdir(parents=True)
    await sealed.record(1)
    await sealed.sealer().seal_due()

    assert sealed.latest().checkpoint.size == 1


async def test_a_broken_chain_is_named(sealed: Sealed) -> None:
    await sealed.record(3)
    sealed.tamper("UPDATE event_log SET envelope = '{}' WHERE position = 2")
    with pytest.raises(ChainBroken, match="At position 2"):
        await sealed.seal()
