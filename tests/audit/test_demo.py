"""`croupier demo` against a server that runs: what it shows, what it finds, what it says."""

import socket
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner, Result

from services.cli import app
from services.cli.refused import Refused
from tests.api.croupier import House


def demo(house: House, *options: str) -> Result:
    command = ["demo", "--url", house.croupier.address, "--key", house.key, "--rounds", "1"]
    return CliRunner().invoke(app, [*command, *options])


def test_every_game_is_played_told_and_checked(house: House) -> None:
    shown = demo(house, "--rounds", "2")

    assert shown.exit_code == 0, shown.output
    for title in ("A2G Blackjack", "CoinLounge Blackjack", "Classic Table", "Evropský"):
        assert title in shown.output
    assert shown.output.count("ada ends the round with") == 8
    assert (
        shown.output.count("✓ proof: ") == shown.output.count("cards from the committed seed") == 8
    )
    assert "8 finished rounds" in shown.output
    assert "All of it holds" in shown.output
    assert house.get("/v1/ledger/trial-balance")["total"] == 0


def test_it_leaves_other_tables_alone_and_its_own_closed(house: House) -> None:
    house.seat("oak", "ada")
    house.deal("oak", 20)
    before = house.get("/v1/tables/oak")

    assert demo(house).exit_code == 0

    events = [entry["event"] for entry in house.walk("/v1/events", limit=1000)]
    opened = {e["data"]["table"] for e in events if e["type"] == "blackjack.table_opened"}
    tables = {table: house.get(f"/v1/tables/{table}") for table in opened}
    assert tables.pop("oak") == before
    assert len(tables) == 4
    assert {table["phase"] for table in tables.values()} == {"closed"}


def test_an_insider_who_changes_the_database_is_found_out(house: House) -> None:
    house.grant("eve", 100)
    with psycopg.connect(house.croupier.database.owner_url) as insider:
        insider.execute("ALTER TABLE event_log DISABLE TRIGGER USER")
        insider.execute(
            """
            UPDATE event_log SET envelope = replace(encode(envelope, 'escape'), '100', '900')::bytea
             WHERE house = %s
            """,
            (house.name,),
        )
        insider.execute("ALTER TABLE event_log ENABLE TRIGGER USER")
        insider.execute(
            "UPDATE account SET balance = 900 WHERE house = %s AND balance = 100", (house.name,)
        )

    shown = demo(house)

    assert shown.exit_code == 1
    assert "All of it holds" not in shown.output
    assert "At position 1: The envelope does not have the recorded hash." in shown.output
    assert "The trial balance is 800, not 0." in shown.output


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--url", "http://127.0.0.1:port"], "is no address of a server"),
        (["--url", "table-3"], "name the server with --url"),
        (["--key", "ck_0"], "does not take this key"),
        (["--key", "ключ"], "does not take this key"),
    ],
)
def test_what_can_be_put_right_is_said(options: list[str], sentence: str, house: House) -> None:
    refused = demo(house, *options).exception

    assert isinstance(refused, Refused)
    assert sentence in str(refused)


def test_when_nobody_answers_it_says_how_to_start_a_server(house: House) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # taken, but nobody listens
        port = silent.getsockname()[1]
        refused = demo(house, "--url", f"http://127.0.0.1:{port}").exception

    assert isinstance(refused, Refused)
    assert "Start `croupier up` in another terminal" in str(refused)
    assert "CROUPIER_PORT" in str(refused)


def test_a_key_that_may_not_audit_is_told_so(house: House) -> None:
    refused = demo(house, "--key", house.make_key("play", "read", "ledger")).exception

    assert isinstance(refused, Refused)
    assert "This key cannot run the demo" in str(refused)
    assert "audit" in str(refused)


def test_without_a_key_it_says_where_one_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROUPIER_HOME", str(tmp_path))
    refused = CliRunner().invoke(app, ["demo"]).exception

    assert isinstance(refused, Refused)
    assert "There is no API key in" in str(refused)
