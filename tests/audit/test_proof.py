"""The proof of a round: it holds as it was played, and names what was tampered with."""

from collections.abc import Callable
from functools import reduce
from hashlib import sha256

import pytest
from msgspec.structs import replace

from services.audit.domain.proof import RoundNotOver, prove
from services.audit.domain.words import spoken
from services.blackjack.domain import commands as c
from services.blackjack.domain import events as e
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.table import Table
from tests.audit.log import Log

GAMES = ("a2g", "coinlounge", "classic", "european")


def a_round(game: str, seed: int = 0) -> tuple[Table, list[e.Event]]:
    """The table before a round, and the round: two seats with client seeds where there is room."""
    log = Log(seed)
    log.open("t", c.Open(game, host="ada"))
    players = ("ada",) if game == "classic" else ("ada", "bob")
    for seat, player in enumerate(players, 1):
        log.arrive("t", seat, player, 1000)
    before = log.tables["t"]
    return before, log.play_round("t", *([20] * len(players)))


def a_round_with(game: str, *kinds: type) -> tuple[Table, list[e.Event]]:
    """The first of many rounds in which all of these happened."""
    for seed in range(1000):
        before, events = a_round(game, seed)
        if all(any(isinstance(event, kind) for event in events) for kind in kinds):
            return before, events
    raise AssertionError(f"no round of {game} with {kinds}")


def tampered(
    events: list[e.Event], kind: type, change: Callable[[e.Event], e.Event]
) -> list[e.Event]:
    """The events with the first of a kind changed."""
    at = next(n for n, event in enumerate(events) if isinstance(event, kind))
    return [*events[:at], change(events[at]), *events[at + 1 :]]


def another(card: str) -> str:
    return "2c" if card != "2c" else "3c"


@pytest.mark.parametrize("game", GAMES)
def test_every_round_holds_as_it_was_played(game):
    for seed in range(50):
        before, events = a_round(game, seed)
        proof = prove(before, events)
        assert proof.faults == (), f"seed {seed}"
        assert [card.derived for card in proof.cards] == [card.logged for card in proof.cards]
        assert [card.place for card in proof.cards] == list(range(proof.drawn))
        assert proof.commitment == sha256(bytes.fromhex(proof.seed)).hexdigest()


def test_a_proof_names_every_card_and_what_it_was_derived_from():
    before, events = a_round("european", seed=3)
    proof = prove(before, events)

    assert (proof.round, proof.algorithm, proof.decks) == ("t.1", "croupier.shoe.v1", 6)
    assert proof.client_seeds == ("luck-1", "luck-2")
    assert [card.to for card in proof.cards[:6]] == [
        "seat 1", "seat 2", "the upcard", "seat 1", "seat 2", "the hole card",
    ]  # fmt: skip


def test_a_proof_may_begin_with_the_first_bet_or_with_the_shoe():
    before, events = a_round("a2g")
    opened = next(n for n, event in enumerate(events) if isinstance(event, e.RoundOpened))
    table = reduce(evolve, events[:opened], before)

    assert prove(table, events[opened:]) == prove(before, events)


def test_a_running_round_is_not_proven():
    before, events = a_round("a2g")

    with pytest.raises(RoundNotOver, match="revealed when"):
        prove(before, events[:-1])


def test_a_seed_that_was_not_committed_to():
    before, events = a_round("coinlounge")
    proof = prove(before, tampered(events, e.SeedRevealed, lambda s: replace(s, seed="00" * 32)))

    assert proof.faults[0] == (
        f"The commitment is {proof.commitment}, but the revealed seed gives "
        f"{sha256(bytes(32)).hexdigest()}."
    )
    assert any(fault.startswith("At place 0 of the shoe is") for fault in proof.faults)


