"""A seat for a computer player, `POST /v1/tables/{table}/computers`, as OpenAPI has it."""

from typing import Any, Final

from services.blackjack.api import examples
from services.blackjack.application.shoes import SeedUnreadable
from services.blackjack.domain import rejections as no
from services.blackjack.domain.commands import SeatComputer
from shared.eventstore.cause import StaleVersion
from shared.eventstore.rejections import KeyReused, Overloaded, VersionConflict, WaitedTooLong
from shared.http.auth import Forbidden, Unauthenticated
from shared.http.openapi import answers, id_in_path, operation, refuses, takes
from shared.http.problems import BodyTooLarge, Malformed
from shared.http.requests import IDEMPOTENCY_KEY, IF_MATCH

PUBLISHED: Final[dict[str, Any]] = {"SeatComputer": SeatComputer}

_DESCRIPTION: Final = """\
Give a free seat to a player that the service plays by itself.

`easy` hits below 17 and otherwise stands. `normal` plays basic strategy as it is printed
everywhere. `hard` plays the exact best table of this ruleset. None of them insures, and
none is given more than this API gives you.

It plays as `computer-{level}-{seat}`, with chips granted to that player's vault as it
brings them. Its bet is the least that is allowed, placed as soon as a person has bet, or
all people sit out or cannot bet: so computers play on by themselves where nobody else
sits. When its stack allows no bet it brings `buy_in` once more. It leaves after `rounds`
rounds, or when it is told to by `leave`."""


def description() -> dict[str, Any]:
    """The operation."""
    seated = {"table": examples.TABLE, "events": [examples.COMPUTER_SEATED]}
    return operation(
        *("seat_computer", "Tables", "Seat a computer player", _DESCRIPTION),
        takes("SeatComputer", examples.COMPUTERS),
        answers("Answer", "It sits.", seated)
        | refuses(
            *(Unauthenticated, Forbidden, BodyTooLarge, Malformed, StaleVersion, KeyReused),
            *(VersionConflict, Overloaded, WaitedTooLong, SeedUnreadable, no.UnknownTable),
            *(no.TableClosed, no.UnknownSeat, no.SeatTaken, no.AlreadySeated),
            *(no.NoSuchComputer, no.NotEnoughChips),
        ),
        [id_in_path("table", "The table's id.", "table-3"), IDEMPOTENCY_KEY, IF_MATCH],
    )
