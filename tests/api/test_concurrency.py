"""Many at once over real connections: one wins, nobody is lost, everybody sees the same."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.api.croupier import Croupier, House, Json, command, key


def post(http: httpx.AsyncClient, table: str, name: str | None = None, **body: Json) -> Any:
    """A command on its way, with an idempotency key if it has a name."""
    address = f"/v1/tables/{table}/commands"
    return http.post(address, json=body, headers=key(name) if name else {})


def outcomes(answers: list[httpx.Response]) -> Counter[str]:
    """How many were accepted, and how many refused for which reason."""
    return Counter(
        "accepted" if answer.status_code == 200 else answer.json()["type"].split("/")[-1]
        for answer in answers
    )


async def test_of_a_hundred_bets_of_60_percent_of_one_stack_exactly_one_is_accepted(
    house: House,
) -> None:
    house.seat("oak", "ada", ruleset="coinlounge", buy_in=500)
    head = house.head()

    async with house.crowd() as http:
        answers = await asyncio.gather(
            *(post(http, "oak", f"bet-{n}", type="bet", seat=1, amount=300) for n in range(100))
        )

    assert outcomes(answers) == {"accepted": 1, "bet-already-placed": 99}
    assert house.head() == head + 1
    assert house.balance("table/oak/player/ada/stack") == 200
    assert house.balance("table/oak/in_play") == 300


async def test_of_a_hundred_buy_ins_of_60_percent_of_one_vault_exactly_one_is_accepted(
    house: House,
) -> None:
    """At a hundred tables, so that nothing but the floor of the vault stands between them."""
    for n in range(100):
        house.open(f"oak-{n}", host="ada")
    house.grant("ada", 1000)
    sit = {"type": "sit", "seat": 1, "player": "ada", "buy_in": 600}

    async with house.crowd() as http:
        answers = await asyncio.gather(
            *(post(http, f"oak-{n}", f"sit-{n}", **sit) for n in range(100))
        )

    assert outcomes(answers) == {"accepted": 1, "insufficient-chips": 99}
    assert house.get("/v1/players/ada/vault")["balance"] == 400
    tables = [house.get(f"/v1/tables/oak-{n}") for n in range(100)]
    assert sum(1 for table in tables if table["seats"]) == 1


async def test_the_same_key_five_times_at_once_is_one_event_and_five_equal_answers(
    house: House,
) -> None:
    house.seat("oak", "ada", "bob")
    head = house.head()

    async with house.crowd() as http:
        bets = await asyncio.gather(
            *(post(http, "oak", "bet", type="bet", seat=1, amount=20) for _ in range(5))
        )
        grant = {"json": {"amount": 7}, "headers": key("grant")}
        grants = await asyncio.gather(
            *(http.post("/v1/players/ada/grants", **grant) for _ in range(5))
        )

    for answers in (bets, grants):
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.content for answer in answers}) == 1
        replayed = [answer.headers.get("Idempotent-Replayed") for answer in answers]
        assert Counter(replayed) == {None: 1, "true": 4}
    assert house.head() == head + 2


async def test_of_five_keys_for_one_decision_one_is_accepted_and_four_are_refused(
    house: House,
) -> None:
    house.seat("oak", "ada", "bob", ruleset="european")
    while not (turn := house.deal("oak", 20, 20)["table"]["turn"]):
        house.finish("oak")

    async with house.crowd() as http:
        answers = await asyncio.gather(
            *(post(http, "oak", f"stand-{n}", type="stand", **turn) for n in range(5))
        )

    assert outcomes(answers)["accepted"] == 1
    assert {answer.status_code for answer in answers} == {200, 409}


async def test_of_many_decisions_on_one_version_exactly_one_is_accepted(house: House) -> None:
    house.seat("oak", "ada", "bob")
    insists = {"If-Match": house.ask("GET", "/v1/tables/oak").headers["ETag"]}
    moves = [
        {"type": "bet", "seat": 1, "amount": 20},
        {"type": "bet", "seat": 2, "amount": 20},
        {"type": "sit_out", "seat": 2},
        {"type": "leave", "seat": 1},
        {"type": "buy_in", "seat": 1, "amount": 1},
    ]

    async with house.crowd() as http:
        address = "/v1/tables/oak/commands"
        answers = await asyncio.gather(
            *(http.post(address, json=move, headers=insists) for move in moves * 4)
        )

    assert outcomes(answers) == {"accepted": 1, "stale-version": 19}


async def test_seven_players_who_sit_down_at_once_all_get_their_seat(house: House) -> None:
    house.open("oak")
    players = [f"player-{n}" for n in range(1, 8)]
    for player in players:
        house.grant(player, 100)

    async with house.crowd() as http:
        answers = await asyncio.gather(
            *(
                post(http, "oak", type="sit", seat=seat, player=player, buy_in=100)
                for seat, player in enumerate(players, 1)
            )
        )

    assert outcomes(answers) == {"accepted": 7}
    seats = house.get("/v1/tables/oak")["seats"]
    assert [(seat["player"], seat["stack"]) for seat in seats] == [(p, 100) for p in players]


async def test_of_seven_players_who_want_one_seat_one_gets_it(house: House) -> None:
    house.open("oak")
    for n in range(7):
        house.grant(f"player-{n}", 100)

    async with house.crowd() as http:
        answers = await asyncio.gather(
            *(post(http, "oak", type="sit", seat=1, player=f"player-{n}", buy_in=100)
              for n in range(7))
        )  # fmt: skip

    assert outcomes(answers) == {"accepted": 1, "seat-taken": 6}
    assert sum(vault["balance"] for vault in _vaults(house)) == 600


async def test_of_many_who_open_one_table_one_does_and_the_others_find_it_open(
    house: House,
) -> None:
    async with house.crowd() as http:
        answers = await asyncio.gather(
            *(http.put("/v1/tables/oak", json={"ruleset": "a2g"}) for _ in range(10)),
            *(http.put("/v1/tables/oak", json={"ruleset": "classic"}) for _ in range(10)),
        )

    statuses = Counter(answer.status_code for answer in answers)
    assert statuses == {201: 1, 200: 9, 409: 10}
    assert house.head() == 1


@pytest.fixture
def twin(croupier: Croupier) -> Iterator[Croupier]:
    """A second process beside the first, on the same database."""
    with croupier.twin() as twin:
        yield twin


async def test_two_processes_play_the_same_tables_and_lose_nothing(
    house: House, twin: Croupier
) -> None:
    tables = ["oak", "elm", "fir"]
    for table in tables:
        house.open(table)
    seats = [(table, seat) for table in tables for seat in range(1, 5)]
    for table, seat in seats:
        house.grant(f"{table}-{seat}", 1000)
        house.do(table, "sit", seat=seat, player=f"{table}-{seat}", buy_in=10)

    async with house.crowd() as here, house.crowd() as there:
        there.base_url = httpx.URL(twin.address)
        await asyncio.gather(
            *(
                _accepted(http, f"{name}-{table}-{seat}-{n}", table, seat)
                for table, seat in seats
                for name, http in (("here", here), ("there", there))
                for n in range(10)
            )
        )
        views = [
            [(await http.get(f"/v1/tables/{table}")).json() for http in (here, there)]
            for table in tables
        ]

    for view, same in views:
        assert view == same
        assert [seat["stack"] for seat in view["seats"]] == [30] * 4
    bought = [e for e in house.walk("/v1/events", limit=1000) if "bought" in e["event"]["type"]]
    assert len({entry["event"]["id"] for entry in bought}) == len(bought) == len(seats) * 20
    assert house.get("/v1/ledger/trial-balance")["balanced"]


async def _accepted(http: httpx.AsyncClient, name: str, table: str, seat: int) -> None:
    """One chip more for a seat. Another process may be faster any number of times."""
    while True:
        answer = await post(http, table, name, type="buy_in", seat=seat, amount=1)
        if answer.status_code == 200:
            return
        assert answer.json()["type"] == "/problems/version-conflict", answer.text


async def test_a_round_may_be_played_on_two_processes_in_turn(house: House, twin: Croupier) -> None:
    house.seat("oak", "ada", "bob", ruleset="european")
    addresses = [twin.address, house.croupier.address]

    async with house.crowd() as http:
        for number in range(1, 6):
            seen = house.deal("oak", 10, 10)["table"]
            while seen["phase"] == "player_turn":
                stand = next(m for m in seen["legal_moves"] if m["type"] == "stand")
                addresses.reverse()
                answer = await http.post(
                    f"{addresses[0]}/v1/tables/oak/commands", json=command(stand)
                )
                assert answer.status_code == 200, answer.text
                seen = answer.json()["table"]
            assert seen["round"]["number"] == number
            assert house.get(f"/v1/rounds/oak.{number}/proof")["faults"] == []


async def test_the_same_key_on_two_processes_at_once_is_one_event_and_equal_answers(
    house: House, twin: Croupier
) -> None:
    house.seat("oak", "ada", "bob")

    async with house.crowd() as http:
        for n in range(20):
            bet = {"type": "bet", "seat": 1, "amount": 20}
            move = bet if n % 2 == 0 else {"type": "withdraw_bet", "seat": 1}
            answers = await asyncio.gather(
                *(
                    http.post(
                        f"{address}/v1/tables/oak/commands", json=move, headers=key(f"move-{n}")
                    )
                    for address in (house.croupier.address, twin.address) * 3
                )
            )
            assert {answer.status_code for answer in answers} == {200}, [a.text for a in answers]
            assert len({answer.content for answer in answers}) == 1

    told = [entry["event"]["id"] for entry in house.walk("/v1/tables/oak/events", limit=1000)]
    assert [name for name in told if name.startswith("move-")] == [f"move-{n}.0" for n in range(20)]


async def test_of_many_who_open_one_table_on_two_processes_one_does(
    house: House, twin: Croupier
) -> None:
    addresses = [house.croupier.address, twin.address] * 5
    async with house.crowd() as http:
        for table in ("oak", "elm", "fir"):
            answers = await asyncio.gather(
                *(http.put(f"{a}/v1/tables/{table}", json={"ruleset": "a2g"}) for a in addresses),
                *(http.put(f"{a}/v1/tables/{table}", json={"ruleset": "coinlounge"})
                  for a in addresses),
            )  # fmt: skip
            assert Counter(a.status_code for a in answers) == {201: 1, 200: 9, 409: 10}

    assert house.head() == 3


async def test_whoever_waits_at_one_process_hears_what_happens_at_the_other(
    house: House, twin: Croupier
) -> None:
    async with house.crowd() as http:
        waiting = asyncio.create_task(http.get(f"{twin.address}/v1/events?wait=30"))
        await http.put("/v1/tables/oak", json={"ruleset": "a2g"})
        heard = await waiting

    assert [entry["position"] for entry in heard.json()["data"]] == [1]


def _vaults(house: House) -> list[Json]:
    accounts = house.walk("/v1/ledger/accounts", prefix="player/")
    return [account for account in accounts if account["account"].endswith("/vault")]
