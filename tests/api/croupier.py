"""A Croupier that really runs, and houses on it: what the tests of the API speak to."""

import os
import secrets
import socket
import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from signal import SIGKILL, Signals
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import httpx
import psycopg
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from services.settings import Settings, variable
from shared.eventstore.migrate import open_house
from shared.http import keys
from shared.http.keys import SCOPES, Scope
from shared.local.process import until
from shared.seals.keyfile import add_key
from shared.seals.notes import COSIGNS, Note, cosign, public_of
from tests.conftest import Database

Json: TypeAlias = Any

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 60.0
"""How long a test waits for an answer before it fails: long enough for a busy machine."""

WITNESS = Ed25519PrivateKey.from_private_bytes(bytes(32))
WITNESS_NAME = "witness.example/w1"

_SERVE = (sys.executable, "-c", "from services.cli import main; main()", "serve", "--work")
_OURS = {variable(field) for field in Settings.model_fields}


class Croupier:
    """`croupier serve` as a process of its own, on a port that stays the same when it restarts."""

    def __init__(self, database: Database, redis_url: str = "", code: Path = ROOT) -> None:
        """`code`: where the program is, if not here."""
        self.database, self.code = database, code
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self._home = TemporaryDirectory(prefix="croupier-seals-")
        seed_key = urlsafe_b64encode(secrets.token_bytes(32)).decode()
        self.environment = {name: value for name, value in os.environ.items() if name not in _OURS}
        self.environment |= {
            "DATABASE_URL": database.app_url,
            "REDIS_URL": redis_url,
            "CROUPIER_PORT": str(port),
            "CROUPIER_LOG_LEVEL": "warning",
            "CROUPIER_SEED_KEYS": f"test:{seed_key}",
            "CROUPIER_FAILED_KEYS": "1000000/s",
            "CROUPIER_SEALS": f"{self._home.name}/seals",
            "CROUPIER_SEAL_KEY": f"{self._home.name}/seal.key",
            "CROUPIER_SEAL_SECONDS": "0",
            "CROUPIER_WITNESSES": str(public_of(WITNESS, WITNESS_NAME, COSIGNS)),
        }
        add_key(Path(self._home.name) / "seal.key")
        self.log: Path | None = None
        """Where it tells what it does; without it, where the tests do."""
        self._process: subprocess.Popen[str] | None = None

    def twin(self, code: Path = ROOT) -> "Croupier":
        """Another process, on a port of its own, with the same database and the same keys."""
        twin = Croupier(self.database, code=code)
        twin.environment = self.environment | {"CROUPIER_PORT": twin.address.rpartition(":")[2]}
        return twin

    def start(self) -> None:
        """Returns when it serves."""
        with self.log.open("ab") if self.log else nullcontext() as log:
            self._process = subprocess.Popen(
                _SERVE,
                env=self.environment,
                cwd=self.code,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout
        assert self.address in self._process.stdout.readline(), "croupier did not start"

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def end(self, signal: Signals = SIGKILL) -> None:
        """Returns when it is gone; harmless when it is gone already."""
        if self._process:
            self._process.send_signal(signal)
            self._process.communicate()
            self._process = None

    def __enter__(self) -> "Croupier":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def children(croupier: Croupier) -> set[int]:
    """The processes that a supervisor has started."""
    listed = subprocess.run(
        ("ps", "-A", "-o", "pid=,ppid="), capture_output=True, text=True, check=True
    )
    family = (map(int, line.split()) for line in listed.stdout.splitlines())
    return {pid for pid, parent in family if parent == croupier.pid}


class House:
    """A house of its own on a running croupier: an empty log, and a key with every scope."""

    def __init__(self, croupier: Croupier, http: httpx.Client, name: str = "") -> None:
        self.croupier = croupier
        self.name = name or f"house-{secrets.token_hex(6)}"
        self._http = http
        open_house(croupier.database.owner_url, self.name)
        self.key = self.make_key(*SCOPES)

    def make_key(self, *scopes: Scope) -> str:
        with psycopg.connect(self.croupier.database.owner_url) as owner:
            return keys.create(owner, self.name, "till", scopes)

    def ask(self, method: str, path: str, *, key: str | None = None, **more: Any) -> httpx.Response:
        """A request with the key of the house, or another one; `key=""` sends none."""
        headers = dict(more.pop("headers", None) or {})
        if token := self.key if key is None else key:
            headers.setdefault("Authorization", f"Bearer {token}")
        address = f"{self.croupier.address}{path}"
        return self._http.request(method, address, headers=headers, **more)

    def get(self, path: str, **query: Any) -> Json:
        """The JSON of an answer that has to be 200."""
        answer = self.ask("GET", path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def open(self, table: str, ruleset: str = "a2g", **body: Json) -> httpx.Response:
        return self.ask("PUT", f"/v1/tables/{table}", json={"ruleset": ruleset, **body})

    def register(self, ruleset: Json) -> httpx.Response:
        return self.ask("PUT", f"/v1/rulesets/{ruleset['name']}", json=ruleset)

    def grant(self, player: str, amount: Json, **headers: str) -> httpx.Response:
        path = f"/v1/players/{player}/grants"
        return self.ask("POST", path, json={"amount": amount}, headers=_named(headers))

    def play(self, table: str, type: str, headers: Any = None, **fields: Json) -> httpx.Response:
        """One command, whatever becomes of it."""
        path = f"/v1/tables/{table}/commands"
        return self.ask("POST", path, json={"type": type, **fields}, headers=headers)

    def do(self, table: str, type: str, headers: Any = None, **fields: Json) -> Json:
        """One command that has to be accepted, and what it answers."""
        answer = self.play(table, type, headers, **fields)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def seat(self, table: str, *players: str, ruleset: str = "a2g", buy_in: int = 400) -> Json:
        """A table where these players sit, each with a thousand granted; the last answer.

        Where the game is played in runs, they begin one with a hundred chips.
        """
        self.open(table, ruleset, host=players[0])
        for number, player in enumerate(players, 1):
            assert self.grant(player, 1000).status_code == 200
            if ruleset == "classic":
                sat = self.do(table, "start_run", seat=number, player=player, stake=100)
            else:
                sat = self.do(table, "sit", seat=number, player=player, buy_in=buy_in)
        return sat

    def leave_alone(self, table: str) -> None:
        """A table where ada has bet beside a computer player, and does nothing more."""
        self.open(table, "a2g", host="ada", clock={"action_seconds": 1})
        assert self.grant("ada", 400).status_code == 200
        self.do(table, "sit", seat=1, player="ada", buy_in=400)
        computer = {"seat": 2, "level": "easy", "buy_in": 400}
        seated = self.ask("POST", f"/v1/tables/{table}/computers", json=computer)
        assert seated.status_code == 200, seated.text
        self.do(table, "bet", seat=1, amount=10)

    def unasked(self, table: str) -> Json:
        """What computers and clocks have done there so far. Where a natural left ada nothing to
        do, she bets again."""
        self.play(table, "bet", seat=1, amount=10)
        events = [entry["event"] for entry in self.walk("/v1/events")]
        return {e["traceparent"]: e["actor"] for e in events if not e["actor"].startswith("key/")}

    def deal(self, table: str, *bets: int) -> Json:
        """Each seat bets, and the cards are dealt; the last answer."""
        for number, amount in enumerate(bets, 1):
            answer = self.do(table, "bet", seat=number, amount=amount)
        for move in answer["table"]["legal_moves"]:
            if move["type"] == "deal":
                return self.do(table, **command(move))
        return answer

    def finish(self, table: str) -> Json:
        """Everybody stands until the round is over; the table then."""
        seen = self.get(f"/v1/tables/{table}")
        while move := next((m for m in seen["legal_moves"] if m["type"] in _CAUTIOUS), None):
            seen = self.do(table, **command(move))["table"]
        return seen

    def head(self) -> int:
        """The position of the last event in the log of the house."""
        return int(self.get("/v1/ledger/trial-balance")["position"])

    def balance(self, account: str) -> int:
        found = self.get("/v1/ledger/accounts", prefix=account)["data"]
        return sum(each["balance"] for each in found if each["account"] == account)

    def walk(self, path: str, **query: Any) -> Iterator[Json]:
        """Everything that a list has, page by page."""
        after = query.pop("after", None)
        while True:
            page = self.get(path, **query, **({} if after is None else {"after": after}))
            yield from page["data"]
            if page["next"] is None or not page["data"]:
                return
            after = page["next"]

    def sealed(self) -> Json:
        """The newest seal, once all of the log is sealed."""
        head = self.head()
        assert until(lambda: self.get("/v1/audit/status")["verified_position"] >= head)
        return self.get("/v1/audit/seals/latest")

    def crowd(self, idle_seconds: float = 5.0) -> httpx.AsyncClient:
        """A client for many requests at once, with the key of the house. It keeps a connection
        that is idle for so long."""
        return httpx.AsyncClient(
            base_url=self.croupier.address,
            headers={"Authorization": f"Bearer {self.key}"},
            timeout=PATIENCE_SECONDS,
            limits=httpx.Limits(max_connections=None, keepalive_expiry=idle_seconds),
            trust_env=False,
        )


_CAUTIOUS = {"stand", "decline_insurance"}
_BOUNDS = {"min", "max", "step", "cost"}


def command(move: Json) -> Json:
    """A legal move as the command that it is."""
    return {name: value for name, value in move.items() if name not in _BOUNDS}


def cosigned(seal: Json) -> Json:
    """What the witness that is known says of a seal."""
    checkpoint = Note.read(seal["note"].encode()).checkpoint
    return {"cosignature": str(cosign(checkpoint, WITNESS_NAME, WITNESS, 1_700_000_000))}


def key(name: str) -> dict[str, str]:
    """The header that makes a command happen once."""
    return {"Idempotency-Key": name}


def kinds(events: Iterable[Json]) -> list[str]:
    """What happened, in order, without the context's name."""
    return [event["type"].partition(".")[2] for event in events]


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
