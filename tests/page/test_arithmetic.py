"""What the page computes, beside what the service does: bytes, roots, shoes."""

import json
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Page, Route

from services.audit.api.page import PARTS
from services.blackjack.domain.shoe import Shoe
from shared.eventstore.envelope import canonical
from tests.page.judging import naive_path, naive_root

SHOES = json.loads((Path(__file__).parents[1] / "format/vectors/shoes.json").read_text())["shoes"]
NOWHERE = "https://page.test"


@pytest.fixture
def modules(page: Page) -> Page:
    """A page with nothing on it, where the modules can be imported by their names."""

    def serve(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        text = (PARTS / name).read_text() if name.endswith(".js") else "<!doctype html>"
        kind = "text/javascript" if name.endswith(".js") else "text/html"
        route.fulfill(body=text, content_type=f"{kind}; charset=utf-8")

    page.route(f"{NOWHERE}/**", serve)
    page.goto(f"{NOWHERE}/empty.html")
    return page


@pytest.mark.parametrize("shoe", SHOES, ids=lambda shoe: shoe["round"])
def test_the_shoes_of_the_specification(shoe: dict[str, Any], modules: Page) -> None:
    found = modules.evaluate(
        """async ({ seed, decks, round, client_seeds: shares }) => {
            const { commitment, shoe } = await import("/shoe.js");
            const { unhex } = await import("/bytes.js");
            const cards = await shoe(unhex(seed), decks, round, shares);
            return { commitment: await commitment(unhex(seed)), cards };
        }""",
        shoe,
    )

    assert found["commitment"] == shoe["commitment"]
    assert found["cards"] == " ".join(shoe["order"]).split()


def test_the_bytes_that_are_hashed(modules: Page) -> None:
    values: list[Any] = [
        *(0, -1, 10**12, 2**53 - 1, True, None, "", [], {}),
        *("♠ 10\u20ac", 'a"b\\c/d', "\b\t\n\f\r\x00\x1f\x7f\u2028", "𝄞"),
        {"b": 1, "a": {"z": [], "_": {"10": 1, "9": 2, "A": 3}}},
        [["table/t/bank", -20], ["issuance", 20]],
    ]

    found = modules.evaluate(
        """async (texts) => {
            const { canonical } = await import("/canonical.js");
            return texts.map((text) => canonical(JSON.parse(text)));
        }""",
        [msgspec.json.encode(value).decode() for value in values],
    )

    assert found == [canonical(value).decode() for value in values]


@pytest.mark.parametrize("number", ["0.5", "1e300", "9007199254740992"])
def test_a_number_that_no_event_has_has_no_bytes(number: str, modules: Page) -> None:
    refused = modules.evaluate(
        """async (text) => {
            const { canonical } = await import("/canonical.js");
            try { return canonical(JSON.parse(text)); } catch (why) { return why.message; }
        }""",
        number,
    )

    assert "is no number that an event has" in refused


def test_every_proof_of_every_small_log_leads_to_its_root(modules: Page) -> None:
    leaves = [sha256(bytes([number])).digest() for number in range(20)]
    asked, due = [], []
    for size in range(1, len(leaves) + 1):
        for number in range(size):
            path = [each.hex() for each in naive_path(number, leaves[:size])]
            asked.append({"number": number, "size": size, "path": path})
            due.append(naive_root(leaves[:size]).hex())

    found = modules.evaluate(
        """async ({ leaves, asked }) => {
            const { rootFrom } = await import("/merkle.js");
            const { hex, unhex } = await import("/bytes.js");
            const root = async ({ number, size, path }) =>
                hex(await rootFrom(number, size, unhex(leaves[number]), path.map(unhex)));
            return Promise.all(asked.map(root));
        }""",
        {"leaves": [leaf.hex() for leaf in leaves], "asked": asked},
    )

    assert found == due


@pytest.mark.parametrize(
    "cards", ["AsKd 21", "As6d soft 17", "AsAd soft 12", "AsAd9h 21", "TsQd2h 22", "AsTd9h 20"]
)
def test_totals(cards: str, modules: Page) -> None:
    hand, _, total = cards.partition(" ")

    found = modules.evaluate(
        '(hand) => import("/round.js").then(({ totalOf }) => totalOf(hand.match(/../g)))', hand
    )

    assert found == total


def test_random_shoes_are_those_of_the_service(modules: Page) -> None:
    seed = Random().getrandbits(64)
    chance = Random(seed)
    for _ in range(10):
        secret, decks = chance.randbytes(32), chance.randint(1, 8)
        shares = [f"luck-{chance.randint(0, 9)}" for _ in range(chance.randint(0, 7))]
        found = modules.evaluate(
            """async ([seed, decks, shares]) => {
                const { shoe } = await import("/shoe.js");
                const { unhex } = await import("/bytes.js");
                return shoe(unhex(seed), decks, "oak.7", shares, 40);
            }""",
            [secret.hex(), decks, shares],
        )
        due = Shoe(secret, decks, "oak.7", shares)
        assert found == [due[place] for place in range(40)], f"seed {seed}"
