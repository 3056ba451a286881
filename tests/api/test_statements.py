"""Statements over REST: as JSON, as a table, to print; for a range of positions or of times."""

import csv
from html.parser import HTMLParser
from io import StringIO
from typing import Any

import pytest

from tests.api.croupier import House, Json

STATEMENTS = ["/v1/players/ada/statement", "/v1/tables/oak/statement"]


@pytest.fixture
def played(house: House) -> House:
    """Ada has played a round of her 1000 chips, 400 of them at the table, and gone home."""
    house.seat("oak", "ada")
    house.deal("oak", 20)
    house.finish("oak")
    house.do("oak", "leave", seat=1)
    return house


def statement(house: House, path: str = STATEMENTS[0], **query: Any) -> Json:
    return house.get(path, wait_for=house.head(), **query)


def test_a_player_reads_where_the_chips_went(played: House) -> None:
    found = statement(played)

    assert found["opening"] == {"balance": 0, "vault": 0, "at_tables": 0, "at_risk": 0}
    vault = played.get("/v1/players/ada/vault")["balance"]
    assert found["closing"] == {"balance": vault, "vault": vault, "at_tables": 0, "at_risk": 0}
    assert (found["first_position"], found["last_position"]) == (1, played.head())
    assert [line["text"] for line in found["data"]][:4] == [
        "ada is granted 1000 chips.",
        "ada takes a seat at table oak with 400 chips.",
        "400 chips of ada go from the vault to table oak.",
        "ada bets 20 in round oak.1.",
    ]
    bet = found["data"][3]
    assert (bet["kind"], bet["table"], bet["round"], bet["hand"]) == ("bet", "oak", "oak.1", None)
    assert (bet["amount"], bet["balance"], bet["vault"], bet["at_risk"]) == (-20, 980, 600, 20)
    assert sum(line["amount"] for line in found["data"]) == vault
    assert vault - 1000 == played.get("/v1/rounds/oak.1/recall")["results"][0]["net"]


def test_the_bank_won_what_the_player_lost(played: House) -> None:
    net = played.get("/v1/rounds/oak.1/recall")["results"][0]["net"]

    found = statement(played, STATEMENTS[1])

    assert (found["opening"], found["closing"]) == (0, -net)
    assert [line["amount"] for line in found["data"]] == ([-net] if net else [])
    assert {line["player"] for line in found["data"]} <= {"ada"}


@pytest.mark.parametrize("path", STATEMENTS)
def test_a_range_of_positions_begins_and_ends_with_whole_commands(path: str, played: House) -> None:
    sat = 3  # and the chips left the vault at 4

    found = statement(played, path, **{"from": sat + 1, "to": sat + 1})

    assert (found["first_position"], found["last_position"]) == (3, 4)
    again = {"from": 3, "to": 4}
    assert (
        played.ask("GET", path, params=again).content
        == played.ask("GET", path, params=again).content
    )


def test_a_range_of_times_is_found_by_the_lines(played: House) -> None:
    whole = statement(played)
    bet = whole["data"][3]

    since = statement(played, **{"from": bet["time"]})
    until = statement(played, to=bet["time"])
    long_ago = statement(played, **{"from": "2001-01-01", "to": "2001-02-01"})

    assert [*until["data"], *since["data"]] == whole["data"]
    assert until["closing"] == since["opening"]
    assert long_ago["data"] == []
    assert statement(played, to="2999-01-01T00:00:00+02:00")["data"] == whole["data"]


@pytest.mark.parametrize("path", STATEMENTS)
@pytest.mark.parametrize("limit", [1, 2, 1000])
def test_pages_have_every_line_once(path: str, limit: int, played: House) -> None:
    whole = statement(played, path)["data"]

    assert list(played.walk(path, limit=limit)) == whole


@pytest.mark.parametrize("path", STATEMENTS)
def test_a_table_of_all_lines_is_the_statement_between_its_balances(
    path: str, played: House
) -> None:
    whole = statement(played, path)

    answer = played.ask("GET", f"{path}.csv")

    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    opening, *lines, closing = csv.DictReader(StringIO(answer.text))
    assert [int(line["position"]) for line in lines] == [e["position"] for e in whole["data"]]
    assert [line["text"] for line in lines] == [line["text"] for line in whole["data"]]
    balance = int(opening["balance"]) + sum(int(line["amount"]) for line in lines)
    assert balance == int(closing["balance"])
    assert (opening["kind"], closing["kind"]) == ("opening", "closing")
    assert int(closing["position"]) == whole["last_position"]
    accepted = played.ask("GET", path, headers={"Accept": "text/csv"})
    assert accepted.text == answer.text


