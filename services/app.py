"""The HTTP process: builds everything once and mounts each context's routes."""

import secrets
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter, FastAPI
from fastapi_offline import FastAPIOffline
from redis.asyncio import Redis

from services.audit.api import page as page_api
from services.audit.api import rounds as audit_api
from services.audit.api import schemas as schemas_api
from services.audit.api import seals as seals_api
from services.audit.api import significant as significant_api
from services.audit.api import statements as statements_api
from services.audit.application.bundles import Bundler
from services.audit.application.rounds import Auditor
from services.audit.projections.significant import Extraordinary
from services.audit.projections.statements import Statements
from services.blackjack.api import commands as play_api
from services.blackjack.api import computers as computers_api
from services.blackjack.api import hints as hints_api
from services.blackjack.api import history as history_api
from services.blackjack.api import many as many_api
from services.blackjack.api import odds as odds_api
from services.blackjack.api import returns as returns_api
from services.blackjack.api import rulesets as rulesets_api
from services.blackjack.api import tables as tables_api
from services.blackjack.application.computers import announced_to
from services.blackjack.application.odds import OddsDesk
from services.blackjack.application.reading import Reading, table_stream
from services.blackjack.application.shoes import Shoes
from services.blackjack.application.tables import Tables
from services.blackjack.domain.events import REGISTRY as BLACKJACK_EVENTS
from services.blackjack.projections.curves import Curves
from services.blackjack.projections.hands import Hands
from services.blackjack.projections.returns import Returns
from services.blackjack.projections.rounds import Rounds
from services.blackjack.projections.runs import RunList
from services.blackjack.projections.tables import TableList
from services.ledger import api as ledger_api
from services.ledger.application import REGISTRY as LEDGER_EVENTS
from services.ledger.application import Ledger
from services.ledger.projections import Books
from services.settings import Settings
from shared import telemetry
from shared.eventstore.batcher import Batcher
from shared.eventstore.checkpoints import Checkpoints
from shared.eventstore.codec import Codec
from shared.eventstore.postgres import SERVING, PostgresStore, Readers
from shared.eventstore.replica import ReplicaStore
from shared.eventstore.wakeups import Wakeups
from shared.http import feed, openapi, operation, parameters, problems, stream
from shared.http.auth import Keys, Verify
from shared.http.front import Entrance, Front
from shared.http.limits import Limits, Shared
from shared.http.observed import Observed
from shared.http.revocations import Revocations
from shared.http.strangers import Strangers
from shared.seals.notes import PublicKey
from shared.seals.served import Seals
from shared.telemetry import Watched, Watching
from shared.together import Together

if TYPE_CHECKING:
    from shared.http.jwks import Jwks

_DESCRIPTION: Final = """\
**The way of a round**: open a table (`PUT /v1/tables/{table}`), grant a player chips, then send
commands. Every answer carries the table and its legal moves; a legal move is a command as it
stands, but for what only you can know: an amount within its bounds, who takes a free seat. Errors
are problem documents; their `type` is a page that explains them.

**Retries are safe**: send an `Idempotency-Key` and repeat until you have an answer.

**Every request has a trace**: a W3C `traceparent`, yours or one that is made, is in the answer's
headers, in the log's line, and in each event that the request caused.

**Limits**: where there are any, `RateLimit-Policy` names them and `RateLimit` says what is left; a
429 has `Retry-After`.

**Nothing is secret for long**: each round commits to its seed before the first bet and reveals it
after the last card. Take a round away (`/v1/rounds/{round}/bundle`) and [check it](/verify) in your
own browser, which needs no key.
"""
_TAGS: Final = [
    {"name": "Tables", "description": "Open, play, look."},
    {"name": "Rounds", "description": "What was played."},
    {"name": "Rulesets", "description": "The games, as data."},
    {"name": "Ledger", "description": "Where the chips are."},
    {"name": "Events", "description": "The log, for auditors."},
    {"name": "Seals", "description": "The log, signed, and proofs of what is in it."},
    {"name": "Problems", "description": "What can go wrong, and what to do."},
    {"name": "Operation", "description": "For whoever runs the service."},
]


