"""The route that gives a seat to a computer player."""

from typing import Any, Final

import msgspec
from fastapi import APIRouter, Request, Response

from services.blackjack.api import examples
from services.blackjack.api.tables import Player, TableId
from services.blackjack.application.shoes import SeedUnreadable
from services.blackjack.application.tables import Tables
from services.blackjack.domain import rejections as no
from services.blackjack.domain.commands import SeatComputer
from shared.eventstore.cause import StaleVersion
from shared.eventstore.rejections import KeyReused, Overloaded, VersionConflict, WaitedTooLong
from shared.http.auth import Forbidden, Unauthenticated
from shared.http.openapi import answers, refuses, takes
from shared.http.problems import BodyTooLarge, Malformed
from shared.http.requests import IDEMPOTENCY, IF_MATCH, cause, decoded, etag, header_map, replayed

PUBLISHED: Final[dict[str, Any]] = {"SeatComputer": SeatComputer}

_SEATED: Final = {"table": examples.TABLE, "events": [examples.COMPUTER_SEATED]}
_CAUSED: Final = {"parameters": [*IDEMPOTENCY["parameters"], IF_MATCH]}


def routes(tables: Tables) -> APIRouter:
    """The route over the tables of a service."""
    router = APIRouter(prefix="/v1", tags=["Tables"], default_response_class=Response)
    decoder = msgspec.json.Decoder(SeatComputer)

    @router.post(
        "/tables/{table}/computers",
        summary="Seat a computer player",
        responses=answers("Answer", "It sits.", _SEATED)
        | refuses(Unauthenticated, Forbidden, BodyTooLarge, Malformed, StaleVersion, KeyReused)
        | refuses(VersionConflict, Overloaded, WaitedTooLong, SeedUnreadable, no.UnknownTable)
        | refuses(no.TableClosed, no.UnknownSeat, no.SeatTaken, no.AlreadySeated)
        | refuses(no.NoSuchComputer, no.NotEnoughChips),
        openapi_extra=takes("SeatComputer", examples.COMPUTERS) | _CAUSED,
    )
    async def seat_computer(request: Request, caller: Player, table: TableId) -> Response:
        """Give a free seat to a player that the service plays by itself.

        `easy` hits below 17 and otherwise stands. `normal` plays basic strategy as it is printed
        everywhere. `hard` plays the exact best table of this ruleset. None of them insures, and
        none is given more than this API gives you.

        It plays as `computer-{level}-{seat}`, with chips granted to that player's vault as it
        brings them. Its bet is the least that is allowed, placed as soon as a person has bet, or
        all people sit out or cannot bet: so computers play on by themselves where nobody else
        sits. When its stack allows no bet it brings `buy_in` once more. It leaves after `rounds`
        rounds, or when it is told to by `leave`.
        """
        command = await decoded(request, decoder)
        answered = await tables.play(cause(caller, header_map(request.scope)), table, command)
        headers = {"ETag": etag(answered.answer.table.version)} | replayed(answered.replayed)
        body = msgspec.json.encode(answered.answer)
        return Response(body, headers=headers, media_type="application/json")

    return router
