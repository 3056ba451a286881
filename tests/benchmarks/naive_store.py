"""The statements of the naive service: one a row."""

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from fastapi import HTTPException
from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from services.blackjack.domain.events import REGISTRY, Event
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.settlement import postings
from services.blackjack.domain.shoe import SealedSeed, Shoe, commitment
from services.blackjack.domain.table import Table
from shared.kernel.chips import Posting, vault

NAMES = {cls: name for name, (_, cls) in REGISTRY.items()}


class Seed(msgspec.Struct, frozen=True):
    """The chance of a round and of the one after, kept in the open beside their table."""

    secret: bytes
    next_secret: bytes

    @property
    def sealed(self) -> SealedSeed:
        return _sealed(self.secret)

    def successor(self) -> SealedSeed:
        return _sealed(self.next_secret)

    def shoe(self, decks: int, round_id: str, client_seeds: tuple[str, ...]) -> Sequence[str]:
        return Shoe(self.secret, decks, round_id, client_seeds)


def fresh_seed() -> Seed:
    return Seed(secrets.token_bytes(32), secrets.token_bytes(32))


def _sealed(secret: bytes) -> SealedSeed:
    return SealedSeed(commitment=commitment(secret), key_id="none", box="")


async def insert_table(connection: AsyncConnection, table_id: str, seed: Seed) -> None:
    await connection.execute(
        "INSERT INTO tables (id, seed, next_seed) VALUES (%s, %s, %s)",
        [table_id, seed.secret, seed.next_secret],
    )


async def renew_seed(connection: AsyncConnection, table_id: str) -> None:
    """The next round has the chance that was promised; the one after it gets a fresh one."""
    await connection.execute(
        "UPDATE tables SET seed = next_seed, next_seed = %s WHERE id = %s",
        [secrets.token_bytes(32), table_id],
    )


async def answered(connection: AsyncConnection, key: str) -> Any:
    """The answer that was given under this key, if it was used before."""
    cursor = await connection.execute("SELECT response FROM idempotency WHERE key = %s", [key])
    row = await cursor.fetchone()
    return row and row[0]


async def locked(connection: AsyncConnection, table_id: str) -> Seed:
    """Lock the table for this transaction."""
    cursor = await connection.execute(
        "SELECT seed, next_seed FROM tables WHERE id = %s FOR UPDATE", [table_id]
    )
    if (row := await cursor.fetchone()) is None:
        raise HTTPException(404, f"no table {table_id}")
    return Seed(*row)


async def read_events(connection: AsyncConnection, table_id: str) -> list[Event]:
    cursor = await connection.execute(
        "SELECT type, data FROM events WHERE table_id = %s ORDER BY version", [table_id]
    )
    return [msgspec.convert(data, REGISTRY[name][1]) async for name, data in cursor]


async def record(
    connection: AsyncConnection, key: str, table: Table, version: int, events: Iterable[Event]
) -> None:
    """Write the events of a command, and the chips they move."""
    for event in events:
        version += 1
        await insert_event(connection, table.id, version, event)
        lines = postings(table, event)
        if brought := sum(line.amount for line in lines):
            lines = (*lines, Posting(vault(_player(table, event)), -brought))
        for line in lines:
            await move_chips(connection, key, line)
        table = evolve(table, event)


def _player(table: Table, event: Event) -> str:
    """Who brings chips to the table, or takes them home."""
    return getattr(event, "player", None) or table.seat(event.seat).player


async def insert_event(
    connection: AsyncConnection, table_id: str, version: int, event: Event
) -> None:
    await connection.execute(
        "INSERT INTO events (table_id, version, type, data) VALUES (%s, %s, %s, %s)",
        [table_id, version, NAMES[type(event)], Jsonb(msgspec.to_builtins(event))],
    )


async def move_chips(connection: AsyncConnection, key: str, line: Posting) -> int:
    """Write a posting and change the balance of its account; the new balance."""
    await connection.execute(
        "INSERT INTO postings (idempotency_key, account, amount) VALUES (%s, %s, %s)",
        [key, line.account, line.amount],
    )
    cursor = await connection.execute(
        "INSERT INTO balances VALUES (%s, %s)"
        " ON CONFLICT (account) DO UPDATE SET amount = balances.amount + excluded.amount"
        " RETURNING amount",
        [line.account, line.amount],
    )
    (balance,) = await cursor.fetchone()
    if balance < 0 and line.account.startswith("player/"):
        raise HTTPException(409, f"not enough chips on {line.account}")
    return balance


async def remember(connection: AsyncConnection, key: str, response: dict[str, Any]) -> None:
    await connection.execute("INSERT INTO idempotency VALUES (%s, %s)", [key, Jsonb(response)])


def described(event: Event) -> dict[str, Any]:
    return {"type": NAMES[type(event)], "data": msgspec.to_builtins(event)}
