"""What stands in the path of a route: whose table, round or vault is meant."""

from typing import Annotated

from fastapi import Path

from shared.kernel.ids import ID_PATTERN

TableId = Annotated[
    str, Path(pattern=ID_PATTERN, description="The table's id.", examples=["table-3"])
]
PlayerId = Annotated[
    str, Path(pattern=ID_PATTERN, description="The player's id.", examples=["ada"])
]
RoundId = Annotated[
    str,
    Path(
        pattern=rf"{ID_PATTERN.rstrip('$')}\.[1-9][0-9]{{0,14}}$",
        description="The round's id: its table and number.",
        examples=["table-3.5"],
    ),
]
