"""Every statement that serving sends is about one house, so that one node can answer it."""

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psycopg
import pytest

from shared.local.postgres import LocalPostgres
from tests.api.croupier import PATIENCE_SECONDS, Croupier, House
from tests.api.routes import PLACES
from tests.citus.test_shape import LOCAL, REFERENCE, distributed
from tests.conftest import Cluster, Database

OVER_ALL_HOUSES = (
    "SELECT house FROM log_head ORDER BY house",
    "SELECT h.house FROM log_head h WHERE EXISTS (SELECT FROM deadline d ",
    "SELECT h.house, n.name, c.generation, ",
    "UPDATE projection_checkpoint SET held_until = ",
    "SELECT c.name, h.position - c.position, e.envelope ",
    "SELECT h.house FROM log_head h LEFT JOIN seal_head s ",
    "SELECT coalesce(sum(h.position)::bigint, ",
)
"""How these begin: which houses there are, what waits for a worker, how far views and seals are
behind. No caller waits for them, and each node can answer its part."""

SET_RETURNING = {"claim_deadlines"}
"""Called on the coordinator, which then sends its one statement to the node of the house."""

SENT = """
    SELECT DISTINCT s.query FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid
     WHERE r.rolname = 'croupier_app' AND s.toplevel"""


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """On a server that keeps every kind of statement it was sent."""
    with TemporaryDirectory(prefix="croupier-statements-") as home:
        server = LocalPostgres(Path(home), disposable=True)
        server.start()
        with psycopg.connect(server.url(), autocommit=True) as owner:
            owner.execute("ALTER SYSTEM SET shared_preload_libraries = pg_stat_statements")
        server.stop()
        server.start()
        database = Cluster(server.url()).create()
        with psycopg.connect(database.owner_url, autocommit=True) as owner:
            owner.execute("CREATE EXTENSION pg_stat_statements")
        yield database
        server.stop()


@pytest.fixture(scope="module")
def statements(database: Database) -> list[str]:
    """What a service and its worker send while all of the API is used."""
    croupier = Croupier(database)
    with croupier, httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as http:
        house = House(croupier, http)
        for ruleset in ("a2g", "coinlounge"):
            house.seat(ruleset, f"ada-{ruleset}", ruleset=ruleset)
            house.deal(ruleset, 20)
            house.finish(ruleset)
        house.play("a2g", "hit", seat=1, hand=0)
        house.play("nowhere", "bet", seat=1, amount=1)
        look_everywhere(house)
    with psycopg.connect(database.owner_url) as owner:
        return [" ".join(query.split()) for (query,) in owner.execute(SENT)]


def look_everywhere(house: House) -> None:
    """Every path that can be read, as the service itself describes them."""
    names = PLACES | {"table": "a2g", "round": "a2g.1", "player": "ada-a2g", "name": "a2g"}
    names["size"] = str(house.sealed()["size"])
    names |= {"type": "blackjack.table_opened", "version": "1"}
    for path, methods in house.get("/openapi.json")["paths"].items():
        if "get" in methods and not path.endswith("/stream") and "slug" not in path:
            for query in (
                {},
                {"version": 3, "at": 3, "account": "issuance", "wait_for": 1}
                | {"position": 1, "from": 1},
            ):
                filled = path.format(**names)
                answer = house.ask("GET", filled, params=query)
                assert answer.status_code in (200, 307, 422), f"{filled}: {answer.text}"
        if path.endswith("/stream"):
            address = house.croupier.address + path.format(**names)
            headers = {"Authorization": f"Bearer {house.key}"}
            with httpx.stream("GET", address, headers=headers, trust_env=False) as stream:
                next(stream.iter_lines())


def test_every_statement_names_its_house_for_every_table(statements: list[str]) -> None:
    assert [query for query in statements if not is_of_one_house(query)] == []


def test_nothing_was_overlooked(statements: list[str]) -> None:
    read = {table for query in statements for table in tables_of(query)}

    assert {"event_log", "snapshot", "command_outcome", "account", "posting", "api_key"} <= read
    assert any(query.startswith("SELECT append_batch(") for query in statements)


def test_an_append_is_a_plain_select(statements: list[str]) -> None:
    appends = [query for query in statements if "append_batch" in query]

    assert len(appends) == 1
    assert re.fullmatch(r"SELECT append_batch\(\$1(, \$\d+)+\)", appends[0])


def test_no_statement_makes_a_table(statements: list[str]) -> None:
    assert [query for query in statements if re.search(r"\bCREATE\b|\bTEMP", query, re.I)] == []


@pytest.mark.parametrize(
    ("query", "one_house"),
    [
        ("SELECT FROM account WHERE house = $1", True),
        ("SELECT FROM account WHERE balance > $1", False),
        ("SELECT FROM posting p JOIN event_log e ON e.house = p.house WHERE p.house = $1", True),
        ("SELECT FROM posting p JOIN event_log e USING (position) WHERE p.house = $1", False),
        ("INSERT INTO snapshot (house, stream) VALUES ($1, $2)", True),
        ("INSERT INTO snapshot (stream, house) VALUES ($1, $2)", False),
        ("DELETE FROM snapshot", False),
        ("SELECT house FROM api_key WHERE prefix = $1", True),
        ("SELECT * FROM every_table($1)", False),
    ],
)
def test_the_judge_can_tell(query: str, one_house: bool) -> None:
    assert is_of_one_house(query) is one_house


_HOUSE_FIRST = r"INSERT INTO \w+(?: AS \w+)? \(house, .*?\) (?:VALUES \(|SELECT )\$\d"


def is_of_one_house(query: str) -> bool:
    """Whether a predicate on `house` stands for every distributed table in a statement."""
    if query.startswith(OVER_ALL_HOUSES):
        return True
    names = tables_of(query)
    unknown = set(names) - distributed() - REFERENCE - LOCAL - _named_inside(query)
    named = len(re.findall(r"\bhouse = (?:\$\d+|\w+\.house)\b", query))
    named += len(
        re.findall(r"INSERT INTO \w+(?: AS \w+)? \(house, .*?\) (?:VALUES \(|SELECT )\$\d", query)
    )
    return not unknown and sum(name in distributed() for name in names) <= named


def tables_of(query: str) -> list[str]:
    """Whatever a statement reads or writes by name, as often as it does."""
    query = re.sub(r"extract\(\S+ FROM ", "extract(", query)
    called = "|".join(SET_RETURNING | {"unnest", "generate_series"})
    return re.findall(
        rf"\b(?:FROM|JOIN|INTO|(?<!DO )(?<!FOR )UPDATE) (?!(?:{called})\b|\()(\w+)", query
    )


def _named_inside(query: str) -> set[str]:
    """The names that a statement gives to parts of itself."""
    return set(re.findall(r"\b(\w+) AS (?:NOT MATERIALIZED |MATERIALIZED )?\(", query))
