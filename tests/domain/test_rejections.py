"""Every "no" has a class, a name for machines and a text for people."""

from inspect import getdoc

import pytest

from services.blackjack.domain import rejections
from shared.kernel.rejected import Rejected

REASONS = [
    reason
    for reason in vars(rejections).values()
    if isinstance(reason, type) and issubclass(reason, Rejected) and reason is not Rejected
]


@pytest.mark.parametrize("reason", REASONS, ids=lambda reason: reason.slug())
def test_a_reason_has_a_title_and_an_explanation(reason):
    title, blank, *explanation = (getdoc(reason) or "").split("\n")
    assert "__doc__" in vars(reason), "the text is the class's own"
    assert title.endswith(".")
    assert blank == ""
    assert " ".join(explanation).endswith(".")
    assert reason.title() == title.rstrip(".")
    assert reason.status in (404, 409, 422)


def test_slugs_and_titles_are_unique():
    assert len({reason.slug() for reason in REASONS}) == len(REASONS)
    assert len({reason.title() for reason in REASONS}) == len(REASONS)


def test_a_slug_is_the_name_in_words():
    assert rejections.NotYourTurn.slug() == "not-your-turn"
    assert rejections.NotYourTurn("detail", seat=1).facts == {"seat": 1}
