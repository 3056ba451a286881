"""The answer "no": one class for each reason."""

import re
from inspect import getdoc
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta, Struct


class Rejected(Exception):
    """A command was refused and nothing happened.

    Every reason is a class of its own. The first line of its docstring is the title that callers
    see, the rest is the page behind its type; the name of the class is the slug of both.
    `detail` says what went wrong this time and what would be accepted; `facts` are the same for
    machines, as further members of the problem document.
    """

    status: ClassVar[int] = 409
    """The HTTP status that this reason answers with."""

    def __init__(self, detail: str = "", **facts: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.facts = facts

    @classmethod
    def slug(cls) -> str:
        """`NotYourTurn` → `not-your-turn`: the last part of the problem's type."""
        return re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()

    @classmethod
    def title(cls) -> str:
        """The first line of the docstring, without its full stop."""
        return (getdoc(cls) or cls.__name__).splitlines()[0].rstrip(".")


class Problem(Struct, frozen=True):
    """A refusal as its caller reads it: what a problem document says to people."""

    type: Annotated[str, Meta(pattern="^/problems/")]
    title: str
    detail: str

    def __str__(self) -> str:
        stop = "" if self.title.endswith("?") else "."
        return f"{self.title}{stop} {self.detail}"


def problem_in(content: bytes) -> Problem | None:
    """The problem document in an answer, if it is one."""
    try:
        return msgspec.json.decode(content, type=Problem)
    except msgspec.DecodeError:
        return None
