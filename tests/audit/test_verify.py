"""A whole log, checked: it holds as it was recorded, and every way of tampering is found.

Who tampers here either changes a record as it stands, or is thorough and makes all hashes after
it fit again: then only what the events say gives it away.
"""

import pytest
from msgspec import Raw, json
from msgspec.structs import replace

from services.audit.application.feed import from_feed
from services.audit.domain.faults import MOST_FAULTS, Fault
from services.audit.domain.lines import Unreadable
from services.audit.domain.verify import Report, Verifier, verify
from services.blackjack.domain import commands as c
from services.blackjack.domain.shoe import commitment
from shared.eventstore.jsonlines import FeedLine
from shared.eventstore.store import Recorded
from tests.audit.log import Log, a_log, columns, data, facts, find, rehashed, renumbered

LOG = a_log()
RECORDS = LOG.records
MIDDLE = len(RECORDS) // 2


def found(records: list[Recorded]) -> Report:
    report = verify(records)
    assert report.holds is not bool(report.faults)
    return report


def faults(records: list[Recorded], position: int = 0) -> dict[str, Fault]:
    """The faults at a position, or everywhere, by what was said."""
    report = found(records)
    return {fault.what: fault for fault in report.faults if position in (0, fault.position)}


def the_only(records: list[Recorded]) -> Fault:
    (fault,) = found(records).faults
    return fault


def of_type(type: str) -> int:
    return next(record.position for record in RECORDS if record.type == type)


def told(position: int) -> dict[str, object]:
    """The envelope at a position."""
    envelope: dict[str, object] = json.decode(RECORDS[position - 1].envelope)
    return envelope


def test_a_log_holds_as_it_was_recorded():
    report = verify(RECORDS)

    assert report.faults == ()
    assert (report.position, report.events) == (len(RECORDS), len(RECORDS))
    assert report.chain == RECORDS[-1].chain.hex()
    assert report.rounds == 8
    assert report.streams == 4 + 2
    assert report.commands == LOG.commands
    assert sum(report.balances.values()) == 0
    assert report.balances["table/a2g/player/ada/stack"] == 0
    assert report.balances["table/a2g/in_play"] == 0


@pytest.mark.parametrize("seed", range(10))
def test_many_logs_hold(seed):
    log = Log(seed)
    for game in ("a2g", "coinlounge", "european"):
        log.open(game, c.Open(game, host="ada"))
        for seat, player in enumerate(("ada", "bob", "cyd"), 1):
            log.grant(player, 1000)
            log.play(game, c.Sit(seat, player, 1000))
        for _ in range(5):
            log.play_round(game, 20, 20, 20)

    assert faults(log.records) == {}


@pytest.mark.parametrize("end", range(1, len(RECORDS)))
def test_a_log_holds_wherever_it_ends_between_two_commands_and_not_within_one(end):
    between = RECORDS[end].command_id != RECORDS[end - 1].command_id

    assert found(RECORDS[:end]).holds is between


@pytest.mark.parametrize("end", range(1, len(RECORDS)))
def test_a_log_that_is_said_to_be_cut_holds_wherever_that_is(end):
    verifier = Verifier()
    for record in RECORDS[:end]:
        verifier.read(record)

    assert verifier.report(cut=True).faults == ()


def test_a_vault_that_gave_more_than_it_had():
    log = Log()
    log.open("t", c.Open("a2g"))
    log.grant("ada", 100)
    log.play("t", c.Sit(1, "ada", 101))

    fault = the_only(log.records)
    assert fault.what == "player/ada/vault fell to -1; its floor is 0."
    assert (fault.position, fault.kind) == (len(log.records) - 1, "chips")


def test_the_feed_says_the_same_as_the_store():
    def fed(record: Recorded) -> FeedLine:
        loose = Raw(json.format(record.envelope, indent=2))
        leaf, chain = record.leaf.hex(), record.chain.hex()
        return FeedLine(record.position, record.stream, record.version, leaf, chain, loose)

    assert [from_feed(fed(record)) for record in RECORDS] == RECORDS
    broken = from_feed(replace(fed(RECORDS[0]), event=Raw(b'{"amount": 1.5}')))
    assert isinstance(broken, Unreadable)
    assert "1.5" in broken.why
    assert verify([broken]).faults[0].what.startswith("The line cannot be read: 1.5 is not a whole")


