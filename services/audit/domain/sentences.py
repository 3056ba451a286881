"""What to say when an event happens at a table."""

from collections.abc import Iterator

from services.audit.domain.words import (
    ORDINALS,
    chips,
    listed,
    points,
    spoken,
    spoken_cards,
    spoken_modifier,
)
from services.blackjack.domain import events as e
from services.blackjack.domain.cards import Cards, is_natural
from services.blackjack.domain.modifiers import Modifiers, scoring
from services.blackjack.domain.table import Hand, Seat, Table


def sentences(table: Table, event: e.Event) -> Iterator[str]:
    """The sentences for an event, given the table before it; some events go without saying."""
    match event:
        case e.HandsDealt(hands, upcard):
            yield f"The dealer shows {spoken(upcard)}."
            for number, first, second in hands:
                held = _worth((first, second), table.modifiers)
                yield f"{table.seat(number).player} holds {held}."
        case e.DealerPeeked(natural):
            yield f"The dealer looks at the hole card: {'a' if natural else 'no'} natural."
        case e.HoleCardRevealed(card):
            dealer = (*table.round.dealer, card)
            comes_to = _total(dealer, table.modifiers)
            yield f"The dealer turns over {spoken(card)}: {comes_to}."
        case e.DealerDrew(cards):
            dealer = table.round.dealer + cards
            comes_to = _total(dealer, table.modifiers)
            yield f"The dealer draws {spoken_cards(cards)}: {comes_to}."
        case e.RoundOpened(commitment=commitment):
            begin = commitment[:8]
            yield f"The shoe is shuffled; the commitment to its seed begins with {begin}."
            if rules := table.rules.environment:
                yield f"At this table {listed([spoken_modifier(rule) for rule in rules])}."
        case e.SeedRevealed(_, seed, drawn):
            yield f"The seed is revealed and begins with {seed[:8]}; {drawn} cards left the shoe."
        case e.CardDealt() | e.HandStood() | e.HandDoubled() | e.HandSplit() | e.HandSettled():
            yield from _of_a_hand(table, event)
        case e.ModifierApplied() | e.ItemBought() | e.ItemUsed() | e.CardRedrawn():
            yield from _of_items(table, event)
        case _:
            yield from _of_insurance(table, event)


def _of_a_hand(table: Table, event: e.HandEvent) -> Iterator[str]:
    seat = table.seat(event.seat)
    hand = seat.hands[event.hand]
    who = _whose(seat, event.hand)
    match event:
        case e.CardDealt(card=card):
            comes_to = _total((*hand.cards, card), table.modifiers)
            yield f"{who} {_draws(seat, hand)} {spoken(card)}: {comes_to}."
        case e.HandStood():
            if hand.is_natural:
                yield f"{who} waits for the dealer with a natural."
            elif not _is_doubled(seat, hand):
                yield f"{who} stands on {points(hand.cards, table.modifiers)}."
        case e.HandDoubled(stake=stake):
            yield f"{who} doubles down with {stake} more: {hand.stake + stake} at stake."
        case e.HandSplit(stake=stake):
            yield f"{who} splits {spoken_cards(hand.cards)}, with {stake} more on the new hand."
        case e.HandSettled():
            busts = event.outcome == "push" and len(table.round.dealer) == 1
            yield f"{who} {'busts but ' if busts else ''}{_fares(event)}."


def _of_items(table: Table, event: e.ItemEvent) -> Iterator[str]:
    match event:
        case e.ModifierApplied(modifier, None):
            yield f"The platform changes the rules: {spoken_modifier(modifier)}."
        case e.ModifierApplied(modifier):
            yield f"From now on {spoken_modifier(modifier)}."
        case e.ItemBought(number, item, price):
            yield f"{table.seat(number).player} buys {item} for {chips(price)}."
        case e.ItemUsed(number, index, item):
            yield f"{_whose(table.seat(number), index)} uses {item}."
        case e.CardRedrawn(number, index, card):
            seat = table.seat(number)
            *kept, old = seat.hands[index].cards
            comes_to = _total((*kept, card), table.modifiers)
            yield f"{spoken(old).capitalize()} goes, {spoken(card)} comes instead: {comes_to}."


