"""What happened at a table, or to a game.

Events are forever: a changed one gets a new version and an upcaster.

No event holds a secret. A seed travels sealed until `SeedRevealed`; the hole card has no value
until `HoleCardRevealed`.
"""

from typing import Final, Literal, TypeAlias

from msgspec import Struct

from services.blackjack.domain.cards import Card, Cards
from services.blackjack.domain.modifiers import Modifier
from services.blackjack.domain.rules import Level, Ruleset
from services.blackjack.domain.shoe import SealedSeed

Outcome: TypeAlias = Literal["natural", "win", "push", "loss", "bust", "surrender"]
Source: TypeAlias = Literal["vault", "grant"]
RunOutcome: TypeAlias = Literal["won", "lost", "left"]


class TableOpened(Struct, frozen=True, gc=False):
    """`next` is the seed of the first round: committed to before anybody can bet on it."""

    table: str
    ruleset: Ruleset
    ruleset_sha256: str
    host: str | None
    next: SealedSeed


class TableWasClosed(Struct, frozen=True, gc=False):
    pass


class HostMoved(Struct, frozen=True, gc=False):
    host: str | None


class PlayerSat(Struct, frozen=True, gc=False):
    seat: int
    player: str
    buy_in: int


class RunStarted(Struct, frozen=True, gc=False):
    """The player has the seat, and `stake` chips that have to become `goal`. `number` counts the
    runs of the table."""

    seat: int
    player: str
    number: int
    source: Source
    stake: int
    goal: int


class RunEnded(Struct, frozen=True, gc=False):
    """`bankroll` goes back to where the stake came from; the player keeps the seat."""

    seat: int
    outcome: RunOutcome
    bankroll: int


class ComputerSeated(Struct, frozen=True, gc=False):
    """The player who has just sat down is a computer of this level. It leaves after the round with
    the number `last_round`; `buy_in` is what it brings again when its stack allows no bet."""

    seat: int
    level: Level
    buy_in: int
    last_round: int


class ChipsBoughtIn(Struct, frozen=True, gc=False):
    seat: int
    amount: int


class ChipsCashedOut(Struct, frozen=True, gc=False):
    seat: int
    amount: int


class PlayerLeaving(Struct, frozen=True, gc=False):
    """The player goes as soon as the live hands are settled; they stand by themselves."""

    seat: int


class PlayerLeft(Struct, frozen=True, gc=False):
    seat: int
    player: str
    cash_out: int


class BetPlaced(Struct, frozen=True, gc=False):
    seat: int
    amount: int
    client_seed: str | None = None


class BetWithdrawn(Struct, frozen=True, gc=False):
    seat: int
    amount: int


class SeatSatOut(Struct, frozen=True, gc=False):
    seat: int


class RoundOpened(Struct, frozen=True, gc=False):
    """Bets are closed. The order of the shoe follows from the seed that was committed to before
    the first of them, and from the `client_seeds`, in seat order."""

    number: int
    shoe: str
    commitment: str
    client_seeds: tuple[str, ...]


class HandsDealt(Struct, frozen=True, gc=False):
    """Two cards to each betting seat, in seat order, and the upcard. The hole card lies face down.

    The order from the shoe: one card a seat, the upcard, a second card a seat, the hole card.
    """

    hands: tuple[tuple[int, Card, Card], ...]
    upcard: Card


class InsuranceOffered(Struct, frozen=True, gc=False):
    seats: tuple[int, ...]


class InsuranceBought(Struct, frozen=True, gc=False):
    seat: int
    stake: int


class InsuranceDeclined(Struct, frozen=True, gc=False):
    seat: int


class InsuranceSettled(Struct, frozen=True, gc=False):
    seat: int
    stake: int
    payout: int


class DealerPeeked(Struct, frozen=True, gc=False):
    natural: bool


class CardDealt(Struct, frozen=True, gc=False):
    seat: int
    hand: int
    card: Card


class HandStood(Struct, frozen=True, gc=False):
    seat: int
    hand: int


class HandDoubled(Struct, frozen=True, gc=False):
    """`stake` is what was added."""

    seat: int
    hand: int
    stake: int


class HandSplit(Struct, frozen=True, gc=False):
    """The second card moves to a new hand right after this one, with a `stake` of its own."""

    seat: int
    hand: int
    stake: int


class HandSettled(Struct, frozen=True, gc=False):
    """`stake` was at risk, `payout` is all that came back."""

    seat: int
    hand: int
    outcome: Outcome
    stake: int
    payout: int


