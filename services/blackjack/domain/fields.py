"""The words of which events are made, each with its meaning and its form."""

from typing import Annotated

from shared.kernel.described import HEX_32, means
from shared.kernel.ids import ID_PATTERN

AtSeat = Annotated[int, means("The seat, counted from 1.", minimum=1, maximum=7)]
OfHand = Annotated[
    int,
    means("The hand of the seat, counted from 0: a split makes more.", minimum=0, maximum=3),
]
Seats = Annotated[tuple[AtSeat, ...], means("Seats, in their order.", minItems=1)]
RoundNumber = Annotated[int, means("The rounds of a table are counted from 1.", minimum=1)]

Player = Annotated[str, means("The player's name.", pattern=ID_PATTERN)]
HostName = Annotated[str, means("A player's name.", pattern=ID_PATTERN)]
Host = Annotated[HostName | None, means("Who deals where the host does; null: nobody yet.")]
TableName = Annotated[str, means("The table's name.", pattern=ID_PATTERN)]
ItemName = Annotated[
    str, means("The item, by its name in the table's catalogue.", pattern=ID_PATTERN)
]

ACard = Annotated[
    str,
    means("A card: its rank, then its suit.", pattern="^[A23456789TJQK][cdhs]$"),
]
SeatCards = Annotated[
    tuple[AtSeat, ACard, ACard], means("A seat with its first and its second card.")
]

Amount = Annotated[int, means("Chips.", minimum=1)]
BuyIn = Annotated[int, means("Chips that the player brings to the stack.", minimum=1)]
CashOut = Annotated[
    int, means("The whole stack, which goes back to where it came from.", minimum=0)
]
Stake = Annotated[int, means("Chips at risk.", minimum=1)]
Payout = Annotated[int, means("All chips that came back, the stake with them.", minimum=0)]

Fingerprint = Annotated[
    str, means("SHA-256 of the canonical JSON of `ruleset`, in hexadecimal.", **HEX_32)
]
Commitment = Annotated[str, means("SHA-256 of the seed's 32 bytes, in hexadecimal.", **HEX_32)]
RevealedSeed = Annotated[
    str, means("The seed of the round, 32 bytes in hexadecimal. It opens the commitment.", **HEX_32)
]
SeedOfABet = Annotated[
    str, means("A player's share in the order of a shoe.", pattern="^[A-Za-z0-9_-]{1,64}$")
]
