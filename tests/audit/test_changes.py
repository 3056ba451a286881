"""Modifiers and items before the auditor: told in plain words, and checked once more."""

import pytest
from msgspec import convert, json

from services.audit.domain.verify import verify
from services.audit.domain.words import spoken_modifier
from services.blackjack.domain import commands as c
from services.blackjack.domain.modifiers import Modifier, Modifiers
from services.blackjack.domain.moves import Move, legal_moves
from services.blackjack.domain.table import Round
from shared.eventstore.store import Recorded
from tests.audit.log import Log, data, find, renumbered
from tests.audit.test_recall import lines, read_out
from tests.domain.changes import modifiers
from tests.domain.every_command import as_command
from tests.domain.story import a_table, given, rows, when


def test_a_round_with_modifiers_and_items_in_plain_words():
    bought = [c.BuyItem(1, name) for name in ("redraw", "shield", "limit-22")]
    story = given(
        a_table("classic", 135, cards="7s 6c 6d Th 5h 8s Kc", environment=modifiers("A=5"))
    )
    when(*bought, c.Bet(1, 20), c.ApplyModifier(*modifiers("7=4")))
    when(c.UseItem(1, "limit-22"), c.UseItem(1, "shield"), c.Hit(1), c.UseItem(1, "redraw"))
    when(c.Hit(1))

    assert read_out(story) == lines("""
        ada bets 20 of 100 chips on the way to 135000.
        The shoe is shuffled; the commitment to its seed begins with 630dcd29.
        At this table every ace counts 5, and nothing else.
        The dealer shows the 6 of clubs.
        ada holds the 7 of spades and the 6 of diamonds: 13.
        The dealer looks at the hole card: no natural.
        The platform changes the rules: every 7 counts 4.
        ada uses limit-22.
        From now on a hand busts above 22.
        ada uses shield.
        ada hits and draws the 5 of hearts: 15.
        ada uses redraw.
        The 5 of hearts goes, the 8 of spades comes instead: 18.
        ada hits and draws the king of clubs: 28, bust.
        ada busts but pushes and keeps the 20.
        The dealer turns over the 10 of hearts: 16.
        The seed is revealed and begins with 00010203; 7 cards left the shoe.
        ada ends the round with 100 chips, as many as before.
    """)


@rows("""
    change      words
    7=9         every 7 counts 9
    Q=1         every queen counts 1
    A=11        every ace counts 11, and nothing else
    limit=25    a hand busts above 25
    reverse     a player's bust is a push
    12 to 16    a starting hand that totals 12 to 16 busts at once
    a king      a starting hand with a king busts at once
    an ace      a starting hand with an ace busts at once
    a pair      a starting hand that is a pair busts at once
""")
def test_every_modifier_has_its_words(change, words):
    assert [spoken_modifier(each) for each in modifiers(change)] == [words]


def test_what_is_bought_before_the_bet_is_told_by_the_log_alone():
    """A round begins with its first bet, so its recall does too."""
    given(a_table("classic", 100, cards="Ts 6c 9d Th 5h"))
    story = when(c.BuyItem(1, "shield"), c.Bet(1, 20), c.Stand(1))
    assert not any("buys" in line for line in read_out(story))


def a_log(environment: Modifiers = (), rounds: int = 6, seed: int = 3) -> Log:
    """Rounds of `classic` with everything that may happen to the rules."""
    log = Log(seed)
    log.open("t", c.Open("classic", environment=environment))
    log.grant("ada", 5000)
    anything = ["2=11", "K=1", "A=5", "limit=18", "limit=26", "reverse", "12 to 16", "a pair"]
    for number in range(rounds):
        bet(log, "redraw", "shield", "limit-22")
        play_on(log, modifiers(anything[number % len(anything)])[0])
    return log


def bet(log: Log, *items: str) -> None:
    """A new run if the last is over, then these items as far as they can be had, then a bet."""
    if log.tables["t"].seats[0] is None or "bet" not in listed(log):
        log.arrive("t", 1, "ada", 100)
    for item in items:
        if any(move.item == item for move in legal_moves(log.tables["t"])):
            log.play("t", c.BuyItem(1, item))
    most = listed(log)["bet"].max
    assert most
    log.play("t", c.Bet(1, min(20, most)))


def listed(log: Log) -> dict[str, Move]:
    return {move.type: move for move in legal_moves(log.tables["t"])}


def play_on(log: Log, modifier: Modifier) -> None:
    for wish in ("apply_modifier", "use_item", "use_item", "hit", "use_item", "use_item"):
        for move in [m for m in legal_moves(log.tables["t"]) if m.type == wish][:1]:
            log.play("t", as_command(move, modifier=modifier))
    while isinstance(log.tables["t"].stage, Round):
        log.play("t", c.Stand(1))


def faults(records: list[Recorded]) -> str:
    return "\n".join(fault.what for fault in verify(records).faults)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("environment", ["", "A=5, limit=25", "8=1, reverse, a king"])
def test_a_log_with_modifiers_and_items_holds(environment, seed):
    log = a_log(modifiers(environment), seed=seed)

    assert faults(log.records) == ""


LOG = a_log()


@rows("""
    event              changed                                   says
    modifier_applied   {"modifier": {"type": "bust_limit", "limit": 17}}    by the rules it is
    modifier_applied   {"seat": 1}                               by the rules it is null
    item_bought        {"price": 1}                              by the rules it is 10
    item_bought        {"item": "crystal-ball"}                  by the rules it is "redraw"
    item_used          {"item": "redraw"}                        by the rules it is "shield"
    card_redrawn       {"card": "2c"}                            by the rules it is "2h"
""")
def test_whoever_tampers_with_a_change_is_found(event, changed, says):
    log = a_log(rounds=8)
    at = find(log.records, event)
    tampered = data(log.records, at, **json.decode(changed))

    assert says in faults(tampered)


def test_a_modifier_that_comes_twice_is_found():
    at = find(LOG.records, "modifier_applied")
    twice = [*LOG.records[:at], LOG.records[at - 1], *LOG.records[at:]]

    assert "does not cause this event, modifier applied" in faults(renumbered(twice))


def test_an_item_that_did_nothing_is_found():
    at = find(LOG.records, "hand_shielded")
    without = [*LOG.records[: at - 1], *LOG.records[at:]]

    assert "hand shielded is missing" in faults(renumbered(without))


def test_a_hand_that_was_spared_its_bust_is_found():
    """The environment lets every pair bust, and somebody leaves that settlement out."""
    pair = convert({"type": "instant_bust", "condition": {"type": "pair"}}, Modifier)
    log = Log()
    log.open("t", c.Open("classic", environment=(pair,)))
    log.grant("ada", 5000)
    while not any(record.type.endswith("hand_stood") for record in log.records):
        bet(log)
        play_on(log, pair)
    opened = find(log.records, "hands_dealt")
    tampered = data(log.records, opened, hands=[[1, "8c", "8d"]])

    assert "hand settled is missing" in faults(tampered)
