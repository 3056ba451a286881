"""The return monitor: what games and tables returned, as JSON and as a picture."""

import xml.etree.ElementTree as ElementTree

import msgspec
import pytest

from services.blackjack.api.examples import OWN_RULESET
from services.blackjack.api.returns_plot import plot
from services.blackjack.domain import rulesets
from services.blackjack.odds.luck import Exact, Played
from tests.api.croupier import House, Json

SVG = "image/svg+xml"
GAME, TABLE = "/v1/rulesets/classic/returns", "/v1/tables/oak/returns"


@pytest.fixture
def played(house: House) -> House:
    """Forty rounds of the classic game at two tables, every one by standing.

    Half of the stack is the most that is bet: with bad luck a new run is begun.
    """
    for table, player in (("oak", "ada"), ("elm", "bob")):
        seen = house.seat(table, player, ruleset="classic")["table"]
        for bet in (5, 6, 7, 10) * 5:
            if seen["seats"][0]["stack"] < 2 * bet:
                house.do(table, "leave", seat=1)
                house.do(table, "start_run", seat=1, player=player, stake=100)
            house.deal(table, bet)
            seen = house.finish(table)
    return house


def settled(house: House, table: str) -> tuple[int, int]:
    """What was staked and what came back at a table, by the list of its rounds."""
    rounds = house.get(f"/v1/tables/{table}/rounds", wait_for=house.head())["data"]
    return sum(each["stake"] for each in rounds), sum(each["payout"] for each in rounds)


def nearly(share: float) -> object:
    return pytest.approx(share, abs=2e-6)


def consistent(returned: Json) -> None:
    """What the figures promise of each other."""
    realised = 1 + (returned["payout"] - returned["stake"]) / returned["bet"]
    assert returned["realised"] == nearly(realised)
    assert returned["curve"][-1] == {
        "rounds": returned["rounds"],
        "realised": returned["realised"],
        **returned["band"],
    }
    chance = returned["band"]["high"] - (returned["exact"] - returned["rounding"])
    assert returned["band"]["low"] == nearly(returned["careless"] - returned["rounding"] - chance)
    assert (returned["verdict"], returned["alarm"]) == ("as_expected", False)


def test_a_table_and_its_game(played: House) -> None:
    at_table = played.get(TABLE, wait_for=played.head())
    of_game = played.get(GAME, wait_for=played.head())

    assert (at_table["table"], of_game["table"]) == ("oak", None)
    assert (at_table["rounds"], of_game["rounds"]) == (20, 40)
    assert (at_table["bet"], of_game["bet"]) == (140, 280)
    oak, elm = settled(played, "oak"), settled(played, "elm")
    assert (at_table["stake"], at_table["payout"]) == oak
    assert (of_game["stake"], of_game["payout"]) == (oak[0] + elm[0], oak[1] + elm[1])
    for returned in (at_table, of_game):
        consistent(returned)
        assert (returned["ruleset"], returned["version"]) == ("classic", "1.0.0")
        assert returned["exact"] == nearly(1 - 0.00309880)
        assert returned["careless"] < returned["exact"]
        assert returned["confidence"] == 0.999
    assert [point["rounds"] for point in at_table["curve"]] == list(range(1, 21))
    assert [point["rounds"] for point in of_game["curve"]] == [*range(1, 32), 33, 35, 37, 39, 40]


def test_before_the_first_round_there_is_only_what_should_be(house: House) -> None:
    house.open("oak", "classic")

    for path in (GAME, TABLE):
        returned = house.get(path)
        assert (returned["verdict"], returned["alarm"]) == ("unplayed", False)
        assert (returned["rounds"], returned["curve"]) == (0, [])
        assert returned["realised"] is returned["band"] is None
        assert returned["exact"] == nearly(1 - 0.00309880)


