"""How long exact odds take: each published game, from its rules to both edges and the table.

One core does it, so its CPU time is told: what others do on this machine is no matter.
"""

from statistics import median
from time import process_time

from services.blackjack.domain.rulesets import PUBLISHED
from services.blackjack.odds.game import game_of, plain_bet
from services.blackjack.odds.solve import odds_of, solve
from tests.benchmarks.measure import in_turns
from tests.benchmarks.report import Goal, Part, Row

WANTED_SECONDS = 3.0


def measure(quick: bool) -> Part:
    """CPU seconds a game, and the two edges that they give, in percent."""
    games = {name: game_of(rules, plain_bet(rules)) for name, rules in PUBLISHED.items()}
    figures = {name: odds_of(solve(game)) for name, game in games.items()}

    def timed(name: str) -> float:
        begin = process_time()
        odds_of(solve(games[name]))
        return process_time() - begin

    sides = {name: lambda name=name: timed(name) for name in games}
    runs = in_turns(sides, 3 if quick else 9)
    rows: list[Row] = [
        {
            "side": name,
            "cpu_seconds": median(runs[name]),
            "edge_by_composition_percent": f"{-100 * odds.by_composition:.6f}",
            "edge_by_total_percent": f"{-100 * odds.by_total:.6f}",
        }
        for name, odds in figures.items()
    ]
    together = sum(median(times) for times in runs.values())
    goal = Goal("all published games, CPU seconds", together, WANTED_SECONDS, at_most=True)
    return Part("odds", rows, [goal], "cpu_seconds")
