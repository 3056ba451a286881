"""Tables: opened once, played by their legal moves, seen again at every version."""

import json
from datetime import datetime, timedelta

import msgspec
import pytest

from services.blackjack.api import examples
from services.blackjack.domain.commands import Bet, Deal
from services.blackjack.domain.view import view
from tests.api.croupier import House, Json, command, kinds
from tests.domain.story import a_table

GAMES = ("a2g", "coinlounge", "classic", "european")
AMOUNTS = {"sit": "buy_in", "bet": "amount", "buy_in": "amount", "cash_out": "amount"}


def test_every_game_is_listed_with_its_rules_and_needs_no_key(house: House) -> None:
    listed = house.ask("GET", "/v1/rulesets", key="")

    assert listed.status_code == 200
    games = {game["name"]: game for game in listed.json()["data"]}
    assert set(games) == set(GAMES)
    for name, game in games.items():
        assert house.ask("GET", f"/v1/rulesets/{name}", key="").json() == game


def test_opening_a_table_twice_is_safe_and_another_body_is_refused(house: House) -> None:
    first = house.open("oak", "coinlounge", host="ada")
    again = house.open("oak", "coinlounge", host="ada")
    other = house.open("oak", "coinlounge", host="bob")

    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert kinds(first.json()["events"]) == ["table_opened"]
    assert again.json() == {"table": first.json()["table"], "events": []}
    assert other.json()["type"] == "/problems/table-exists"
    assert house.head() == 1


def test_opening_again_in_mid_game_answers_with_the_table_as_it_is(house: House) -> None:
    sat = house.seat("oak", "ada")

    again = house.open("oak", "a2g", host="ada")

    assert again.status_code == 200
    assert again.json()["table"] == sat["table"]
    assert again.headers["ETag"] == f'"{sat["table"]["version"]}"'


def test_a_table_may_have_limits_of_its_own(house: House) -> None:
    limits = {"min": 10, "max": 40, "step": 10}
    house.open("oak", "coinlounge", host="ada", bet=limits, seats=2)
    house.grant("ada", 100)

    sat = house.do("oak", "sit", seat=1, player="ada", buy_in=100)["table"]

    bet = next(move for move in sat["legal_moves"] if move["type"] == "bet")
    assert bet == {"type": "bet", "seat": 1} | limits
    assert [move["seat"] for move in sat["legal_moves"] if move["type"] == "sit"] == [2]
    for amount, status in ((9, 409), (15, 409), (50, 409), (30, 200)):
        assert house.play("oak", "bet", seat=1, amount=amount).status_code == status
    refused = house.play("oak", "sit", seat=3, player="bob", buy_in=10)
    assert refused.json()["type"] == "/problems/unknown-seat"


def test_a_table_says_what_it_waits_for_until_when_and_on_which_seed_to_bet(house: House) -> None:
    clock = {"betting_seconds": 3600, "action_seconds": 1}
    assert house.open("oak", "european", clock=clock | {"x": 1}).status_code == 422
    assert house.open("oak", "european", clock=clock | {"action_seconds": 0}).status_code == 422
    opened = house.open("oak", "european", clock=clock).json()
    assert opened["table"]["clock"] is None
    for seat, player in enumerate(("ada", "bob"), 1):
        house.do("oak", "sit", seat=seat, player=player, buy_in=100)

    bet = house.do("oak", "bet", seat=1, amount=20)
    dealt = house.do("oak", "bet", seat=2, amount=20)

    assert opened["events"][0]["data"]["ruleset"]["clock"] == clock | {"insurance_seconds": None}
    assert bet["table"]["clock"]["kind"] == "betting"
    told = [each["event"] for each in house.walk("/v1/tables/oak/events", limit=1000)]
    since = next(event["time"] for event in told if event["type"] == "blackjack.bet_placed")
    due = datetime.fromisoformat(bet["table"]["clock"]["due"])
    early = datetime.fromisoformat(since) + timedelta(hours=1) - due
    assert timedelta() <= early < timedelta(milliseconds=1), "whole milliseconds"
    announced = bet["table"]["next_commitment"]
    assert announced == opened["table"]["next_commitment"]
    assert dealt["table"]["round"]["commitment"] == announced


