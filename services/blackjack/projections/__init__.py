"""What those ask for often who look at many tables, rounds or days at once.

Each view is beside its queries; `ALL` of them are kept up to date by the worker.
"""

from typing import Final

from services.blackjack.application.plays import Moment
from services.blackjack.projections.curves import CURVES
from services.blackjack.projections.hands import HANDS
from services.blackjack.projections.returns import RETURNS
from services.blackjack.projections.rounds import ROUNDS
from services.blackjack.projections.runs import RUNS
from services.blackjack.projections.tables import TABLES
from shared.eventstore.projection import Projection

ALL: Final[tuple[Projection[Moment], ...]] = (TABLES, ROUNDS, HANDS, RUNS, RETURNS, CURVES)