def _draws(seat: Seat, hand: Hand) -> str:
    if len(hand.cards) == 1:
        return "gets"
    return "draws" if _is_doubled(seat, hand) else "hits and draws"


def _fares(event: e.HandSettled) -> str:
    stake, won = event.stake, event.payout - event.stake
    match event.outcome:
        case "natural":
            return f"wins {won} with a natural"
        case "win":
            return f"wins {won}"
        case "push":
            return f"pushes and keeps the {stake}"
        case "loss":
            return f"loses {stake}"
        case "bust":
            return f"busts and loses {stake}"
        case "surrender":
            return f"surrenders: {event.payout} of {stake} come back"


def _of_insurance(table: Table, event: e.Event) -> Iterator[str]:
    match event:
        case e.InsuranceOffered(seats):
            yield f"Insurance is offered to {listed([table.seat(n).player for n in seats])}."
        case e.InsuranceBought(number, stake):
            yield f"{table.seat(number).player} takes insurance for {stake}."
        case e.InsuranceDeclined(number):
            yield f"{table.seat(number).player} declines insurance."
        case e.InsuranceSettled(number, stake, payout):
            fate = f"wins {payout - stake}" if payout else f"loses {stake}"
            yield f"{table.seat(number).player}'s insurance {fate}."
        case _:
            yield from _of_seats(table, event)


def _of_seats(table: Table, event: e.Event) -> Iterator[str]:
    match event:
        case e.BetPlaced(number, amount, client_seed):
            seat = table.seat(number)
            seed = f", adding {client_seed} to the shuffle" if client_seed else ""
            goal = f" on the way to {seat.run.goal}" if seat.run else ""
            yield f"{seat.player} bets {amount} of {chips(seat.stack)}{goal}{seed}."
        case e.BetWithdrawn(number, amount):
            yield f"{table.seat(number).player} takes the bet of {amount} back."
        case e.SeatSatOut(number):
            yield f"{table.seat(number).player} sits this one out."
        case e.PlayerSat(number, player, buy_in):
            yield f"{player} takes seat {number} with {chips(buy_in)}."
        case e.RunStarted() | e.RunEnded():
            yield _of_a_run(table, event)
        case e.ComputerSeated(number, level):
            yield f"{table.seat(number).player} is a computer player: {level}."
        case e.ChipsBoughtIn(number, amount):
            yield f"{table.seat(number).player} buys in for {amount} more."
        case e.ChipsCashedOut(number, amount):
            yield f"{table.seat(number).player} cashes out {amount}."
        case e.PlayerLeaving(number):
            yield f"{table.seat(number).player} leaves the table and stands on every hand."
        case e.PlayerLeft(_, player, cash_out):
            yield f"{player} is gone, with {chips(cash_out)}."
        case e.HostMoved(host):
            yield f"{host or 'Nobody'} hosts the table now."


def _of_a_run(table: Table, event: e.RunStarted | e.RunEnded) -> str:
    if isinstance(event, e.RunStarted):
        stake = f"{chips(event.stake)} from the vault"
        if event.source == "grant":
            stake = f"{event.stake} granted chips"
        return (
            f"{event.player} starts a run on seat {event.seat} with {stake}, to make {event.goal}."
        )
    player = table.seat(event.seat).player
    match event.outcome:
        case "won":
            return f"{player} wins the run with {chips(event.bankroll)}."
        case "lost":
            return f"{player} loses the run: {event.bankroll} chips are too few for a bet."
        case "left":
            return f"{player} ends the run with {chips(event.bankroll)}."


def _whose(seat: Seat, index: int) -> str:
    """`ada`, or `ada's first hand` once there are more."""
    one = len(seat.hands) == 1
    return seat.player if one else f"{seat.player}'s {ORDINALS[index]} hand"


def _is_doubled(seat: Seat, hand: Hand) -> bool:
    return hand.stake > seat.bet


def _worth(cards: Cards, modifiers: Modifiers) -> str:
    return f"{spoken_cards(cards)}: {_total(cards, modifiers)}"


def _total(cards: Cards, modifiers: Modifiers) -> str:
    if is_natural(cards):
        return "a natural"
    count = scoring(modifiers)
    told = points(cards, modifiers)
    return f"{told}, bust" if count.total(cards) > count.limit else told
