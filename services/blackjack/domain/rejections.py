"""Every reason why a table says no. The docstring is what the caller reads."""

from typing import TypeAlias

from shared.kernel.rejected import Rejected

Reason: TypeAlias = Rejected | None
"""Why a command is refused; None when it is legal."""


class UnknownRuleset(Rejected):
    """There is no such ruleset.

    `GET /v1/rulesets` lists the games that can be played.
    """

    status = 404


class RulesetNonsense(Rejected):
    """These rules do not make a playable game.

    They must allow at least one bet, pay an exact 3:2 in whole chips or say that it is rounded, fit
    the longest possible round into the shoe, wait for nobody for ever where a clock ticks at all,
    and contradict themselves nowhere. The detail says what would be accepted.
    """

    status = 422


class RulesetPublished(Rejected):
    """The name belongs to a published game.

    Published games never change. Register the ruleset under a name of your own.
    """


class RulesetVersionTaken(Rejected):
    """This version is there already, with other rules, or a later one is.

    Every version is kept as it was registered, for the tables that play by it. Other rules take a
    version after the `newest`; the same rules under the same version may be sent again.
    """


class TooManyRulesets(Rejected):
    """There is no room for another one.

    A house has at most a hundred rulesets of its own, each in at most a hundred versions.
    """


class UnknownTable(Rejected):
    """There is no such table.

    `PUT /v1/tables/{table}` opens one.
    """

    status = 404


class UnknownVersion(Rejected):
    """The table has not been at that version.

    Versions count the events of a table from 1; the newest is in its view.
    """

    status = 404


class UnknownRound(Rejected):
    """There is no such round.

    Rounds are named by their table and number, such as `table-3.5`.
    """

    status = 404


class TableExists(Rejected):
    """The table was opened before with other rules.

    Opening a table again with the same body is safe; another body needs another id.
    """


class TableClosed(Rejected):
    """The table is closed.

    A closed table takes no further command. Open another one.
    """


class UnknownSeat(Rejected):
    """The table has no such seat.

    Seats are counted from 1 to the number in the table's ruleset.
    """


class SeatTaken(Rejected):
    """Somebody sits there.

    Take one of the free seats among the legal moves.
    """


class SeatEmpty(Rejected):
    """Nobody sits there.

    The command names a seat without a player; `sit` takes it.
    """


class PlayedInRuns(Rejected):
    """This game is played in runs.

    `start_run` takes a seat, with chips that are brought once; `sit` is for other games.
    """


class NoRuns(Rejected):
    """This game has no runs.

    `sit` takes a seat, with any chips of the vault.
    """


class StakeNotAllowed(Rejected):
    """A run does not begin with that.

    From the vault a run brings a number of chips within limits; without `stake` it is granted
    what the ruleset says.
    """


class RunUnderWay(Rejected):
    """The run is not over.

    It ends when it is won or lost, or when the player leaves; then another one can start.
    """


class BankrollIsFixed(Rejected):
    """A run keeps its chips to itself.

    What it began with is won or lost by play alone; nothing is bought in or cashed out meanwhile.
    """


class AlreadySeated(Rejected):
    """The player has a seat at this table.

    A player holds one seat a table, since the chips on a table are one stack.
    """


class NameReserved(Rejected):
    """That is the name of a computer player.

    Names that begin with `computer-` belong to the players that the service plays by itself.
    `POST /v1/tables/{table}/computers` gives a seat to one.
    """


class NoSuchComputer(Rejected):
    """No such computer player sits down here.

    The ruleset says in `computers` which of them may take a seat.
    """


class RoundInProgress(Rejected):
    """The cards are on the table.

    This command waits until the round is over.
    """


class NoRound(Rejected):
    """No cards have been dealt.

    Bets come first; the round begins with the deal.
    """


class BetNotAllowed(Rejected):
    """The bet is outside the limits.

    A bet is one of min, min + step, … up to max, and the seat's stack must cover it.
    """


class BetAlreadyPlaced(Rejected):
    """The seat has bet already.

    Withdraw the bet first to place another one.
    """


class NoBet(Rejected):
    """There is no bet to withdraw or to deal to.

    `bet` places one.
    """


class AlreadySatOut(Rejected):
    """The seat sits this round out already.

    A bet takes it back into the round.
    """


class NotTheHost(Rejected):
    """Only the host deals.

    The table's view names the host.
    """


class NobodyDeals(Rejected):
    """This game is dealt by the server.

    The cards come by themselves once the bets are placed.
    """


class ChipsStayAtTheTable(Rejected):
    """Session chips cannot be withdrawn.

    This ruleset plays with chips granted for the session; they cannot be moved elsewhere.
    """


class NotEnoughChips(Rejected):
    """The stack does not cover it.

    What a seat stakes comes from its stack on the table; `buy_in` brings more between rounds.
    """


class TooLate(Rejected):
    """The clock was answered.

    A time-out names the turn it was set for; the table has moved on and it does nothing.
    """


class AlreadyLeaving(Rejected):
    """The seat is leaving.

    Its hands stand and settle. At the end of the round its chips go back to where they came from.
    """


class NotYourTurn(Rejected):
    """It is another hand's turn.

    Hands play in seat order, hand by hand; the table's view names the turn.
    """


class InsuranceOpen(Rejected):
    """Insurance is being decided.

    The offer goes to every bettor before play; hands wait until all have answered.
    """


class InsuranceNotOffered(Rejected):
    """Insurance is not on offer here.

    It is offered once, under an ace, for half of the bet rounded down, if the stack covers it.
    """


class HandClosed(Rejected):
    """The hand takes no more cards.

    The legal moves say what this hand can still do.
    """


class DoubleNotAllowed(Rejected):
    """This hand cannot be doubled.

    Doubling is for the first two cards of a hand; some rulesets exclude split hands.
    """


class SplitNotAllowed(Rejected):
    """This hand cannot be split.

    Splitting is for a pair by the ruleset's measure, up to its number of hands a seat.
    """


class SurrenderNotAllowed(Rejected):
    """This hand cannot be surrendered.

    Only some rulesets have surrender, and there only as the first decision.
    """


class NoModifiers(Rejected):
    """This game is played without modifiers.

    The ruleset says whether the platform may apply them.
    """


class ModifierTooLate(Rejected):
    """The round takes no modifier any more.

    The platform applies one a round at most, after the naturals and before the first decision.
    """


class UnknownItem(Rejected):
    """The shop does not have it.

    The table's ruleset has its catalogue, `items`; some games have none.
    """


class ShopClosed(Rejected):
    """Items are bought before betting.

    The shop is open between rounds, to seats without a bet.
    """


class HandsFull(Rejected):
    """The seat holds as many items as it may.

    Use one on your turn to make room.
    """


class ItemNotHeld(Rejected):
    """The seat has no such item.

    The table's view lists the items of each seat; `buy_item` gets one before betting.
    """


class ItemUseless(Rejected):
    """The item would do nothing now.

    A redraw needs a card that was drawn by a hit; a hand needs one shield only.
    """
