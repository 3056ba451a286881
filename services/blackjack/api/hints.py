"""Legal moves sent back as commands: what a move says beside its command is taken and ignored."""

from typing import Any, Final, get_args

import msgspec
from msgspec import Raw

from services.blackjack.domain.commands import Command
from shared.http.problems import Malformed
from shared.http.requests import without

_HINTS: Final = ("cost", "min", "max", "step")
_HINT: Final = {"description": "A hint of a legal move, taken and ignored."}

DESCRIBED: Final[dict[str, dict[str, Any]]] = {
    cls.__name__: dict.fromkeys(_HINTS, _HINT) for cls in get_args(Command)
}
"""The hints as properties of each command, for the API's description."""


class _Many(msgspec.Struct, forbid_unknown_fields=True):
    commands: list[dict[str, Raw]]


class _Bounded(msgspec.Struct, tag_field="type", tag="start_run"):
    min: Raw
    stake: Raw | msgspec.UnsetType = msgspec.UNSET


def bare(body: bytes, at: str = "$") -> bytes:
    """A command without hints. Raises Malformed for a run of which nobody said what it takes from
    the vault, though its move has bounds for it: without a stake it would be a granted one."""
    rest = without(body, _HINTS)
    if rest != body and _lacks_its_stake(body):
        why = "`min` and `max` bound the `stake` of this run: add it, or leave them away."
        raise Malformed.at(at, why)
    return rest


def bare_each(body: bytes) -> bytes:
    """Many commands without hints. Raises as `bare`."""
    try:
        many = msgspec.json.decode(body, type=_Many)
    except (msgspec.DecodeError, RecursionError):
        return body
    found = False
    for place, each in enumerate(many.commands):
        if "command" in each:
            command = bytes(each["command"])
            rest = bare(command, f"$.commands[{place}].command")
            found |= rest != command
            each["command"] = Raw(rest)
    return msgspec.json.encode(many) if found else body


def _lacks_its_stake(body: bytes) -> bool:
    try:
        return msgspec.json.decode(body, type=_Bounded).stake is msgspec.UNSET
    except msgspec.DecodeError:
        return False