# What holds a log together.


def test_a_flipped_bit_in_a_payload():
    envelope = bytearray(RECORDS[MIDDLE - 1].envelope)
    envelope[-3] ^= 1

    changed = faults(columns(RECORDS, MIDDLE, envelope=bytes(envelope)), MIDDLE)
    assert changed["The envelope does not have the recorded hash."].field == "leaf"


def test_a_changed_chain():
    report = found(columns(RECORDS, MIDDLE, chain=bytes(32)))

    says = "The hash chain does not follow from the event before."
    assert [(f.position, f.what) for f in report.faults] == [(MIDDLE, says), (MIDDLE + 1, says)]


def test_a_missing_row():
    at = find(RECORDS, "hand_settled")
    missing = faults([*RECORDS[: at - 1], *RECORDS[at:]], at + 1)

    assert f"After position {at - 1} comes {at + 1}." in missing
    assert "The hash chain does not follow from the event before." in missing
    version = RECORDS[at - 1].version
    assert f"After version {version - 1} of table-a2g comes {version + 1}." in missing


def test_a_row_that_is_missing_without_a_trace_in_the_numbers():
    at = find(RECORDS, "hand_settled")
    missing = faults(renumbered([*RECORDS[: at - 1], *RECORDS[at:]]), at + 1)

    assert any("was recorded where the rules give hand settled" in what for what in missing)


def test_the_last_event_of_a_command_is_missing():
    at = find(RECORDS, "seed_revealed")
    missing = faults(renumbered([*RECORDS[: at - 1], *RECORDS[at:]]))

    assert any(fault.round == "a2g.1" for fault in missing.values())


def test_a_row_cut_from_the_start():
    cut = faults(rehashed(RECORDS[1:]))

    assert "After position 0 comes 2." in cut
    refused = cut["Sit was accepted, which the rules refuse: A table is opened first, and once."]
    assert (refused.position, refused.field) == (3, "command")


def test_swapped_rows():
    one, two = RECORDS[MIDDLE - 1 : MIDDLE + 1]
    swapped = [
        *RECORDS[: MIDDLE - 1],
        replace(two, position=one.position),
        replace(one, position=two.position),
        *RECORDS[MIDDLE + 1 :],
    ]

    for position in (MIDDLE, MIDDLE + 1, MIDDLE + 2):
        here = faults(swapped, position)
        assert "The hash chain does not follow from the event before." in here


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("stream", "table-b"),
        ("type", "blackjack.table_closed"),
        ("schema_version", 7),
        ("command_id", "another"),
    ],
)
@pytest.mark.parametrize("at", [1, MIDDLE, of_type("ledger.chips_granted")])
def test_a_row_that_says_another_thing_than_its_envelope(field, value, at):
    here = faults(columns(RECORDS, at, **{field: value}), at)

    says = getattr(RECORDS[at - 1], field)
    told = f"The row has the {field} {value!r}, its envelope says {says!r}."
    assert told in here or field == "command_id"
    assert here


def test_a_run_with_another_goal_or_another_end_than_the_rules_give():
    start, end = find(RECORDS, "run_started"), find(RECORDS, "run_ended")
    won, goal = data(RECORDS, end, outcome="won"), data(RECORDS, start, goal=101)
    stake = facts(RECORDS, start, command=c.StartRun(1, "ada", 101))

    assert 'outcome is "won"; by the rules it is "left".' in faults(won, end)
    assert "goal is 101; by the rules it is 400." in faults(goal, start)
    assert any("refuse: Bring 40 to 100" in what for what in faults(stake, start))


def test_what_a_computer_player_brings_is_granted_to_it_and_no_more():
    log = Log()
    log.open("oak", c.Open("a2g"))
    log.play("oak", c.SeatComputer(1, "hard", 200, 5))
    log.play("oak", c.BuyIn(1, 50))
    log.play_round("oak", 20)
    assert found(log.records).holds

    grants = [r.position for r in log.records if r.type == "ledger.chips_granted"]
    more = faults(data(log.records, grants[1], amount=60), grants[1])
    assert any("amount is 60; by the rules it is 50." in what for what in more)
    level = the_only(data(log.records, find(log.records, "computer_seated"), level="easy"))
    assert level.what == 'level is "easy"; by the rules it is "hard".'


