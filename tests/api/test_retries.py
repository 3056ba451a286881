"""The same idempotency key again: the same answer, and nothing happens twice."""

from typing import Any

import pytest

from tests.api.croupier import House, key, kinds


@pytest.fixture
def seated(house: House) -> House:
    """Ada and bob at the table `oak`, four hundred chips each before them."""
    house.seat("oak", "ada", "bob")
    return house


COMMANDS: list[dict[str, Any]] = [
    {"type": "bet", "seat": 1, "amount": 20},
    {"type": "buy_in", "seat": 1, "amount": 20},
    {"type": "cash_out", "seat": 2, "amount": 20},
    {"type": "sit", "seat": 3, "player": "cyd", "buy_in": 5},
    {"type": "sit_out", "seat": 1},
    {"type": "leave", "seat": 1},
    {"type": "close"},
]


@pytest.mark.parametrize("body", COMMANDS, ids=lambda body: body["type"])
def test_a_repeated_command_is_answered_again_and_happens_once(
    body: dict[str, Any], seated: House
) -> None:
    seated.grant("cyd", 5)
    first = seated.play("oak", headers=key("once"), **body)
    head = seated.head()

    for _ in range(3):
        again = seated.play("oak", headers=key("once"), **body)
        assert again.content == first.content
        assert again.headers["ETag"] == first.headers["ETag"]
        assert again.headers["Idempotent-Replayed"] == "true"
    assert first.status_code == 200
    assert "Idempotent-Replayed" not in first.headers
    assert seated.head() == head


def test_a_repeat_is_answered_as_it_was_then_whatever_has_happened_since(seated: House) -> None:
    bet = seated.play("oak", "bet", key("bet"), seat=1, amount=20)
    dealt = seated.play("oak", "bet", key("deal"), seat=2, amount=20)
    seated.finish("oak")
    left = seated.play("oak", "leave", key("leave"), seat=1)
    seated.do("oak", "close")

    assert seated.play("oak", "bet", key("bet"), seat=1, amount=20).content == bet.content
    assert seated.play("oak", "bet", key("deal"), seat=2, amount=20).content == dealt.content
    assert seated.play("oak", "leave", key("leave"), seat=1).content == left.content
    assert "face_down" in dealt.text


def test_the_whole_of_a_command_is_told_again_with_its_first_event_in_front(house: House) -> None:
    """Its events stand in two streams, the table's and the vault's; the answer has the table's."""
    house.open("oak")
    house.grant("ada", 100)

    first = house.play("oak", "sit", key("sit"), seat=1, player="ada", buy_in=60)
    again = house.play("oak", "sit", key("sit"), seat=1, player="ada", buy_in=60)

    assert kinds(first.json()["events"]) == ["player_sat", "host_moved"]
    assert again.content == first.content


def test_the_spelling_of_a_body_does_not_matter(seated: House) -> None:
    first = seated.play("oak", "bet", key("bet"), seat=1, amount=20)

    again = seated.ask(
        "POST",
        "/v1/tables/oak/commands",
        headers=key("bet"),
        content=' { "client_seed":null,"amount": 20, "type":"bet", "seat":1 } ',
    )

    assert again.content == first.content


@pytest.mark.parametrize(
    ("table", "body"),
    [
        ("oak", {"type": "bet", "seat": 1, "amount": 22}),
        ("oak", {"type": "bet", "seat": 2, "amount": 20}),
        ("oak", {"type": "sit_out", "seat": 1}),
        ("elm", {"type": "bet", "seat": 1, "amount": 20}),
        ("never-opened", {"type": "bet", "seat": 1, "amount": 20}),
    ],
)
def test_a_key_of_another_command_is_refused(
    table: str, body: dict[str, Any], seated: House
) -> None:
    seated.seat("elm", "cyd")
    seated.do("oak", "bet", key("bet"), seat=1, amount=20)
    head = seated.head()

    refused = seated.play(table, headers=key("bet"), **body)

    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/key-reused")
    assert "Idempotent-Replayed" not in refused.headers
    assert seated.head() == head


def test_a_refused_command_leaves_its_key_free(seated: House) -> None:
    refused = seated.play("oak", "bet", key("bet"), seat=1, amount=21)
    accepted = seated.play("oak", "bet", key("bet"), seat=1, amount=20)

    assert (refused.status_code, accepted.status_code) == (409, 200)
    assert "Idempotent-Replayed" not in accepted.headers


@pytest.mark.parametrize("if_match", ["then", "now", "never"])
def test_a_repeat_is_answered_whatever_version_it_insists_on(if_match: str, seated: House) -> None:
    version = seated.get("/v1/tables/oak")["version"]
    insists = {"then": version, "now": version + 1, "never": 99}[if_match]
    first = seated.play("oak", "bet", key("bet") | {"If-Match": f'"{version}"'}, seat=1, amount=20)

    again = seated.play("oak", "bet", key("bet") | {"If-Match": f'"{insists}"'}, seat=1, amount=20)

    assert (again.status_code, again.content) == (200, first.content)


def test_a_repeated_grant_gives_nothing_twice(house: House) -> None:
    first = house.grant("ada", 100, Idempotency_Key="gift")
    house.grant("ada", 5)
    again = house.grant("ada", 100, Idempotency_Key="gift")

    assert first.json() == {"player": "ada", "amount": 100, "balance": 100, "position": 1}
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert house.get("/v1/players/ada/vault") == {"player": "ada", "balance": 105}


@pytest.mark.parametrize(("player", "amount"), [("ada", 101), ("bob", 100)])
def test_a_grant_with_the_key_of_another_is_refused(player: str, amount: int, house: House) -> None:
    house.grant("ada", 100, Idempotency_Key="gift")

    refused = house.grant(player, amount, Idempotency_Key="gift")

    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/key-reused")
    assert house.head() == 1


def test_a_command_with_the_key_of_a_grant_is_refused(seated: House) -> None:
    seated.grant("ada", 20, Idempotency_Key="gift")

    refused = seated.play("oak", "bet", key("gift"), seat=1, amount=20)

    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/key-reused")


def test_every_house_has_keys_of_its_own(house: House, other_house: House) -> None:
    first = house.grant("ada", 100, Idempotency_Key="gift")
    second = other_house.grant("ada", 200, Idempotency_Key="gift")

    assert (first.json()["balance"], second.json()["balance"]) == (100, 200)


def test_without_a_key_every_request_counts(seated: House) -> None:
    for _ in range(2):
        assert seated.play("oak", "buy_in", seat=1, amount=20).status_code == 200

    assert seated.balance("table/oak/player/ada/stack") == 440
