"""The routes that record at tables: open one, play, play many, seat computer players.

They stand in front of the app.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from services.blackjack.api import computers, examples, hints, many
from services.blackjack.application.answers import Answered
from services.blackjack.application.shoes import SeedUnreadable
from services.blackjack.application.tables import Tables
from services.blackjack.domain import rejections as no
from services.blackjack.domain.commands import AnyCommand, Command, Open, SeatComputer
from shared.eventstore.cause import StaleVersion
from shared.eventstore.rejections import (
    InsufficientChips,
    KeyReused,
    Overloaded,
    VersionConflict,
    WaitedTooLong,
)
from shared.http.auth import Forbidden, Unauthenticated
from shared.http.front import Asked, Entrance, Reply
from shared.http.openapi import answers, id_in_path, operation, refuses, takes
from shared.http.problems import BodyTooLarge, Malformed
from shared.http.requests import IDEMPOTENCY_KEY, IF_MATCH, cause, decode
from shared.kernel.rejected import Rejected

_TABLE: Final = id_in_path("table", "The table's id.", "table-3")
_read_open: Final = msgspec.json.Decoder(Open)
_read_one: Final = msgspec.json.Decoder(Command)
_read_computer: Final = msgspec.json.Decoder(SeatComputer)
_read_many: Final = msgspec.json.Decoder(many.TableCommands)


def entrances(tables: Tables, most_under_way: int) -> Iterator[Entrance]:
    """The routes over the tables of a service, the hot one first.

    `most_under_way`: how many commands may be, at once; more are Overloaded.
    """
    commands = _Commands(tables, most_under_way)
    path = "/v1/tables/{table}"
    yield Entrance("POST", f"{path}/commands", "play", commands.play, _play())
    yield Entrance(
        *("POST", "/v1/commands", "play", commands.play_many),
        many.description(),
        many.MOST_BODY_BYTES,
    )
    yield Entrance(
        *("POST", f"{path}/computers", "play", commands.seat_computer), computers.description()
    )
    yield Entrance("PUT", path, "play", commands.open, _open())


class _Commands:
    def __init__(self, tables: Tables, most_under_way: int) -> None:
        self._tables = tables
        self._most_under_way = most_under_way
        self._under_way = 0

    async def play(self, asked: Asked) -> Reply:
        return await self._record(asked, decode(asked.body, _read_one, hints.bare))

    async def seat_computer(self, asked: Asked) -> Reply:
        return await self._record(asked, decode(asked.body, _read_computer))

    async def _record(self, asked: Asked, command: AnyCommand) -> Reply:
        why = cause(asked.caller, asked.headers)
        self._make_room(1)
        try:
            return _reply(await self._tables.play(why, asked.id, command))
        finally:
            self._under_way -= 1

    async def play_many(self, asked: Asked) -> Reply:
        if b"idempotency-key" in asked.headers or b"if-match" in asked.headers:
            raise Malformed.at(
                "header", "Idempotency-Key and If-Match are for one command: send key, if_version."
            )
        why = cause(asked.caller, asked.headers)
        commands = decode(asked.body, _read_many, hints.bare_each).commands
        if asked.limit:
            asked.limit.charge(len(commands) - 1)
        self._make_room(len(commands))
        try:
            return Reply(await many.play_all(self._tables, why, commands))
        finally:
            self._under_way -= len(commands)

    async def open(self, asked: Asked) -> Reply:
        why, command = cause(asked.caller, asked.headers), decode(asked.body, _read_open)
        opened = await self._tables.open(why, asked.id, command)
        return _reply(opened, status=200 if opened.replayed else 201)

    def _make_room(self, commands: int) -> None:
        """Counts commands as under way. Raises Overloaded when they would be too many now, and
        Malformed when they always would be."""
        most = self._most_under_way
        if commands > most:
            why = f"Send {most} at most: there is never room for more here."
            raise Malformed.at("$.commands", why)
        if self._under_way + commands > most:
            raise Overloaded(f"{self._under_way} commands are under way already.")
        self._under_way += commands


def _reply(answered: Answered, status: int = 200) -> Reply:
    return Reply(answered.answer, status, answered.answer.table.version, answered.replayed)


def _play() -> dict[str, Any]:
    return operation(
        *("play", "Tables", "Play"),
        "One command at a table. It happens wholly or not at all. The answer has "
        "the table after it, what it caused, and everything that may be done next.\n\n"
        "Each legal move is a command as it stands, but for what only you can know: where it has "
        "`min`, `max` and `step`, add the amount that they bound; to `sit` and to `start_run` on a "
        "free seat, the `player`; to `apply_modifier`, the `modifier`. What it tells you besides, "
        "`cost`, `min`, `max` and `step`, may stay in it: it is taken and ignored.",
        takes("Command", examples.COMMANDS),
        answers("Answer", "The command happened.", examples.ANSWER)
        | refuses(
            *(Unauthenticated, Forbidden, BodyTooLarge, Malformed, StaleVersion, KeyReused),
            *(InsufficientChips, VersionConflict, Overloaded, WaitedTooLong, SeedUnreadable),
            *(cls for cls in vars(no).values() if isinstance(cls, type) and cls is not Rejected),
        ),
        [_TABLE, IDEMPOTENCY_KEY, IF_MATCH],
    )


def _open() -> dict[str, Any]:
    opened_before = {"table": examples.TABLE, "events": []}
    return operation(
        *("open_table", "Tables", "Open a table"),
        "Open a table under an id of your choice. Safe to repeat.\n\n"
        "`ruleset` is a published one or one of the house's own, in its newest version, which the "
        "table keeps. `bet` and `seats` override its limits; `host` is who deals where the host "
        "deals, otherwise the first to sit. Where the game has modifiers, `environment` are those "
        "of every round; where it has a shop, `items` is what it sells instead.",
        takes("Open", examples.OPEN),
        answers("Answer", "Opened before with this same body.", opened_before)
        | answers("Answer", "The table is open.", examples.ANSWER, status=201)
        | refuses(*(Unauthenticated, Forbidden, no.UnknownRuleset, no.TableExists))
        | refuses(BodyTooLarge, Malformed, no.RulesetNonsense, Overloaded)
        | refuses(KeyReused, WaitedTooLong),
        [_TABLE, IDEMPOTENCY_KEY],
    )
