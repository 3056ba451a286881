"""A round, driven from one decision to the next: dealt, peeked, played, settled, revealed."""

from collections.abc import Sequence

from services.blackjack.domain import events as e
from services.blackjack.domain import run
from services.blackjack.domain.cards import Card, is_natural
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.hands import fallen_hands, live_hands, stands_by_itself
from services.blackjack.domain.modifiers import scoring
from services.blackjack.domain.reasons import can_insure
from services.blackjack.domain.settlement import (
    bust_outcome,
    insurance_payout,
    insurance_price,
    outcome,
    payout,
)
from services.blackjack.domain.shoe import ALGORITHM, Seed
from services.blackjack.domain.table import Hand, Table


class Play:
    """The table in the hands of the dealer: what happens is told, folded in and collected."""

    def __init__(self, table: Table, seed: Seed, now: int) -> None:
        self.table = table
        self.seed = seed
        self.now = now
        self.events: list[e.Event] = []
        self._shoe: Sequence[Card] | None = None

    def tell(self, event: e.Event) -> None:
        """Something happened."""
        self.events.append(event)
        self.table = evolve(self.table, event, self.now)

    def shoe(self) -> Sequence[Card]:
        """The cards of the running round: a command touches one round at most."""
        if self._shoe is None:
            table = self.table
            seeds = table.round.client_seeds
            self._shoe = self.seed.shoe(table.rules.decks, table.round_id(), seeds)
        return self._shoe

    def hole(self) -> Card:
        """The card that lies face down."""
        return self.shoe()[self.table.round.hole_at]

    def draw(self, seat: int, hand: int) -> None:
        """The next card goes to a hand."""
        self.tell(e.CardDealt(seat, hand, self.shoe()[self.table.round.drawn]))

    def redraw(self, seat: int, hand: int) -> None:
        """The next card takes the place of the last of a hand."""
        self.tell(e.CardRedrawn(seat, hand, self.shoe()[self.table.round.drawn]))


def deal(play: Play) -> None:
    """Close the bets, deal two cards each, and go on to the first decision."""
    table = play.table
    bettors = [(number, seat) for number, seat in table.seated() if seat.bet]
    client_seeds = tuple([seat.client_seed for _, seat in bettors if seat.client_seed])
    commitment = play.seed.sealed.commitment
    play.tell(e.RoundOpened(table.rounds + 1, ALGORITHM, commitment, client_seeds))
    shoe, count = play.shoe(), len(bettors)
    hands = tuple([(n, shoe[at], shoe[count + 1 + at]) for at, (n, _) in enumerate(bettors)])
    play.tell(e.HandsDealt(hands, upcard=shoe[count]))
    rules = play.table.rules
    if rules.insurance == "before_play" and rules.insures(shoe[count]):
        offers = tuple(n for n, seat in bettors if 0 < insurance_price(seat.bet) <= seat.stack)
        if offers:
            play.tell(e.InsuranceOffered(offers))
            return
    peek(play)


def peek(play: Play) -> None:
    """The dealer looks at the hole card if the rules say so; naturals are dealt with.

    Only then the modifiers of the table come into effect.
    """
    rules, upcard = play.table.rules, play.table.round.dealer[0]
    if rules.peeks_at(upcard):
        hole = play.hole()
        natural = is_natural((upcard, hole))
        play.tell(e.DealerPeeked(natural))
        _settle_insurance(play, natural)
        if natural:
            play.tell(e.HoleCardRevealed(hole))
            _settle_hands(play, live_hands(play.table))
            _end(play)
            return
    for number, seat in play.table.seated():
        if seat.hands and seat.hands[0].is_natural:
            _natural(play, number, seat.hands[0])
    if rules.environment:
        bust_the_fallen(play)
    advance(play)


def advance(play: Play) -> None:
    """Hands that need no decision are closed, until one does or the round is over."""
    while (turn := play.table.turn()) is not None:
        number, index = turn
        seat = play.table.seat(number)
        hand = seat.hands[index]
        if len(hand.cards) == 1:
            play.draw(number, index)
            settle_a_bust(play, number, index)
        elif seat.leaving or stands_by_itself(play.table, hand):
            play.tell(e.HandStood(number, index))
        else:
            return
    _dealer(play)


