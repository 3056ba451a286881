"""Statements of account: the lines of each player and of each bank, with what they came to."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final, LiteralString, NamedTuple

from msgspec import Struct
from psycopg.rows import class_row

from services.audit.domain.statement import Kind, Movement, at_a_table, at_a_vault, words
from services.blackjack.application.plays import Happened, Moment
from shared.eventstore.arrays import int4s, int8s, texts
from shared.eventstore.checkpoints import Checkpoint, Checkpoints
from shared.eventstore.postgres import PostgresStore
from shared.eventstore.projection import Projection
from shared.eventstore.rejections import UnknownPosition
from shared.kernel.rejected import Rejected


def _rows(items: Sequence[Moment]) -> Iterable[tuple[Any, ...]]:
    for item in items:
        if isinstance(item, Happened):
            moved = at_a_table(item.event, item.table)
        else:
            moved = at_a_vault(item.event)
        if moved:
            vault, stack = (moved.amount, 0) if moved.in_vault else (0, moved.amount)
            yield (
                *(moved.player, item.position, item.at, moved.kind, moved.table, moved.round),
                *(moved.hand, moved.detail, vault, stack, moved.at_risk, moved.bank),
            )


STATEMENTS: Final = Projection(
    name="statements",
    table="projected_statement",
    columns="player, position, at, kind, table_id, round, hand, detail, amount, at_risk, bank, "
    "vault_after, stacks_after, risk_after, bank_after",
    rows=_rows,
    packers=(
        *(texts, int8s, int8s, texts, texts, int8s),
        *(int4s, texts, int8s, int8s, int8s, int8s),
    ),
    # What each account had is looked up once a page; within the page it is summed up.
    write="""
        INSERT INTO projected_statement (house, generation, player, position, at, kind, table_id,
                                         round, hand, detail, amount, at_risk, bank, vault_after,
                                         stacks_after, risk_after, bank_after)
        SELECT %b, %b, more.* FROM (
            WITH told AS (
                SELECT * FROM unnest(%b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b, %b)
                    AS n(player, position, at, kind, table_id, round, hand, detail, vault, stack,
                         risk, bank)
            ), players AS (
                SELECT k.player, s.* FROM (SELECT DISTINCT player FROM told) k,
                       LATERAL (SELECT vault_after, stacks_after, risk_after
                                  FROM projected_statement
                                 WHERE house = %b AND generation = %b AND player = k.player
                                 ORDER BY position DESC LIMIT 1) s
            ), banks AS (
                SELECT k.table_id, s.* FROM (SELECT DISTINCT table_id FROM told WHERE bank <> 0) k,
                       LATERAL (SELECT bank_after FROM projected_statement
                                 WHERE house = %b AND generation = %b AND table_id = k.table_id
                                   AND bank <> 0
                                 ORDER BY position DESC LIMIT 1) s
            )
            SELECT player, position, 'epoch'::timestamptz + at * interval '1 millisecond', kind,
                   table_id, round, hand, detail, vault + stack, risk, bank,
                   (coalesce(p.vault_after, 0) + sum(vault) OVER player)::bigint,
                   (coalesce(p.stacks_after, 0) + sum(stack) OVER player)::bigint,
                   (coalesce(p.risk_after, 0) + sum(risk) OVER player)::bigint,
                   CASE WHEN bank <> 0 THEN
                       (coalesce(b.bank_after, 0) + sum(bank) OVER at_a_table)::bigint ELSE 0 END
              FROM told LEFT JOIN players p USING (player) LEFT JOIN banks b USING (table_id)
            WINDOW player AS (PARTITION BY player ORDER BY position),
                   at_a_table AS (PARTITION BY table_id ORDER BY position)) AS more
        """,
    looks=2,
)


class BadRange(Rejected):
    """The range ends before it begins.

    `from` is the first position of a statement and `to` its last, or times: then `from` is the
    first moment and `to` the one right after the last. Put the smaller one into `from`.
    """

    status: ClassVar[int] = 422


class Chips(Struct, frozen=True):
    """What a player has: `balance` to dispose of, in the vault and in stacks at tables, and what is
    `at_risk` besides: stakes that are not settled."""

    balance: int
    vault: int
    at_tables: int
    at_risk: int


class Line(Struct, frozen=True):
    """Chips that came to a player (+) or went (−), by the event at a position of the log.

    `balance` is what the player can dispose of after it, `vault` the part of it that is not at
    tables, `at_risk` what is staked besides. A `hand` is named where the seat has several.
    """

    position: int
    time: datetime
    kind: Kind
    text: str
    table: str | None
    round: str | None
    hand: int | None
    amount: int
    balance: int
    vault: int
    at_risk: int


class BankLine(Struct, frozen=True):
    """Chips that a table's bank took (+) or paid (−), and its balance after that."""

    position: int
    time: datetime
    kind: Kind
    text: str
    player: str
    round: str | None
    hand: int | None
    amount: int
    balance: int