def test_a_run_that_is_left_and_never_ends():
    end = find(RECORDS, "run_ended")
    found = faults(renumbered([record for record in RECORDS if record.position != end]))

    assert any("rules give run ended" in what or "run ended is" in what for what in found)


def test_a_run_that_goes_on_though_it_is_lost():
    """A run of 100 chips, in a game whose least bet needs 120."""
    at = next(r.position for r in RECORDS if b'"name":"classic"' in r.envelope)
    rules = json.decode(RECORDS[at - 1].envelope)["data"]["ruleset"]
    rules["bet"] |= {"min": 60}
    found = faults(data(RECORDS, at, ruleset=rules))

    assert any("Bet was accepted, which the rules refuse" in what for what in found)


def test_an_event_that_cannot_be_read_is_a_fault_and_not_the_end():
    at = find(RECORDS, "player_sat")
    fault = the_only(facts(RECORDS, at, schemaversion=9))

    assert (fault.position, fault.field) == (at, "envelope")
    assert "cannot be read" in fault.what


@pytest.mark.parametrize("ends", ["player_sat", "round_opened", "round_opened hand_doubled"])
def test_what_is_no_event_is_told_where_it_is_though_it_waits_for_a_seed(ends: str):
    """It waits for ever where the log ends in mid-round."""
    at, until = (find(RECORDS, each) for each in f"{ends} player_left".split()[:2])
    told = faults(rehashed(columns(RECORDS[: until - 1], at, envelope=b"{")), at)
    assert any(what.startswith("The event cannot be read: ") for what in told)


# Chips.


def test_unbalanced_postings():
    at = find(RECORDS, "bet_placed")
    unbalanced = faults(facts(RECORDS, at, postings=[["table/a2g/player/ada/stack", -21]]), at)

    assert "The postings of the command sum to -21, not to 0." in unbalanced
    posted = (
        "The postings are table/a2g/player/ada/stack -21; they should be "
        "table/a2g/player/ada/stack -20, table/a2g/in_play +20."
    )
    assert (unbalanced[posted].kind, unbalanced[posted].field) == ("chips", "postings")


def test_chips_that_go_to_the_wrong_vault():
    at = of_type("ledger.chips_brought_from_table")
    amount = json.decode(RECORDS[at - 1].envelope)["data"]["amount"]
    eve = {"postings": [["player/eve/vault", amount]]}
    wrong = faults(facts(data(RECORDS, at, player="eve"), at, **eve), at)

    assert wrong['player is "eve"; by the rules it is "ada".'].field == "data.player"


def test_a_grant_that_gives_another_amount_than_it_says():
    at = of_type("ledger.chips_granted")
    fault = the_only(data(RECORDS, at, amount=1))

    assert (fault.position, fault.field, fault.stream) == (at, "data.amount", "vault-ada")


def test_a_grant_with_its_postings_in_step_that_nobody_commanded():
    at = of_type("ledger.chips_granted")
    more = [["issuance", -2001], ["player/ada/vault", 2001]]
    given = faults(facts(data(RECORDS, at, amount=2001), at, postings=more), at)

    assert {fault.field for fault in given.values()} == {"data.amount", "postings"}


def test_chips_in_play_after_the_round():
    at, end = find(RECORDS, "hand_settled"), find(RECORDS, "seed_revealed")
    stake = json.decode(RECORDS[at - 1].envelope)["data"]["stake"]
    kept = faults(facts(RECORDS, at, postings=[]), end)

    assert f"table/a2g/in_play holds {stake}, but 0 chips are at risk." in kept


# Play.


