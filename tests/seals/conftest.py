"""A log in Postgres, a key to seal it with, and a directory to keep the seals in."""

from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from shared.eventstore.chain import GENESIS, leaf_of, link
from shared.eventstore.migrate import open_house
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.store import Append
from shared.seals.keyfile import add_key, read_keys
from shared.seals.notes import Note, PublicKey
from shared.seals.sealing import Policy, Sealer
from shared.seals.shelf import Directory, keys_name, latest_name
from tests.conftest import Database
from tests.eventstore.appends import ADA, HOUSE, a_grant

ORIGIN = f"croupier.example/{HOUSE}"


class Sealed:
    """What a test does to a log and its seals."""

    def __init__(self, database: Database, store: PostgresStore, home: Path) -> None:
        self.database, self.store = database, store
        self.key_file, self.shelf = home / "seal.key", Directory(home / "seals")
        self.directory = home / "seals"
        self.recorded = 0
        add_key(self.key_file)

    def sealer(self, events: int = 1, seconds: float = 0) -> Sealer:
        """A worker's, which knows nothing of those before it."""
        policy = Policy("croupier.example", events, seconds)
        return Sealer(self.store, self.shelf, self.key_file, policy)

    async def record(self, events: int) -> None:
        """So many grants more."""
        appends: list[Append] = []
        for _ in range(events):
            self.recorded += 1
            appends.append(a_grant(f"grant-{self.recorded}", ADA, 1))
        await self.store.append_batch(HOUSE, appends)

    async def seal(self) -> bool:
        return await self.sealer().seal(HOUSE, read_keys(self.key_file))

    def latest(self) -> Note:
        """The newest seal outside, as whoever has the public keys believes it."""
        note = Note.read(self.shelf.read(latest_name(HOUSE)) or b"")
        note.check(self.known(), ORIGIN)
        return note

    def known(self) -> list[PublicKey]:
        text = (self.shelf.read(keys_name(HOUSE)) or b"").decode()
        return [PublicKey.read(line) for line in text.splitlines()]

    def tamper(self, statement: str, *parameters: object) -> None:
        """As somebody who owns the database, and can switch off what refuses."""
        with psycopg.connect(self.database.owner_url) as owner:
            owner.execute("SET session_replication_role = replica")
            owner.execute(statement.encode(), parameters)

    def rewrite(self, position: int) -> None:
        """Another event in the place of one, and everything behind it made to fit."""
        with psycopg.connect(self.database.owner_url) as owner:
            owner.execute("SET session_replication_role = replica")
            owner.execute(
                'UPDATE event_log SET envelope = \'{"of":"another"}\' WHERE position = %s',
                (position,),
            )
            rows = owner.execute("SELECT position, envelope FROM event_log ORDER BY position")
            chain = GENESIS
            for at, envelope in rows.fetchall():
                leaf = leaf_of(envelope)
                chain = link(chain, leaf)
                owner.execute(
                    "UPDATE event_log SET leaf = %s, chain = %s WHERE position = %s",
                    (leaf, chain, at),
                )
            owner.execute("UPDATE log_head SET chain = %s", (chain,))
            owner.execute(
                "UPDATE seal_head s SET chain = e.chain FROM event_log e WHERE e.position = s.size"
            )


@pytest.fixture
async def sealed(database: Database, tmp_path: Path) -> AsyncIterator[Sealed]:
    open_house(database.owner_url, HOUSE)
    async with PostgresStore(database.app_url) as store:
        yield Sealed(database, store, tmp_path)