class PlayerStatement(Struct, frozen=True):
    """`opening` is what the player had before `first_position`, `closing` after `last_position`,
    and `data` what came between: a part of it, which `next` continues; null at the end.

    `opening.balance` and all amounts add up to `closing.balance`.
    """

    player: str
    first_position: int
    last_position: int
    opening: Chips
    closing: Chips
    data: list[Line]
    next: int | None


class BankStatement(Struct, frozen=True):
    """The same for the bank of a table: what it won (+) or lost (−) since the table was opened."""

    table: str
    first_position: int
    last_position: int
    opening: int
    closing: int
    data: list[BankLine]
    next: int | None


class Entry(Struct, frozen=True):
    """A line as it is kept."""

    player: str
    position: int
    at: datetime
    kind: Kind
    table_id: str
    round: int
    hand: int
    detail: str
    amount: int
    at_risk: int
    bank: int
    vault_after: int
    stacks_after: int
    risk_after: int
    bank_after: int

    @property
    def text(self) -> str:
        """What happened, as a sentence."""
        return words(
            Movement(
                *(self.player, self.kind, self.amount, self.table_id, self.round, self.hand),
                *(self.detail, self.at_risk, self.bank),
            )
        )

    @property
    def place(self) -> tuple[str | None, int | None]:
        """The round and the hand."""
        round = f"{self.table_id}.{self.round}" if self.round else None
        return round, None if self.hand < 0 else self.hand

    @property
    def chips(self) -> Chips:
        """What the player has after it."""
        vault, stacks = self.vault_after, self.stacks_after
        return Chips(vault + stacks, vault, stacks, self.risk_after)

    def of_the_player(self) -> Line:
        has = self.chips
        return Line(
            *(self.position, self.at, self.kind, self.text, self.table_id or None, *self.place),
            *(self.amount, has.balance, has.vault, has.at_risk),
        )

    def of_the_bank(self) -> BankLine:
        return BankLine(
            *(self.position, self.at, self.kind, self.text, self.player, *self.place),
            *(self.bank, self.bank_after),
        )


class Range(NamedTuple):
    """Which lines are wanted: positions, the first and the last, or times, the first and the one
    right after the last. Where nothing is said, from the first line on, or up to the newest."""

    first: int | datetime | None = None
    last: int | datetime | None = None


class Part(NamedTuple):
    """Lines of an account: some of those from `first` to `last`. `ends` are the last line before
    them all, and the last of them all."""

    first: int
    last: int
    ends: tuple[Entry | None, Entry | None]
    entries: list[Entry]

    @property
    def next(self) -> int | None:
        """The place of the last line here, when there are more."""
        end = self.ends[1]
        if self.entries and end and self.entries[-1].position < end.position:
            return self.entries[-1].position
        return None


