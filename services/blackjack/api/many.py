"""Many commands in one request, `POST /v1/commands`: an outcome for each, in order."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Annotated, Any, Final
from uuid import uuid4

import msgspec
from msgspec import Meta, Struct

from services.blackjack.api.examples import ANSWER, COMMANDS
from services.blackjack.application.answers import EventView
from services.blackjack.application.tables import Tables
from services.blackjack.domain.commands import Command
from services.blackjack.domain.rejections import NotYourTurn
from services.blackjack.domain.view import TableView
from shared.eventstore.cause import Cause
from shared.eventstore.rejections import Overloaded
from shared.http import problems
from shared.http.auth import Forbidden, Unauthenticated
from shared.http.openapi import answers, operation, refuses, takes
from shared.http.problems import BodyTooLarge, Malformed, Unexpected
from shared.kernel.ids import Id, whole
from shared.kernel.rejected import Rejected

MOST_COMMANDS: Final = 100
MOST_BODY_BYTES: Final = 256 * 1024
"""The longest command takes half a KiB, a hundred of them in indented JSON some 150."""

_log = logging.getLogger(__name__)

Key = Annotated[
    str,
    whole("^[!-~]{1,128}$", "Makes the command happen once, as the header `Idempotency-Key` does."),
]
Version = Annotated[
    int, Meta(ge=0, description="Insists on a version, as the header `If-Match` does.")
]


class TableCommand(Struct, frozen=True, forbid_unknown_fields=True):
    """A command, for a table, with what are headers where it comes alone."""

    table: Id
    command: Command
    key: Key | None = None
    if_version: Version | None = None


class TableCommands(Struct, frozen=True, forbid_unknown_fields=True):
    """Commands for any tables. Those of one table happen in this order."""

    commands: Annotated[list[TableCommand], Meta(min_length=1, max_length=MOST_COMMANDS)]


class Done(Struct, frozen=True):
    """The command happened. `replayed`: it had happened before, and this is its first answer."""

    status: int
    replayed: bool
    table: TableView
    events: tuple[EventView, ...]


class Outcomes(Struct, frozen=True):
    """What became of each command, in the order they were sent."""

    outcomes: list[
        Annotated[
            Any,
            Meta(
                description="What the command would have been answered alone.",
                extra_json_schema={
                    "anyOf": [
                        {"$ref": "#/components/schemas/Done"},
                        {"$ref": "#/components/schemas/Problem"},
                    ]
                },
            ),
        ]
    ]


async def play_all(tables: Tables, cause: Cause, commands: Sequence[TableCommand]) -> Outcomes:
    """Commands of one table one after the other, those of different tables side by side, so that
    one flush may take them all. A refusal stops none of the others."""
    outcomes: list[Any] = [None] * len(commands)
    places: dict[str, list[int]] = {}
    for place, each in enumerate(commands):
        places.setdefault(each.table, []).append(place)

    async def in_order(of_a_table: Sequence[int]) -> None:
        for place in of_a_table:
            outcomes[place] = await _outcome(tables, cause, commands[place])

    await asyncio.gather(*map(in_order, places.values()))
    return Outcomes(outcomes)


async def _outcome(tables: Tables, cause: Cause, each: TableCommand) -> Any:
    own = msgspec.structs.replace(cause, id=each.key or uuid4().hex, if_version=each.if_version)
    try:
        answered = await tables.play(own, each.table, each.command)
    except Rejected as refusal:
        return problems.document(refusal)
    except Exception:
        _log.exception("A command of many has failed.")
        return problems.document(Unexpected())
    return Done(200, answered.replayed, answered.answer.table, answered.answer.events)


def description() -> dict[str, Any]:
    """The operation as OpenAPI has it."""
    one = {"table": "table-3", "key": "5f0c6a1e-bet-1", "command": COMMANDS["bet"]}
    two = {"table": "table-8", "if_version": 17, "command": COMMANDS["hit"]}
    refused = problems.document(NotYourTurn("Seat 2, hand 0 is to act."))
    done = {"status": 200, "replayed": False, **ANSWER}
    return operation(
        *("play_many", "Tables", "Play many"),
        f"Up to {MOST_COMMANDS} commands for any tables. Those of one table happen "
        "in the order given, those of different tables side by side. Each is accepted or refused "
        "by itself, with an outcome at its place in the answer: what it would have been answered "
        "alone, with its `status`. Give each command a `key` of its own to be able to send all of "
        "them again. Legal moves are taken as they are by `/v1/tables/{table}/commands`.",
        takes("TableCommands", {"two tables": {"commands": [one, two]}}),
        answers("Outcomes", "What became of each.", {"outcomes": [done, refused]})
        | refuses(Unauthenticated, Forbidden, BodyTooLarge, Malformed, Overloaded),
    )


PUBLISHED: Final[dict[str, Any]] = {
    "TableCommands": TableCommands,
    "Outcomes": Outcomes,
    "Done": Done,
}