def test_rounds_in_an_environment_have_odds_of_their_own_and_are_not_counted(
    house: House,
) -> None:
    house.grant("ada", 1000)
    limit = [{"type": "bust_limit", "limit": 25}]
    assert house.open("oak", "classic", environment=limit).status_code == 201
    house.do("oak", "start_run", seat=1, player="ada", stake=100)
    house.deal("oak", 10)
    house.finish("oak")

    returned = house.get(TABLE, wait_for=house.head())

    assert (returned["verdict"], returned["rounds"]) == ("unplayed", 0)
    assert 1 < returned["careless"] < returned["exact"]
    assert house.get(GAME)["rounds"] == 0
    assert house.ask("GET", f"{TABLE}.svg").status_code == 200


def test_where_every_bet_is_odd_the_band_is_still_that_of_exact_payouts(house: House) -> None:
    classic = msgspec.to_builtins(rulesets.CLASSIC)
    odd = {**classic, "name": "odd", "bet": {"min": 25, "step": 10, "max": 95}}
    house.register(odd)

    returned = house.get("/v1/rulesets/odd/returns")

    assert returned["exact"] == nearly(1 - 0.00309880)
    assert house.get("/v1/rulesets/odd/odds")["bet"] == 25


def test_a_game_of_the_house_by_version(house: House) -> None:
    old = {**OWN_RULESET, "decks": 4}
    house.register(old)
    house.register({**old, "version": "1.1.0", "hit_on_21": True})

    path = f"/v1/rulesets/{OWN_RULESET['name']}/returns"
    assert house.get(path)["version"] == "1.1.0"
    assert house.get(path, version="1.0.0")["version"] == "1.0.0"
    assert house.ask("GET", f"{path}?version=2.0.0").status_code == 404


def test_the_picture(played: House) -> None:
    for path, told in ((GAME, "40 rounds"), (TABLE, "20 rounds")):
        played.get(path, wait_for=played.head())
        picture = played.ask("GET", f"{path}.svg")
        again = played.ask("GET", path, headers={"Accept": f"{SVG}, */*;q=0.1"})
        for answer in (picture, again):
            assert answer.status_code == 200
            assert answer.headers["Content-Type"].startswith(SVG)
        assert picture.content == again.content
        assert ElementTree.fromstring(picture.text).tag.endswith("svg")
        assert told in picture.text
    assert "Poker Head, Classic Table, 1.0.0, at oak" in picture.text


@pytest.mark.parametrize("path", ["/v1/tables/nowhere/returns", "/v1/rulesets/pontoon/returns"])
@pytest.mark.parametrize("ending", ["", ".svg"])
def test_what_there_is_not(house: House, path: str, ending: str) -> None:
    assert house.ask("GET", path + ending).status_code == 404


def a_curve(*nets: int) -> list[Played]:
    """Rounds with bets of ten that came to these nets in the end."""
    points = []
    for rounds, net in enumerate(nets, 1):
        rounds = 10**rounds
        stake = 10 * rounds
        points.append(Played(rounds, stake, stake, stake + net, 0, 120.0 * rounds))
    return points


@pytest.mark.parametrize(
    ("nets", "said"),
    [
        ((), "nothing played yet"),
        ((20,), "as expected"),
        ((-20, -50, -300, -500), "as expected"),
        ((-20, -50, -300, -5000, -40_000), "players could play better"),
        ((20, 50, 300, 5000, 90_000), "alarm: more than any play explains"),
        ((-20, -50, -300, -5000, -200_000), "alarm: less than careless play explains"),
        ((10**9, -(10**9)), "alarm: less"),
    ],
)
def test_every_picture_is_whole_and_says_what_it_is(nets: tuple[int, ...], said: str) -> None:
    curve = a_curve(*nets)
    picture = plot("<Ours> & theirs", curve, Exact(best=0.995, careless=0.943))

    assert picture == plot("<Ours> & theirs", curve, Exact(best=0.995, careless=0.943))
    root = ElementTree.fromstring(picture)
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert any(text and text.startswith(said) for text in texts)
    assert "<Ours> & theirs" in texts
    assert "nan" not in picture