class Statements:
    """The reading side. Lines never change, so a range that ends at a position is always the same.

    All raise BadRange; UnknownPosition for what has not happened yet; ViewBehind.
    """

    def __init__(self, store: PostgresStore, checkpoints: Checkpoints) -> None:
        self._store = store
        self._checkpoints = checkpoints

    async def of_a_player(
        self, house: str, player: str, range: Range, after: int, limit: int, wait_for: int = 0
    ) -> PlayerStatement:
        """The lines of a player in a range, after a position."""
        part = await self._part(_PLAYER, house, player, range, after, limit, wait_for)
        opening, closing = [each.chips if each else _NO_CHIPS for each in part.ends]
        lines = [entry.of_the_player() for entry in part.entries]
        return PlayerStatement(player, part.first, part.last, opening, closing, lines, part.next)

    async def of_a_bank(
        self, house: str, table: str, range: Range, after: int, limit: int, wait_for: int = 0
    ) -> BankStatement:
        """The lines of the bank of a table in a range, after a position."""
        part = await self._part(_BANK, house, table, range, after, limit, wait_for)
        opening, closing = [each.bank_after if each else 0 for each in part.ends]
        lines = [entry.of_the_bank() for entry in part.entries]
        return BankStatement(table, part.first, part.last, opening, closing, lines, part.next)

    async def _part(
        self,
        whose: "_Account",
        house: str,
        name: str,
        range: Range,
        after: int,
        limit: int,
        wait_for: int,
    ) -> Part:
        at = await self._reached(house, range, wait_for)
        account = house, at.generation, name
        before = await self._before(whose, account, range.first)
        last = await self._last(whose, account, at.position if range.last is None else range.last)
        if before > last:
            raise BadRange(f"It would begin with position {before + 1} and end with {last}.")
        await self._checkpoints.reached(house, STATEMENTS.name, last)
        ends = [await self._entries(whose.last, (*account, each)) for each in (before, last)]
        entries = await self._entries(whose.lines, (*account, max(before, after), last, limit))
        opening, end = [each[0] if each else None for each in ends]
        return Part(before + 1, last, (opening, end), entries)

    async def _reached(self, house: str, range: Range, wait_for: int) -> Checkpoint:
        """Where the view is, when it has come to all positions that are asked for."""
        asked = _farthest(range)
        at = await self._checkpoints.reached(house, STATEMENTS.name, wait_for)
        if asked > at.position:
            await self._insist(house, asked)
            at = await self._checkpoints.reached(house, STATEMENTS.name, asked)
        return at

    async def _insist(self, house: str, position: int) -> None:
        """Raises UnknownPosition when the log has not come that far."""
        rows = await self._store.rows("SELECT position FROM log_head WHERE house = %b", (house,))
        newest = rows[0][0] if rows else 0
        if position > newest:
            raise UnknownPosition(position, newest)

    async def _before(
        self, whose: "_Account", account: tuple[Any, ...], first: int | datetime | None
    ) -> int:
        """The last position before the first command of a range."""
        if isinstance(first, datetime):
            return await self._last(whose, account, first)
        return (await self._store.command_at(account[0], first or 1))[0] - 1

    async def _last(self, whose: "_Account", account: tuple[Any, ...], last: int | datetime) -> int:
        """The last position of a command: the one that a position is amid of, or the account's last
        before a time."""
        if isinstance(last, datetime):
            [(position,)] = await self._store.rows(whose.before, (last, *account))
        else:
            position = last
        return (await self._store.command_at(account[0], position))[1]

    async def _entries(self, query: LiteralString, parameters: tuple[Any, ...]) -> list[Entry]:
        return await self._store.rows(query, parameters, class_row(Entry))


def _farthest(range: Range) -> int:
    """The last position that a range names. Raises BadRange.

    It may be empty, as of a month without a line: then it begins right behind its end.
    """
    match range:
        case (int(first), int(last)) if first <= last + 1:
            return last
        case (int(first), int(last)):
            raise BadRange(f"`from` is {first}, which is after `to`, {last}.")
        case (datetime() as since, datetime() as until) if since > until:
            raise BadRange(f"`from` is {since}, which is after `to`, {until}.")
        case (int(named), _) | (_, int(named)):
            return named
    return 0


class _Account:
    """The statements about one kind of account. Each takes house, generation and the name."""

    def __init__(self, is_its: LiteralString) -> None:
        lines: LiteralString = f"""
            SELECT player, position, at, kind, table_id, round, hand, detail, amount, at_risk, bank,
                   vault_after, stacks_after, risk_after, bank_after
              FROM projected_statement WHERE house = %b AND generation = %b AND {is_its}"""
        self.lines: LiteralString = f"""{lines}
               AND position > %b AND position <= %b ORDER BY position LIMIT %b"""
        self.last: LiteralString = f"""{lines}
               AND position <= %b ORDER BY position DESC LIMIT 1"""
        # Times grow with positions, but for some milliseconds between processes. So a time is
        # found by halving: each step looks at the first line from a position on, by the key.
        self.before: LiteralString = f"""
            WITH RECURSIVE search AS (
                SELECT 0::bigint AS known, {_FIRST_STEP} AS step
                UNION ALL
                SELECT CASE WHEN
                       (SELECT at < %b FROM projected_statement
                         WHERE house = %b AND generation = %b AND {is_its}
                           AND position >= known + step
                         ORDER BY position LIMIT 1) THEN known + step ELSE known END, step / 2
                  FROM search WHERE step > 0
            )
            SELECT known FROM search WHERE step = 0"""


_NO_CHIPS: Final = Chips(0, 0, 0, 0)

_FIRST_STEP: Final = "(2::bigint ^ 52)::bigint"

_PLAYER: Final = _Account("player = %b")
_BANK: Final = _Account("table_id = %b AND bank <> 0")