class Cells(HTMLParser):
    """The rows of the table of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.loads: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.loads += [value or "" for name, value in attributes if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()


@pytest.mark.parametrize("path", STATEMENTS)
def test_a_page_to_print_has_all_lines_and_loads_nothing(path: str, played: House) -> None:
    whole = statement(played, path)

    answer = played.ask("GET", f"{path}.html")

    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    page = Cells(answer.text)
    assert page.loads == []
    head, opening, *lines, closing = page.rows
    assert head[:3] == ["Position", "Time", "What happened"]
    assert [line[2] for line in lines] == [line["text"] for line in whole["data"]]
    assert [closing[0], opening[0]] == [str(whole["last_position"]), "0"]
    assert {len(row) for row in page.rows} == {len(head)}
    assert f"House {played.name}" in answer.text
    accepted = played.ask("GET", path, headers={"Accept": "text/html"})
    assert accepted.text == answer.text


def test_a_table_is_whole_however_long_it_is(house: House) -> None:
    """More lines than a page has."""
    body = [{"table": "oak", "command": {"type": "bet", "seat": 1, "amount": 20}}]
    body += [{"table": "oak", "command": {"type": "withdraw_bet", "seat": 1}}]
    house.seat("oak", "ada", ruleset="coinlounge")
    for _ in range(11):
        answer = house.ask("POST", "/v1/commands", json={"commands": body * 50})
        assert answer.status_code == 200
    statement(house)

    for kind in ("csv", "html"):
        told = house.ask("GET", f"/v1/players/ada/statement.{kind}").text
        assert told.count("ada bets 20 in round oak.1.") == 550
    assert len(list(house.walk(STATEMENTS[0], limit=1000))) == 1103


@pytest.mark.parametrize("path", STATEMENTS)
def test_a_range_without_lines_may_be_asked_for_again(path: str, played: House) -> None:
    for query in ({"from": "2100-01-01"}, {"to": "2000-01-01"}):
        empty = statement(played, path, **query)
        first, last = empty["first_position"], empty["last_position"]

        assert empty["data"] == []
        assert statement(played, path, **{"from": first, "to": last}) == empty


@pytest.mark.parametrize("kind", ["", ".csv", ".html"])
@pytest.mark.parametrize("path", STATEMENTS)
def test_what_cannot_be_is_refused_with_what_can(path: str, kind: str, played: House) -> None:
    head = played.head()
    refusals = [
        ({"from": 7, "to": 3}, 422, "bad-range", "`from` is 7, which is after `to`, 3"),
        ({"to": head + 1}, 404, "unknown-position", f"the log ends at {head}"),
        ({"from": head + 1}, 404, "unknown-position", f"the log ends at {head}"),
        ({"from": "2026-02-01", "to": "2026-01-01"}, 422, "bad-range", "after `to`"),
        ({"to": "2026-W05-6"}, 422, "malformed", "query.to"),
        ({"to": "yesterday"}, 422, "malformed", "2026-01-31T12:00:00Z"),
        ({"to": "2026-01-31T12:00:00"}, 422, "malformed", "A time has a zone"),
        ({"from": "-1"}, 422, "malformed", "query.from"),
        ({"from": "2026-02-30"}, 422, "malformed", "query.from"),
        ({"from": "0001-01-01T00:00:00+14:00"}, 422, "malformed", "query.from"),
        ({"to": str(2**64)}, 422, "malformed", "query.to"),
        ({"to": "٣"}, 422, "malformed", "query.to"),
        ({"to": "1" * 41}, 422, "malformed", "to"),
    ]
    for query, status, problem, says in refusals:
        refused = played.ask("GET", path + kind, params=query)
        assert (refused.status_code, refused.json()["type"]) == (status, f"/problems/{problem}")
        assert says in refused.json()["detail"]
    assert played.ask("GET", path, params={"to": head + 1}).json()["newest"] == head


def test_the_trial_balance_at_a_position(played: House) -> None:
    head = played.head()

    now, then = (played.get("/v1/ledger/trial-balance", position=at) for at in (head, 2))

    assert now == played.get("/v1/ledger/trial-balance")
    assert then == {
        "position": 2,
        "accounts": [
            {"kind": "issuance", "accounts": 1, "balance": -1000},
            {"kind": "vault", "accounts": 1, "balance": 1000},
        ],
        "total": 0,
        "balanced": True,
    }
    assert played.get("/v1/ledger/trial-balance", position=3)["position"] == 4, "a whole command"
    refused = played.ask("GET", "/v1/ledger/trial-balance", params={"position": head + 1})
    assert (refused.status_code, refused.json()["newest"]) == (404, head)
    assert f"the log ends at {head}" in refused.json()["detail"]