@pytest.mark.parametrize("ruleset", GAMES)
def test_two_rounds_of_every_game(ruleset: str, house: House) -> None:
    house.seat("oak", "ada", ruleset=ruleset)

    for number in (1, 2):
        dealt = house.deal("oak", 20)
        over = house.finish("oak")
        assert "hands_dealt" in kinds(dealt["events"])
        assert over["phase"] == "betting"
        assert over["round"]["id"] == f"oak.{number}"
        assert len(over["round"]["seed"]) == 64
        assert over["dealer"]["hole"] == "revealed"
        assert house.balance("table/oak/in_play") == 0

    assert house.get("/v1/ledger/trial-balance")["total"] == 0


@pytest.mark.parametrize("bound", ["min", "max"])
def test_every_legal_move_is_accepted_as_it_stands(bound: str, house: House) -> None:
    """Each at a table of its own in the same state, with the least and with the most chips."""
    moves = house.seat("oak", "ada", buy_in=200)["table"]["legal_moves"]
    assert {move["type"] for move in moves} >= {*AMOUNTS, "leave", "sit_out", "close"}
    house.grant("bob", 10**12)

    for number, move in enumerate(moves):
        table, player = f"elm-{number}", f"player-{number}"
        house.seat(table, player, buy_in=200)
        house.grant("bob" if move["type"] == "sit" else player, 10**12)
        body = command(move) | ({"player": "bob"} if move["type"] == "sit" else {})
        if amount := AMOUNTS.get(move["type"]):
            body[amount] = move[bound]
        house.do(table, **body)


def test_an_answer_has_the_table_its_etag_and_its_events_where_they_stand(house: House) -> None:
    before = house.seat("oak", "ada", "bob")["table"]

    answer = house.play("oak", "bet", seat=1, amount=20)

    said = answer.json()
    assert answer.headers["ETag"] == f'"{said["table"]["version"]}"'
    assert answer.headers["Content-Type"] == "application/json"
    [event] = said["events"]
    assert event["type"] == "blackjack.bet_placed"
    assert event["data"] == {"seat": 1, "amount": 20, "client_seed": None}
    assert (event["version"], event["position"]) == (before["version"] + 1, house.head())
    assert said["table"]["version"] == event["version"]
    assert said["table"]["position"] == event["position"]
    looked = house.ask("GET", "/v1/tables/oak")
    assert looked.json() == said["table"]
    assert looked.headers["ETag"] == answer.headers["ETag"]


def test_every_past_version_looks_as_it_did_when_it_was_answered(house: House) -> None:
    answers = [house.open("oak", "coinlounge", host="ada").json()]
    house.grant("ada", 1000)
    answers.append(house.do("oak", "sit", seat=1, player="ada", buy_in=500))
    for _ in range(3):
        answers.append(house.do("oak", "bet", seat=1, amount=25))
        answers.append(house.do("oak", "deal", player="ada"))
        while move := _cautious(answers[-1]["table"]):
            answers.append(house.do("oak", **command(move)))
    answers.append(house.do("oak", "leave", seat=1))
    answers.append(house.do("oak", "close"))

    for answered in (answer["table"] for answer in answers):
        past = house.ask("GET", f"/v1/tables/oak?version={answered['version']}")
        assert past.json() == answered
        assert past.headers["ETag"] == f'"{answered["version"]}"'
    newest = answers[-1]["table"]["version"]
    assert [house.get("/v1/tables/oak", version=n)["version"] for n in range(1, newest + 1)] == [
        *range(1, newest + 1)
    ]


def _cautious(table: Json) -> Json:
    moves = table["legal_moves"]
    return next((m for m in moves if m["type"] in ("stand", "decline_insurance")), None)


def test_a_version_that_never_was_is_not_found(house: House) -> None:
    house.open("oak")

    refused = house.ask("GET", "/v1/tables/oak?version=2")

    assert refused.status_code == 404
    assert refused.json()["type"] == "/problems/unknown-version"
    assert refused.json()["newest"] == 1
    assert house.ask("GET", "/v1/tables/elm").json()["type"] == "/problems/unknown-table"


