"""Croupier in containers: a network, a Postgres, a Valkey, and whatever a test starts beside them.

All of ours run as strict as they can: a uid that nobody has, nothing writable, no capability.
"""

import secrets
import socket
from base64 import urlsafe_b64encode
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from testcontainers.community.postgres import PostgresContainer
from testcontainers.community.redis import RedisContainer
from testcontainers.core.config import ConnectionMode, testcontainers_config
from testcontainers.core.container import DockerContainer
from testcontainers.core.network import Network

from shared.local.process import password, until
from tests.conftest import Database

IMAGE, POSTGRES, VALKEY = "croupier:test", "postgres:18", "valkey/valkey:9"

OWNER = {"CROUPIER_MIGRATION_URL_FILE": "/run/secrets/owner"}
"""What a command is told that acts as the owner of the schema."""

SERVICES, WORKERS = ("api-1", "api-2"), ("worker-1", "worker-2")
"""What a stack is made of, beside Postgres and Valkey."""

PART = 40
"""Commands that are answered between one event and the next."""

THOUGHT_SECONDS = 0.3
"""Leaves the machine some time to start containers in."""

# The tests remove containers themselves, and reach them at the ports that they publish.
testcontainers_config.ryuk_disabled = True
testcontainers_config.max_tries, testcontainers_config.sleep_time = 600, 0.1
testcontainers_config.connection_mode_override = ConnectionMode.docker_host

STRICT: dict[str, Any] = {
    "user": "4711:4712",
    "read_only": True,
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
    "mem_limit": "512m",
    "pids_limit": 200,
}


class Contained:
    """A container that keeps its address when it is killed and started again."""

    def __init__(self, container: DockerContainer, port: int) -> None:
        """`port` is the one inside that is published on loopback."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        container.ports = {f"{port}/tcp": ("127.0.0.1", self.port)}
        self.container = container
        self.address = f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """As `kill -9`: no time to say a word."""
        self.container.get_wrapped_container().kill("SIGKILL")
        self.container.get_wrapped_container().wait()

    def start(self) -> None:
        self.container.get_wrapped_container().start()

    def restart(self) -> None:
        self.container.get_wrapped_container().restart()

    def stop(self) -> int:
        """SIGTERM, and the exit code: 137 for one that had to be killed."""
        self.container.get_wrapped_container().stop(timeout=30)
        return self.exit_code()

    def exit_code(self) -> int:
        return int(self.container.get_wrapped_container().wait()["StatusCode"])

    def health(self) -> str:
        """What the engine thinks of it: `starting`, `healthy`, `unhealthy`."""
        wrapped = self.container.get_wrapped_container()
        wrapped.reload()
        return str(wrapped.attrs["State"]["Health"]["Status"])

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.address}/readyz", trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    def said(self) -> str:
        return str(self.container.get_wrapped_container().logs().decode())


class Stack:
    """A Croupier and what it needs. As a context it is removed at the end, with all its data."""

    def __init__(self, image: str = IMAGE) -> None:
        self.image = image
        self.processes: dict[str, Contained] = {}
        self.front = "api-1"
        """The one whose address is that of the stack."""
        self._owner, self._serving = password(), password()

    def __enter__(self) -> "Stack":
        with ExitStack() as started:
            self._keep = Path(started.enter_context(TemporaryDirectory(prefix="croupier-stack-")))
            self._exports = Path(
                started.enter_context(
                    TemporaryDirectory(prefix="exports-", ignore_cleanup_errors=True)
                )
            )
            self._exports.chmod(0o777)
            self.network = started.enter_context(Network())
            database = PostgresContainer(
                POSTGRES, username="owner", password=self._owner, dbname="croupier", driver=None
            )
            self.postgres = Contained(self._joined(database, "postgres"), 5432)
            started.enter_context(self.postgres.container)
            self.valkey = Contained(self._joined(RedisContainer(VALKEY), "valkey"), 6379)
            started.enter_context(self.valkey.container)
            self.processes |= {"postgres": self.postgres, "valkey": self.valkey}
            self._keep_secrets()
            self._started = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._started.close()

    @property
    def database(self) -> Database:
        """The same database as the containers', as it is reached from outside."""
        host = f"127.0.0.1:{self.postgres.port}/croupier"
        return Database(
            f"postgresql://owner:{self._owner}@{host}",
            f"postgresql://croupier:{self._serving}@{host}",
        )

    @property
    def address(self) -> str:
        return self.processes[self.front].address

    def migrate(self, *options: str, image: str | None = None) -> str:
        """Brings the schema to that of the image."""
        return self.run("migrate", *options, image=image, **OWNER)

    def run(self, *words: str, image: str | None = None, **environment: str) -> str:
        """One command in a container of its own, and what it says. It has to succeed."""
        with self._one(words, image, environment) as container:
            code = int(container.get_wrapped_container().wait()["StatusCode"])
            said = str(container.get_wrapped_container().logs().decode())
        assert code == 0, said
        return said

    def serve(self, *names: str, image: str | None = None) -> None:
        """Returns when all of them serve."""
        for serving in [self.begin(name, "serve", image=image) for name in names]:
            assert until(serving.is_ready), serving.said()

    def serves(self) -> bool:
        """Whether all that it began with serve, after some patience."""
        return all(until(self.processes[name].is_ready) for name in SERVICES)

    def work(self, *names: str, image: str | None = None) -> None:
        for name in names:
            self.begin(name, "work", image=image)

    def begin(
        self, name: str, *words: str, image: str | None = None, **environment: str
    ) -> Contained:
        """Any command, in a container that is found under this name."""
        begun = Contained(self._joined(self._one(words, image, environment), name), 8000)
        self._started.enter_context(begun.container)
        self.processes[name] = begun
        return begun

    def _one(
        self, words: tuple[str, ...], image: str | None, environment: dict[str, str]
    ) -> DockerContainer:
        told = {
            "DATABASE_URL_FILE": "/run/secrets/database",
            "REDIS_URL": "redis://valkey:6379/0",
            "CROUPIER_SEED_KEYS_FILE": "/run/secrets/seed-keys",
        }
        # Only what serves answers the question for its health, which is asked every few seconds.
        unasked = {} if words[0] == "serve" else {"healthcheck": {"test": ["NONE"]}}
        strict = STRICT | unasked
        container = DockerContainer(image or self.image, command=list(words), **strict)
        container.with_envs(**told | environment).with_network(self.network)
        container.with_volume_mapping(self._exports, "/exports", "rw")
        return container.with_volume_mapping(self._keep, "/run/secrets", "ro")

    def _joined(self, container: DockerContainer, name: str) -> DockerContainer:
        return container.with_network(self.network).with_network_aliases(name)

    def _keep_secrets(self) -> None:
        """Files for every uid, in a directory that only the containers are shown."""
        self._keep.chmod(0o755)
        seed_key = urlsafe_b64encode(secrets.token_bytes(32)).decode()
        for name, secret in (
            ("owner", f"postgresql://owner:{self._owner}@postgres:5432/croupier"),
            ("database", f"postgresql://croupier:{self._serving}@postgres:5432/croupier"),
            ("seed-keys", f"test:{seed_key}"),
        ):
            (self._keep / name).write_text(secret)
