"""The odds over HTTP: the figures of the solver, for a ruleset and a bet."""

from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import pytest

from services.blackjack.api import odds_examples as examples
from tests.api.croupier import House, Json
from tests.odds.games import solved


@pytest.mark.parametrize(
    ("ruleset", "published", "percent"),
    [
        ("a2g", "about 0.5 %", 0.514056),
        ("coinlounge", "about 0.6 %", 0.578794),
        ("classic", "not published", 0.309880),
        ("european", "not published", 0.514056),
    ],
)
def test_every_ruleset_shows_both_edges(
    house: House, ruleset: str, published: str, percent: float
) -> None:
    edge = house.get(f"/v1/rulesets/{ruleset}/odds")["house_edge"]

    assert edge["published"] == published
    assert round(100 * edge["by_composition"], 6) == percent
    assert edge["by_composition"] < edge["by_total"]


def test_the_odds_depend_on_the_bet_where_payouts_round(house: House) -> None:
    edges = {
        bet: house.get("/v1/rulesets/coinlounge/odds", bet=bet)["house_edge"]["by_total"]
        for bet in (1, 2, 3, 4)
    }

    assert edges[1] > edges[3] > edges[2] == edges[4]


def test_every_move_of_every_hand(house: House) -> None:
    odds = house.get("/v1/rulesets/european/odds")

    assert odds["bet"] == 2
    assert len(odds["hands"]) == 10 * (55 - 1)
    assert sum(upcard["chance"] for upcard in odds["upcards"]) == pytest.approx(1)
    (eights,) = (h for h in odds["hands"] if (h["cards"], h["upcard"]) == ("88", "A"))
    assert {move: round(eights[move], 6) for move in ("hit", "split")} == {
        "hit": -0.664681,
        "split": -0.922317,
    }


def test_any_hand(house: House) -> None:
    hand = house.get("/v1/rulesets/coinlounge/odds/T42/T")

    expected = solved("coinlounge").hand("T42", "T")
    assert hand == {
        "cards": "T42",
        "upcard": "T",
        "best": expected.best,
        "stand": expected.stand,
        "hit": expected.hit,
    }


@pytest.mark.parametrize(
    ("path", "status", "problem"),
    [
        ("nowhere/odds", 404, "unknown-ruleset"),
        ("a2g/odds?bet=3", 422, "bet-not-played"),
        ("classic/strategy?bet=4", 422, "bet-not-played"),
        ("a2g/strategy.svg?bet=502", 422, "bet-not-played"),
        ("a2g/odds/AK/T", 422, "no-such-hand"),
        ("a2g/odds/TT2/T", 422, "no-such-hand"),
        ("classic/odds/88888/T", 422, "no-such-hand"),
        ("a2g/odds/1X/T", 422, "malformed"),
    ],
)
def test_what_has_no_odds(house: House, path: str, status: int, problem: str) -> None:
    refused = house.ask("GET", f"/v1/rulesets/{path}")

    assert (refused.status_code, refused.json()["type"]) == (status, f"/problems/{problem}")
    assert refused.json()["detail"]


def test_the_worth_of_a_table(house: House) -> None:
    """The best table is worth the best; hitting everything below 17 is the easy player."""
    found = house.get("/v1/rulesets/european/strategy")

    best = post(house, found["strategy"])
    assert best["house_edge"] == best["best"] == found["house_edge"]
    easy = {
        "upcards": found["strategy"]["upcards"],
        "hard": below_17(found["strategy"]["hard"]),
        "soft": below_17(found["strategy"]["soft"]),
        "pairs": {pair: ["-"] * 10 for pair in found["strategy"]["pairs"]},
    }
    assert round(100 * post(house, easy)["house_edge"], 6) == 5.675648


def test_a_table_with_a_gap_has_no_worth(house: House) -> None:
    table = house.get("/v1/rulesets/european/strategy")["strategy"]
    del table["hard"]["12"]

    refused = house.ask("POST", "/v1/rulesets/european/strategy", json=table)

    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/strategy-incomplete")
    assert "hard 12" in refused.json()["detail"]


def test_the_chart_is_an_image(house: House) -> None:
    drawn = house.ask("GET", "/v1/rulesets/a2g/strategy.svg")

    assert drawn.headers["Content-Type"] == "image/svg+xml"
    texts = [text.text for text in ElementTree.fromstring(drawn.text).iter() if text.text]
    assert "A2G Blackjack: how to play" in texts
    assert {"Hard", "Soft", "Pair", "double, else hit", "split", "17–20", "8 8"} <= set(texts)


def test_many_who_ask_the_same_get_the_same(house: House) -> None:
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(house.get, "/v1/rulesets/coinlounge/odds", bet=7) for _ in range(8)]
        found = [each.result() for each in asked]

    assert all(each == found[0] for each in found)


def post(house: House, table: Json) -> Json:
    answer = house.ask("POST", "/v1/rulesets/european/strategy", json=table)
    assert answer.status_code == 200, answer.text
    return answer.json()


def below_17(rows: Json) -> Json:
    return {total: ["H" if int(total) < 17 else "S"] * 10 for total in rows}


def test_the_examples_are_what_is_answered(house: House) -> None:
    odds = house.get("/v1/rulesets/a2g/odds")
    ace = next(each for each in odds["upcards"] if each["upcard"] == "A")
    eights = next(h for h in odds["hands"] if (h["cards"], h["upcard"]) == ("88", "T"))
    worth = house.ask("POST", "/v1/rulesets/a2g/strategy", json=examples.TABLE).json()

    for shown, answered in [
        (examples.ODDS, odds | {"upcards": [ace], "hands": [eights]}),
        (examples.HAND, house.get("/v1/rulesets/a2g/odds/T42/T")),
        (examples.STRATEGY, house.get("/v1/rulesets/a2g/strategy")),
        (examples.WORTH, worth),
    ]:
        assert rounded(shown) == rounded(answered)


def rounded(value: Json) -> Json:
    """The last digits of a float differ between processors."""
    match value:
        case float():
            return round(value, 12)
        case dict():
            return {key: rounded(each) for key, each in value.items()}
        case list():
            return [rounded(each) for each in value]
    return value
