"""Making seals: whoever has the key reads what came since the last one, checks it, and signs.

The last seal is the one outside the database. A log that does not continue it is not sealed.
"""

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any, Final, LiteralString, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import Struct
from psycopg import AsyncConnection

from shared import spans
from shared.eventstore.chain import GENESIS, ChainBroken, verify_chain
from shared.eventstore.postgres import PostgresStore, is_lost
from shared.eventstore.rejections import Archived
from shared.seals import tiles
from shared.seals.keyfile import read_keys
from shared.seals.merkle import (
    DoesNotProve,
    Tree,
    check_consistency,
    consistency,
    root_of,
)
from shared.seals.notes import BadNote, Checkpoint, Note, PublicKey, public_of, sign
from shared.seals.shelf import Shelf, keys_name, latest_name, seal_name
from shared.telemetry import count_seal, count_seal_failure

MOST_EVENTS: Final = 100_000
"""The most that one seal adds; what has waited longer is sealed in steps."""

_PAGE: Final = 1000
_SET_ASIDE_SECONDS: Final = 30.0

_log = logging.getLogger(__name__)


class NotSealed(Exception):
    """A log is not sealed, because it does not continue its last seal: `position` is where."""

    def __init__(self, position: int, what: str) -> None:
        super().__init__(what)
        self.position = position


class Policy(Struct, frozen=True):
    """When a log is sealed: after so many events or, if there are fewer, so many seconds.

    `origin` and a house's name are the origin of its seals.
    """

    origin: str
    events: int
    seconds: float

    def of(self, house: str) -> str:
        """The origin that the seals of a house name."""
        return f"{self.origin}/{house}"


class _Before(NamedTuple):
    size: int
    chain: bytes


class Sealer:
    """Seals every house's log when it is due. Any number of them may share one database."""

    def __init__(self, store: PostgresStore, shelf: Shelf, key_file: Path, policy: Policy) -> None:
        self._store, self._shelf = store, shelf
        self._key_file, self._policy = key_file, policy
        self._set_aside: dict[str, float] = {}
        self._first_look = True

    async def seal_due(self) -> bool:
        """Makes each seal that is due. Says whether there is more to do at once.

        At first every log is held against its last seal, due or not: a database that was brought
        back may have lost the end of one. The key file is read each time, so a new key counts at
        once. A house whose seal fails keeps no other waiting. Raises BadKeyFile.
        """
        due = [house for house in await self._due() if self._set_aside.get(house, 0) < monotonic()]
        keys = await asyncio.to_thread(read_keys, self._key_file) if due else []
        more = False
        for house in due:
            try:
                with spans.span("seal a log"):
                    more = await self.seal(house, keys) or more
            except Exception as failure:
                if is_lost(failure):
                    raise
                await self._set_aside_for(house, failure)
        self._first_look = False
        return more

    async def _set_aside_for(self, house: str, failure: Exception) -> None:
        """A log that is not what it was is a fault to be kept; all else is ours, told in full."""
        count_seal_failure()
        self._set_aside[house] = monotonic() + _SET_ASIDE_SECONDS
        if isinstance(failure, NotSealed | ChainBroken):
            _log.error("The log of %s is not sealed: %s", house, failure)
            await self._store.rows(_FOUND, (house, failure.position, str(failure)))
        else:
            _log.error("The log of %s is not sealed now.", house, exc_info=failure)

    async def seal(self, house: str, keys: Sequence[Ed25519PrivateKey]) -> bool:
        """Makes the next seal of a log. Says whether there is more to be sealed.

        Raises NotSealed, and ChainBroken, for a log that is not what it was.
        """
        async with self._store.readers.connection() as connection, connection.transaction():
            before = await self._held(connection, house)
            if before is None:
                return False
            last = await self._last(connection, house, keys)
            tree = await _tree(connection, house, before.size)
            head = (await self._store.head(house)).position
            _check_last(tree, last, head)
            if head == before.size:
                return False
            adopted = last if last and last.checkpoint.size > before.size else None
            end = adopted.checkpoint.size if adopted else min(head, before.size + MOST_EVENTS)
            old_root = tree.root()
            chain = await self._extend(house, tree, before, end)
            await tiles.grow(connection, house, tree.grown)
            await _check_growth(connection, house, (before.size, old_root), tree)
            note = adopted or sign(Checkpoint(self._policy.of(house), end, tree.root()), keys)
            if note.checkpoint.root != tree.root():
                raise NotSealed(end, f"The log is not the one that was sealed at {end}.")
            await asyncio.to_thread(self._keep, house, note)
            await self._publish(connection, house, note, keys, chain)
        count_seal(end - before.size)
        return end < head

    async def _due(self) -> list[str]:
        patience = timedelta(seconds=self._policy.seconds)
        rows = await self._store.rows(_DUE, (self._first_look, self._policy.events, patience))
        return [house for (house,) in rows]

    async def _held(self, connection: AsyncConnection[Any], house: str) -> _Before | None:
        """Where the last seal of a house ended, held until the transaction ends, by us alone."""
        await connection.execute(_BEGIN, (house, GENESIS))
        rows = await connection.execute(_HOLD, (house,))
        row = await rows.fetchone()
        return _Before(*row) if row else None

    async def _last(
        self, connection: AsyncConnection[Any], house: str, keys: Sequence[Ed25519PrivateKey]
    ) -> Note | None:
        """The newest seal outside the database."""
        name = latest_name(house)
        written = await asyncio.to_thread(self._shelf.read, name)
        if written is None:
            return None
        rows = await connection.execute(_KEYS, (house,))
        origin = self._policy.of(house)
        try:
            known = [PublicKey.read(key) for (key,) in await rows.fetchall()]
            note = Note.read(written)
            note.check([*known, *(public_of(key, origin) for key in keys)], origin)
        except BadNote as bad:
            raise NotSealed(0, f"The seal {name} is not one of ours: {bad}.") from None
        return note

    async def _extend(self, house: str, tree: Tree, before: _Before, end: int) -> bytes:
        """Takes up the leaves to `end`, each checked against its event; the chain there."""
        position, chain = before
        while position < end:
            try:
                page = await self._store.read_log(house, position, min(_PAGE, end - position))
            except Archived as gone:
                raise NotSealed(
                    position + 1, f"It was archived before it was sealed. {gone}"
                ) from None
            if not page:
                raise ChainBroken(position + 1, "the log ends here.")
            position, chain = verify_chain(page, position, chain)
            for record in page:
                tree.append(record.leaf)
        return chain

    def _keep(self, house: str, note: Note) -> None:
        """Outside first: what is there is what the next seal has to continue, come what may."""
        written = str(note).encode()
        self._write(latest_name(house), written)
        self._write(seal_name(house, note.checkpoint.size), written)

    def _write(self, name: str, content: bytes) -> None:
        if self._shelf.read(name) != content:
            self._shelf.write(name, content)

    async def _publish(
        self,
        connection: AsyncConnection[Any],
        house: str,
        note: Note,
        keys: Sequence[Ed25519PrivateKey],
        chain: bytes,
    ) -> None:
        size = note.checkpoint.size
        for key in keys:
            public = str(public_of(key, note.checkpoint.origin))
            await connection.execute(_ADD_KEY, (house, public, size))
        rows = await connection.execute(_KEYS, (house,))
        text = "".join(f"{key}\n" for (key,) in await rows.fetchall())
        await asyncio.to_thread(self._write, keys_name(house), text.encode())
        await connection.execute(_SEAL, (house, size, str(note)))
        await connection.execute(_ADVANCE, (size, chain, house))


