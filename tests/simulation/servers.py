"""A world of processes: `croupier serve` several times, on a Postgres and a Valkey of its own.

Each process reaches both through wires of its own, and each has a clock that is wrong. Everything
can be killed, cut off, slowed down, and comes back.
"""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import httpx
import psycopg

from services.audit.application.database import check
from shared.local.valkey import LocalValkey
from tests.api.croupier import PATIENCE_SECONDS, ROOT, Croupier, House
from tests.conftest import Database, Mortal, a_mortal
from tests.crash.conftest import kill_postgres
from tests.simulation.plan import FAULTS, Fault, Plan
from tests.simulation.proxy import Proxy
from tests.simulation.world import Answer, Gone, Request

SERVER_FAULTS = (*FAULTS, "redis")
"""Here is a Redis too, to be cut off from."""

SLOW_SECONDS = 0.05
_MOST_STARTS = 20


class Servers:
    """What stays while runs come and go: a Postgres with fsync on, and a Valkey."""

    def __init__(self, mortal: Mortal, valkey: LocalValkey) -> None:
        self.mortal, self.valkey = mortal, valkey


@contextmanager
def servers() -> Iterator[Servers]:
    with a_mortal() as mortal, TemporaryDirectory(prefix="croupier-simulation-") as home:
        valkey = LocalValkey(Path(home))
        valkey.start()
        try:
            yield Servers(mortal, valkey)
        finally:
            valkey.stop()


class Process(Croupier):
    """`croupier serve` with a skewed clock, and its wires to Postgres and Redis."""

    def __init__(self, servers: Servers, skew_seconds: float, work: bool, log: Path) -> None:
        self.postgres = Proxy(lambda: servers.mortal.postgres.port)
        self.redis = Proxy(lambda: servers.valkey.port)
        self._servers, self._skew, self._work, self._log = servers, skew_seconds, work, log
        self.busy = asyncio.Lock()

    async def connect(self, stack: AsyncExitStack) -> None:
        """Lays the wires."""
        await stack.enter_async_context(self.postgres)
        await stack.enter_async_context(self.redis)
        database = self._servers.mortal.database
        app_url = _through(self.postgres, database.app_url)
        redis_url = _through(self.redis, self._servers.valkey.url())
        super().__init__(Database(database.owner_url, app_url), redis_url)
        self.environment["SKEW_SECONDS"] = str(self._skew)

    def start(self) -> None:
        """Returns when it serves. While it cannot, it is started again, as any platform would."""
        command = [sys.executable, "-m", "tests.simulation.skewed", "serve"]
        command += ["--work"] if self._work else []
        for _ in range(_MOST_STARTS):
            with self._log.open("a") as log:
                self._process = subprocess.Popen(
                    command,
                    env=self.environment,
                    cwd=ROOT,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                )
            assert self._process.stdout
            if self.address in self._process.stdout.readline():
                return
        raise AssertionError(f"croupier does not start: {self.last_words()}")

    def last_words(self) -> str:
        return self._log.read_text()[-2000:]

    def client(self, key: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=self.address,
            headers={"Authorization": f"Bearer {key}"},
            timeout=PATIENCE_SECONDS,
            limits=httpx.Limits(max_connections=None),
            trust_env=False,
        )


class ServedWorld:
    """See World. Two of the processes have a worker beside them."""

    def __init__(self, plan: Plan, servers: Servers) -> None:
        self._plan, self._servers = plan, servers
        self.processes = len(plan.skews)

    async def __aenter__(self) -> "ServedWorld":
        async with AsyncExitStack() as stack:
            home = Path(stack.enter_context(TemporaryDirectory(prefix="croupier-simulation-")))
            self._processes = [
                Process(self._servers, skew, number < 2, home / f"process-{number}.log")
                for number, skew in enumerate(self._plan.skews)
            ]
            for process in self._processes:
                await process.connect(stack)
                process.environment["CROUPIER_SEED_KEYS"] = self._seed_keys
                stack.push_async_callback(asyncio.to_thread, process.end)
            await asyncio.gather(*(asyncio.to_thread(p.start) for p in self._processes))
            with httpx.Client(trust_env=False) as http:
                self._house = house = House(self._processes[0], http)
            self._clients = [
                await stack.enter_async_context(process.client(house.key))
                for process in self._processes
            ]
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        """A failure takes the last words of every process with it."""
        if error:
            for process in self._processes:
                error.add_note(f"{process.address} said:\n{process.last_words()}")
        await self._stack.aclose()

    @property
    def _seed_keys(self) -> str:
        """One ring for all: each opens the seeds of the others."""
        return self._processes[0].environment["CROUPIER_SEED_KEYS"]

    async def ask(self, process: int, request: Request) -> Answer:
        method, path, headers = request.method, request.path, request.headers
        try:
            answer = await self._clients[process].request(
                method, path, content=request.body, headers=headers
            )
        except httpx.TransportError as error:
            raise Gone from error
        return Answer(answer.status_code, dict(answer.headers), answer.content)

    async def news(self, process: int, table: str, version: int) -> None:
        await self.ask(
            process, Request("GET", f"/v1/tables/{table}/events?after={version}&wait=1&limit=1")
        )

    async def hurt(self, fault: Fault, over: Callable[[], Awaitable[None]]) -> None:
        process = self._processes[fault.process]
        match fault.kind:
            case "kill":
                async with process.busy:
                    await asyncio.to_thread(process.end)
                    await asyncio.to_thread(process.start)
            case "terminate":
                await asyncio.to_thread(self._terminate_backends)
            case "cut" | "redis":
                wire = process.postgres if fault.kind == "cut" else process.redis
                wire.cut()
                await over()
                wire.mend()
            case "slow":
                process.postgres.delay_seconds = SLOW_SECONDS
                await over()
                process.postgres.delay_seconds = 0
            case "restart":
                async with self._processes[0].busy:
                    await asyncio.to_thread(kill_postgres, self._servers.mortal)
                    await asyncio.to_thread(self._servers.mortal.start)

    def _terminate_backends(self) -> None:
        """An administrator ends every connection of those who serve."""
        with psycopg.connect(self._servers.mortal.database.owner_url) as owner:
            owner.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid()
                """
            )

    async def log(self) -> list[bytes]:
        return (await self._get("/v1/events.jsonl")).body.splitlines()

    async def balances(self) -> dict[str, int]:
        balances: dict[str, int] = {}
        after: str | None = ""
        while after is not None:
            page = (await self._get(f"/v1/ledger/accounts?limit=1000&after={after}")).json
            balances |= {each["account"]: each["balance"] for each in page["data"]}
            after = page["next"]
        return balances

    async def amiss(self) -> list[str]:
        return await asyncio.to_thread(self._check)

    def _check(self) -> list[str]:
        with psycopg.connect(self._servers.mortal.database.app_url, autocommit=True) as reader:
            return list(map(str, check(reader, self._house.name).faults))

    async def _get(self, path: str) -> Answer:
        """From the first process, which may have lost a connection or two to the last fault."""
        answer = await self.ask(0, Request("GET", path))
        if answer.status == 503:
            await asyncio.sleep(float(answer.headers["retry-after"]))
            return await self._get(path)
        assert answer.status == 200, answer.body
        return answer


def _through(proxy: Proxy, url: str) -> str:
    """The same server by way of a proxy."""
    there = urlsplit(url)
    account, _, _ = there.netloc.rpartition("@")
    return there._replace(netloc=f"{account}@127.0.0.1:{proxy.port}").geturl()