_PUBLISHED: Final[dict[str, Any]] = {
    **rulesets_api.PUBLISHED,
    **returns_api.PUBLISHED,
    **tables_api.PUBLISHED,
    **many_api.PUBLISHED,
    **computers_api.PUBLISHED,
    **history_api.PUBLISHED,
    **odds_api.PUBLISHED,
    **ledger_api.PUBLISHED,
    **audit_api.PUBLISHED,
    **seals_api.PUBLISHED,
    **statements_api.PUBLISHED,
    **significant_api.PUBLISHED,
    **schemas_api.PUBLISHED,
    **feed.PUBLISHED,
    **operation.PUBLISHED,
}
_IGNORED: Final = {**hints_api.DESCRIBED, **rulesets_api.DESCRIBED}


class Service:
    """What one process is made of."""

    def __init__(self, settings: Settings, listeners: Sequence[socket.socket], number: int) -> None:
        codec = Codec.of(Codec(BLACKJACK_EVENTS), Codec(LEDGER_EVENTS))
        self.settings = settings
        self.store = PostgresStore(settings.database_url)
        # Connections of its own: who knows a key is let in however many wait for what they read.
        self.door = Readers(settings.database_url, max_size=2)
        self.redis = Redis.from_url(settings.redis_url) if settings.redis_url else None
        self.wakeups = Wakeups(self.redis)
        self.batcher = Batcher(
            self.store,
            most_waiting=settings.most_commands,
            patience=settings.command_seconds,
            on_appended=self.wakeups.announce,
        )
        strangers = Strangers(settings.failed_keys)
        self.jwks = self._provider() if settings.jwt_jwks_url else None
        verify = _verifier(settings, self.jwks, self.door) if self.jwks else None
        self.keys = Keys(self.door, strangers=strangers, tokens=verify)
        self.revocations = Revocations(settings.database_url, self.keys.forget, SERVING)
        self.limits = Limits(Shared(self.redis), settings.rate, settings.house_rate)
        ring = {key.id: key.key for key in settings.seed_keys}
        shoes = Shoes(ring, settings.seed_keys[0].id, secrets.token_bytes)
        ask = announced_to(self.wakeups)
        self.tables = Tables(self.store, self.batcher, codec, shoes, _now, ask)
        self.ledger = Ledger(self.batcher, codec, _now)
        self.reads = ReplicaStore(self.store, settings.replica_url)
        self.past = Reading(self.reads, codec)
        self.books = Books(self.reads)
        self._open_views()
        self.feeds = feed.Feeds(self.reads, self.wakeups.wait)
        self.odds = OddsDesk()
        witnesses = [PublicKey.read(each) for each in settings.witnesses]
        self.seals = Seals(self.store, witnesses)
        self.extraordinary = Extraordinary(self.store, self.checkpoints, self.seals)
        self.draining = False
        self.streams = stream.Streams(self.reads, self.wakeups.wait)
        own = partial(telemetry.exposition, self._watched())
        self.together = Together(own, listeners, number)
        self.operation = self._operation()

    def _open_views(self) -> None:
        self.checkpoints = Checkpoints(self.store.readers)
        views = self.store.readers, self.checkpoints
        self.listed, self.rounds = TableList(*views), Rounds(*views)
        self.hands, self.runs, self.returns = Hands(*views), RunList(*views), Returns(*views)
        self.curves = Curves(*views)
        self.statements = Statements(self.store, self.checkpoints)

    @asynccontextmanager
    async def running(self, app: FastAPI) -> AsyncIterator[None]:
        """Connected on the inside; leaving records what waits, then disconnects."""
        async with AsyncExitStack() as stack:
            if self.redis:
                stack.push_async_callback(self.redis.aclose)
            await stack.enter_async_context(self.store)
            await stack.enter_async_context(self.door)
            await stack.enter_async_context(self.reads)
            await stack.enter_async_context(self.together)
            await stack.enter_async_context(self.revocations)
            if self.jwks:
                await stack.enter_async_context(self.jwks)
            await stack.enter_async_context(self.wakeups)
            await stack.enter_async_context(self.batcher)
            stack.push_async_callback(self.odds.close)
            yield
            await self.tables.reading.loader.settle()

    def _operation(self) -> operation.Operation:
        return operation.Operation(
            self.store,
            self.seals,
            self.together.figures,
            lambda: self.draining,
            lambda: self.wakeups.connected,
        )

    def _watched(self) -> Watching:
        streams, reads = self.streams, self.reads
        return Watching(
            Watched(
                *("gauge", "croupier_append_waiting_commands", "Commands that wait for a batch."),
                lambda: self.batcher.waiting,
            ),
            Watched(
                *("gauge", "croupier_stream_clients", "Clients that listen to a stream."),
                lambda: streams.clients,
            ),
            Watched(
                *("counter", "croupier_stream_dropped_clients", "Clients that were dropped."),
                lambda: streams.dropped,
            ),
            Watched(
                *("gauge", "croupier_stream_lag_seconds", "From deciding to telling, at last."),
                lambda: streams.lag_seconds,
            ),
            Watched(
                *("gauge", "croupier_redis_connected", "Whether Redis wakes us, 1 or 0."),
                lambda: self.wakeups.connected,
            ),
            Watched(
                *("counter", "croupier_replica_reads", "Reads that the replica answered."),
                lambda: reads.from_replica,
            ),
            Watched(
                *("counter", "croupier_replica_missed_reads", "Those that it could not answer."),
                lambda: reads.from_primary,
            ),
        )

    def _provider(self) -> "Jwks":
        from shared.http.jwks import Jwks  # Slow to import, and most do without.

        return Jwks(self.settings.jwt_jwks_url, lambda: self.keys.forget())

    def drain(self) -> None:
        """From now on we are not ready, though we still answer; streams continue elsewhere."""
        self.draining = True
        self.streams.close()

    def stop_waiting(self) -> None:
        """Answers whoever waits for news, because the process is about to end."""
        self.feeds.close()
        self.wakeups.release()


