"""Problem documents: each names a page, and the page explains the class that refused."""

from collections.abc import Iterator
from inspect import getdoc

import pytest

import services.app  # noqa: F401 (loads every class of refusal there is)
from shared.kernel.rejected import Rejected
from tests.api.croupier import House


def _every(cls: type[Rejected]) -> Iterator[type[Rejected]]:
    for child in cls.__subclasses__():
        if child.__module__.startswith(("services.", "shared.")):
            yield child
            yield from _every(child)


REFUSALS = sorted(_every(Rejected), key=lambda cls: cls.__name__)


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda cls: cls.__name__)
def test_every_refusal_has_a_title_an_explanation_and_a_page(
    refusal: type[Rejected], house: House
) -> None:
    page = house.ask("GET", f"/problems/{refusal.slug()}", key="")

    title, _, explanation = (getdoc(refusal) or "").partition("\n\n")
    assert refusal.__doc__ != Rejected.__doc__
    assert "\n" not in title
    assert title.endswith((".", "?"))
    assert explanation
    assert page.status_code == 200
    assert page.headers["Content-Type"].startswith("text/plain")
    assert page.text.startswith(f"{title}\n\n{explanation}")
    assert f"Status: {refusal.status}" in page.text


def test_slugs_are_unique_and_all_are_listed(house: House) -> None:
    listed = house.ask("GET", "/problems", key="").json()

    expected = {f"/problems/{cls.slug()}": (cls.title(), cls.status) for cls in REFUSALS}
    assert len(expected) == len(REFUSALS)
    assert {each["type"]: (each["title"], each["status"]) for each in listed} == expected


def test_an_unknown_kind_has_no_page(house: House) -> None:
    refused = house.ask("GET", "/problems/no-such-thing", key="")

    assert (refused.status_code, refused.json()["type"]) == (404, "/problems/no-such-page")


def test_a_refusal_says_what_happened_this_time_and_what_would_do(house: House) -> None:
    house.seat("oak", "ada")

    refused = house.play("oak", "bet", seat=1, amount=21)

    assert refused.status_code == 409
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert refused.json() == {
        "type": "/problems/bet-not-allowed",
        "title": "The bet is outside the limits",
        "status": 409,
        "detail": "Bet from 2 to 400 in steps of 2; 21 is not one.",
        "min": 2,
        "max": 400,
        "step": 2,
    }
    assert house.ask("GET", refused.json()["type"], key="").status_code == 200
