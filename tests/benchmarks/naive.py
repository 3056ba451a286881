"""The naive service: what a competent developer writes in a day with FastAPI, pydantic, psycopg.

It speaks Croupier's contract and decides with Croupier's own rules, so that the difference is
architecture alone. For each command it opens a transaction, locks the table, reloads its events,
folds them, decides, and writes one statement a row: events, postings, balances, the answer under
its idempotency key. No cache, no hash chain, no sealed seeds, no gapless log, no limits.

    NAIVE_DATABASE_URL=… NAIVE_KEY=… python -m uvicorn tests.benchmarks.naive:app
"""

import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import reduce
from typing import Annotated

import msgspec
from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from psycopg_pool import AsyncConnectionPool

from services.blackjack.domain.commands import Open
from services.blackjack.domain.decide import decide, open_table
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.table import Betting
from shared.kernel.chips import ISSUANCE, Posting, vault
from shared.kernel.rejected import Rejected
from tests.benchmarks import naive_store as store
from tests.benchmarks.naive_shapes import (
    Answer,
    Balance,
    CommandBody,
    GrantBody,
    TableBody,
    answer,
)

POOL_SIZE = 16

pool = AsyncConnectionPool(os.environ["NAIVE_DATABASE_URL"], open=False, max_size=POOL_SIZE)


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    async with pool:
        yield


def check_key(sent: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]) -> None:
    if not secrets.compare_digest(sent.credentials, os.environ["NAIVE_KEY"]):
        raise HTTPException(401, "unknown key")


app = FastAPI(lifespan=lifespan, dependencies=[Depends(check_key)])
Key = Annotated[str, Header(alias="Idempotency-Key", max_length=200)]


@app.put("/v1/tables/{table_id}")
async def put_table(table_id: str, body: TableBody) -> Answer:
    seed = store.fresh_seed()
    opened = open_table(table_id, Open(body.ruleset, body.host), seed.sealed)
    async with pool.connection() as connection:
        await store.insert_table(connection, table_id, seed)
        await store.insert_event(connection, table_id, 1, opened)
    return answer(evolve(None, opened), 1, [store.described(opened)])


@app.post("/v1/players/{player}/grants")
async def grant(player: str, body: GrantBody, key: Key) -> Balance:
    account = vault(player)
    async with pool.connection() as connection:
        if (known := await store.answered(connection, key)) is not None:
            return Balance.model_validate(known)
        await store.move_chips(connection, key, Posting(ISSUANCE, -body.amount))
        balance = await store.move_chips(connection, key, Posting(account, body.amount))
        response = Balance(account=account, amount=balance)
        await store.remember(connection, key, response.model_dump())
        return response


@app.post("/v1/tables/{table_id}/commands")
async def play(table_id: str, body: CommandBody, key: Key) -> Answer:
    async with pool.connection() as connection:
        if (known := await store.answered(connection, key)) is not None:
            return Answer.model_validate(known)
        seed = await store.locked(connection, table_id)
        history = await store.read_events(connection, table_id)
        table = reduce(evolve, history, None)
        try:
            decision = decide(table, body.command(), seed)
        except Rejected as no:
            raise HTTPException(409, no.detail) from no
        except msgspec.ValidationError as error:
            raise HTTPException(422, str(error)) from error
        await store.record(connection, key, table, len(history), decision.events)
        if isinstance(decision.table.stage, Betting):
            await store.renew_seed(connection, table_id)
        version = len(history) + len(decision.events)
        response = answer(
            decision.table, version, [store.described(event) for event in decision.events]
        )
        await store.remember(connection, key, response.model_dump())
        return response