@pytest.mark.parametrize(
    ("kind", "change", "fault"),
    [
        (
            e.RoundOpened,
            lambda o: replace(o, commitment="ab" * 32),
            f"The commitment is {'ab' * 32}, but the revealed seed gives ",
        ),
        (
            e.RoundOpened,
            lambda o: replace(o, commitment="ab" * 32),
            "The players bet on the commitment {commitment}, but the round was opened with "
            f"{'ab' * 32}.",
        ),
        (
            e.RoundOpened,
            lambda o: replace(o, shoe="croupier.shoe.v0"),
            "The shoe was drawn by croupier.shoe.v0, but only croupier.shoe.v1 can be checked.",
        ),
        (
            e.RoundOpened,
            lambda o: replace(o, client_seeds=("luck-2", "luck-1")),
            "The bets brought the client seeds ['luck-1', 'luck-2'], but the shoe was drawn with "
            "['luck-2', 'luck-1'].",
        ),
        (
            e.SeedRevealed,
            lambda s: replace(s, seed="no hex"),
            "The revealed seed is not hexadecimal, so no card can be checked.",
        ),
        (
            e.SeedRevealed,
            lambda s: replace(s, number=7),
            "Round 1 was opened, but round 7 was ended.",
        ),
        (
            e.SeedRevealed,
            lambda s: replace(s, drawn=s.drawn + 1),
            "{drawn} cards were dealt, but the round says that {more} were drawn.",
        ),
        (
            e.HandsDealt,
            lambda d: replace(d, upcard=another(d.upcard)),
            "At place 2 of the shoe is {upcard}, but the log gave {other} to the upcard.",
        ),
        (
            e.HandsDealt,
            lambda d: replace(d, hands=((1, d.hands[0][1], "zz"), d.hands[1])),
            "At place 3 of the shoe is {second}, but the log gave zz to seat 1.",
        ),
        (
            e.CardDealt,
            lambda d: replace(d, card=another(d.card)),
            "At place 6 of the shoe is the ",
        ),
        (
            e.HoleCardRevealed,
            lambda h: replace(h, card=another(h.card)),
            "At place 5 of the shoe is the ",
        ),
        (
            e.DealerDrew,
            lambda d: replace(d, cards=(another(d.cards[0]), *d.cards[1:])),
            "to the dealer.",
        ),
    ],
)
def test_tampering_is_named(kind, change, fault):
    before, events = a_round_with("a2g", e.CardDealt, e.DealerDrew)
    good, proof = prove(before, events), prove(before, tampered(events, kind, change))
    upcard = good.cards[2].derived
    facts = {
        "commitment": good.commitment,
        "drawn": good.drawn,
        "more": good.drawn + 1,
        "upcard": spoken(upcard),
        "other": another(upcard),
        "second": spoken(good.cards[3].derived),
    }

    assert any(fault.format(**facts) in found for found in proof.faults), proof.faults


def test_a_dealer_who_hides_a_natural():
    before, events = a_round_with("classic", e.DealerPeeked)
    said = next(event.natural for event in events if isinstance(event, e.DealerPeeked))
    proof = prove(before, tampered(events, e.DealerPeeked, lambda p: replace(p, natural=not said)))

    claim = "no" if said else "a"
    assert f"The dealer claimed {claim} natural, but the hole card is the " in proof.faults[0]


def test_a_dealer_who_draws_too_little_or_too_much():
    before, events = a_round_with("european", e.DealerDrew)
    stood = [event for event in events if not isinstance(event, e.DealerDrew)]
    drew = tampered(events, e.DealerDrew, lambda d: replace(d, cards=(*d.cards, "2c")))

    assert any("The dealer stood on" in fault for fault in prove(before, stood).faults)
    assert any("and went on." in fault for fault in prove(before, drew).faults)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda s: replace(s, payout=s.payout + 1), "was paid"),
        (lambda s: replace(s, stake=s.stake + 1), "were settled."),
        (lambda s: replace(s, outcome="surrender"), "was settled as surrender, the cards say"),
    ],
)
def test_a_hand_that_is_settled_wrongly(change, fault):
    before, events = a_round("a2g")
    proof = prove(before, tampered(events, e.HandSettled, change))

    assert any(fault in found for found in proof.faults), proof.faults


def test_insurance_that_is_settled_wrongly():
    before, events = a_round_with("coinlounge", e.InsuranceSettled)
    proof = prove(before, tampered(events, e.InsuranceSettled, lambda s: replace(s, payout=7)))

    assert any("returned 7 instead of" in fault for fault in proof.faults)


def test_events_that_do_not_fit_together():
    before, events = a_round("a2g")
    proof = prove(before, [*events[:-1], e.HandStood(seat=7, hand=0), events[-1]])

    assert any("The events do not fit together" in fault for fault in proof.faults)
