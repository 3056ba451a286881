"""A log that was really played: by the service, in Postgres, at every game and one of the house's
own, with clocks, computer players, and people who go from table to table."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import psycopg
from msgspec import structs
from psycopg import sql

from shared.eventstore.store import Recorded
from shared.local.process import until
from tests.api.croupier import PATIENCE_SECONDS, Croupier, House
from tests.api.test_own_rulesets import OWN_RULESET
from tests.conftest import Cluster, Database

Owner = psycopg.Connection[Any]
HOUSE = "grand"
ROUNDS = 24
"""At one table, which has a snapshot after them."""


def played(database: Database) -> None:
    """Plays, and ends the service: nobody is connected to the database then."""
    with (
        Croupier(database) as croupier,
        httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as http,
    ):
        house = House(croupier, http, HOUSE)
        house.seat("oak", "ada", "bob")
        for _ in range(ROUNDS):
            house.deal("oak", 2, 2)
            house.finish("oak")
        for table, game, *players in (
            ("elm", "coinlounge", "ada", "cyd"),
            ("fir", "european", "bob"),
            ("ash", "classic", "cyd"),
        ):
            house.seat(table, *players, ruleset=game)
            house.deal(table, *([10] * len(players)))
            house.finish(table)
        assert house.register(OWN_RULESET).status_code == 201
        house.open("yew", OWN_RULESET["name"], clock={"betting_seconds": 3600}, host="ada")
        house.do("yew", "sit", seat=1, player="ada", buy_in=200)
        house.do("yew", "bet", seat=1, amount=100)
        house.open("ivy", "a2g")
        body = {"seat": 1, "level": "easy", "buy_in": 20, "rounds": 1}
        assert house.ask("POST", "/v1/tables/ivy/computers", json=body).status_code == 200
        assert until(lambda: house.get("/v1/tables/ivy")["seats"] == [])
        house.do("oak", "leave", seat=2)
        house.deal("oak", 2)
        house.sealed()
        head = house.head()
        assert until(lambda: house.get("/v1/tables")["position"] >= head)
        croupier.end(SIGTERM)


def unstopped(database: Database) -> Owner:
    owner = psycopg.connect(database.owner_url, autocommit=True)
    owner.execute("SET session_replication_role = replica")
    owner.execute("SET timezone = 'UTC'")
    return owner


@contextmanager
def a_copy(cluster: Cluster, template: Database) -> Iterator[tuple[Database, Path]]:
    database = cluster.copy(template)
    with TemporaryDirectory() as home:
        yield database, Path(home) / "export"
    cluster.drop(database)


def write(owner: Owner, records: list[Recorded]) -> None:
    """The log of the house, as somebody wants it to be."""
    owner.execute("DELETE FROM event_log WHERE house = %s", (HOUSE,))
    names = Recorded.__struct_fields__
    query = sql.SQL("INSERT INTO event_log (house, {}) VALUES (%s, {})").format(
        sql.SQL(", ").join(map(sql.Identifier, names)),
        sql.SQL(", ").join([sql.Placeholder()] * len(names)),
    )
    with owner.cursor() as cursor:
        cursor.executemany(query, [(HOUSE, *structs.astuple(record)) for record in records])
