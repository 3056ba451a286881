"""Whatever is sent, the answer says what would be accepted, and the log stays as it is."""

import json
import re
from typing import Any

import httpx
import pytest

from tests.api.croupier import House

MALFORMED = "malformed"
BIG = 64 * 1024


@pytest.fixture
def seated(house: House) -> House:
    """Ada at the table `oak` with four hundred chips, six hundred in her vault."""
    house.seat("oak", "ada")
    return house


def refused(house: House, answer: httpx.Response, status: int, kind: str, says: str = "") -> None:
    """A problem document of that status and kind, whose detail says this; nothing was recorded."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert problem["type"] == f"/problems/{kind}"
    assert (problem["status"], bool(problem["title"])) == (status, True)
    assert says in problem["detail"]
    assert house.head() == HEAD_WHEN_SEATED


HEAD_WHEN_SEATED = 4
"""The table opened, a grant, the seat taken, the chips out of the vault."""

AMOUNTS = [
    ("0", ">= 1"),
    ("-1", ">= 1"),
    ("5.5", "Expected `int`"),
    ("1.0e-1", "Expected `int`"),
    ('"5"', "Expected `int`, got `str`"),
    ("true", "Expected `int`, got `bool`"),
    ("null", "Expected `int`, got `null`"),
    ("[5]", "Expected `int`, got `array`"),
    ("{}", "Expected `int`, got `object`"),
    ("NaN", "malformed"),
    ("Infinity", "malformed"),
    ("05", "malformed"),
    ("+5", "malformed"),
    ("0x5", ""),
    ("1e400", "out of range"),
    ("-1e400", "out of range"),
    ("1e30", "Expected `int`"),
    (str(10**12 + 1), "<= 1000000000000"),
    (str(10**13), "<= 1000000000000"),
    (str(2**53 + 1), "<= 1000000000000"),
    (str(2**63), "<= 1000000000000"),
    (str(2**64), "<= 1000000000000"),
    ("9" * 400, "<= 1000000000000"),
    ("-" + "9" * 400, ">= 1"),
]


@pytest.mark.parametrize(("amount", "says"), AMOUNTS, ids=[text[:20] for text, _ in AMOUNTS])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/tables/oak/commands", '{"type":"bet","seat":1,"amount":%s}'),
        ("POST", "/v1/tables/oak/commands", '{"type":"buy_in","seat":1,"amount":%s}'),
        ("POST", "/v1/tables/oak/commands", '{"type":"cash_out","seat":1,"amount":%s}'),
        ("POST", "/v1/tables/oak/commands", '{"type":"sit","seat":2,"player":"bob","buy_in":%s}'),
        ("POST", "/v1/players/ada/grants", '{"amount":%s}'),
        ("PUT", "/v1/tables/elm", '{"ruleset":"a2g","bet":{"min":%s}}'),
    ],
    ids=["bet", "buy_in", "cash_out", "sit", "grant", "open"],
)
def test_an_amount_is_a_whole_number_of_chips(
    method: str, path: str, body: str, amount: str, says: str, seated: House
) -> None:
    answer = seated.ask(method, path, content=body % amount)

    refused(seated, answer, 422, MALFORMED, says)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("", "The body is empty."),
        (" ", "The body is empty."),
        ("hello", "malformed"),
        ("{", "truncated"),
        ('{"type":"leave","seat":1}}', "trailing"),
        ('{"type":"leave","seat":1', "truncated"),
        ("'type'", "malformed"),
        ("null", "Expected `object`, got `null`"),
        ("[]", "Expected `object`, got `array`"),
        ("17", "Expected `object`, got `int`"),
        ('"leave"', "Expected `object`, got `str`"),
        ("{}", "missing required field `type`"),
        ('{"seat":1}', "missing required field `type`"),
        ('{"type":"leave"}', "missing required field `seat`"),
        ('{"type":"sit","seat":2,"player":"bob"}', "missing required field `buy_in`"),
        ('{"type":"","seat":1}', "Invalid value ''"),
        ('{"type":"fold","seat":1}', "Invalid value 'fold'"),
        ('{"type":"Leave","seat":1}', "Invalid value 'Leave'"),
        ('{"type":"open","ruleset":"a2g"}', "Invalid value 'open'"),
        ('{"type":"time_out","turn":"1.bets.0"}', "Invalid value 'time_out'"),
        ('{"type":1,"seat":1}', "Expected `str`"),
        ('{"type":null,"seat":1}', "Expected `str`"),
        ('{"type":["leave"],"seat":1}', "Expected `str`"),
        ('{"type":"leave","seat":1,"hand":0}', "unknown field `hand`"),
        ('{"type":"leave","seat":1,"":0}', "unknown field ``"),
        ('{"type":"deal","player":7}', "Expected `str`, got `int`"),
        ('{"type":"deal","player":null}', "Expected `str`, got `null`"),
    ],
)
def test_a_command_has_its_shape(body: str, says: str, seated: House) -> None:
    answer = seated.ask("POST", "/v1/tables/oak/commands", content=body)

    refused(seated, answer, 422, MALFORMED, says)
    known = re.fullmatch('{"type":"(leave|sit|deal)"[^}]*}', body)
    takes = f"{known[1]} takes " if known else "(The types are|Accepted:) bet, hit, stand, "
    assert re.search(takes, answer.json()["detail"])
    assert answer.json()["errors"][0]["why"]


@pytest.mark.parametrize(
    ("path", "body", "ends"),
    [
        ("tables/oak/commands", '{"type":"sit","seat":2}', "sit takes seat, player, buy_in."),
        ("tables/oak/commands", '{"type":"hit"}', "hit takes seat and, if you like, hand."),
        ("tables/oak/commands", '{"type":"close","seat":1}', "close takes nothing else."),
        (
            "tables/oak/commands",
            '{"type":"apply_modifier","modifier":{"type":"fixed_ace"}}',
            "fixed_ace takes value.",
        ),
        (
            "commands",
            '{"commands":[{"table":"oak","command":{"type":"deal"}}]}',
            "deal takes player.",
        ),
        (
            "commands",
            '{"commands":[{}]}',
            "takes table, command and, if you like, key, if_version.",
        ),
        ("players/ada/grants", '{"chips":5}', "The body takes amount."),
        ("players/ada/grants", "", "The body is empty. The body takes amount."),
    ],
)
def test_a_body_that_does_not_fit_is_answered_with_what_its_type_takes(
    path: str, body: str, ends: str, seated: House
) -> None:
    answer = seated.ask("POST", f"/v1/{path}", content=body)

    refused(seated, answer, 422, MALFORMED)
    assert answer.json()["detail"].endswith(ends)


@pytest.mark.parametrize(
    ("path", "body", "at", "accepted"),
    [
        (
            "/v1/tables/oak/commands",
            '{"type":"apply_modifier","modifier":{"type":"ace","value":5}}',
            "$.modifier.type",
            "rank_value, fixed_ace, bust_limit, instant_bust, reverse_bust",
        ),
        (
            "/v1/tables/oak/commands",
            '{"type":"apply_modifier","modifier":{"type":"rank_value","rank":"1","value":5}}',
            "$.modifier.rank",
            "2, 3, 4, 5, 6, 7, 8, 9, J, K, Q, T",
        ),
        (
            "/v1/tables/oak/computers",
            '{"seat":2,"level":"expert","buy_in":50}',
            "$.level",
            "easy, hard, normal",
        ),
    ],
    ids=["modifier", "rank", "level"],
)
def test_a_word_that_is_none_of_a_few_is_answered_with_the_few(
    path: str, body: str, at: str, accepted: str, seated: House
) -> None:
    answer = seated.ask("POST", path, content=body)

    refused(seated, answer, 422, MALFORMED, accepted)
    (error,) = answer.json()["errors"]
    assert error["at"] == at
    assert error["why"].endswith(f"; accepted: {accepted}")


@pytest.mark.parametrize("seat", [0, 8, -1, 99, 2**63, "one", "1", 1.5, True, None])
@pytest.mark.parametrize("kind", ["leave", "bet", "hit", "insure"])
def test_a_seat_is_counted_from_one_to_seven(kind: str, seat: Any, seated: House) -> None:
    body = {"type": kind, "seat": seat} | ({"amount": 20} if kind == "bet" else {})

    answer = seated.ask("POST", "/v1/tables/oak/commands", json=body)

    refused(seated, answer, 422, MALFORMED, "$.seat")


@pytest.mark.parametrize("hand", [-1, 4, 99, "0", 0.5, None])
def test_a_hand_is_counted_from_zero_to_three(hand: Any, seated: House) -> None:
    answer = seated.play("oak", "hit", seat=1, hand=hand)

    refused(seated, answer, 422, MALFORMED, "$.hand")


NO_NAMES = ["", "Ada", "ada b", "-ada", ".ada", "ádá", "ada/../bob", "ada\n", "ada\0", "a" * 65]


@pytest.mark.parametrize("name", [*NO_NAMES, "\ud800", "👑"], ids=ascii)
def test_a_player_has_a_plain_name(name: str, seated: House) -> None:
    sit = {"type": "sit", "seat": 2, "player": name, "buy_in": 5}

    for method, path, body in (
        ("POST", "/v1/tables/oak/commands", sit),
        ("PUT", "/v1/tables/elm", {"ruleset": "a2g", "host": name}),
    ):
        answer = seated.ask(method, path, content=json.dumps(body).encode())
        refused(seated, answer, 422, MALFORMED)


@pytest.mark.parametrize("seed", ["", "a b", "ä", "x" * 65, "seed\n", 7])
def test_a_client_seed_is_plain_and_short(seed: Any, seated: House) -> None:
    answer = seated.play("oak", "bet", seat=1, amount=20, client_seed=seed)

    refused(seated, answer, 422, MALFORMED, "$.client_seed")


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe",
        b'{"type":"deal","player":"\xff\xfe"}',
        b'{"type":"deal","player":"\xed\xa0\x80"}',
        b'{"type":"deal","player":"\xc0\xaf"}',
        b'{"type":"\xff","seat":1}',
        b'{"\xff":1,"type":"leave","seat":1}',
        b'{"type":"deal","player":"\\ud800"}',
        b'{"type":"deal","player":"\\u0000"}',
        b'{"type":"deal","player":"\x00"}',
        b"\xef\xbb\xbf{}",
        '{"type":"leave","seat":1}'.encode("utf-16"),
        b"\x1f\x8b\x08\x00",
    ],
    ids=ascii,
)
def test_a_body_is_utf_8(body: bytes, seated: House) -> None:
    for method, path in WITH_A_BODY:
        refused(seated, seated.ask(method, path, content=body), 422, MALFORMED)


WITH_A_BODY = [
    ("POST", "/v1/tables/oak/commands"),
    ("POST", "/v1/players/ada/grants"),
    ("PUT", "/v1/tables/elm"),
]


@pytest.mark.parametrize(
    "body",
    [
        "[" * 60_000,
        '{"a":' * 10_000,
        '{"a":' + "[" * 30_000 + "]" * 30_000 + ',"type":"leave","seat":1}',
        '{"type":"leave","seat":' + "[" * 30_000 + "]" * 30_000 + "}",
        '{"type":"leave","seat":1,"x":' + "[" * 30_000 + "]" * 30_000 + "}",
    ],
    ids=["arrays", "objects", "before the type", "as a seat", "as another field"],
)
def test_a_body_is_flat(body: str, seated: House) -> None:
    for method, path in WITH_A_BODY:
        refused(seated, seated.ask(method, path, content=body), 422, MALFORMED)


@pytest.mark.parametrize("says_so", [True, False], ids=["content-length", "chunked"])
@pytest.mark.parametrize(("method", "path"), WITH_A_BODY, ids=["play", "grant", "open"])
def test_a_body_is_small(method: str, path: str, says_so: bool, seated: House) -> None:
    for size in (BIG + 1, 8 * BIG):
        pieces = [b" " * 1000] * (size // 1000 + 1)
        answer = seated.ask(method, path, content=b"".join(pieces) if says_so else iter(pieces))
        refused(seated, answer, 413, "body-too-large", "65536 bytes")


def test_a_body_of_the_greatest_size_is_read(seated: House) -> None:
    body = b'{"type":"bet","seat":1,"amount":20}'.ljust(BIG)

    assert seated.ask("POST", "/v1/tables/oak/commands", content=body).status_code == 200


def test_a_field_that_comes_twice_counts_as_one_command(seated: House) -> None:
    """JSON leaves it open; the last one counts, and it is the one that is recorded."""
    body = '{"type":"bet","seat":1,"amount":999999,"amount":20}'

    answer = seated.ask("POST", "/v1/tables/oak/commands", content=body)

    assert answer.status_code == 200
    assert answer.json()["events"][0]["data"]["amount"] == 20
    newest = seated.get("/v1/events", after=HEAD_WHEN_SEATED)["data"][0]["event"]
    assert newest["command"]["amount"] == 20


@pytest.mark.parametrize(
    ("body", "status", "kind", "says"),
    [
        ({}, 422, MALFORMED, "missing required field `ruleset`"),
        ({"ruleset": 7}, 422, MALFORMED, "Expected `str`"),
        ({"ruleset": "poker"}, 404, "unknown-ruleset", "poker"),
        ({"ruleset": ""}, 404, "unknown-ruleset", ""),
        ({"ruleset": "a\0"}, 404, "unknown-ruleset", ""),
        ({"ruleset": "a2g", "size": 3}, 422, MALFORMED, "unknown field `size`"),
        ({"ruleset": "a2g", "type": "bet"}, 422, MALFORMED, "'bet'"),
        ({"ruleset": "a2g", "seats": 0}, 422, MALFORMED, ">= 1"),
        ({"ruleset": "a2g", "seats": 8}, 422, MALFORMED, "<= 7"),
        ({"ruleset": "classic", "seats": 7}, 422, "ruleset-nonsense", "at most 1 seats"),
        ({"ruleset": "a2g", "bet": {}}, 422, MALFORMED, "missing required field `min`"),
        ({"ruleset": "a2g", "bet": {"min": 3}}, 422, "ruleset-nonsense", "even"),
        ({"ruleset": "a2g", "bet": {"min": 2, "step": 1}}, 422, "ruleset-nonsense", "even"),
        ({"ruleset": "a2g", "bet": {"min": 9, "max": 8}}, 422, "ruleset-nonsense", "less"),
        ({"ruleset": "a2g", "bet": {"min": 2, "step": 0}}, 422, MALFORMED, ">= 1"),
        ({"ruleset": "a2g", "bet": {"min": 2, "most": 9}}, 422, MALFORMED, "unknown field"),
    ],
)
def test_a_table_is_opened_with_rules_that_can_be_played(
    body: dict[str, Any], status: int, kind: str, says: str, seated: House
) -> None:
    answer = seated.ask("PUT", "/v1/tables/elm", json=body)

    refused(seated, answer, status, kind, says)
