"""Routes of the games: the published ones, and those of a house's own."""

import asyncio
from collections.abc import Iterator
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Depends, Path, Query, Request, Response
from msgspec import Struct, structs

from services.blackjack.api import examples
from services.blackjack.application.rulesets import Rulesets
from services.blackjack.domain.register import (
    VERSION_PATTERN,
    Proposal,
    Versions,
    version_of,
)
from services.blackjack.domain.rejections import (
    RulesetNonsense,
    RulesetPublished,
    RulesetVersionTaken,
    TooManyRulesets,
    UnknownRuleset,
)
from services.blackjack.domain.rules import Ruleset, fingerprint
from services.blackjack.domain.rulesets import A2G
from services.blackjack.domain.rulesets import PUBLISHED as GAMES
from shared.eventstore.rejections import KeyReused, Overloaded, VersionConflict, WaitedTooLong
from shared.http.auth import Forbidden, Unauthenticated, admit
from shared.http.front import Asked, Entrance, Reply
from shared.http.openapi import answers, id_in_path, operation, refuses, takes
from shared.http.parameters import known
from shared.http.problems import BodyTooLarge, Malformed
from shared.http.requests import IDEMPOTENCY_KEY, cause, decode, without
from shared.http.responses import Json
from shared.kernel.ids import ID_PATTERN

_read_proposal: Final = msgspec.json.Decoder(Proposal)
_SHOWN: Final = ("sha256", "published", "versions")
"""What we say of a ruleset, and is no part of it."""
Name = Annotated[str, Path(pattern=ID_PATTERN, description="The ruleset.", examples=["a2g"])]
VersionWanted = Annotated[
    str | None,
    Query(pattern=VERSION_PATTERN, description="A version; without it the newest."),
]


class RulesetVersion(Struct, frozen=True):
    """`sha256` is the fingerprint that the first event of a table without limits of its own has."""

    version: str
    sha256: str


class RulesetView(Ruleset, frozen=True, kw_only=True):
    """A ruleset with the SHA-256 of its canonical JSON, in hex, and all versions of it, oldest
    first. `published`: one of the games that every house has, which never change."""

    sha256: str
    published: bool
    versions: list[RulesetVersion]


class RulesetPage(Struct, frozen=True):
    """The published rulesets, then those of the house's own by name, each in its newest version."""

    data: list[RulesetView]
    next: None = None


PUBLISHED: Final[dict[str, Any]] = {
    cls.__name__: cls for cls in (Proposal, RulesetPage, RulesetView, RulesetVersion)
}
_IGNORED: Final = {"description": "What is said of a ruleset that there is, taken and ignored."}
DESCRIBED: Final[dict[str, dict[str, Any]]] = {"Proposal": dict.fromkeys(_SHOWN, _IGNORED)}
"""The same as properties of a proposal, for the API's description."""


def routes(rulesets: Rulesets) -> APIRouter:
    """The routes that read, over the rulesets of a service."""
    router = APIRouter(
        prefix="/v1",
        tags=["Rulesets"],
        default_response_class=Response,
        dependencies=[Depends(known)],
    )
    _look(router, rulesets)
    return router


def shown(name: str, versions: Versions, version: str | None = None) -> RulesetView:
    """One of the versions of a ruleset, or the newest. Raises UnknownRuleset."""
    ruleset = version_of(name, versions, version)
    return RulesetView(
        **structs.asdict(ruleset),
        sha256=fingerprint(ruleset),
        published=ruleset.name in GAMES,
        versions=[RulesetVersion(each.version, fingerprint(each)) for each in versions],
    )


def _example(ruleset: Ruleset) -> Any:
    """What is answered for a ruleset of one version."""
    return msgspec.json.decode(msgspec.json.encode(shown(ruleset.name, (ruleset,))))


_A2G: Final = _example(A2G)
_OWN: Final = _example(msgspec.convert(examples.OWN_RULESET, Proposal).ruleset())


def _look(router: APIRouter, rulesets: Rulesets) -> None:
    @router.get(
        "/rulesets",
        summary="The games",
        responses=answers("RulesetPage", "All of them.", {"data": [_A2G], "next": None})
        | refuses(Unauthenticated, Forbidden, Malformed),
    )
    async def every_ruleset(request: Request) -> Response:
        """Every ruleset, field by field. Without a key the published ones; with one that has the
        scope `read`, also those that its house has registered."""
        names = list(GAMES)
        house = await _house(request)
        if house is not None:
            names += await rulesets.names(house)
        found = await asyncio.gather(*(rulesets.versions(house or "", each) for each in names))
        return Json(RulesetPage([shown(*each) for each in zip(names, found, strict=True)]))

    @router.get(
        "/rulesets/{name}",
        summary="A game",
        responses=answers("RulesetView", "The ruleset.", _A2G)
        | refuses(Unauthenticated, Forbidden, UnknownRuleset, Malformed),
    )
    async def one_ruleset(request: Request, name: Name, version: VersionWanted = None) -> Response:
        """A ruleset, in any of its versions. A published one needs no key; one that a house has
        registered needs a key of the house with the scope `read`."""
        house = await _house(request)
        is_known = name in GAMES or house is not None
        versions = await rulesets.versions(house or "", name) if is_known else ()
        return Json(shown(name, versions, version))


def entrances(rulesets: Rulesets) -> Iterator[Entrance]:
    """The one route that records, in front of the app."""

    async def register(asked: Asked) -> Reply:
        why = cause(asked.caller, asked.headers)
        proposal = decode(asked.body, _read_proposal, lambda body: without(body, _SHOWN))
        if proposal.name != asked.id:
            different = (
                f"The address says {asked.id!r}, the body {proposal.name!r}: they are the same."
            )
            raise Malformed(different, errors=[{"at": "$.name", "why": different}])
        put = await rulesets.register(why, proposal)
        view = shown(proposal.name, put.versions, proposal.version)
        return Reply(view, 201 if put.is_new else 200)

    yield Entrance("PUT", "/v1/rulesets/{name}", "ops", register, _register())


def _register() -> dict[str, Any]:
    return operation(
        *("register_ruleset", "Rulesets", "Register a game"),
        "Give the house a game of its own, or a further version of one. Safe to repeat.\n\n"
        "The body is the whole ruleset; its `name` is the one in the address. Every version is "
        "kept: open tables play on by the one that they were opened with, new ones by the newest. "
        "It is an event in the log of the house, so that auditors see it.\n\n"
        "What `GET` gives may be changed and put as it is: `sha256`, `published` and `versions` "
        "are taken and ignored.",
        takes("Proposal", examples.OTHER_RULESETS),
        answers("RulesetView", "Registered before, the same.", _OWN)
        | answers("RulesetView", "It can be played.", _OWN, status=201)
        | refuses(Unauthenticated, Forbidden, RulesetPublished, RulesetVersionTaken)
        | refuses(TooManyRulesets, VersionConflict, BodyTooLarge, Malformed, RulesetNonsense)
        | refuses(Overloaded, KeyReused, WaitedTooLong),
        [id_in_path("name", "Its name.", "high-rollers"), IDEMPOTENCY_KEY],
    )


async def _house(request: Request) -> str | None:
    """Whose rulesets are asked for; None without a key. Raises as `admit`."""
    authorization = dict(request.headers.raw).get(b"authorization")
    if authorization is None:
        return None
    state = request.app.state
    caller = await admit(state.keys, state.limits, request.scope, "read", authorization)
    return caller.house
