"""Lies that a house has sealed: every hash, proof and signature fits, and only arithmetic tells."""

from collections.abc import Callable
from copy import deepcopy

import msgspec
import pytest
from playwright.sync_api import Page

from services.audit.domain.bundle import Bundle, judge
from shared.seals.notes import PublicKey
from tests.api.croupier import Json
from tests.page.judging import Given, fails, judged, resealed


def sealed(events: list[Json], kind: str) -> Json:
    """The first event of a kind, with its place."""
    return next(each for each in events if each["event"]["type"].endswith(kind))


def data(bundle: Json, kind: str) -> Json:
    return sealed(bundle["events"], kind)["event"]["data"]


def named(bundle: Json, name: str) -> None:
    bundle["round"] = bundle["recall"]["round"] = bundle["proof"]["round"] = name


def less_is_posted(bundle: Json) -> None:
    """To the bank goes what the player should have."""
    stack, in_play = sealed(bundle["events"], "bet_placed")["event"]["postings"]
    stack[1] -= 1
    in_play[1] += 1


def another_is_paid(bundle: Json) -> None:
    for each in bundle["events"]:
        for posting in each["event"]["postings"]:
            posting[0] = posting[0].replace("player/ada/", "player/mallory/")


def paid_twice(bundle: Json) -> None:
    at = bundle["events"].index(sealed(bundle["events"], "hand_settled"))
    bundle["events"].insert(at, deepcopy(bundle["events"][at]))


def another_hand_in_the_seat(bundle: Json) -> None:
    """Ada is paid too much, and when she has gone nobody looks at her hand any more."""
    settled = next(
        each
        for each in bundle["events"]
        if each["event"]["type"].endswith("hand_settled") and each["event"]["data"]["seat"] == 1
    )
    settled["event"]["data"]["payout"] += 1
    last = bundle["events"].index(sealed(bundle["events"], "seed_revealed"))
    for kind, told in (
        ("player_sat", {"seat": 1, "player": "eve", "buy_in": 0}),
        ("player_left", {"seat": 1, "player": "ada", "cash_out": 0}),
    ):
        more = deepcopy(bundle["events"][last])
        more["event"] |= {"type": f"blackjack.{kind}", "data": told, "postings": []}
        bundle["events"].insert(last, more)


def chips_left_behind(bundle: Json) -> None:
    gone = deepcopy(bundle["events"][-1])
    told = {"seat": 1, "player": "ada", "cash_out": 0}
    gone["event"] |= {"type": "blackjack.player_left", "data": told, "postings": []}
    bundle["events"].append(gone)


def two_in_a_seat(bundle: Json) -> None:
    sat = deepcopy(bundle["events"][-1])
    told = {"seat": 1, "player": "eve", "buy_in": 0}
    sat["event"] |= {"type": "blackjack.player_sat", "data": told, "postings": []}
    bundle["events"].append(sat)


def another_pays(bundle: Json) -> None:
    """The bet itself names somebody else, which it never does."""
    bet = sealed(bundle["events"], "bet_placed")["event"]
    bet["data"]["player"] = "bob"
    bet["postings"][0][0] = bet["postings"][0][0].replace("ada", "bob")


def hands_swapped(bundle: Json) -> None:
    """Each card is at its place, and each hand is another player's."""
    for hand in data(bundle, "hands_dealt")["hands"]:
        hand[0] = 3 - hand[0]


def a_bet_in_words(bundle: Json) -> None:
    data(bundle, "bet_placed")["amount"] = "20"


def a_bet_of_nothing(bundle: Json) -> None:
    data(bundle, "bet_placed")["amount"] = None


def a_hand_in_words(bundle: Json) -> None:
    data(bundle, "hand_settled")["hand"] = "0"


def an_event_of_another_kind(bundle: Json) -> None:
    sealed(bundle["events"], "hand_settled")["event"]["type"] = "ledger.hand_settled"


def an_event_that_nobody_knows(bundle: Json) -> None:
    sealed(bundle["events"], "hand_settled")["event"]["schemaversion"] = 2


def a_share_of_two_lines(bundle: Json) -> None:
    """The same message to the shuffle, from another number of players."""
    opened, (first, second) = (
        data(bundle, "round_opened"),
        [each["event"]["data"] for each in bundle["events"][:2]],
    )
    one = "\n".join(opened["client_seeds"])
    opened["client_seeds"] = bundle["proof"]["client_seeds"] = [one]
    first["client_seed"], second["client_seed"] = one, None


