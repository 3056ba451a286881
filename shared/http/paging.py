"""Pages of long lists: `{data, next}`, bounded, with a cursor that stays valid."""

from typing import Annotated, Final

from fastapi import Query

MOST_A_PAGE: Final = 1000
MOST_NAME_CHARACTERS: Final = 300
MOST_POSITION: Final = 2**53
NAME_PATTERN: Final = "^[a-z0-9._/-]*$"
"""What the names of tables and accounts are made of."""

Limit = Annotated[int, Query(ge=1, le=MOST_A_PAGE, description="How many at most.")]
After = Annotated[
    int,
    Query(
        ge=0,
        le=MOST_POSITION,
        description="Continue after this one: the `next` of the page before.",
    ),
]
AfterName = Annotated[
    str,
    Query(
        max_length=MOST_NAME_CHARACTERS,
        pattern=NAME_PATTERN,
        description="Continue after this one: the `next` of the page before.",
    ),
]
Before = Annotated[
    int,
    Query(
        ge=1,
        le=MOST_POSITION,
        description="Continue before this one: the `next` of the page before; else the newest.",
    ),
]
WaitFor = Annotated[
    int,
    Query(
        ge=0,
        le=MOST_POSITION,
        description="Wait until the list has come to this position of the log, such as that of an "
        "answer to a command; 503 when that takes longer than five seconds.",
    ),
]