def create_app(
    settings: Settings, listeners: Sequence[socket.socket] = (), number: int = 0
) -> FastAPI:
    """The whole API over the database and the key ring of the settings, by one process: one of
    several, when these have listeners on which each tells the others its figures.

    What is served is its `state.front`: the routes that record, behind them all others, watched.
    """
    service = Service(settings, listeners, number)
    app = FastAPIOffline(
        title="Croupier",
        version="1",
        summary="A blackjack backend whose every deal can be audited.",
        description=_DESCRIPTION,
        openapi_tags=_TAGS,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        lifespan=service.running,
    )
    app.state.keys = service.keys
    app.state.limits = service.limits
    app.state.drain = service.drain
    app.state.stop_waiting = service.stop_waiting
    problems.install(app)
    parameters.install(app)
    for router in _routers(service):
        app.include_router(router)
    front = Front(app, service.keys, service.limits, _entrances(service))
    app.state.front = Observed(front)
    openapi.publish(app, _PUBLISHED, front.description, _IGNORED)
    return app


def _verifier(settings: Settings, provider: "Jwks", pool: Readers) -> Verify:
    from shared.http.tokens import Claims, Tokens

    claims = Claims(
        settings.jwt_issuer,
        settings.jwt_audience,
        settings.jwt_house_claim,
        settings.jwt_scopes_claim,
        settings.jwt_actor_claim,
    )
    return Tokens(provider, claims, pool).caller


def _entrances(service: Service) -> Iterator[Entrance]:
    """The routes that record, those first that are used most."""
    yield from play_api.entrances(service.tables, service.settings.most_commands)
    yield from rulesets_api.entrances(service.tables.rulesets)
    yield from ledger_api.entrances(service.ledger, service.books)
    yield from seals_api.entrances(service.seals)


def _routers(service: Service) -> Iterator[APIRouter]:
    """The routes of every context that read."""
    rulesets = service.tables.rulesets
    yield rulesets_api.routes(rulesets)
    yield tables_api.routes(service.tables, service.past, service.listed, service.rounds)
    yield odds_api.routes(rulesets, service.odds)
    yield returns_api.routes(service.tables, service.curves, service.odds)
    yield history_api.routes(service.rounds, service.hands, service.runs, service.returns)
    yield ledger_api.routes(service.books)
    auditor = Auditor(service.past, service.rounds)
    bundler = Bundler(auditor, service.rounds, service.reads, service.seals)
    yield audit_api.routes(auditor, bundler)
    yield page_api.routes()
    yield seals_api.routes(service.seals)
    yield statements_api.routes(service.statements)
    yield significant_api.routes(service.extraordinary)
    yield schemas_api.routes()
    yield feed.routes(service.feeds, table_stream)
    yield stream.routes(service.streams, table_stream)
    yield operation.routes(service.operation)


def _now() -> datetime:
    return datetime.now(UTC)