def leading_zeros(bundle: Json) -> None:
    named(bundle, "oak.02")


def an_exponent(bundle: Json) -> None:
    named(bundle, "oak.2e0")


def another_end(bundle: Json) -> None:
    data(bundle, "seed_revealed")["number"] = 3


def no_bets(bundle: Json) -> None:
    del bundle["events"][:2]


def a_round_opened_twice(bundle: Json) -> None:
    at = bundle["events"].index(sealed(bundle["events"], "round_opened"))
    bundle["events"].insert(at, deepcopy(bundle["events"][at]))


SEALED: list[tuple[Callable[[Json], None], set[str]]] = [
    (less_is_posted, {"chips", "told"}),
    (another_is_paid, {"chips"}),  # a push comes to the same stack
    (paid_twice, {"chips"}),
    (another_hand_in_the_seat, {"payouts", "chips", "told"}),
    (chips_left_behind, {"chips"}),
    (two_in_a_seat, {"payouts", "chips", "told"}),
    (another_pays, {"chips", "told"}),
    (hands_swapped, {"payouts", "chips", "told"}),
    (a_bet_in_words, {"payouts", "chips", "told"}),
    (a_bet_of_nothing, {"payouts", "chips", "told"}),
    (a_hand_in_words, {"payouts", "chips", "told"}),
    (an_event_of_another_kind, {"payouts", "chips", "told"}),
    (an_event_that_nobody_knows, {"payouts", "chips", "told"}),
    (a_share_of_two_lines, {"shares"}),
    (leading_zeros, {"order"}),
    (an_exponent, {"order"}),
    (another_end, {"order"}),
    (no_bets, {"order", "shares", "payouts", "chips", "told"}),
    (a_round_opened_twice, {"order"}),
]


@pytest.mark.parametrize(("lie", "due"), SEALED, ids=lambda each: getattr(each, "__name__", ""))
def test_what_was_sealed_is_not_believed(
    lie: Callable[[Json], None], due: set[str], open_page: Page, given: Given
) -> None:
    bundle = deepcopy(given.bundle)
    lie(bundle)
    bundle, key = resealed(bundle)

    found = fails(judged(open_page, bundle, key))
    assert due <= found <= due | {"told"}, "where it should, and nowhere else"
    assert misjudged(bundle, key), "the service finds it too"


def misjudged(bundle: Json, key: str) -> list[str]:
    """What the service says of a bundle."""
    try:
        read = msgspec.json.decode(msgspec.json.encode(bundle), type=Bundle)
        return list(judge(read, [PublicKey.read(key)]))
    except ValueError as why:  # it is none, or its round has no number
        return [str(why)]


def test_what_is_sealed_anew_unchanged_holds(open_page: Page, given: Given) -> None:
    bundle, key = resealed(deepcopy(given.bundle))

    assert fails(judged(open_page, bundle, key)) == set()
    assert misjudged(bundle, key) == []


@pytest.mark.parametrize("decks", [0, 9, 10**8, -1, 1.5, "6", None])
def test_no_shoe_is_made_of_decks_that_no_game_has(
    decks: Json, open_page: Page, given: Given
) -> None:
    bundle = deepcopy(given.bundle)
    bundle["foundation"][0]["event"]["data"]["ruleset"]["decks"] = decks

    assert fails(judged(open_page, bundle)) >= {"leaf", "cards", "unseen", "told"}
    said = open_page.text_content('[data-check="cards"]') or ""
    assert "a shoe has 1 to 8 decks" in said


def test_a_command_stands_in_one_piece(open_page: Page, given: Given) -> None:
    """Its events are numbered side by side, and so are their places in the log."""
    for change in (apart, between):
        bundle = deepcopy(given.bundle)
        change(bundle)
        assert "order" in fails(judged(open_page, bundle, given.key)), change.__name__
        said = open_page.text_content('[data-check="order"]') or ""
        assert "is not there as a whole" in said, change.__name__


def apart(bundle: Json) -> None:
    """The places after the deal's first event go up by one."""
    at = bundle["events"].index(sealed(bundle["events"], "hands_dealt"))
    for each in bundle["events"][at:]:
        each["position"] += 1


def between(bundle: Json) -> None:
    """An event of another command stands among those of the deal."""
    at = bundle["events"].index(sealed(bundle["events"], "hands_dealt"))
    bundle["events"].insert(at - 1, bundle["events"].pop(0))
