"""The two blackjack packages we compare with, each driven as its documentation says.

One player, one unit bet, hits below 17, otherwise stands; a round ends with its payout added up.
Given prepared cards, none pays for its shoe: blackjack21 takes any source of cards, blackjack-api
any object in the place of its deck. Without them each deals from a deck of its own, which it
shuffles before each round in its own way.
"""

from collections.abc import Iterator, Sequence

from blackjack21 import DEFAULT_SUITS, Deck, GameResult, Table
from blackjack21 import Card as Card21
from blackjack_api.blackjack import BlackJack
from blackjack_api.card import Card as ApiCard

Cards = Sequence[str]
"""The cards of one round in the order they are dealt: player, dealer, player, dealer, then hits."""

STAND_AT = 17
RETURNED = {
    GameResult.BLACKJACK: 5,
    GameResult.PLAYER_WIN: 4,
    GameResult.DEALER_BUST: 4,
    GameResult.PUSH: 2,
    GameResult.PLAYER_BUST: 0,
    GameResult.DEALER_WIN: 0,
}
"""What a bet of two brings back: blackjack21 names results and pays nothing itself."""


class PreparedDeck:
    """Deals the cards of one round after another; speaks the language of both packages."""

    def __init__(self, rounds: Sequence[Sequence[object]]) -> None:
        self._rounds = rounds
        self._cards: Iterator[object] = iter(())

    def take(self, number: int) -> None:
        """Lay out the cards of a round, if any are prepared."""
        self._cards = iter(self._rounds[number] if self._rounds else ())

    def draw_card(self) -> object:
        return next(self._cards)

    deal = draw_card

    def reset(self, exclude: object = None) -> None:
        """Nothing to shuffle."""

    def __len__(self) -> int:
        return 52


class Blackjack21:
    """A table that peeks, pays naturals 3:2 and settles each hand with a result."""

    def __init__(self, rounds: Sequence[Cards] = ()) -> None:
        self._prepared = PreparedDeck([[_card21(card) for card in cards] for cards in rounds])
        own = Deck(DEFAULT_SUITS)
        self._table = (
            Table([("ada", 2)], self._prepared)
            if rounds
            else Table([("ada", 2)], own, on_round_reset=own.reset)
        )

    def play(self, number: int) -> int:
        """Play the round; the half bets it won (+) or lost (−)."""
        table = self._table
        self._prepared.take(number)
        table.start_game()
        while hand := table.current_hand:
            if hand.total < STAND_AT:
                table.hit()
            else:
                table.stand()
        return RETURNED[table.players[0].hands[0].result] - 2


class BlackjackApi:
    """One player against the dealer; here without its five-card rule and with wins paid 1:1.

    It knows no naturals: an ace with a ten is a 21 like any other.
    """

    def __init__(self, rounds: Sequence[Cards] = ()) -> None:
        self._prepared = PreparedDeck(
            [[ApiCard(_long(card)) for card in _pairs(r)] for r in rounds]
        )
        self._game = BlackJack(num_decks=1, win_ratio=1, hit_soft_17=False, charlie=False)
        self._game.stand()
        if rounds:
            self._game.deck = self._prepared
        self._rounds_a_shoe = len(rounds) or 1

    def play(self, number: int) -> int:
        """Play the round; the half bets it won (+) or lost (−)."""
        game = self._game
        if number % self._rounds_a_shoe == 0:
            game.reset()  # else its discard pile grows for ever
        self._prepared.take(number)
        game.start_round()
        game.start_hand()
        hand = game.player[0]
        while game.hand_running:
            if hand.count() < STAND_AT:
                game.hit()
            else:
                game.stand()
        return int(2 * game.rewards[0])


def _pairs(cards: Cards) -> list[str]:
    """blackjack-api deals the player two cards, then the dealer two."""
    return [cards[0], cards[2], cards[1], cards[3], *cards[4:]]


def _long(card: str) -> str:
    """`Th` as blackjack-api writes it: `10H`."""
    return card[0].replace("T", "10") + card[1].upper()


def _card21(card: str) -> Card21:
    rank = card[0].replace("T", "10")
    value = 11 if rank == "A" else 10 if rank in "JQK" else int(rank)
    return Card21(card[1], rank, value)