class ModifierApplied(Struct, frozen=True, gc=False):
    """From now on hands are counted by it too. `seat` is whose item did it; none: the platform."""

    modifier: Modifier
    seat: int | None = None


class ItemBought(Struct, frozen=True, gc=False):
    seat: int
    item: str
    price: int


class ItemUsed(Struct, frozen=True, gc=False):
    """What it did is told by the event after this."""

    seat: int
    hand: int
    item: str


class CardRedrawn(Struct, frozen=True, gc=False):
    """`card` takes the place of the last card of the hand."""

    seat: int
    hand: int
    card: Card


class HandShielded(Struct, frozen=True, gc=False):
    """A bust of this hand will be a push."""

    seat: int
    hand: int


class HoleCardRevealed(Struct, frozen=True, gc=False):
    card: Card


class DealerDrew(Struct, frozen=True, gc=False):
    cards: Cards


class SeedRevealed(Struct, frozen=True, gc=False):
    """The round is over. `seed` in hex opens the commitment; `drawn` cards left the shoe. `next`
    is the seed of the round after, committed to before anybody can bet on it."""

    number: int
    seed: str
    drawn: int
    next: SealedSeed


class RulesetRegistered(Struct, frozen=True, gc=False):
    """The house has a game of its own, or a further version of it. Told in the game's stream."""

    ruleset: Ruleset
    ruleset_sha256: str


HandEvent: TypeAlias = CardDealt | HandStood | HandSettled | HandDoubled | HandSplit
RoundEvent: TypeAlias = (
    HandsDealt | RoundOpened | HoleCardRevealed | DealerDrew | SeedRevealed | DealerPeeked
    | InsuranceOffered | InsuranceBought | InsuranceDeclined | InsuranceSettled
)  # fmt: skip
SeatEvent: TypeAlias = (
    BetPlaced | BetWithdrawn | SeatSatOut | PlayerSat | ComputerSeated | RunStarted | RunEnded
    | ChipsBoughtIn | ChipsCashedOut | PlayerLeaving | PlayerLeft | HostMoved | TableOpened
    | TableWasClosed
)  # fmt: skip
ItemEvent: TypeAlias = ModifierApplied | ItemBought | ItemUsed | CardRedrawn | HandShielded
Event: TypeAlias = HandEvent | RoundEvent | SeatEvent | ItemEvent

REGISTRY: Final[dict[str, tuple[int, type]]] = {
    "blackjack.table_opened": (1, TableOpened),
    "blackjack.table_closed": (1, TableWasClosed),
    "blackjack.host_moved": (1, HostMoved),
    "blackjack.player_sat": (1, PlayerSat),
    "blackjack.run_started": (1, RunStarted),
    "blackjack.run_ended": (1, RunEnded),
    "blackjack.computer_seated": (1, ComputerSeated),
    "blackjack.chips_bought_in": (1, ChipsBoughtIn),
    "blackjack.chips_cashed_out": (1, ChipsCashedOut),
    "blackjack.player_leaving": (1, PlayerLeaving),
    "blackjack.player_left": (1, PlayerLeft),
    "blackjack.bet_placed": (1, BetPlaced),
    "blackjack.bet_withdrawn": (1, BetWithdrawn),
    "blackjack.seat_sat_out": (1, SeatSatOut),
    "blackjack.round_opened": (1, RoundOpened),
    "blackjack.hands_dealt": (1, HandsDealt),
    "blackjack.insurance_offered": (1, InsuranceOffered),
    "blackjack.insurance_bought": (1, InsuranceBought),
    "blackjack.insurance_declined": (1, InsuranceDeclined),
    "blackjack.insurance_settled": (1, InsuranceSettled),
    "blackjack.dealer_peeked": (1, DealerPeeked),
    "blackjack.card_dealt": (1, CardDealt),
    "blackjack.hand_stood": (1, HandStood),
    "blackjack.hand_doubled": (1, HandDoubled),
    "blackjack.hand_split": (1, HandSplit),
    "blackjack.hand_settled": (1, HandSettled),
    "blackjack.modifier_applied": (1, ModifierApplied),
    "blackjack.item_bought": (1, ItemBought),
    "blackjack.item_used": (1, ItemUsed),
    "blackjack.card_redrawn": (1, CardRedrawn),
    "blackjack.hand_shielded": (1, HandShielded),
    "blackjack.hole_card_revealed": (1, HoleCardRevealed),
    "blackjack.dealer_drew": (1, DealerDrew),
    "blackjack.seed_revealed": (1, SeedRevealed),
    "blackjack.ruleset_registered": (1, RulesetRegistered),
}
