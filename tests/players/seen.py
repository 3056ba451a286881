"""Tables as computer players see them, made up for one decision; and what may be seen at all."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, get_args

from msgspec import Meta, Struct, UnsetType
from msgspec.structs import fields, replace

from services.blackjack.domain import modifiers as m
from services.blackjack.domain import view as v
from services.blackjack.domain.commands import Command
from services.blackjack.domain.moves import Move
from services.blackjack.domain.table import Computer
from services.blackjack.odds.figures import CODES, Strategy
from services.blackjack.players.choose import Choose
from tests.domain.story import a_table

SEAT = 3
PUBLIC: set[type] = {
    *(
        v.TableView,
        v.RoundView,
        v.DealerView,
        v.SeatView,
        v.RunView,
        v.HandView,
        v.Turn,
        v.ClockView,
    ),
    *(m.RankValue, m.FixedAce, m.BustLimit, m.InstantBust, m.ReverseBust),
    *(m.TotalFrom, m.Holds, m.Pair, Meta),
    *(Move, Computer, datetime, str, int, bool, type(None), UnsetType),
}
"""Everything that a player may hold in its hands, but for tuples and lists of it."""

_SEEN = v.view(a_table("a2g", 100).table, version=2, position=2)


def chosen(choose: Choose, cards: Sequence[str], total: int, soft: bool, *moves: str) -> str:
    """What a player does with a hand: the first card is the dealer's, the moves are all legal."""
    upcard, *own = cards
    hand = v.HandView(0, tuple(own), total, soft, 20, "playing")
    listed = [Move(move, SEAT, None if move == "insure" else 0) for move in moves]
    seat = replace(_SEEN.seats[0], seat=SEAT, hands=(hand,), computer=Computer("hard", 100, 100))
    seen = replace(
        _SEEN,
        phase="player_turn",
        dealer=v.DealerView((upcard,), "face_down", 0, False),
        seats=(seat,),
        turn=v.Turn(SEAT, 0),
        legal_moves=listed,
    )
    return name_of(choose(seen, listed))


def name_of(command: Command) -> str:
    return str(command.__struct_config__.tag)


def table_of(choose: Choose, printed: Strategy) -> Strategy:
    """The printed table that a player follows, asked for every cell that another one has."""
    upcards = printed.upcards

    def rows(kind: dict[int, Any], soft: bool) -> dict[int, tuple[str, ...]]:
        return {
            total: tuple(_code(choose, upcard, total, soft) for upcard in upcards) for total in kind
        }

    return Strategy(
        upcards,
        hard=rows(printed.hard, soft=False),
        soft=rows(printed.soft, soft=True),
        pairs={
            pair: tuple(_splits(choose, upcard, pair) for upcard in upcards)
            for pair in printed.pairs
        },
    )


def _code(choose: Choose, upcard: str, total: int, soft: bool) -> str:
    """The code that stands for what a player does as more and more moves are allowed."""
    hand = (upcard + "c", "2s", "3h"), total, soft
    plan = tuple(
        chosen(choose, *hand, *moves) == move
        for move, moves in (
            ("hit", ("hit", "stand")),
            ("double_down", ("hit", "stand", "double_down")),
            ("surrender", ("hit", "stand", "double_down", "surrender")),
        )
    )
    return next(code for code, meant in CODES.items() if meant == plan)


def _splits(choose: Choose, upcard: str, pair: str) -> str:
    """`T` is a pair of tens, `TK` two ranks that only count differently."""
    cards = (upcard + "c", pair[0] + "s", pair[-1] + "h")
    does = chosen(choose, cards, 12, pair == "A", "hit", "stand", "double_down", "split")
    return "P" if does == "split" else "-"


def types_in(annotation: Any) -> Iterator[type]:
    """Every type that a value of this annotation may be made of, however deep."""
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        yield annotation
        for field in fields(annotation):
            yield from types_in(field.type)
    elif arguments := get_args(annotation):
        for argument in arguments:
            if argument is not ...:
                yield from types_in(argument)
    else:
        yield annotation if isinstance(annotation, type) else type(annotation)


def values_in(value: Any) -> Iterator[Any]:
    """A value and all that can be reached from it."""
    yield value
    if isinstance(value, Struct):
        value = [getattr(value, name) for name in value.__struct_fields__]
    if isinstance(value, tuple | list):
        for part in value:
            yield from values_in(part)
