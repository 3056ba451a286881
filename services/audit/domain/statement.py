"""What each event does to the chips of a player and of a table's bank: the lines of statements."""

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from services.audit.domain.words import ORDINALS, chips
from services.blackjack.domain import events as e
from services.blackjack.domain.settlement import postings
from services.blackjack.domain.table import Table
from services.ledger.domain import events as ledger
from shared.kernel.chips import bank, in_play, stack

Kind: TypeAlias = Literal[
    "grant", "to_table", "from_table",
    "sit", "buy_in", "cash_out", "leave", "run_start", "run_end",
    "bet", "bet_withdrawn", "double_down", "split", "insurance",
    "hand", "insurance_settled", "item",
]  # fmt: skip
"""What happened: at a vault, on the way to a stack or back, to a stake, and what a stake or an item
came to."""


class Movement(Struct, frozen=True, gc=False):
    """Chips of a player that an event moved, by the lines of its ledger entry.

    `amount` is what it added to the vault, at `grant`, `to_table` and `from_table`, or otherwise to
    the stack at the `table`; `at_risk` to the player's stakes, `bank` to the bank of the table.
    `round` is 0 outside of rounds, `hand` -1 where the seat has one. `detail` is the outcome of a
    hand or a run, the name of an item, or where the chips came from.
    """

    player: str
    kind: Kind
    amount: int
    table: str = ""
    round: int = 0
    hand: int = -1
    detail: str = ""
    at_risk: int = 0
    bank: int = 0

    @property
    def in_vault(self) -> bool:
        """Whether the amount is one of the vault."""
        return self.kind in ("grant", "to_table", "from_table")


def at_a_vault(event: object) -> Movement | None:
    """What an event outside of tables moved."""
    match event:
        case ledger.ChipsGranted(player, amount):
            return Movement(player, "grant", amount)
        case ledger.ChipsTakenToTable(player, table, amount):
            return Movement(player, "to_table", -amount, table)
        case ledger.ChipsBroughtFromTable(player, table, amount):
            return Movement(player, "from_table", amount, table)
    return None


def at_a_table(event: e.Event, table: Table) -> Movement | None:
    """What an event moved, given the table after it; nothing of most."""
    described = _DESCRIBED.get(type(event))
    if described is None or not (lines := postings(table, event)):
        return None
    kind, detail = described
    player = _player(event, table)
    moved = {line.account: line.amount for line in lines}
    return Movement(
        player,
        kind,
        moved.get(stack(table.id, player), 0),
        table.id,
        _round(kind, table),
        _hand(event, table),
        detail(table, event),
        moved.get(in_play(table.id), 0),
        moved.get(bank(table.id), 0),
    )


def words(moved: Movement) -> str:
    """A movement as a sentence."""
    who, where = moved.player, f"table {moved.table}"
    amount = abs(moved.amount)
    match moved.kind:
        case "grant":
            return f"{who} is granted {chips(amount)}."
        case "to_table":
            return f"{chips(amount)} of {who} go from the vault to {where}."
        case "from_table":
            return f"{chips(amount)} of {who} come from {where} to the vault."
        case "sit" | "run_start":
            does = "takes a seat" if moved.kind == "sit" else "starts a run"
            return f"{who} {does} at {where} with {_brought(moved)}."
        case "buy_in":
            return f"{who} buys in at {where} with {_brought(moved)}."
        case "cash_out":
            return f"{who} cashes out {amount} at {where}."
        case "leave":
            return f"{who} leaves {where} with {chips(amount)}."
        case "run_end":
            ends = {"won": "wins", "lost": "loses"}.get(moved.detail, "ends")
            return f"{who} {ends} the run at {where}: {chips(amount)} go back."
        case "item":
            return f"{who} buys {moved.detail} for {chips(amount)} at {where}."
        case _:
            return _of_a_round(moved)


def _of_a_round(moved: Movement) -> str:
    who, there = moved.player, f"in round {moved.table}.{moved.round}"
    if moved.hand >= 0:
        who = f"{who}'s {ORDINALS[moved.hand]} hand"
    back, stake = moved.amount, abs(moved.at_risk)
    match moved.kind:
        case "bet":
            return f"{who} bets {stake} {there}."
        case "bet_withdrawn":
            return f"{who} takes the bet of {stake} {there} back."
        case "double_down":
            return f"{who} doubles down with {stake} more {there}."
        case "split":
            return f"{who} splits {there}, with {stake} on the new hand."
        case "insurance":
            return f"{who} takes insurance for {stake} {there}."
        case "insurance_settled":
            fate = (
                f"wins {back - stake} {there}: {back} come back"
                if back
                else f"loses {stake} {there}"
            )
            return f"{who}'s insurance {fate}."
        case _:
            return f"{who} {_fares(moved.detail, stake, back, there)}."


def _fares(outcome: str, stake: int, back: int, there: str) -> str:
    match outcome:
        case "natural":
            return f"wins {back - stake} with a natural {there}: {back} come back"
        case "win":
            return f"wins {back - stake} {there}: {back} come back"
        case "push":
            return f"pushes {there}: {back} come back"
        case "surrender":
            return f"surrenders {there}: {back} of {stake} come back"
        case "bust":
            return f"busts and loses {stake} {there}"
        case _:
            return f"loses {stake} {there}"


def _brought(moved: Movement) -> str:
    granted = moved.detail == "grant"
    return f"{moved.amount} granted chips" if granted else chips(moved.amount)


def _player(event: Any, table: Table) -> str:
    named: str | None = getattr(event, "player", None)
    return named or table.seat(event.seat).player


def _round(kind: Kind, table: Table) -> int:
    """The round that a stake belongs to: while bets are placed, the next one."""
    if kind in ("bet", "bet_withdrawn"):
        return table.rounds + 1
    return table.rounds if kind in _IN_A_ROUND else 0


def _hand(event: Any, table: Table) -> int:
    several = isinstance(event, e.HandSettled | e.HandDoubled | e.HandSplit)
    return event.hand if several and len(table.seat(event.seat).hands) > 1 else -1


def _source(table: Table, event: e.Event) -> str:
    return "grant" if table.rules.bankroll == "session" else "vault"


def _nothing(table: Table, event: e.Event) -> str:
    return ""


_IN_A_ROUND: Final = ("double_down", "split", "insurance", "hand", "insurance_settled")

_DESCRIBED: Final[dict[type[e.Event], tuple[Kind, Callable[[Table, Any], str]]]] = {
    e.PlayerSat: ("sit", _source),
    e.ChipsBoughtIn: ("buy_in", _source),
    e.ChipsCashedOut: ("cash_out", _source),
    e.PlayerLeft: ("leave", _source),
    e.RunStarted: ("run_start", lambda table, started: started.source),
    e.RunEnded: ("run_end", lambda table, ended: ended.outcome),
    e.BetPlaced: ("bet", _nothing),
    e.BetWithdrawn: ("bet_withdrawn", _nothing),
    e.HandDoubled: ("double_down", _nothing),
    e.HandSplit: ("split", _nothing),
    e.InsuranceBought: ("insurance", _nothing),
    e.HandSettled: ("hand", lambda table, settled: settled.outcome),
    e.InsuranceSettled: ("insurance_settled", _nothing),
    e.ItemBought: ("item", lambda table, bought: bought.item),
}
"""What is said of each event that moves chips at a table."""
