"""What an auditor asks for often, of all of a log at once. The worker keeps `ALL` up to date."""

from typing import Final

from services.audit.projections.significant import SIGNIFICANT
from services.audit.projections.statements import STATEMENTS
from services.blackjack.application.plays import Moment
from shared.eventstore.projection import Projection

ALL: Final[tuple[Projection[Moment], ...]] = (STATEMENTS, SIGNIFICANT)
