"""The small log changed in every way that a level has to find, and in each as well as can be done.

Who changes it is thorough: hashes, counts and manifest fit, but where the fault is that they don't.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, json
from msgspec.structs import replace

from shared.eventstore.envelope import canonical
from shared.eventstore.store import Recorded
from tests.audit.exported import take
from tests.audit.log import columns, data, facts, rehashed, renumbered
from tests.format.logs import the_small_log

Records = list[Recorded]


class Variant(Struct, frozen=True):
    """A tampered log: at which level and position it shows, and who would have done it."""

    name: str
    what: str
    level: int
    position: int
    records: Records
    sealed: bool = False
    spoil: Callable[[Path], None] = lambda directory: None
    """Does something to the files at last."""

    def write(self, directory: Path) -> None:
        """As an export."""
        take(self.records, directory)
        self.spoil(directory)

    @property
    def told(self) -> Any:
        """As the index of the variants has it."""
        told = {"what": self.what, "level": self.level, "position": self.position}
        return told | {"sealed": self.sealed}


def variants() -> list[Variant]:
    """All of them, by level."""
    log = the_small_log()
    return [*_hashes(log), *_orders(log), *_seals(log), *_cards(log), *_chips(log)]


def place(log: Records, type: str, nth: int = 0, **said: Any) -> int:
    """The position of an event of a type whose data has these members."""
    found = [
        record.position
        for record in log
        if record.type.partition(".")[2] == type
        and said.items() <= json.decode(record.envelope)["data"].items()
    ]
    return found[nth]


def _hashes(log: Records) -> Iterator[Variant]:
    at = place(log, "hand_settled", outcome="win")
    record = log[at - 1]
    more = record.envelope.replace(b'"payout":', b'"payout":1', 1)
    changed = columns(log, at, envelope=more)
    yield Variant("byte", "An envelope was changed, and nothing made to fit.", 1, at, changed)
    leaf = rehashed(changed)[at - 1].leaf
    alone = columns(log, at, envelope=more, leaf=leaf)
    yield Variant("leaf", "An envelope was changed, and its leaf made to fit.", 1, at, alone)
    spaced = rehashed(columns(log, at, envelope=record.envelope.replace(b":", b": ", 1)))
    yield Variant("space", "An envelope is not in canonical form.", 1, at, spaced)
    end = place(log, "seed_revealed")
    head = len(log)
    what = "The export ends before the log did, and says that it is whole."
    yield Variant("short", what, 1, end, log[:end], spoil=lambda d: _manifest(d, head=head))
    what = "The manifest has another hash for the file."
    yield Variant("file", what, 1, 1, log, spoil=_digest)


def _orders(log: Records) -> Iterator[Variant]:
    at = place(log, "card_dealt")
    dropped = [*log[: at - 1], *log[at:]]
    yield Variant("dropped", "An event was left out.", 1, at + 1, dropped)
    swapped = [*log[: at - 1], log[at], log[at - 1], *log[at + 1 :]]
    yield Variant("swapped", "Two events changed places.", 1, at + 1, swapped)
    later = columns(log, at, version=log[at - 1].version + 1)
    yield Variant("version", "A place in the stream was passed over.", 1, at, later)
    inside = place(log, "hands_dealt")
    gone = renumbered([*log[: inside - 1], *log[inside:]])
    what = "An event of a command was left out, and places and hashes made to fit."
    yield Variant("event", what, 1, inside, gone)
    envelope = json.decode(log[0].envelope)
    del envelope["command"]
    silent = rehashed(columns(log, 1, envelope=canonical(envelope)))
    yield Variant("silent", "Nobody knows which command caused an event.", 1, 1, silent)
    end = len(log) + 1
    again = renumbered([*log, replace(log[0], position=end)])
    yield Variant("again", "A grant was recorded twice, by one command.", 1, end, again)


def _seals(log: Records) -> Iterator[Variant]:
    end = place(log, "seed_revealed")
    what = "The end was cut off, and the manifest made to fit."
    yield Variant("cut", what, 2, end + 1, log[:end], sealed=True)
    anew = [replace(r, envelope=r.envelope.replace(b"key/test/0", b"key/test/1")) for r in log]
    what = "All of it was written anew, with another sender."
    yield Variant("anew", what, 2, len(log), rehashed(anew), sealed=True)


def _cards(log: Records) -> Iterator[Variant]:
    at = place(log, "card_dealt")
    card = json.decode(log[at - 1].envelope)["data"]["card"]
    other = "Ah" if card != "Ah" else "Ac"
    yield Variant("card", "Another card was dealt.", 3, at, data(log, at, card=other))
    at = place(log, "hole_card_revealed")
    yield Variant("hole", "Another card was turned over.", 3, at, data(log, at, card="2c"))
    at = place(log, "dealer_peeked")
    yield Variant(
        "peek", "The dealer said that it has a natural.", 3, at, data(log, at, natural=True)
    )
    at = place(log, "seed_revealed")
    what = "Another seed was revealed than was committed to."
    yield Variant("seed", what, 3, at, data(log, at, seed="00" * 32))
    what = "Fewer cards are said to have left the shoe."
    drawn = json.decode(log[at - 1].envelope)["data"]["drawn"]
    yield Variant("drawn", what, 3, at, data(log, at, drawn=drawn - 1))
    at = place(log, "round_opened")
    what = "A player's share in the order of the shoe was left out."
    yield Variant("share", what, 3, at, data(log, at, client_seeds=["luck-1"]))
    what = "The round was opened with another seed than the players bet on."
    yield Variant("bet", what, 3, at, data(log, at, commitment="11" * 32))


def _chips(log: Records) -> Iterator[Variant]:
    at = place(log, "hand_settled", outcome="win")
    paid = json.decode(log[at - 1].envelope)["data"]["payout"]
    more = _settled(log, at, payout=paid + 4)
    yield Variant("payout", "A win paid more, and the postings fit.", 4, at, more)
    at = place(log, "insurance_settled")
    stake = json.decode(log[at - 1].envelope)["data"]["stake"]
    insured = _settled(log, at, payout=3 * stake)
    yield Variant("insurance", "Insurance paid without a natural.", 4, at, insured)
    yield from _stakes(log)
    yield from _moved(log)


def _stakes(log: Records) -> Iterator[Variant]:
    """The sums of the round are right in all of these."""
    ada, bob = place(log, "hand_settled", seat=1), place(log, "hand_settled", seat=2)
    shifted = _settled(_settled(log, ada, stake=22), bob, stake=8, payout=8)
    what = "Two chips of a stake that came back were counted to one that was lost."
    yield Variant("stake", what, 4, ada, shifted)
    theirs = _settled(log, bob, seat=1, hand=1)
    what = "What came back to one player went to another, for a hand that never was."
    yield Variant("hand", what, 4, bob, theirs)
    at = place(log, "insurance_settled")
    insured = _settled(_settled(log, ada, stake=22), at, stake=3)
    what = "Two chips of an insurance were counted to a hand that was lost."
    yield Variant("insured", what, 4, at, insured)


def _settled(log: Records, at: int, **changed: int) -> Records:
    """Another settlement, with its postings in step."""
    told = json.decode(log[at - 1].envelope)["data"] | changed
    stake, payout = told["stake"], told["payout"]
    player = f"table/oak/player/{('ada', 'bob')[told['seat'] - 1]}/stack"
    lines = [[player, payout], ["table/oak/in_play", -stake], ["table/oak/bank", stake - payout]]
    return facts(log, at, data=told, postings=[line for line in lines if line[1]])


def _moved(log: Records) -> Iterator[Variant]:
    at = place(log, "chips_granted")
    lines = [["issuance", -1000], ["player/ada/vault", 1100]]
    what = "Chips came from nowhere."
    yield Variant("nowhere", what, 4, at, facts(log, at, postings=lines))
    command = {"amount": 100, "type": "grant"}
    lines = [["issuance", -100], ["player/ada/vault", 100]]
    less = facts(log, at, command=command, data={"amount": 100, "player": "ada"}, postings=lines)
    taken = place(log, "chips_taken_to_table", player="ada")
    yield Variant("floor", "A vault gave more than it had.", 4, taken, less)
    at = place(log, "bet_placed", seat=1)
    lines = [["table/oak/player/bob/stack", -20], ["table/oak/in_play", 20]]
    what = "A bet was paid from somebody else's stack."
    yield Variant("stack", what, 4, at, facts(log, at, postings=lines))
    at = place(log, "chips_brought_from_table", player="ada")
    brought = json.decode(log[at - 1].envelope)
    amount = brought["data"]["amount"]
    theirs = facts(
        *(log, at),
        subject="vault-bob",
        data=brought["data"] | {"player": "bob"},
        postings=[["player/bob/vault", amount]],
    )
    theirs = renumbered(columns(theirs, at, stream="vault-bob"))
    what = "A player's chips went to somebody else's vault."
    yield Variant("vault", what, 4, at, theirs)
    at = place(log, "player_left", player="ada")
    left = json.decode(log[at - 1].envelope)["data"] | {"cash_out": amount - 10}
    kept = facts(log, at, data=left, postings=[["table/oak/player/ada/stack", 10 - amount]])
    rest = {"data": brought["data"] | {"amount": amount - 10}}
    kept = facts(kept, at + 1, **rest, postings=[["player/ada/vault", amount - 10]])
    yield Variant("kept", "A player left without all of the stack.", 4, at, kept)


def _manifest(directory: Path, **changed: Any) -> None:
    file = directory / "manifest.json"
    told = json.decode(file.read_bytes()) | changed
    file.write_bytes(json.format(json.encode(told), indent=1) + b"\n")


def _digest(directory: Path) -> None:
    file = directory / "manifest.json"
    told = file.read_bytes()
    was = json.decode(told)["parts"][0]["files"][0]["sha256"].encode()
    file.write_bytes(told.replace(was, b"0" * 64))
