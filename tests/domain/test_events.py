"""Events are forever: their names, versions and shapes, as files."""

from pathlib import Path
from typing import get_args

import pytest
from msgspec import json
from msgspec.structs import replace

from services.blackjack.domain import events as e
from services.blackjack.domain.events import REGISTRY
from services.blackjack.domain.modifiers import RankValue
from services.blackjack.domain.rules import fingerprint
from services.blackjack.domain.rulesets import A2G
from services.blackjack.domain.shoe import SealedSeed

SEALED = SealedSeed(commitment="630dcd29", key_id="2026-01", box="c2VhbGVk")
GOLDEN = Path(__file__).with_name("golden")
FIRST_A2G = replace(A2G, computers=())
"""As it was before the fields that were added: it keeps its shape and its fingerprint."""
EXAMPLES: list[e.Event | e.RulesetRegistered] = [
    e.TableOpened("table-3", FIRST_A2G, fingerprint(FIRST_A2G), "ada", SEALED),
    e.TableWasClosed(),
    e.HostMoved(host="bob"),
    e.PlayerSat(seat=1, player="ada", buy_in=200),
    e.RunStarted(seat=1, player="ada", number=3, source="vault", stake=60, goal=240),
    e.RunEnded(seat=1, outcome="won", bankroll=255),
    e.ComputerSeated(seat=1, level="hard", buy_in=200, last_round=100),
    e.ChipsBoughtIn(seat=1, amount=100),
    e.ChipsCashedOut(seat=1, amount=50),
    e.PlayerLeaving(seat=1),
    e.PlayerLeft(seat=1, player="ada", cash_out=180),
    e.BetPlaced(seat=1, amount=20, client_seed="lucky"),
    e.BetWithdrawn(seat=1, amount=20),
    e.SeatSatOut(seat=2),
    e.RoundOpened(
        number=5,
        shoe="croupier.shoe.v1",
        commitment="630dcd29",
        client_seeds=("lucky",),
    ),
    e.HandsDealt(hands=((1, "8h", "8c"), (3, "As", "Kd")), upcard="6c"),
    e.InsuranceOffered(seats=(1, 3)),
    e.InsuranceBought(seat=1, stake=10),
    e.InsuranceDeclined(seat=3),
    e.InsuranceSettled(seat=1, stake=10, payout=30),
    e.DealerPeeked(natural=False),
    e.CardDealt(seat=1, hand=0, card="9h"),
    e.HandStood(seat=1, hand=0),
    e.HandDoubled(seat=1, hand=0, stake=20),
    e.HandSplit(seat=1, hand=0, stake=20),
    e.HandSettled(seat=1, hand=0, outcome="win", stake=20, payout=40),
    e.ModifierApplied(modifier=RankValue(rank="7", value=9)),
    e.ItemBought(seat=1, item="shield", price=15),
    e.ItemUsed(seat=1, hand=0, item="shield"),
    e.CardRedrawn(seat=1, hand=0, card="2h"),
    e.HandShielded(seat=1, hand=0),
    e.HoleCardRevealed(card="Th"),
    e.DealerDrew(cards=("2c", "9d")),
    e.SeedRevealed(number=5, seed="000102", drawn=9, next=SEALED),
    e.RulesetRegistered(FIRST_A2G, fingerprint(FIRST_A2G)),
]
NAMES = {cls: f"{name}.{version}" for name, (version, cls) in REGISTRY.items()}


def test_every_event_has_one_name_and_every_name_one_event():
    classes = [cls for _, cls in REGISTRY.values()]
    assert len(classes) == len(set(classes)), "an event is in the registry twice"
    assert set(classes) == {*get_args(e.Event), e.RulesetRegistered}
    assert set(classes) == {type(example) for example in EXAMPLES}


def test_names_are_those_of_the_context_and_past_tense_snake_case():
    for name, (version, cls) in REGISTRY.items():
        assert name.startswith("blackjack.")
        assert name == name.lower()
        assert version >= 1
        assert cls.__struct_config__.frozen


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: NAMES[type(example)])
def test_the_shape_of_an_event_is_forever(example):
    file = GOLDEN / f"{NAMES[type(example)]}.json"
    advice = (
        f"The shape of {type(example).__name__} is not the one in {file.name}. What is in the log "
        "stays there: give the event a new version + upcaster, and a golden file for it."
    )
    assert file.exists(), advice
    assert json.format(json.encode(example), indent=2) == file.read_bytes().rstrip(), advice
    assert json.decode(file.read_bytes(), type=type(example)) == example, advice


def test_every_golden_file_belongs_to_a_version_of_an_event():
    versions = {
        f"{name}.{version}.json"
        for name, (newest, _) in REGISTRY.items()
        for version in range(1, newest + 1)
    }
    assert {file.name for file in GOLDEN.iterdir()} == versions
