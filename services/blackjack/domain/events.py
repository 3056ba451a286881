"""What happened at a table, or to a game.

Events are forever: a changed one gets a new version and an upcaster.

No event holds a secret. A seed travels sealed until `SeedRevealed`; the hole card has no value
until `HoleCardRevealed`.
"""

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Struct

from services.blackjack.domain import fields as f
from services.blackjack.domain.modifiers import Modifier
from services.blackjack.domain.rules import Level, Ruleset
from services.blackjack.domain.shoe import ALGORITHM, SealedSeed
from shared.kernel.described import means

Outcome: TypeAlias = Literal["natural", "win", "push", "loss", "bust", "surrender"]
Source: TypeAlias = Literal["vault", "grant"]
RunOutcome: TypeAlias = Literal["won", "lost", "left"]


class TableOpened(Struct, frozen=True, gc=False):
    """A table was opened, with all rules that it is ever played by. The first of its stream."""

    table: f.TableName
    ruleset: Annotated[Ruleset, means("The game, with the limits of this table.")]
    ruleset_sha256: f.Fingerprint
    host: f.Host
    next: Annotated[
        SealedSeed,
        means("The seed of the first round, committed to before anybody can bet on it."),
    ]


class TableWasClosed(Struct, frozen=True, gc=False):
    """The table was closed for good: the last of its stream."""


class HostMoved(Struct, frozen=True, gc=False):
    """Somebody else is the host: the first who sat down, or who has sat the longest."""

    host: f.Host


class PlayerSat(Struct, frozen=True, gc=False):
    """A player took a free seat, with chips."""

    seat: f.AtSeat
    player: f.Player
    buy_in: f.BuyIn


class RunStarted(Struct, frozen=True, gc=False):
    """The player has the seat, and chips that have to become more by play alone."""

    seat: f.AtSeat
    player: f.Player
    number: Annotated[int, means("The runs of a table are counted from 1.", minimum=1)]
    source: Annotated[Source, means("Where the chips come from, and go back to.")]
    stake: Annotated[int, means("The chips that the run begins with.", minimum=1)]
    goal: Annotated[int, means("The chips that win the run.", minimum=2)]


class RunEnded(Struct, frozen=True, gc=False):
    """A run is over. The player keeps the seat, without chips."""

    seat: f.AtSeat
    outcome: Annotated[
        RunOutcome,
        means("`won`: the goal was reached. `lost`: no bet is legal any more. `left`: given up."),
    ]
    bankroll: Annotated[
        int, means("All its chips, which go back to where the stake came from.", minimum=0)
    ]


class ComputerSeated(Struct, frozen=True, gc=False):
    """The player who has just sat down is a computer."""

    seat: f.AtSeat
    level: Annotated[Level, means("How well it plays.")]
    buy_in: Annotated[
        int, means("What it brings again when its stack allows no bet, in chips.", minimum=1)
    ]
    last_round: Annotated[int, means("After the round of this number it leaves.", minimum=1)]


class ChipsBoughtIn(Struct, frozen=True, gc=False):
    """A player brought more chips to the seat."""

    seat: f.AtSeat
    amount: f.Amount


class ChipsCashedOut(Struct, frozen=True, gc=False):
    """A player took chips from the seat, and stays."""

    seat: f.AtSeat
    amount: f.Amount


class PlayerLeaving(Struct, frozen=True, gc=False):
    """The player goes at the end of the round. Until then the live hands stand by themselves."""

    seat: f.AtSeat


class PlayerLeft(Struct, frozen=True, gc=False):
    """The seat is free again."""

    seat: f.AtSeat
    player: f.Player
    cash_out: f.CashOut


class BetPlaced(Struct, frozen=True, gc=False):
    """A seat staked chips on the next round."""

    seat: f.AtSeat
    amount: f.Amount
    client_seed: Annotated[
        f.SeedOfABet | None,
        means("The player's own share in the order of the shoe; null when there is none."),
    ] = None


class BetWithdrawn(Struct, frozen=True, gc=False):
    """A bet, and its client seed, were taken back before the deal."""

    seat: f.AtSeat
    amount: Annotated[int, means("All of the bet, in chips.", minimum=1)]


class SeatSatOut(Struct, frozen=True, gc=False):
    """A seat watches the next round without a bet."""

    seat: f.AtSeat


class RoundOpened(Struct, frozen=True, gc=False):
    """Bets are closed. The order of the shoe follows from the seed that was committed to before
    the first of them, and from the client seeds."""

    number: f.RoundNumber
    shoe: Annotated[str, means("The algorithm that gives the order of the cards.", const=ALGORITHM)]
    commitment: f.Commitment
    client_seeds: Annotated[
        tuple[f.SeedOfABet, ...],
        means("Those of the bets that lie, in seat order; seats without one are skipped."),
    ]