def test_a_payout_in_postings_and_event_that_the_cards_do_not_give():
    at = find(RECORDS, "hand_settled")
    lines = [["table/a2g/player/ada/stack", 99], ["table/a2g/in_play", -20]]
    paid = facts(RECORDS, at, postings=[*lines, ["table/a2g/bank", -79]])
    worst = found(data(paid, at, payout=99)).faults[0]

    assert worst.what.startswith("The first hand of seat 1 was paid 99 instead of ")
    assert (worst.kind, worst.position, worst.round) == ("payout", at, "a2g.1")
    assert (worst.field, worst.rule[:14]) == ("data.payout", "A win pays 1:1")


def test_a_wrong_card():
    at = find(RECORDS, "hands_dealt")
    worst = found(data(RECORDS, at, upcard="zz")).faults[0]

    assert worst.what.startswith('upcard was dealt as "zz"; the seed gives ')
    assert (worst.kind, worst.position, worst.round) == ("card", at, "a2g.1")


def test_a_changed_seed():
    at = find(RECORDS, "seed_revealed")
    fault = the_only(data(RECORDS, at, seed="00" * 32))

    assert (fault.kind, fault.position, fault.field) == ("seed", at, "data.seed")
    assert (fault.stream, fault.round) == ("table-a2g", "a2g.1")


def test_a_seed_swapped_with_its_commitment_gives_other_cards():
    sealed = told(1)["data"]["next"] | {"commitment": commitment(bytes(32))}
    at, opened = find(RECORDS, "seed_revealed"), find(RECORDS, "round_opened")
    swapped = data(data(RECORDS, at, seed="00" * 32), 1, next=sealed)
    worst = found(data(swapped, opened, commitment=sealed["commitment"])).faults[0]

    assert (worst.kind, worst.round) == ("card", "a2g.1")
    assert worst.position == find(RECORDS, "hands_dealt")


def test_a_round_that_was_dealt_again():
    opened, end = find(RECORDS, "round_opened"), find(RECORDS, "seed_revealed")
    again = faults(renumbered([*RECORDS[: opened + 1], *RECORDS[opened - 1 : end]]), opened + 2)
    assert "The command does not cause this event, round opened." in again

    skipped = faults(data(RECORDS, opened, number=3), opened)
    assert "number is 3; by the rules it is 1." in skipped


def test_a_move_out_of_turn():
    at = next(r.position for r in RECORDS if b'"command":{"hand":0,"seat":1' in r.envelope)
    move = told(at)["command"] | {"seat": 2}
    worst = found(facts(RECORDS, at, command=move)).faults[0]

    assert worst.what.startswith("DoubleDown was accepted, which the rules refuse:")
    assert (worst.kind, worst.position, worst.round) == ("play", at, "a2g.1")
    assert worst.rule == "It is another hand's turn."


def test_a_time_out_before_its_time():
    log = Log()
    log.open("t", c.Open("a2g"))
    for seat, player in enumerate(("ada", "bob"), 1):
        log.grant(player, 100)
        log.play("t", c.Sit(seat, player, 100))
    log.play("t", c.Bet(1, 20))
    turn = log.waits("t")
    log.play("t", c.TimeOut(turn))

    rushed = [fault for fault in found(log.records).faults if fault.kind == "time-out"]
    assert [fault.field for fault in rushed] == ["actor"]
    hurried = next(r.position for r in log.records if b'"type":"time_out"' in r.envelope)
    by_clock = log.records
    for record in log.records[hurried - 1 :]:
        by_clock = facts(by_clock, record.position, actor="clock")
    early = found(by_clock).faults[0]
    assert early.what == f"Time was out 25000 ms before the turn {turn} ended."
    assert (early.kind, early.position, early.field) == ("time-out", hurried, "time")


def test_a_ruleset_with_another_hash():
    fault = the_only(data(RECORDS, 1, ruleset_sha256="00" * 32))

    assert (fault.position, fault.field) == (1, "data.ruleset_sha256")


def test_a_report_names_so_many_faults_and_counts_the_rest(monkeypatch):
    monkeypatch.setattr("services.audit.domain.faults.MOST_FAULTS", 100)
    report = verify(replace(record, leaf=b"") for record in RECORDS)

    assert MOST_FAULTS > len(report.faults) == 100
    assert report.fault_count == 2 * len(RECORDS)
