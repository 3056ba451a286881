"""A naive second opinion on every command: a ledger and a referee of its own, and a fold of what
was stored."""

from collections import Counter
from collections.abc import Iterable

from msgspec import json

from services.blackjack.domain.events import Event, HandSettled
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.settlement import postings, to_vault
from services.blackjack.domain.table import Betting, Seat, Table
from shared.kernel.chips import ISSUANCE, Posting, floor, half, in_play, stack, vault
from tests.domain import referee

GRANT = 10**13


class Books:
    """Chips by account, entered event by event. Every player begins with a grant in the vault."""

    def __init__(self, *players: str) -> None:
        self.balance: Counter[str] = Counter({vault(player): GRANT for player in players})
        self.balance[ISSUANCE] = -GRANT * len(players)

    def enter(
        self, table: Table, events: Iterable[Event], at: int = 0
    ) -> tuple[Table, list[Posting]]:
        """The table after one command's events, folded from their JSON, and their postings.

        `at` is when they happened, in milliseconds since the epoch.
        """
        lines: list[Posting] = []
        for event in events:
            referee.watch(table, event)
            entry = entries(table, event)
            for line in entry:
                self.balance[line.account] += line.amount
            assert sum(line.amount for line in entry) == 0, f"{event} is not balanced: {entry}"
            self._assert_floors(event)
            if isinstance(event, HandSettled):
                _assert_whole_bets(table.seat(event.seat).bet, event)
            lines += entry
            table = evolve(table, stored(event), at)
        self._assert_agreement(table)
        return table, lines

    def _assert_floors(self, event: Event) -> None:
        for account, balance in self.balance.items():
            least = floor(account)
            assert least is None or balance >= least, f"{event} leaves {balance} in {account}"

    def _assert_agreement(self, table: Table) -> None:
        """The ledger and the table tell the same: every stack, and every chip at risk."""
        assert sum(self.balance.values()) == 0
        for _, seat in table.seated():
            assert self.balance[stack(table.id, seat.player)] == seat.stack >= 0
        at_risk = sum(chips_at_risk(table, seat) for _, seat in table.seated())
        assert self.balance[in_play(table.id)] == at_risk


def entries(table: Table, event: Event) -> list[Posting]:
    """All ledger lines of an event at a table, the vault's leg with them."""
    lines = list(postings(table, event))
    if (leg := to_vault(table, event)) is not None:
        player, chips = leg
        if player.startswith("computer-") and chips < 0:
            lines += [Posting(ISSUANCE, chips), Posting(vault(player), -chips)]
        lines.append(Posting(vault(player), chips))
    return lines


def chips_at_risk(table: Table, seat: Seat) -> int:
    """The bet before the deal; after it the stakes not yet settled."""
    if isinstance(table.stage, Betting):
        return seat.bet
    return seat.insurance + sum(hand.stake for hand in seat.hands if hand.status != "settled")


def _assert_whole_bets(bet: int, settled: HandSettled) -> None:
    """A hand wins or loses one of −2, −1, −½, 0, 1, 1½, 2 bets, in whole chips."""
    nets = (-2 * bet, -bet, half(bet) - bet, 0, bet, half(3 * bet), 2 * bet)
    assert settled.payout - settled.stake in nets, f"{settled} with a bet of {bet}"


def stored(event: Event) -> Event:
    """The event as it comes back from the log."""
    restored: Event = json.decode(json.encode(event), type=type(event))
    assert restored == event
    return restored
