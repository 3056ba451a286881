"""What stands in addresses, queries and headers: what a route takes, and nothing else."""

from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.params import Param
from fastapi.responses import Response

from shared.http import problems
from shared.http.problems import Malformed

_MOST_CHARACTERS: Final = 40


def install(app: FastAPI) -> None:
    """Make a parameter that does not fit a problem document, as other refusals are."""

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        taken = _taken(request)
        errors = [
            {"at": ".".join(map(str, each["loc"])), "why": _why(each, taken)}
            for each in error.errors()
        ]
        detail = "; ".join(f"{each['at']}: {each['why']}" for each in errors)
        return problems.response(Malformed(detail, errors=errors))

    app.add_exception_handler(RequestValidationError, invalid)


async def known(request: Request) -> None:
    """A dependency: raises Malformed for a query with what the route does not take.

    What is misspelt would be left out otherwise, and another range answered than was meant.
    """
    if not request.scope["query_string"]:
        return
    taken = [name for place, name in _taken(request) if place == "query"]
    for name in request.query_params:
        if name not in taken:
            takes = f"It is one of: {', '.join(taken)}." if taken else "There is none here."
            raise Malformed.at(f"query.{name[:_MOST_CHARACTERS]}", f"No such parameter. {takes}")


def _why(error: Any, taken: dict[tuple[str, ...], Param]) -> str:
    """What was found wrong; where it is a pattern, first what it is about, and an example."""
    parameter = taken.get(tuple(map(str, error["loc"])))
    if error["type"] != "string_pattern_mismatch" or parameter is None:
        return str(error["msg"])
    about = (parameter.description or "").rstrip(".")
    example = f", such as {parameter.examples[0]}" if parameter.examples else ""
    return f"{about}{example}. It matches {error['ctx']['pattern']}."


def _taken(request: Request) -> dict[tuple[str, ...], Param]:
    """The parameters of the route of a request, by their places and names."""
    fields = get_flat_params(request.scope["route"].dependant)
    found = ((field.alias, field.field_info) for field in fields)
    return {(each.in_.value, name): each for name, each in found if isinstance(each, Param)}
