"""Computer players over HTTP: seated by the platform, played by the worker beside the service."""

import pytest

from shared.local.process import until
from tests.api.croupier import House, Json, key, kinds

LEVELS = {2: "easy", 3: "normal", 4: "hard"}
NO_CLOCK: Json = {"clock": {}}


def sit_down(house: House, table: str, seat: int, level: str, **more: Json) -> Json:
    answer = house.ask(
        "POST",
        f"/v1/tables/{table}/computers",
        json={"seat": seat, "level": level, "buy_in": 100, **more},
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def with_computers(house: House, ruleset: str) -> None:
    """A table with ada, bob and one computer player of each level."""
    house.open("oak", ruleset, host="ada", **NO_CLOCK)
    for number, player in ((1, "ada"), (5, "bob")):
        house.grant(player, 1000)
        house.do("oak", "sit", seat=number, player=player, buy_in=400)
    for number, level in LEVELS.items():
        sit_down(house, "oak", number, level)


def seen_when(house: House, condition: str) -> Json:
    """The table as soon as it is so far, which the computers bring about by themselves."""
    seen: Json = None

    def so_far() -> bool:
        nonlocal seen
        seen = house.get("/v1/tables/oak")
        seats = {seat["seat"]: seat for seat in seen["seats"]}
        if condition == "all computers have bet":
            return all(seats[number]["bet"] for number in LEVELS)
        acts = seen["turn"] and seen["turn"]["seat"] in (1, 5)
        offered = any(m["type"] == "decline_insurance" for m in _people_s(seen))
        return bool(acts or offered or seen["phase"] == "betting")

    assert until(so_far), seen
    return seen


def _people_s(seen: Json) -> list[Json]:
    return [move for move in seen["legal_moves"] if move.get("seat") in (1, 5)]


@pytest.mark.parametrize("ruleset", ["a2g", "coinlounge", "european"])
def test_people_and_computers_play_a_whole_round(ruleset: str, house: House) -> None:
    with_computers(house, ruleset)
    assert not any(seat["bet"] for seat in house.get("/v1/tables/oak")["seats"])

    house.do("oak", "bet", seat=1, amount=20)
    seen_when(house, "all computers have bet")
    house.do("oak", "bet", seat=5, amount=20)
    if ruleset == "coinlounge":
        house.do("oak", "deal", player="ada")
    while (seen := seen_when(house, "a person acts"))["phase"] != "betting":
        moves = {move["type"]: move for move in _people_s(seen)}
        move = moves.get("decline_insurance") or moves["stand"]
        house.do("oak", **{n: move[n] for n in ("type", "seat", "hand") if n in move})

    least = {"a2g": 2, "european": 2, "coinlounge": 1}[ruleset]
    for number in LEVELS:
        hands = seen["seats"][number - 1]["hands"]
        assert hands[0]["stake"] in (least, 2 * least)
        assert all(hand["outcome"] for hand in hands)
    assert house.get("/v1/rounds/oak.1/proof")["faults"] == []
    told = str(house.get("/v1/rounds/oak.1/recall"))
    assert "computer-hard-4 bets" in told
    assert house.get("/v1/ledger/trial-balance")["balanced"] is True


def test_what_the_worker_does_for_them_names_them_as_actors(house: House) -> None:
    house.open("oak", "european", **NO_CLOCK)
    for number, level in LEVELS.items():
        sit_down(house, "oak", number, level, rounds=2)

    assert until(lambda: house.get("/v1/tables/oak")["seats"] == [])

    actors = {entry["event"]["actor"] for entry in house.walk("/v1/events", limit=1000)}
    assert {"computer/easy", "computer/normal", "computer/hard"} < actors
    for number, level in LEVELS.items():
        player = f"computer-{level}-{number}"
        hands = house.get(f"/v1/players/{player}/hands", wait_for=house.head())["data"]
        assert len({hand["round"] for hand in hands}) == 2, player


def test_sitting_down_answers_with_the_table_and_happens_once(house: House) -> None:
    house.open("oak", "a2g", host="ada", **NO_CLOCK)
    house.grant("ada", 1000)
    house.do("oak", "sit", seat=1, player="ada", buy_in=100)
    body = {"seat": 2, "level": "hard", "buy_in": 200, "rounds": 5}
    path = "/v1/tables/oak/computers"

    first, again = (house.ask("POST", path, json=body, headers=key("hal")) for _ in range(2))

    assert first.status_code == again.status_code == 200
    assert first.content == again.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert kinds(first.json()["events"]) == ["player_sat", "computer_seated"]
    ada, hal = first.json()["table"]["seats"]
    assert "computer" not in ada
    assert hal["computer"] == {"level": "hard", "buy_in": 200, "last_round": 5}
    assert (hal["player"], hal["stack"]) == ("computer-hard-2", 200)
    assert first.headers["ETag"] == f'"{first.json()["table"]["version"]}"'
    assert house.balance("issuance") == -1200
    other = house.ask("POST", path, json=body | {"seat": 3}, headers=key("hal"))
    assert other.json()["type"] == "/problems/key-reused"


@pytest.mark.parametrize(
    ("ruleset", "body", "status", "problem"),
    [
        ("classic", {"seat": 1}, 409, "no-such-computer"),
        ("a2g", {"seat": 2}, 409, "seat-taken"),
        ("coinlounge", {"seat": 7}, 409, "unknown-seat"),
        ("a2g", {"seat": 1, "buy_in": 1}, 409, "not-enough-chips"),
        ("a2g", {"seat": 1, "level": "perfect"}, 422, "malformed"),
        ("a2g", {"seat": 1, "rounds": 0}, 422, "malformed"),
        ("a2g", {"seat": 1, "rounds": 1001}, 422, "malformed"),
        ("a2g", {"seat": 1, "cards": "show"}, 422, "malformed"),
    ],
)
def test_what_is_refused(ruleset: str, body: Json, status: int, problem: str, house: House) -> None:
    house.open("oak", ruleset, host="ada", **NO_CLOCK)
    house.grant("ada", 1000)
    if ruleset == "a2g":
        house.do("oak", "sit", seat=2, player="ada", buy_in=100)
    asked = {"level": "easy", "buy_in": 100, **body}

    refused = house.ask("POST", "/v1/tables/oak/computers", json=asked)

    assert (refused.status_code, refused.json()["type"]) == (status, f"/problems/{problem}")


def test_nobody_else_can_have_the_name_of_a_computer_player(house: House) -> None:
    house.open("oak", "european")

    refused = house.play("oak", "sit", seat=1, player="computer-hard-1", buy_in=100)

    assert refused.json()["type"] == "/problems/name-reserved"
