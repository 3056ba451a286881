"""One command from a clone: the whole stack, healthy in order, its secrets in files."""

import json
import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator

import httpx
import pytest

from shared.local.process import until
from tests.conftest import not_here
from tests.containers.conftest import BASE, ROOT, docker

Compose = Callable[..., str]
KEY = ("run", "--rm", "-T", "migrate", "keys", "create", "me", "--scopes", "play,read,ledger,audit")


@pytest.fixture(scope="module")
def address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture(scope="module")
def compose(image: str, address: str) -> Iterator[Compose]:
    """The command line of compose, for a project of its own that is forgotten at the end."""
    plugin = docker("compose", "version", check=False).returncode == 0
    command = ["docker", "compose"] if plugin else ["docker-compose"]
    if not shutil.which(command[0]):
        not_here("docker", "docker compose")
    command += ["-p", f"croupier-{secrets.token_hex(4)}", "-f", "deploy/compose.yaml"]
    told = {"CROUPIER_IMAGE": image, "BASE_IMAGE": BASE}
    told |= {"CROUPIER_PORT": address.rpartition(":")[2], "CROUPIER_SEAL_SECONDS": "1"}
    environment = os.environ | told

    def run(*words: str) -> str:
        done = subprocess.run(
            [*command, *words], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    try:
        run("up", "-d")
        yield run
    finally:
        run("down", "--volumes", "--timeout", "60")


def state(compose: Compose, service: str) -> dict[str, object]:
    name = compose("ps", "--all", "-q", service).split()[0]
    found: dict[str, object] = json.loads(docker("inspect", name).stdout)[0]
    return found


def health(compose: Compose, service: str) -> str:
    told = state(compose, service)["State"]
    assert isinstance(told, dict)
    return str(told["Health"]["Status"])


def test_all_are_healthy_in_order(compose: Compose, address: str) -> None:
    for service in ("postgres", "valkey", "api", "worker"):
        assert until(lambda name=service: health(compose, name) == "healthy"), service

    ready = httpx.get(f"http://{address}/readyz", trust_env=False)
    assert ready.json() == {
        "status": "ready",
        "database": "reachable",
        "schema": "current",
        "redis": "connected",
    }


def test_secrets_are_in_files_of_those_who_need_them(compose: Compose) -> None:
    told = json.dumps([state(compose, name) for name in ("api", "worker", "postgres", "valkey")])
    url = compose("exec", "-T", "api", "cat", "/run/secrets/serving/database-url")

    assert url.startswith("postgresql://croupier:")
    assert url.split(":")[2].split("@")[0] not in told
    assert compose("exec", "-T", "api", "ls", "/run/secrets").split() == ["serving"]
    assert compose("exec", "-T", "worker", "ls", "/run/secrets").split() == ["sealing", "serving"]


def test_what_is_played_outlives_the_containers(compose: Compose, address: str) -> None:
    token = compose(*KEY).split()[-1]
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"http://{address}/v1", headers=headers, trust_env=False) as http:
        opened = http.put("/tables/oak", json={"ruleset": "a2g"})
        assert opened.status_code == 201, opened.text

        compose("down", "--timeout", "60")
        compose("up", "-d")

        assert until(lambda: health(compose, "api") == "healthy")
        assert http.get("/tables/oak").json()["version"] == 1
        assert until(lambda: http.get("/audit/seals/latest").status_code == 200)
    assert compose("exec", "-T", "worker", "ls", "/var/lib/croupier/seals").split()
