"""The naive service: what a competent developer writes in a day with FastAPI, pydantic, psycopg.

It speaks Croupier's contract and decides with Croupier's own rules, so that the difference is
architecture alone. For each command it opens a transaction, locks the table, reloads its events,
folds them, decides, and writes one statement a row: events, postings, balances, the answer under
its idempotency key. No cache, no hash chain, no sealed seeds, no gapless log, no limits.

    NAIVE_DATABASE_URL=… NAIVE_KEY=… python -m uvicorn tests.benchmarks.naive:app
"""

import os
import secrets
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import reduce
from pathlib import Path
from typing import Annotated, Any

import msgspec
from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from psycopg import AsyncConnection
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool

from services.blackjack.domain.commands import Open
from services.blackjack.domain.decide import decide, open_table
from services.blackjack.domain.events import REGISTRY, Event
from services.blackjack.domain.settlement import postings
from services.blackjack.domain.shoe import SealedSeed, Shoe, commitment
from services.blackjack.domain.table import Betting, Table, evolve
from shared.kernel.chips import ISSUANCE, Posting, vault
from shared.kernel.rejected import Rejected
from tests.benchmarks.naive_shapes import (
    Answer,
    Balance,
    CommandBody,
    GrantBody,
    TableBody,
    answer,
)

NAMES = {cls: name for name, (_, cls) in REGISTRY.items()}
POOL_SIZE = 16

pool = AsyncConnectionPool(os.environ["NAIVE_DATABASE_URL"], open=False, max_size=POOL_SIZE)


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    async with pool:
        async with pool.connection() as connection:
            await connection.execute(Path(__file__).with_name("naive.sql").read_bytes())
        yield


def check_key(sent: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]) -> None:
    if not secrets.compare_digest(sent.credentials, os.environ["NAIVE_KEY"]):
        raise HTTPException(401, "unknown key")


app = FastAPI(lifespan=lifespan, dependencies=[Depends(check_key)])
Key = Annotated[str, Header(alias="Idempotency-Key", max_length=200)]


class Seed(msgspec.Struct, frozen=True):
    """The chance of a round, kept in the open beside its table."""

    secret: bytes

    @property
    def sealed(self) -> SealedSeed:
        return SealedSeed(commitment=commitment(self.secret), key_id="none", box="")

    def shoe(self, decks: int, round_id: str, client_seeds: tuple[str, ...]) -> Sequence[str]:
        return Shoe(self.secret, decks, round_id, client_seeds)


@app.put("/v1/tables/{table_id}")
async def put_table(table_id: str, body: TableBody) -> Answer:
    opened = open_table(table_id, Open(body.ruleset, body.host))
    async with pool.connection() as connection:
        await connection.execute(
            "INSERT INTO tables (id, seed) VALUES (%s, %s)", [table_id, secrets.token_bytes(32)]
        )
        await insert_event(connection, table_id, 1, opened)
    return answer(evolve(None, opened), 1, [described(opened)])


@app.post("/v1/players/{player}/grants")
async def grant(player: str, body: GrantBody, key: Key) -> Balance:
    account = vault(player)
    async with pool.connection() as connection:
        if (known := await answered(connection, key)) is not None:
            return Balance.model_validate(known)
        await move_chips(connection, key, Posting(ISSUANCE, -body.amount))
        balance = await move_chips(connection, key, Posting(account, body.amount))
        response = Balance(account=account, amount=balance)
        await remember(connection, key, response.model_dump())
        return response


@app.post("/v1/tables/{table_id}/commands")
async def play(table_id: str, body: CommandBody, key: Key) -> Answer:
    async with pool.connection() as connection:
        if (known := await answered(connection, key)) is not None:
            return Answer.model_validate(known)
        seed = await locked(connection, table_id)
        history = await read_events(connection, table_id)
        table = reduce(evolve, history, None)
        try:
            decision = decide(table, body.command(), seed)
        except Rejected as no:
            raise HTTPException(409, no.detail) from no
        except msgspec.ValidationError as error:
            raise HTTPException(422, str(error)) from error
        await record(connection, key, table, len(history), decision.events)
        if isinstance(decision.table.stage, Betting):
            await connection.execute(
                "UPDATE tables SET seed = %s WHERE id = %s", [secrets.token_bytes(32), table_id]
            )
        version = len(history) + len(decision.events)
        response = answer(decision.table, version, [described(event) for event in decision.events])
        await remember(connection, key, response.model_dump())
        return response


async def answered(connection: AsyncConnection, key: str) -> Any:
    """The answer that was given under this key, if it was used before."""
    cursor = await connection.execute("SELECT response FROM idempotency WHERE key = %s", [key])
    row = await cursor.fetchone()
    return row and row[0]


async def locked(connection: AsyncConnection, table_id: str) -> Seed:
    """Lock the table for this transaction."""
    cursor = await connection.execute(
        "SELECT seed FROM tables WHERE id = %s FOR UPDATE", [table_id]
    )
    if (row := await cursor.fetchone()) is None:
        raise HTTPException(404, f"no table {table_id}")
    return Seed(row[0])


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
            lines = (*lines, Posting(vault(event.player), -brought))
        for line in lines:
            await move_chips(connection, key, line)
        table = evolve(table, event)


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
    row = await cursor.fetchone()
    if row[0] < 0 and line.account.startswith("player/"):
        raise HTTPException(409, f"not enough chips on {line.account}")
    return row[0]


async def remember(connection: AsyncConnection, key: str, response: dict[str, Any]) -> None:
    await connection.execute("INSERT INTO idempotency VALUES (%s, %s)", [key, Jsonb(response)])


def described(event: Event) -> dict[str, Any]:
    return {"type": NAMES[type(event)], "data": msgspec.to_builtins(event)}
