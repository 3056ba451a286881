"""A whole log, checked: it holds as it was recorded, and every way of tampering is found.

Who tampers here either changes a record as it stands, or is thorough and makes all hashes after
it fit again: then only what the events say gives it away.
"""

import pytest
from msgspec import Raw, json
from msgspec.structs import replace

from services.audit.application import FeedRecord, from_feed, from_store
from services.audit.domain.verify import MOST_FAULTS, verify
from services.blackjack.domain import commands as c
from shared.eventstore.store import Recorded
from tests.audit.log import Log, a_log, columns, data, facts, find, rehashed, renumbered

LOG = a_log()
RECORDS = LOG.records
MIDDLE = len(RECORDS) // 2


def faults(records: list[Recorded]) -> dict[int, list[str]]:
    """What was found, by position. A report that finds something does not hold."""
    report = verify(map(from_store, records))
    assert report.holds is not bool(report.faults)
    found: dict[int, list[str]] = {}
    for fault in report.faults:
        found.setdefault(fault.position, []).append(fault.what)
    return found


def test_a_log_holds_as_it_was_recorded():
    report = verify(LOG.lines())

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


def test_a_vault_that_gave_more_than_it_had():
    log = Log()
    log.open("t", c.Open("a2g"))
    log.grant("ada", 100)
    log.play("t", c.Sit(1, "ada", 101))

    last = len(log.records)
    assert faults(log.records) == {last: ["player/ada/vault fell to -1; its floor is 0."]}


def test_the_feed_says_the_same_as_the_store():
    def fed(record: Recorded) -> FeedRecord:
        loose = Raw(json.format(record.envelope, indent=2))
        leaf, chain = record.leaf.hex(), record.chain.hex()
        return FeedRecord(record.position, record.stream, record.version, leaf, chain, loose)

    assert [from_feed(fed(record)) for record in RECORDS] == LOG.lines()
    broken = replace(fed(RECORDS[0]), event=Raw(b'{"amount": 1.5}'))
    assert "1.5" in str(from_feed(broken).event)


def test_a_flipped_bit_in_a_payload():
    envelope = bytearray(RECORDS[MIDDLE - 1].envelope)
    envelope[-3] ^= 1

    found = faults(columns(RECORDS, MIDDLE, envelope=bytes(envelope)))
    assert "The envelope does not have the recorded hash." in found[MIDDLE]


def test_a_changed_chain():
    found = faults(columns(RECORDS, MIDDLE, chain=bytes(32)))

    says = ["The hash chain does not follow from the event before."]
    assert found == {MIDDLE: says, MIDDLE + 1: says}


def test_a_missing_row():
    at = find(RECORDS, "hand_settled")
    found = faults([*RECORDS[: at - 1], *RECORDS[at:]])

    assert f"After position {at - 1} comes {at + 1}." in found[at + 1]
    assert "The hash chain does not follow from the event before." in found[at + 1]
    version = RECORDS[at - 1].version
    assert f"After version {version - 1} of table-a2g comes {version + 1}." in found[at + 1]


def test_a_row_that_is_missing_without_a_trace_in_the_numbers():
    at = find(RECORDS, "hand_settled")
    found = faults(renumbered([*RECORDS[: at - 1], *RECORDS[at:]]))

    assert any("is missing, this is" in what for what in found[at])


def test_a_row_cut_from_the_start():
    found = faults(rehashed(RECORDS[1:]))

    assert "After position 0 comes 2." in found[2]
    assert "The event does not follow from those before it (" in found[3][-1]
    assert "table-a2g is not followed further." in found[3][-1]


def test_swapped_rows():
    one, two = RECORDS[MIDDLE - 1 : MIDDLE + 1]
    swapped = [
        *RECORDS[: MIDDLE - 1],
        replace(two, position=one.position),
        replace(one, position=two.position),
        *RECORDS[MIDDLE + 1 :],
    ]

    found = faults(swapped)
    for position in (MIDDLE, MIDDLE + 1, MIDDLE + 2):
        assert "The hash chain does not follow from the event before." in found[position]


def test_an_event_under_another_stream_or_name():
    moved = faults(columns(RECORDS, 1, stream="table-b"))
    assert "The event is filed under table-b, its envelope says table-a2g." in moved[1]

    renamed = faults(columns(RECORDS, 1, type="blackjack.table_closed"))
    assert "which is not what its envelope says" in renamed[1][0]


def test_unbalanced_postings():
    at = find(RECORDS, "bet_placed")
    found = faults(facts(RECORDS, at, postings=[["table/a2g/player/ada/stack", -21]]))

    said = " ".join(what for whats in found.values() for what in whats)
    assert "The sealed postings table/a2g/player/ada/stack -21 should be " in said
    assert "The postings of the command sum to -21, not to 0." in said


