"""A round that was taken away is judged alone, and anything that is changed in it is found."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random

import msgspec
import pytest
from typer.testing import CliRunner

from services.audit.domain.bundle import Bundle, judge
from services.cli import app
from shared.local.process import until
from shared.seals.notes import PublicKey
from tests.api.croupier import House, Json, command

MOVES = {
    *("hit", "stand", "double_down", "split", "surrender", "insure", "decline_insurance"),
    *("use_item", "apply_modifier"),
}
OUR_WORD = re.compile(
    r"before\.(host|runs|seats\.\d+\.(since|sits_out|run\.\w+)|seats\.2\.(player|stack))"
)
"""What may be told otherwise, where nothing of the round hangs on it: seat 2 only looks on."""


def keys_of(house: House) -> list[PublicKey]:
    return [PublicKey.read(key["public_key"]) for key in house.get("/v1/audit/keys")["data"]]


@pytest.fixture
def keys(house: House) -> list[PublicKey]:
    house.seat("oak", "ada", "bob", ruleset="european")
    for _ in range(2):
        house.deal("oak", 20, 20)
        house.finish("oak")
    house.sealed()
    return keys_of(house)


def wander(house: House, table: str, chance: Random) -> None:
    """Legal moves at random until the round is over."""
    moves = house.get(f"/v1/tables/{table}")["legal_moves"]
    while possible := [move for move in moves if move["type"] in MOVES]:
        move = command(chance.choice(possible))
        if move["type"] == "apply_modifier":
            move["modifier"] = {"type": "bust_limit", "limit": 20}
        moves = house.do(table, **move)["table"]["legal_moves"]


def faults(bundle: Json, keys: list[PublicKey]) -> list[str]:
    return list(judge(msgspec.json.decode(msgspec.json.encode(bundle), type=Bundle), keys))


@pytest.mark.parametrize("round", ["oak.1", "oak.2"])
def test_a_bundle_holds_alone(round: str, house: House, keys: list[PublicKey]) -> None:
    bundle = house.get(f"/v1/rounds/{round}/bundle")

    assert faults(bundle, keys) == []
    assert bundle["recall"] == house.get(f"/v1/rounds/{round}/recall")
    assert bundle["proof"] == house.get(f"/v1/rounds/{round}/proof")
    assert len(bundle["foundation"]) == (1 if round == "oak.1" else 2)


@pytest.mark.parametrize("game", ["a2g", "coinlounge", "classic", "european"])
def test_every_game_is_decided_again(game: str, house: House) -> None:
    chance = Random(game)
    house.seat("oak", *(["ada"] if game == "classic" else ["ada", "bob"]), ruleset=game)
    for number in range(1, 4):
        dealt = house.deal("oak", *([10] if game == "classic" else [20, 20]))
        if number == 3:  # chips come and go within the round, and with its end
            if game != "classic":
                house.grant("eve", 1000)
                house.do("oak", "sit", seat=3, player="eve", buy_in=300)
            house.do("oak", "leave", seat=1)
        wander(house, "oak", chance)
    house.sealed()
    bundles = [house.get(f"/v1/rounds/oak.{number}/bundle") for number in (1, 2, 3)]

    assert [faults(bundle, keys_of(house)) for bundle in bundles] == [[], [], []]
    subjects = {each["event"]["subject"] for each in bundles[2]["events"]}
    over = dealt["table"]["phase"] == "betting"  # a natural of the dealer, or of all
    assert subjects > {"table-oak"} or over or game == "european", "a session knows no vault"


def test_rounds_of_computers_and_clocks_hold(house: House) -> None:
    clock = {"betting_seconds": 1, "action_seconds": 1}
    assert house.open("oak", "a2g", host="ada", clock=clock).status_code == 201
    house.grant("ada", 1000)
    house.do("oak", "sit", seat=1, player="ada", buy_in=400)
    body = {"seat": 2, "level": "hard", "buy_in": 200, "rounds": 1}
    assert house.ask("POST", "/v1/tables/oak/computers", json=body).status_code == 200
    house.do("oak", "bet", seat=1, amount=20)
    assert until(lambda: house.ask("GET", "/v1/rounds/oak.1/recall").json().get("over"))
    house.sealed()

    bundle = house.get("/v1/rounds/oak.1/bundle")

    actors = {each["event"]["actor"] for each in bundle["events"]}
    assert len(actors) > 1, actors
    assert faults(bundle, keys_of(house)) == []
    steps = bundle["recall"]["steps"]
    bundle["recall"]["steps"] = [step for step in steps if not step["text"].endswith(" is up.")]
    assert ("clock" in actors) == (bundle["recall"]["steps"] != steps)
    assert faults(bundle, keys_of(house)) == [], "as it was told before clocks were told of"


def test_who_does_not_know_the_key_believes_nothing(house: House, keys: list[PublicKey]) -> None:
    bundle = house.get("/v1/rounds/oak.1/bundle")

    assert faults(bundle, []) == ["The seal does not hold: no key that is known has signed it."]


def leaves(value: Json, *path: str | int) -> Iterator[tuple[str | int, ...]]:
    """The way to every value that has no parts."""
    match value:
        case dict():
            parts: list[tuple[str | int, Json]] = list(value.items())
        case list():
            parts = list(enumerate(value))
        case _:
            yield path
            return
    for key, part in parts:
        yield from leaves(part, *path, key)


def another(value: Json, chance: Random) -> Json:
    """A value of the same kind, that says something else."""
    match value:
        case bool():
            return not value
        case int():
            return value + chance.choice([-1, 1, 1000])
        case None:
            return "mallory"
        case str() if value:
            at = chance.randrange(len(value))
            return (
                value[:at] + chance.choice([c for c in "0a1b " if c != value[at]]) + value[at + 1 :]
            )
    return "0"


def changed(bundle: Json, path: tuple[str | int, ...], chance: Random) -> Json:
    copy = deepcopy(bundle)
    part = copy
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = another(part[path[-1]], chance)
    return copy


def overlooked(bundle: Json, keys: list[PublicKey], chance: Random) -> set[str]:
    """Every value of a bundle that may be changed without being found."""
    kept = set()
    for path in leaves(bundle):
        try:
            found = faults(changed(bundle, path, chance), keys)
        except msgspec.ValidationError:
            continue  # no bundle any more
        if not found:
            kept.add(".".join(map(str, path)))
    return kept


@pytest.mark.parametrize("game", ["a2g", "classic"])
def test_any_value_that_is_changed_is_found_or_nothing_hangs_on_it(game: str, house: House) -> None:
    """What is kept was believed all along, and changes nothing that is told of the round: its
    words, results, cards and payouts are compared with those that follow from it."""
    seed = Random().getrandbits(32)
    chance = Random(seed)
    house.seat("oak", *(["ada"] if game == "classic" else ["ada", "bob"]), ruleset=game)
    for number in (1, 2):
        if game == "a2g" and number == 2:  # somebody who only looks on
            house.grant("eve", 1000)
            house.do("oak", "sit", seat=3, player="eve", buy_in=300)
            house.do("oak", "sit_out", seat=3)
        house.deal("oak", *([10] if game == "classic" else [20, 20]))
        wander(house, "oak", chance)
    house.sealed()
    bundle, keys = house.get("/v1/rounds/oak.2/bundle"), keys_of(house)
    assert faults(bundle, keys) == []

    kept = overlooked(bundle, keys, chance)

    assert {path for path in kept if not OUR_WORD.fullmatch(path)} == set(), f"seed {seed}"


def _rearranged(bundle: Json) -> dict[str, Json]:
    """The bundle with one part after another left out, put twice, or in another place."""
    made = {}

    def change(name: str) -> Json:
        made[name] = deepcopy(bundle)
        return made[name]

    change("the seal")["seal"] = bundle["seal"].replace("\n\n", "\nmore\n\n")
    change("another round")["round"] = "oak.1"
    change("an event less")["events"].pop(1)
    change("no beginning")["events"].pop(0)
    change("no end")["events"].pop()
    change("no events")["events"].clear()
    change("no opening")["foundation"].pop(0)
    change("no commitment")["foundation"].pop()
    change("no foundation")["foundation"].clear()
    change("the foundation turned")["foundation"].reverse()
    change("nobody there")["before"]["seats"] = [None] * len(bundle["before"]["seats"])
    change("no seats")["before"]["seats"] = []
    twice = change("an event twice")
    twice["events"].insert(1, twice["events"][0])
    turned = change("the events turned")
    turned["events"].reverse()
    return made


def test_whatever_is_left_out_or_put_elsewhere_is_found(
    house: House, keys: list[PublicKey]
) -> None:
    bundle = house.get("/v1/rounds/oak.2/bundle")

    overlooked = [name for name, each in _rearranged(bundle).items() if not faults(each, keys)]

    assert overlooked == []


def test_a_bundle_that_says_more_is_none(house: House, keys: list[PublicKey]) -> None:
    bundle = house.get("/v1/rounds/oak.2/bundle")

    for part in (bundle, bundle["before"], bundle["events"][0]):
        part["more"] = 1
        with pytest.raises(msgspec.ValidationError, match="more"):
            faults(bundle, keys)
        del part["more"]


def test_chips_that_were_not_there_are_found_where_they_are_bet(
    house: House, keys: list[PublicKey]
) -> None:
    """Even when the words and results are told to fit."""
    bundle = house.get("/v1/rounds/oak.2/bundle")
    bundle["before"]["seats"][0]["stack"] = 10

    assert any("was accepted, which the rules refuse" in fault for fault in faults(bundle, keys))


def test_the_command_line_judges_a_bundle(
    house: House, keys: list[PublicKey], tmp_path: Path
) -> None:
    bundle = house.get("/v1/rounds/oak.2/bundle")
    key, file = tmp_path / "public.key", tmp_path / "oak.2.json"
    key.write_text("".join(f"{each}\n" for each in keys))

    for told, status in ((bundle, 0), (bundle | {"round": "oak.1"}, 1), ({}, 2)):
        file.write_text(json.dumps(told))
        judged = CliRunner().invoke(app, ["verify", str(file), "--public-key", str(key)])
        assert judged.exit_code == status, judged.output


def test_what_the_service_answered_instead_of_a_bundle_is_told(
    house: House, keys: list[PublicKey], tmp_path: Path
) -> None:
    key, file = tmp_path / "public.key", tmp_path / "oak.999.json"
    key.write_text("".join(f"{each}\n" for each in keys))
    for caller, title in (None, "There is no such round."), ("", "Who are you?"):
        refused = house.ask("GET", "/v1/rounds/oak.999/bundle", key=caller)
        file.write_bytes(refused.content)

        judged = CliRunner().invoke(app, ["verify", str(file), "--public-key", str(key)])

        assert judged.exit_code == 2
        assert f"the service refused it. {title} {refused.json()['detail']}" in judged.output


def test_a_round_that_runs_or_is_not_sealed_has_no_bundle(
    house: House, keys: list[PublicKey]
) -> None:
    house.deal("oak", 20, 20)

    running = house.ask("GET", "/v1/rounds/oak.3/bundle").json()["type"]

    assert running in ("/problems/round-not-over", "/problems/not-sealed-yet")
