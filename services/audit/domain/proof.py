"""The proof of a finished round: every card again, from the seed that was committed to."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from services.audit.domain.judgement import misjudged
from services.audit.domain.words import spoken
from services.blackjack.domain import events as e
from services.blackjack.domain.cards import Card, is_natural
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.shoe import ALGORITHM, Shoe, commitment
from services.blackjack.domain.table import Betting, Table
from shared.kernel.rejected import Rejected


class RoundNotOver(Rejected):
    """The round is still being played.

    Its cards are drawn from a seed that stays sealed until the last hand is settled: revealed
    earlier, it would tell which cards come next. Ask again when the round is over.
    """


class ProvenCard(Struct, frozen=True):
    """A card with its place in the shoe, counted from 0: as the log has it, and by the seed."""

    place: int
    to: str
    logged: Card
    derived: Card


class Proof(Struct, frozen=True):
    """What a round is checked by, and every fault that was found. No fault: it was fair.

    `commitment` was published before the cards; `seed` (in hex) was revealed after the last of
    them; `client_seeds` are the players' shares, in seat order; `drawn` cards left the shoe.
    """

    round: str
    algorithm: str
    decks: int
    commitment: str
    seed: str
    client_seeds: tuple[str, ...]
    drawn: int
    cards: tuple[ProvenCard, ...]
    faults: tuple[str, ...]


Dealt: TypeAlias = tuple[str, Card]
"""To whom a card went, and which it was."""


def prove(before: Table, events: Sequence[e.Event]) -> Proof:
    """Derives all cards of a round again and compares them with its events.

    `events` are those of one round, up to `SeedRevealed`; they may begin with its first bet or
    with `RoundOpened`, and `before` is the table as they found it. Raises RoundNotOver.
    """
    opened, revealed = _frame(events)
    table = _when_opened(before, events)
    round_id = f"{table.id}.{opened.number}"
    dealt = dealt_in(events)
    cards, faults = [], list(_seed_faults(table, opened, revealed))
    if (secret := _from_hex(revealed.seed)) is not None:
        shoe = Shoe(secret, table.rules.decks, round_id, opened.client_seeds)
        cards = [
            ProvenCard(place, to, logged, shoe[place])
            for place, (to, logged) in sorted(dealt.items())
            if place < len(shoe)
        ]
        faults += [_wrong(card) for card in cards if card.logged != card.derived]
        faults += _as_far_as_told(_peek_faults(events, shoe))
    faults += _count_faults(events, revealed, dealt)
    faults += _as_far_as_told(misjudged(before, events))
    return Proof(
        round=round_id,
        algorithm=opened.shoe,
        decks=table.rules.decks,
        commitment=opened.commitment,
        seed=revealed.seed,
        client_seeds=opened.client_seeds,
        drawn=revealed.drawn,
        cards=tuple(cards),
        faults=tuple(faults),
    )


def _frame(events: Sequence[e.Event]) -> tuple[e.RoundOpened, e.SeedRevealed]:
    opened = next((event for event in events if isinstance(event, e.RoundOpened)), None)
    revealed = next((event for event in events if isinstance(event, e.SeedRevealed)), None)
    if opened is None or revealed is None:
        raise RoundNotOver("The seed of this round is revealed when its last hand is settled.")
    return opened, revealed


def _when_opened(table: Table, events: Iterable[e.Event]) -> Table:
    for event in events:
        if isinstance(event, e.RoundOpened):
            break
        table = evolve(table, event)
    return table


def _from_hex(seed: str) -> bytes | None:
    try:
        return bytes.fromhex(seed)
    except ValueError:
        return None


def _seed_faults(table: Table, opened: e.RoundOpened, revealed: e.SeedRevealed) -> Iterator[str]:
    """What is wrong with the seed, apart from the cards."""
    if opened.shoe != ALGORITHM:
        yield f"The shoe was drawn by {opened.shoe}, but only {ALGORITHM} can be checked."
    stage = table.stage
    if isinstance(stage, Betting) and stage.next.commitment != opened.commitment:
        yield (
            f"The players bet on the commitment {stage.next.commitment}, but the round was opened "
            f"with {opened.commitment}."
        )
    if revealed.number != opened.number:
        yield f"Round {opened.number} was opened, but round {revealed.number} was ended."
    secret = _from_hex(revealed.seed)
    if secret is None:
        yield "The revealed seed is not hexadecimal, so no card can be checked."
    elif commitment(secret) != opened.commitment:
        yield (
            f"The commitment is {opened.commitment}, but the revealed seed gives "
            f"{commitment(secret)}."
        )
    bet = tuple(seat.client_seed for _, seat in table.seated() if seat.bet and seat.client_seed)
    if bet != opened.client_seeds:
        yield (
            f"The bets brought the client seeds {list(bet)}, but the shoe was drawn with "
            f"{list(opened.client_seeds)}."
        )


def dealt_in(events: Iterable[e.Event]) -> dict[int, Dealt]:
    """Every open card by its place in the shoe."""
    dealt: dict[int, Dealt] = {}
    hole_at, drawn = 0, 0
    for event in events:
        match event:
            case e.HandsDealt(hands, upcard):
                count = len(hands)
                for at, (seat, first, second) in enumerate(hands):
                    dealt[at] = f"seat {seat}", first
                    dealt[count + 1 + at] = f"seat {seat}", second
                dealt[count] = "the upcard", upcard
                hole_at, drawn = 2 * count + 1, 2 * count + 2
            case e.HoleCardRevealed(card):
                dealt[hole_at] = "the hole card", card
            case e.CardDealt(seat, hand, card) | e.CardRedrawn(seat, hand, card):
                dealt[drawn] = f"seat {seat}, hand {hand}", card
                drawn += 1
            case e.DealerDrew(cards):
                for card in cards:
                    dealt[drawn] = "the dealer", card
                    drawn += 1
    return dealt


def _as_far_as_told(faults: Iterator[str]) -> Iterator[str]:
    """Faults, up to the point where a tampered event fits to nothing any more."""
    try:
        yield from faults
    except Exception as error:  # whatever the fold raises: it never expects such events
        yield f"The events do not fit together: {error!r}."


def _wrong(card: ProvenCard) -> str:
    return (
        f"At place {card.place} of the shoe is {spoken(card.derived)}, but the log gave "
        f"{card.logged} to {card.to}."
    )


def _peek_faults(events: Iterable[e.Event], shoe: Sequence[Card]) -> Iterator[str]:
    """Whether the dealer told the truth about the hole card when nobody else could see it."""
    start = next((event for event in events if isinstance(event, e.HandsDealt)), None)
    peeked = next((event for event in events if isinstance(event, e.DealerPeeked)), None)
    if start and peeked:
        hole = shoe[2 * len(start.hands) + 1]
        if peeked.natural != is_natural((start.upcard, hole)):
            claim = "a" if peeked.natural else "no"
            yield f"The dealer claimed {claim} natural, but the hole card is {spoken(hole)}."


def _count_faults(
    events: Iterable[e.Event], revealed: e.SeedRevealed, dealt: dict[int, Dealt]
) -> Iterator[str]:
    """The hole card left the shoe even if nobody has seen it."""
    start = next((event for event in events if isinstance(event, e.HandsDealt)), None)
    drawn = max([*dealt, 2 * len(start.hands) + 1 if start else -1]) + 1
    if drawn != revealed.drawn:
        yield f"{drawn} cards were dealt, but the round says that {revealed.drawn} were drawn."
