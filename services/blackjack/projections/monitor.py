"""Whether games return what they should: every game and table beside its exact odds."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from services.blackjack.application.rulesets import Rulesets
from services.blackjack.domain.rejections import UnknownRuleset
from services.blackjack.domain.rules import Ruleset
from services.blackjack.domain.rulesets import PUBLISHED
from services.blackjack.odds.luck import Exact, Judged, Played, add, judge
from services.blackjack.odds.rejections import NoExactOdds
from services.blackjack.projections.curves import ALL_TABLES, Curves, Total
from shared.telemetry import show_played, show_return, show_return_alarms

Exactly: TypeAlias = Callable[[Ruleset], Awaitable[Exact]]
"""What a game returns, computed: `OddsDesk.returns`."""

OTHERS: Final = "others"
"""Houses' own games together, and published ones of other releases than this."""

_log = logging.getLogger(__name__)


class Monitor:
    """Looks at all that was played, shows it as figures, and raises the alarm in the log.

    The figures are of the published games over all houses, and tell nothing of any one of them;
    the number of alarms counts games of the houses' own and single tables too.
    """

    def __init__(self, curves: Curves, rulesets: Rulesets, exact: Exactly) -> None:
        self._curves = curves
        self._rulesets = rulesets
        self._exact = exact
        self._alarmed: set[tuple[str, str, str, str]] = set()

    async def look(self, houses: Sequence[str]) -> None:
        """One look at all of them."""
        everywhere: dict[str, Played] = {}
        alarmed = set[tuple[str, str, str, str]]()
        for house in houses:
            for total in await self._curves.totals(house):
                judged = await self._judged(house, total)
                if judged and judged.alarm:
                    key = house, total.table, total.ruleset, total.version
                    alarmed.add(key)
                    self._tell(key, total.played, judged)
                if total.table == ALL_TABLES:
                    name = total.ruleset if _is_published(total) else OTHERS
                    known = everywhere.get(name)
                    everywhere[name] = add(known, total.played) if known else total.played
        for name, played in everywhere.items():
            show_played(name, played.rounds, played.stake, played.payout)
            if name == OTHERS:
                continue
            if judged := await self._beside_the_odds(played, PUBLISHED[name]):
                show_return(name, judged.realised, judged.best, judged.low, judged.high)
        show_return_alarms(len(alarmed))
        self._alarmed = alarmed

    async def _judged(self, house: str, total: Total) -> Judged | None:
        try:
            rules = await self._rulesets.find(house, total.ruleset, total.version)
        except UnknownRuleset:  # published by another release than this one
            return None
        return await self._beside_the_odds(total.played, rules)

    async def _beside_the_odds(self, played: Played, rules: Ruleset) -> Judged | None:
        """None for a game that has no exact odds."""
        try:
            return judge(played, await self._exact(rules))
        except NoExactOdds:
            return None

    def _tell(self, key: tuple[str, str, str, str], played: Played, judged: Judged) -> None:
        """Once, until it is over."""
        if key in self._alarmed:
            return
        house, table, ruleset, version = key
        _log.warning(
            "The return of %s %s %s in the house %s is outside of its band, %s: "
            "%.4f after %d rounds, where %.4f to %.4f was to be expected.",
            *(ruleset, version, f"at {table}" if table else "at all tables", house),
            *(judged.verdict, judged.realised, played.rounds, judged.low, judged.high),
        )


def _is_published(total: Total) -> bool:
    game = PUBLISHED.get(total.ruleset)
    return game is not None and game.version == total.version