@pytest.mark.parametrize(
    ("if_match", "status"),
    [('"2"', 200), ('W/"2"', 200), ("*", 200), ('"1"', 412), ('"3"', 412), ('"0"', 412)],
)
def test_a_command_insists_on_the_version_it_was_decided_on(
    if_match: str, status: int, house: House
) -> None:
    house.open("oak", host="ada")
    house.grant("ada", 100)
    house.do("oak", "sit", seat=1, player="ada", buy_in=100)

    answer = house.play("oak", "bet", {"If-Match": if_match}, seat=1, amount=20)

    assert answer.status_code == status
    if status == 412:
        assert answer.json()["type"] == "/problems/stale-version"
        assert answer.json()["actual"] == 2
        assert house.get("/v1/tables/oak")["version"] == 2


def test_a_closed_table_gives_everything_back_and_takes_no_more(house: House) -> None:
    house.seat("oak", "ada", "bob")
    house.do("oak", "bet", seat=1, amount=20)

    closed = house.do("oak", "close")["table"]

    assert (closed["phase"], closed["legal_moves"]) == ("closed", [])
    assert [house.balance(f"player/{player}/vault") for player in ("ada", "bob")] == [1000, 1000]
    refused = house.play("oak", "sit", seat=1, player="ada", buy_in=10)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/table-closed")


def test_a_table_with_an_environment_a_modifier_and_items(house: House) -> None:
    """Opened, bought, applied and used over the wire; the view's totals include it all."""
    changes = [{"type": "rank_value", "rank": r, "value": 7} for r in "23456789TJQK"]
    charm = {"name": "charm", "price": 3, "effect": {"type": "shield"}}
    game = {"environment": [*changes, {"type": "fixed_ace", "value": 7}], "items": [charm]}
    house.grant("ada", 1000)
    assert house.open("oak", "a2g", environment=changes).status_code == 422
    assert house.open("oak", "classic", **game).status_code == 201
    assert house.open("oak", "classic", **game).status_code == 200
    house.do("oak", "start_run", seat=1, player="ada", stake=100)
    bought = house.do("oak", "buy_item", seat=1, item="charm")["table"]
    assert (bought["seats"][0]["stack"], bought["seats"][0]["items"]) == (97, ["charm"])
    table = house.do("oak", "bet", seat=1, amount=5)["table"]
    while table["phase"] != "player_turn":  # naturals are over at once
        table = house.do("oak", "bet", seat=1, amount=5)["table"]
    assert table["modifiers"] == game["environment"]
    assert table["seats"][0]["hands"][0]["total"] == 14
    moves = {move["type"]: move for move in table["legal_moves"]}
    assert moves["use_item"] == {"type": "use_item", "seat": 1, "hand": 0, "item": "charm"}
    assert moves["apply_modifier"] == {"type": "apply_modifier"}

    house.do("oak", "apply_modifier", modifier={"type": "bust_limit", "limit": 20})
    used = house.do("oak", "use_item", seat=1, item="charm")["table"]
    bust = house.do("oak", "hit", seat=1)["table"]

    assert used["seats"][0]["hands"][0]["shielded"] is True
    assert bust["seats"][0]["hands"][0]["outcome"] == "push"
    again = house.play("oak", "apply_modifier", modifier={"type": "reverse_bust"})
    assert again.json()["type"] == "/problems/no-round"
    nonsense = house.play("oak", "apply_modifier", modifier={"type": "see_the_hole_card"})
    assert nonsense.status_code == 422


def test_the_example_of_a_table_is_one_that_is_played(house: House) -> None:
    story = a_table("a2g", 200, cards="8h 6c 8c Td", name="table-3", seats=2).play(
        Bet(1, 20), Deal("ada")
    )
    seen = json.loads(msgspec.json.encode(view(story.table, version=17, position=241)))
    example = examples.TABLE

    anew = {key: example[key] for key in ("round", "clock")}
    assert example == seen | anew