class HandsDealt(Struct, frozen=True, gc=False):
    """Two cards to each betting seat, and the upcard. The hole card lies face down.

    The order from the shoe: one card a seat, the upcard, a second card a seat, the hole card.
    """

    hands: Annotated[tuple[f.SeatCards, ...], means("In seat order.", minItems=1)]
    upcard: Annotated[f.ACard, means("The dealer's open card.")]


class InsuranceOffered(Struct, frozen=True, gc=False):
    """The upcard is an ace: these seats may insure, and the round waits for their answers."""

    seats: f.Seats


class InsuranceBought(Struct, frozen=True, gc=False):
    """A seat staked half of its bet, rounded down, on a dealer's natural."""

    seat: f.AtSeat
    stake: f.Stake


class InsuranceDeclined(Struct, frozen=True, gc=False):
    """A seat plays on without insurance."""

    seat: f.AtSeat


class InsuranceSettled(Struct, frozen=True, gc=False):
    """Insurance pays 2:1 when the dealer has a natural, else it is lost."""

    seat: f.AtSeat
    stake: f.Stake
    payout: f.Payout


class DealerPeeked(Struct, frozen=True, gc=False):
    """The dealer looked at the card that lies face down."""

    natural: Annotated[bool, means("Whether upcard and hole card are a natural.")]


class CardDealt(Struct, frozen=True, gc=False):
    """A hand got the next card of the shoe."""

    seat: f.AtSeat
    hand: f.OfHand
    card: f.ACard


class HandStood(Struct, frozen=True, gc=False):
    """A hand is closed, and waits for the dealer."""

    seat: f.AtSeat
    hand: f.OfHand


class HandDoubled(Struct, frozen=True, gc=False):
    """A hand has twice the stake; it gets one card more and stands."""

    seat: f.AtSeat
    hand: f.OfHand
    stake: Annotated[int, means("What was added to the stake, in chips.", minimum=1)]


class HandSplit(Struct, frozen=True, gc=False):
    """The second card moved to a new hand right after this one; later hands count one more."""

    seat: f.AtSeat
    hand: f.OfHand
    stake: Annotated[int, means("The stake of the new hand, in chips.", minimum=1)]


class HandSettled(Struct, frozen=True, gc=False):
    """A hand is over."""

    seat: f.AtSeat
    hand: f.OfHand
    outcome: Annotated[Outcome, means("How it fared against the dealer, or without.")]
    stake: f.Stake
    payout: f.Payout


class ModifierApplied(Struct, frozen=True, gc=False):
    """From now on the hands of the round are counted by it too."""

    modifier: Annotated[Modifier, means("What changes in how hands are counted.")]
    seat: Annotated[
        f.AtSeat | None, means("Whose item did it; null: the platform's modifier of the round.")
    ] = None


class ItemBought(Struct, frozen=True, gc=False):
    """A seat bought an item of the shop, and keeps it until it is used, or lost with the seat."""

    seat: f.AtSeat
    item: f.ItemName
    price: Annotated[int, means("In chips, to the bank.", minimum=1)]


class ItemUsed(Struct, frozen=True, gc=False):
    """A seat used an item. What it did is told by the event after this."""

    seat: f.AtSeat
    hand: f.OfHand
    item: f.ItemName


class CardRedrawn(Struct, frozen=True, gc=False):
    """The next card of the shoe took the place of the last card of the hand."""

    seat: f.AtSeat
    hand: f.OfHand
    card: f.ACard


class HandShielded(Struct, frozen=True, gc=False):
    """A bust of this hand will be a push."""

    seat: f.AtSeat
    hand: f.OfHand


class HoleCardRevealed(Struct, frozen=True, gc=False):
    """The dealer turned over the card that lay face down."""

    card: f.ACard


class DealerDrew(Struct, frozen=True, gc=False):
    """The dealer drew to 17, because a hand needs it."""

    cards: Annotated[tuple[f.ACard, ...], means("In the order of the shoe.", minItems=1)]


class SeedRevealed(Struct, frozen=True, gc=False):
    """The round is over, and its cards can be checked."""

    number: f.RoundNumber
    seed: f.RevealedSeed
    drawn: Annotated[
        int, means("The cards that left the shoe, the hole card with them.", minimum=4)
    ]
    next: Annotated[
        SealedSeed,
        means("The seed of the round after, committed to before anybody can bet on it."),
    ]


class RulesetRegistered(Struct, frozen=True, gc=False):
    """The house has a game of its own, or a further version of it. Told in the game's stream."""

    ruleset: Annotated[Ruleset, means("The game, whole.")]
    ruleset_sha256: f.Fingerprint


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
