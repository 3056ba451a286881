"""A log as it would be recorded, made in memory and easy to tamper with."""

from collections import Counter
from datetime import UTC, datetime
from random import Random
from typing import Any

from msgspec import json
from msgspec.structs import replace

from services.audit.domain.lines import CODEC
from services.blackjack.domain import commands as c
from services.blackjack.domain.clock import waits_for
from services.blackjack.domain.computers import is_computer
from services.blackjack.domain.decide import decide, open_table
from services.blackjack.domain.events import Event, RulesetRegistered, SeedRevealed
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.moves import legal_moves
from services.blackjack.domain.register import Proposal, Versions, register
from services.blackjack.domain.rules import Ruleset, fingerprint
from services.blackjack.domain.settlement import postings, to_vault
from services.blackjack.domain.table import Round, Table
from services.ledger.application import Leg, moved
from services.ledger.domain.vault import grant
from shared.eventstore.chain import GENESIS, leaf_of, link
from shared.eventstore.envelope import canonical
from shared.eventstore.store import Recorded
from shared.kernel.moments import milliseconds
from tests.domain.chance import ChanceSeed

NOON = datetime(2025, 1, 31, 12, tzinfo=UTC)
PLAY = {
    move.__struct_config__.tag: move
    for move in (c.Hit, c.Stand, c.DoubleDown, c.Split, c.Surrender, c.Insure, c.DeclineInsurance)
}


class Log:
    """Records commands one after the other, with cards and choices from one seed."""

    def __init__(self, seed: int = 0) -> None:
        self.records: list[Recorded] = []
        self.tables: dict[str, Table] = {}
        self.rulesets: dict[str, Versions] = {}
        self._chance = Random(seed)
        self._seeds: dict[str, ChanceSeed] = {}
        self._versions: Counter[str] = Counter()
        self._position, self._chain = 0, GENESIS
        self.commands = 0
        self.now, self.actor = NOON, "key/test/0"
        self.traceparent: str | None = None

    def grant(self, player: str, amount: int) -> None:
        self._record([grant(player, amount)], {"type": "grant", "amount": amount})

    def register(self, proposal: Proposal) -> None:
        stream = f"ruleset-{proposal.name}"
        event = register(self.rulesets.get(proposal.name, ()), proposal)
        assert event is not None
        self.rulesets[proposal.name] = (*self.rulesets.get(proposal.name, ()), event.ruleset)
        self._record([(stream, event, ())], proposal)

    def forge(self, proposal: Proposal) -> None:
        """Records a registration that nobody has checked."""
        ruleset = proposal.ruleset()
        event = RulesetRegistered(ruleset, fingerprint(ruleset))
        self._record([(f"ruleset-{proposal.name}", event, ())], proposal)

    def open(self, table_id: str, command: c.Open, own: Ruleset | None = None) -> None:
        seed = self._seeds[table_id] = ChanceSeed(self._chance.randbytes(32))
        event = open_table(table_id, command, seed.sealed, own)
        self.tables[table_id] = evolve(None, event, milliseconds(self.now))
        self._record([(f"table-{table_id}", event, ())], command)

    def waits(self, table_id: str) -> str:
        """The turn that the table waits for."""
        wait = waits_for(self.tables[table_id])
        assert wait is not None
        return wait.turn

    def play(self, table_id: str, command: c.AnyCommand) -> tuple[Event, ...]:
        table = self.tables[table_id]
        decision = decide(table, command, self._seeds[table_id], milliseconds(self.now))
        legs: list[Leg] = []
        for event in decision.events:
            legs.append((f"table-{table_id}", event, postings(table, event)))
            if movement := to_vault(table, event):
                player, chips = movement
                legs += moved(player, table_id, chips, granted=is_computer(player))
            table = evolve(table, event, milliseconds(self.now))
            if isinstance(event, SeedRevealed):
                self._seeds[table_id] = self._seeds[table_id].next()
        self.tables[table_id] = table
        self._record(legs, command)
        return decision.events

    def arrive(self, table_id: str, seat: int, player: str, chips: int) -> None:
        """Sit down with so many chips, or with the most that a run may begin with."""
        if runs := self.tables[table_id].rules.run:
            self.play(table_id, c.StartRun(seat, player, min(chips, runs.max_stake)))
        else:
            self.play(table_id, c.Sit(seat, player, chips))

    def play_round(self, table_id: str, *bets: int) -> list[Event]:
        """Each seat bets, with a client seed; then legal moves at random until it is over."""
        events: list[Event] = []
        for seat, amount in enumerate(bets, 1):
            events += self.play(table_id, c.Bet(seat, amount, client_seed=f"luck-{seat}"))
        if (table := self.tables[table_id]).rules.deals == "host" and table.host:
            events += self.play(table_id, c.Deal(table.host))
        while isinstance(self.tables[table_id].stage, Round):
            moves = [move for move in legal_moves(self.tables[table_id]) if move.type in PLAY]
            move = self._chance.choice(moves)
            hand = () if move.hand is None else (move.hand,)
            events += self.play(table_id, PLAY[move.type](move.seat, *hand))
        return events

    def _record(self, legs: list[Leg], command: object) -> None:
        self.commands += 1
        command_id = f"command-{self.commands}"
        sealed = CODEC.seal(
            legs,
            house="local",
            command_id=command_id,
            command=json.encode(command),
            actor=self.actor,
            time=self.now,
            traceparent=self.traceparent,
        )
        for new in sealed:
            leaf = leaf_of(new.envelope)
            self._position, self._chain = self._position + 1, link(self._chain, leaf)
            self._versions[new.stream] += 1
            self.records.append(
                Recorded(
                    position=self._position,
                    stream=new.stream,
                    version=self._versions[new.stream],
                    type=new.type,
                    schema_version=new.schema_version,
                    command_id=command_id,
                    envelope=new.envelope,
                    leaf=leaf,
                    chain=self._chain,
                )
            )