async def _tree(connection: AsyncConnection[Any], house: str, size: int) -> Tree:
    try:
        return await tiles.load(connection, house, size)
    except DoesNotProve as gone:
        raise NotSealed(size, f"{str(gone).capitalize()} any more.") from None


def _check_last(tree: Tree, last: Note | None, head: int) -> None:
    """The tree in the database has to be that of the last seal, or on the way to it, and the log
    as long at least."""
    size = last.checkpoint.size if last else 0
    if size < tree.size:
        raise NotSealed(
            size + 1,
            f"The log was sealed up to {tree.size}, but the newest seal outside the database is "
            f"that of {size}: bring back the seals that are missing there.",
        )
    if size > head:
        raise NotSealed(head + 1, f"The log ends at {head}, but was sealed up to {size}.")
    if last and size == tree.size and tree.root() != last.checkpoint.root:
        raise NotSealed(size, f"The tree over the log is not the one that was sealed at {size}.")


async def _check_growth(
    connection: AsyncConnection[Any], house: str, old: tuple[int, bytes], tree: Tree
) -> None:
    """What is going to be served proves that the tree only grew; else it is not signed."""
    size, root = old
    if not size:
        return
    asked = consistency(size, tree.size)
    kept = await tiles.tiles_for(connection, house, asked)
    try:
        proof = [root_of(leaves, kept) for leaves in asked]
        check_consistency(size, tree.size, root, tree.root(), proof)
    except (DoesNotProve, KeyError, ValueError, IndexError):
        raise NotSealed(size, f"The tree over the log was changed before {size}.") from None


_DUE: Final[LiteralString] = """
    SELECT h.house FROM log_head h LEFT JOIN seal_head s ON s.house = h.house
     WHERE %b
        OR h.position <> coalesce(s.size, 0)
       AND (s.house IS NULL OR h.position < s.size
            OR h.position - s.size >= %b OR s.sealed_at <= now() - %b)
     ORDER BY h.house"""

_BEGIN: Final[LiteralString] = """
    INSERT INTO seal_head (house, size, chain, sealed_at) VALUES (%s, 0, %s, '-infinity')
    ON CONFLICT DO NOTHING"""

_HOLD: Final[LiteralString] = """
    SELECT size, chain FROM seal_head WHERE house = %s FOR UPDATE SKIP LOCKED"""

_KEYS: Final[LiteralString] = """
    SELECT public_key FROM seal_key WHERE house = %s ORDER BY first_size, public_key"""

_ADD_KEY: Final[LiteralString] = """
    INSERT INTO seal_key (house, public_key, first_size) VALUES (%s, %s, %s)
    ON CONFLICT DO NOTHING"""

_SEAL: Final[LiteralString] = """
    INSERT INTO seal (house, size, note, sealed_at) VALUES (%s, %s, %s, now())"""

_ADVANCE: Final[LiteralString] = """
    UPDATE seal_head SET size = %s, chain = %s, sealed_at = now() WHERE house = %s"""

_FOUND: Final[LiteralString] = """
    INSERT INTO seal_fault (house, position, what, found_at) VALUES (%b, %b, %b, now())
    ON CONFLICT DO NOTHING"""