def test_balanced_postings_that_the_event_does_not_call_for():
    at = find(RECORDS, "bet_placed")
    postings = [["table/a2g/player/ada/stack", -20], ["player/bob/vault", 20]]
    found = faults(facts(RECORDS, at, postings=postings))

    assert [what for what in found[at] if "should be" in what]


def test_chips_that_go_to_the_wrong_vault():
    at = next(r.position for r in RECORDS if r.type == "ledger.chips_brought_from_table")
    amount = json.decode(RECORDS[at - 1].envelope)["data"]["amount"]
    eve = {"postings": [["player/eve/vault", amount]]}
    found = faults(facts(data(RECORDS, at, player="eve"), at, **eve))

    assert f"Between a2g and the vault of eve, {amount} chips went astray." in found[at]
    assert f"Between a2g and the vault of ada, {amount} chips went astray." in found[at]


def test_a_grant_that_gives_another_amount_than_it_says():
    at = next(r.position for r in RECORDS if r.type == "ledger.chips_granted")

    assert faults(data(RECORDS, at, amount=1)) == {
        at: ["The sealed postings are not those of the event."]
    }


def test_a_wrong_card():
    at = find(RECORDS, "hands_dealt")
    found = faults(data(RECORDS, at, upcard="zz"))

    assert any("zz" in what for whats in found.values() for what in whats)


def test_a_changed_seed():
    at = find(RECORDS, "seed_revealed")
    found = faults(data(RECORDS, at, seed="00" * 32))

    assert found.keys() == {at}
    assert found[at][0].startswith("Round a2g.1: The commitment is ")
    assert any("At place 0 of the shoe is" in what for what in found[at])


def test_chips_in_play_after_the_round():
    at = find(RECORDS, "hand_settled")
    end = find(RECORDS, "seed_revealed")
    stake = json.decode(RECORDS[at - 1].envelope)["data"]["stake"]
    kept = facts(RECORDS, at, postings=[])

    told = f"The round is over with {stake} chips in table/a2g/in_play."
    assert told in faults(kept)[end]


def test_a_payout_in_postings_and_event_that_the_cards_do_not_give():
    at, end = find(RECORDS, "hand_settled"), find(RECORDS, "seed_revealed")
    lines = [["table/a2g/player/ada/stack", 99], ["table/a2g/in_play", -20]]
    paid = facts(RECORDS, at, postings=[*lines, ["table/a2g/bank", -79]])
    found = faults(data(paid, at, payout=99))

    assert any("was paid 99 instead of" in what for what in found[end])


def test_a_round_that_was_dealt_again():
    opened, end = find(RECORDS, "round_opened"), find(RECORDS, "seed_revealed")
    found = faults(renumbered([*RECORDS[: opened + 1], *RECORDS[opened - 1 : end]]))
    assert "Round a2g.1 was never ended." in found[opened + 2]

    assert "Round 3 follows round 0." in faults(data(RECORDS, opened, number=3))[opened]


def test_a_ruleset_with_another_hash():
    found = faults(data(RECORDS, 1, ruleset_sha256="00" * 32))

    assert found[1] == [what for what in found[1] if what.startswith("The ruleset has the hash")]


def test_a_run_with_another_goal_or_another_end_than_the_rules_give():
    start, end = find(RECORDS, "run_started"), find(RECORDS, "run_ended")
    won, goal = data(RECORDS, end, outcome="won"), data(RECORDS, start, goal=101)
    stake = data(RECORDS, start, stake=101)

    assert "The run of ada was won with" in faults(won)[end][0]
    assert faults(goal)[start] == [
        "Run 1 of ada began with 100 to make 101, the rules say run 1 with 100 to make 400."
    ]
    assert "The run of ada should not have begun: Bring 40 to 100" in faults(stake)[start][-1]


def test_a_run_that_goes_on_though_it_is_lost():
    """A run of 100 chips, in a game whose least bet needs 120."""
    at = next(r.position for r in RECORDS if b'"name":"classic"' in r.envelope)
    rules = json.decode(RECORDS[at - 1].envelope)["data"]["ruleset"]
    rules["bet"] |= {"min": 60}
    found = faults(data(RECORDS, at, ruleset=rules))

    assert "The run of ada goes on, the rules say lost." in [
        w for all in found.values() for w in all
    ]


def test_an_event_that_cannot_be_read_is_a_fault_and_not_the_end():
    at = find(RECORDS, "player_sat")
    found = faults(facts(RECORDS, at, data={"seat": "one"}))

    assert found[at][0].startswith("The event cannot be read: ")
    assert found.keys() == {at}


def test_a_report_names_so_many_faults_and_counts_the_rest():
    report = verify(from_store(replace(record, leaf=b"")) for record in RECORDS)

    assert len(report.faults) == MOST_FAULTS
    assert report.fault_count == 2 * len(RECORDS)