def a_log(games: tuple[str, ...] = ("a2g", "coinlounge", "classic", "european")) -> Log:
    """Two rounds of each game, by two players where there is room, who then leave."""
    log = Log()
    for game in games:
        log.open(game, c.Open(game))
        players = ("ada",) if game == "classic" else ("ada", "bob")
        for seat, player in enumerate(players, 1):
            log.grant(player, 2000)
            log.arrive(game, seat, player, 1000)
        for _ in range(2):
            log.play_round(game, *([20] * len(players)))
        for seat in range(1, len(players) + 1):
            log.play(game, c.Leave(seat))
    return log


def find(records: list[Recorded], type: str) -> int:
    """The position of the first event of a type."""
    return next(record.position for record in records if record.type == f"blackjack.{type}")


def columns(records: list[Recorded], position: int, **changed: Any) -> list[Recorded]:
    """The log with other columns at a position, and nothing made to fit."""
    at = position - 1
    return [*records[:at], replace(records[at], **changed), *records[position:]]


def facts(records: list[Recorded], position: int, **changed: Any) -> list[Recorded]:
    """The log with other facts in the envelope at a position, and all hashes made to fit."""
    envelope = json.decode(records[position - 1].envelope) | changed
    return rehashed(columns(records, position, envelope=canonical(envelope)))


def data(records: list[Recorded], position: int, **changed: Any) -> list[Recorded]:
    """The log with other data in the event at a position, and all hashes made to fit."""
    told = json.decode(records[position - 1].envelope)["data"]
    return facts(records, position, data=told | changed)


def rehashed(records: list[Recorded]) -> list[Recorded]:
    """The log with hashes that fit its envelopes, as a thorough insider would leave it."""
    chain, fitting = GENESIS, list[Recorded]()
    for record in records:
        leaf = leaf_of(record.envelope)
        chain = link(chain, leaf)
        fitting.append(replace(record, leaf=leaf, chain=chain))
    return fitting


def renumbered(records: list[Recorded]) -> list[Recorded]:
    """The log with positions and versions without a gap, and hashes that fit."""
    versions: Counter[str] = Counter()
    numbered = list[Recorded]()
    for position, record in enumerate(records, 1):
        versions[record.stream] += 1
        numbered.append(replace(record, position=position, version=versions[record.stream]))
    return rehashed(numbered)
