"""What nobody should send: commands that make no sense here, and bodies that are none."""

from collections.abc import Callable
from random import Random
from typing import Any

from tests.simulation.world import Json, Request

MALFORMED = (
    b"",
    b"null",
    b"[]",
    b"{",
    b'"stand"',
    b"\xff\xfe",
    b'{"type": "dance", "seat": 1}',
    b'{"type": "bet", "seat": 1}',
    b'{"type": "bet", "seat": 1, "amount": 0}',
    b'{"type": "bet", "seat": 1, "amount": -20}',
    b'{"type": "bet", "seat": 1, "amount": 5.5}',
    b'{"type": "bet", "seat": 1, "amount": "5"}',
    b'{"type": "bet", "seat": 1, "amount": true}',
    b'{"type": "bet", "seat": 1, "amount": NaN}',
    b'{"type": "bet", "seat": 1, "amount": 1e400}',
    b'{"type": "bet", "seat": 1, "amount": 9223372036854775808}',
    b'{"type": "bet", "seat": 8, "amount": 20}',
    b'{"type": "bet", "seat": 1, "amount": 20, "tip": 1}',
    b'{"type": "bet", "seat": 1, "amount": 20, "client_seed": "two\\nlines"}',
    b'{"type": "hit", "seat": 1, "hand": 4}',
    b'{"type": "sit", "seat": 1, "player": "Ada Lovelace", "buy_in": 10}',
    b'{"type": "time_out", "turn": "1.1.0"}',
    b'{"type": "stand", "seat": ' + b"[" * 2000,
    b'{"type": "' + b"x" * 70_000 + b'"}',
)

_SEATED = ("leave", "withdraw_bet", "sit_out", "insure", "decline_insurance")
_HANDS = ("hit", "stand", "double_down", "split", "surrender")
_AMOUNTS = ("bet", "buy_in", "cash_out")


def random_command(chance: Random, player: str) -> Json:
    """A command that is well formed, and as a rule not legal."""
    seat = chance.randint(1, 7)
    kind = chance.choice((*_SEATED, *_HANDS, *_HANDS, *_AMOUNTS, "sit", "start_run", "deal"))
    if kind == "sit":
        amount = chance.choice((1, 50, 10**12))
        return {"type": "sit", "seat": seat, "player": player, "buy_in": amount}
    if kind == "start_run":
        stake = chance.choice((None, 1, 40, 100, 10**12))
        return {"type": kind, "seat": seat, "player": player, "stake": stake}
    if kind == "deal":
        return {"type": "deal", "player": player}
    command: dict[str, Any] = {"type": kind, "seat": seat}
    if kind in _HANDS:
        command["hand"] = chance.randint(0, 3)
    if kind in _AMOUNTS:
        command["amount"] = chance.choice((1, 2, 7, 501, 10**12))
    return command


def nonsense(chance: Random, table: str) -> tuple[Request, set[int]]:
    """A request that has to be refused, and how."""
    path = f"/v1/tables/{table}/commands"
    stand = b'{"type": "stand", "seat": 1}'
    makers: tuple[Callable[[], tuple[Request, set[int]]], ...] = (
        lambda: (Request("POST", path, chance.choice(MALFORMED)), {413, 422}),
        lambda: (Request("POST", path, chance.choice(MALFORMED)), {413, 422}),
        lambda: (Request("POST", path, stand, {"Idempotency-Key": "k" * 129}), {422}),
        lambda: (Request("POST", path, stand, {"If-Match": "the newest"}), {422}),
        lambda: (Request("POST", path, stand, {"Authorization": "Bearer ck_me"}), {401}),
        lambda: (Request("DELETE", path), {405}),
        lambda: (Request("POST", "/v1/tables/no-such-table/commands", stand), {404}),
        lambda: (Request("POST", "/v1/tables/No%20Such/commands", stand), {422}),
        lambda: (Request("PUT", f"/v1/tables/{table}", b'{"ruleset": "poker"}'), {404}),
        lambda: (Request("PUT", f"/v1/tables/{table}", b'{"ruleset": "a2g", "seats": 9}'), {422}),
    )
    return chance.choice(makers)()
