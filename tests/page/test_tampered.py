"""Bundles that were tampered with: each lie shows on the page, in the line where it belongs."""

from collections.abc import Callable
from copy import deepcopy

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from playwright.sync_api import Page

from shared.seals.notes import PublicKey, public_of
from tests.api.croupier import Json
from tests.page.judging import Given, fails, judged

SIGNS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}


def event(bundle: Json, kind: str) -> Json:
    """The data of the first event of a kind."""
    return next(
        each["event"]["data"] for each in bundle["events"] if each["event"]["type"].endswith(kind)
    )


def a_card(bundle: Json) -> None:
    dealt = event(bundle, "hands_dealt")
    dealt["upcard"] = "As" if dealt["upcard"] != "As" else "Ks"


def a_payout(bundle: Json) -> None:
    event(bundle, "hand_settled")["payout"] += 1


def a_seed(bundle: Json) -> None:
    event(bundle, "seed_revealed")["seed"] = "00" * 32


def a_promise(bundle: Json) -> None:
    bundle["foundation"][-1]["event"]["data"]["next"]["commitment"] = "00" * 32


def a_share(bundle: Json) -> None:
    event(bundle, "bet_placed")["client_seed"] = "mallory"


def a_hash(bundle: Json) -> None:
    bundle["events"][1]["hashes"][0] = "00" * 32


def a_leaf(bundle: Json) -> None:
    bundle["events"][1]["leaf"] = "00" * 32


def a_signature(bundle: Json) -> None:
    text, _, line = bundle["seal"].rpartition(" ")
    bundle["seal"] = f"{text} {line[:20]}{'A' if line[20] != 'A' else 'B'}{line[21:]}"


def a_size(bundle: Json) -> None:
    origin, size, *rest = bundle["seal"].split("\n")
    bundle["seal"] = "\n".join([origin, str(int(size) + 1), *rest])


def a_house(bundle: Json) -> None:
    bundle["house"] = "elsewhere"


def a_posting(bundle: Json) -> None:
    bundle["events"][0]["event"]["postings"][0][1] += 5


def a_result(bundle: Json) -> None:
    bundle["recall"]["results"][0]["net"] += 1000


def a_name(bundle: Json) -> None:
    bundle["before"]["seats"][0]["player"] = "mallory"


def a_winner(bundle: Json) -> None:
    bundle["recall"]["results"][0]["player"] = "mallory"


def no_results(bundle: Json) -> None:
    bundle["recall"]["results"] = []


def what_they_came_with(bundle: Json) -> None:
    bundle["recall"]["results"][0]["stack_before"] += 100


def what_they_went_with(bundle: Json) -> None:
    bundle["recall"]["results"][0]["stack_after"] += 100


def a_game(bundle: Json) -> None:
    bundle["recall"]["ruleset"] = "european"


def the_proof(bundle: Json) -> None:
    card = bundle["proof"]["cards"][0]
    card["logged"] = "As" if card["logged"] != "As" else "Ks"


def no_text(bundle: Json) -> None:
    bundle["seal"] = 7


TAMPERED: list[tuple[Callable[[Json], None], set[str]]] = [
    (a_card, {"leaf", "inclusion", "cards", "told"}),
    (a_payout, {"leaf", "inclusion", "payouts", "chips", "told"}),
    (a_seed, {"leaf", "inclusion", "seed", "cards", "told"}),
    (a_promise, {"leaf", "inclusion", "promise", "seed"}),
    (a_share, {"leaf", "inclusion", "shares"}),
    (a_hash, {"inclusion"}),
    (a_leaf, {"leaf"}),
    (a_signature, {"signature"}),
    (a_size, {"signature", "inclusion"}),
    (a_house, {"origin", "order"}),
    (a_posting, {"leaf", "inclusion", "chips"}),
    (a_result, {"told"}),
    (a_name, {"chips", "told"}),
    (a_winner, {"told"}),
    (no_results, {"told"}),
    (what_they_came_with, {"told"}),
    (what_they_went_with, {"told"}),
    (a_game, {"told"}),
    (the_proof, {"told"}),
    (no_text, {"signature", "origin", "inclusion"}),
]


@pytest.mark.parametrize(
    ("tamper", "due"), TAMPERED, ids=lambda each: getattr(each, "__name__", "")
)
def test_what_was_tampered_with_fails_where_it_should(
    tamper: Callable[[Json], None], due: set[str], open_page: Page, given: Given
) -> None:
    bundle = deepcopy(given.bundle)
    tamper(bundle)

    found = judged(open_page, bundle, given.key)

    assert fails(found) >= due
    assert fails(found) <= due | {"unseen", "told"}, "one lie is not many"
    assert open_page.text_content("#verdict-line") == "oak.2 does not hold."
    for name in due:
        line = open_page.locator(f'[data-check="{name}"]')
        assert "✗" in (line.text_content() or "")


@pytest.mark.parametrize("at", [0, 1, -1])
def test_an_event_that_is_missing_is_missed(at: int, open_page: Page, given: Given) -> None:
    bundle = deepcopy(given.bundle)
    bundle["events"].pop(at)

    assert fails(judged(open_page, bundle, given.key))


def test_a_card_that_does_not_fit_is_named(open_page: Page, given: Given) -> None:
    bundle = deepcopy(given.bundle)
    a_card(bundle)
    right = given.bundle["proof"]["cards"][2]["derived"]

    judged(open_page, bundle, given.key)

    fault = open_page.text_content('[data-check="cards"] .fault') or ""
    printed = right[0].replace("T", "10") + SIGNS[right[1]]
    assert fault.startswith(f"At place 2 of the shoe is {printed}, but the upcard got ")
    marked = open_page.locator(".felt .card.wrong")
    assert marked.count() == 1
    assert marked.get_attribute("title") == f"The seed gives {printed} here"
    assert f"but the seed gives {printed}" in (marked.get_attribute("aria-label") or "")


def test_another_key_has_not_signed_it(open_page: Page, given: Given) -> None:
    known = PublicKey.read(given.key)
    stranger = str(public_of(Ed25519PrivateKey.generate(), known.name))

    assert fails(judged(open_page, given.bundle, stranger)) == {"signature"}
    assert fails(judged(open_page, given.bundle, f"{stranger}\n{given.key}")) == set()