def settle_a_bust(play: Play, number: int, index: int) -> None:
    """After a card from a decision: a bust is settled at once."""
    table = play.table
    hand, modifiers = table.seat(number).hands[index], table.modifiers
    count = scoring(modifiers)
    if count.total(hand.cards) > count.limit:
        _settle(play, number, index, hand, bust_outcome(hand, modifiers))


def bust_the_fallen(play: Play) -> None:
    """After the modifiers have changed: hands that bust by them alone are settled at once."""
    for number, index, hand in fallen_hands(play.table):
        _settle(play, number, index, hand, bust_outcome(hand, play.table.modifiers))


def _natural(play: Play, number: int, hand: Hand) -> None:
    """A natural takes no turn, unless its turn is where insurance is offered."""
    if play.table.rules.naturals_settle == "before_play":
        _settle(play, number, 0, hand, "natural")
    elif not _may_insure_on_turn(play.table, number):
        play.tell(e.HandStood(number, 0))


def _may_insure_on_turn(table: Table, number: int) -> bool:
    seat = table.seat(number)
    return (
        table.rules.insurance == "on_turn"
        and can_insure(table, seat)
        and insurance_price(seat.bet) <= seat.stack
    )


def _dealer(play: Play) -> None:
    """All hands are closed: reveal the hole card, draw to 17 if a live hand needs it, settle."""
    play.tell(e.HoleCardRevealed(play.hole()))
    natural = is_natural(play.table.round.dealer)
    live = live_hands(play.table)
    if not natural and [hand for _, _, hand in live if not hand.is_natural]:
        _draw_to_17(play)
    _settle_insurance(play, natural)
    _settle_hands(play, live)
    _end(play)


def _draw_to_17(play: Play) -> None:
    dealer, drawn, shoe = play.table.round.dealer, play.table.round.drawn, play.shoe()
    cards, total = dealer, scoring(play.table.modifiers).total
    while total(cards) < 17:
        cards = (*cards, shoe[drawn + len(cards) - len(dealer)])
    if len(cards) > len(dealer):
        play.tell(e.DealerDrew(cards[len(dealer) :]))


def _settle_insurance(play: Play, natural: bool) -> None:
    for number, seat in play.table.seated():
        if stake := seat.insurance:
            play.tell(e.InsuranceSettled(number, stake, insurance_payout(stake, natural)))


def _settle_hands(play: Play, live: list[tuple[int, int, Hand]]) -> None:
    table = play.table
    dealer, modifiers = table.round.dealer, table.modifiers
    for number, index, hand in live:
        _settle(play, number, index, hand, outcome(hand, dealer, modifiers))


def _settle(play: Play, number: int, index: int, hand: Hand, result: e.Outcome) -> None:
    play.tell(e.HandSettled(number, index, result, hand.stake, payout(result, hand.stake)))


def leave(play: Play, number: int) -> None:
    """The seat's chips go back to where they came from, and the player goes. A run that is lost is
    lost, though the round goes on without it."""
    seat = play.table.seat(number)
    if run.is_running(seat):
        outcome = run.verdict(play.table.rules, seat) or "left"
        play.tell(e.RunEnded(number, outcome, seat.stack))
    play.tell(e.PlayerLeft(number, seat.player, play.table.seat(number).stack))


def _end(play: Play) -> None:
    """End the runs that are over, open the seed, commit to the next, and let those go who asked to
    leave."""
    for number, seat in play.table.seated():
        if run.is_running(seat) and (outcome := run.verdict(play.table.rules, seat)):
            play.tell(e.RunEnded(number, outcome, seat.stack))
    round, seed = play.table.round, play.seed
    play.tell(e.SeedRevealed(round.number, seed.secret.hex(), round.drawn, seed.successor()))
    for number, seat in play.table.seated():
        if seat.leaving:
            leave(play, number)
