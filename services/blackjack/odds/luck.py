"""What chance may do to the return of a game, and whether it was only chance.

The return is 1 + net / bets: what came back for each chip that was bet at the opening of a round.
Doubling, splitting and insuring put more at stake; what they win and lose counts, not their stakes.
So it is the return that the odds speak of, whose unit is the opening bet.

Every round has a shoe of its own, so the nets X₁ … Xₙ of a table's rounds (all seats together,
for they share the dealer's hand) differ from what was to be expected by independent chances. With
confidence 1 − α the sum of the differences never, in no round of all n, leaves ± u:

    u = √( V · (1 + r/n) · (2 ln(1/α) + ln(1 + n/r)) ),   V = b² + Σ Xᵢ²,  r = 100 rounds

(a normal mixture bound, narrowest about 10 r rounds in; b is the mean bet of a round, so that a
push, which comes to nothing, counts as chance too). A band of z standard errors would be left
sooner or later by any honest game that is looked at for long enough; this one holds at all times
at once, so that a look after every round is free. It costs half of the width again.

Where it lies: nobody can win more than by the best play, so the upper edge is u above the best
play's exact return. Everybody can lose more, so the lower edge is u below the return of somebody
who plays as the dealer does: hits below 17, never doubles, splits or insures. Between the two a low
return is told, and is no alarm. What rounding took of the payouts is known to the half chip and is
taken off both edges, so one exact return serves for bets of any size.
"""

from math import log, sqrt
from typing import Final, Literal

from msgspec import Struct

CONFIDENCE: Final = 0.999
"""That the band holds an honest return, in all rounds at once."""

_NARROWEST: Final = 100

Verdict = Literal["unplayed", "as_expected", "below_best_play", "too_much", "too_little"]


class Played(Struct, frozen=True):
    """Rounds and what they came to, in chips. `rounded`: the half chips that rounding took;
    `squares`: the sum of the squares of each round's net."""

    rounds: int
    bet: int
    stake: int
    payout: int
    rounded: int
    squares: float


class Exact(Struct, frozen=True):
    """What a game returns: played best, and played as the dealer plays."""

    best: float
    careless: float


class Judged(Struct, frozen=True):
    """A return beside what was to be expected; all but the verdict are shares of the bets.

    `chance` is u of the formula. `best` and `careless` have rounding taken off.
    """

    realised: float
    best: float
    careless: float
    chance: float
    verdict: Verdict

    @property
    def low(self) -> float:
        return self.careless - self.chance

    @property
    def high(self) -> float:
        return self.best + self.chance

    @property
    def alarm(self) -> bool:
        """Whether this was hardly chance."""
        return self.verdict in ("too_much", "too_little")


def chance(played: Played, confidence: float = CONFIDENCE) -> float:
    """How far chance may have led away from what was to be expected, as a share of the bets."""
    alpha, share = 1 - confidence, played.rounds / _NARROWEST
    variance = (played.bet / played.rounds) ** 2 + played.squares
    bound = variance * (1 + 1 / share) * (2 * log(1 / alpha) + log(1 + share))
    return sqrt(bound) / played.bet


def judge(played: Played, exact: Exact, confidence: float = CONFIDENCE) -> Judged:
    """What was played, beside the odds. There has to be a round."""
    realised = 1 + (played.payout - played.stake) / played.bet
    rounding = played.rounded / 2 / played.bet
    best, careless = exact.best - rounding, exact.careless - rounding
    reach = chance(played, confidence)
    verdict: Verdict = "as_expected"
    if realised > best + reach:
        verdict = "too_much"
    elif realised < careless - reach:
        verdict = "too_little"
    elif realised < best - reach:
        verdict = "below_best_play"
    return Judged(realised, best, careless, reach, verdict)


def add(one: Played, other: Played) -> Played:
    """Both together."""
    fields = (getattr(one, name) + getattr(other, name) for name in Played.__struct_fields__)
    return Played(*fields)
