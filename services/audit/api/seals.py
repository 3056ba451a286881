"""Routes of the auditor: seals of the log, and the proofs by them."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Path, Query, Response
from msgspec import Struct

from services.audit.api import seals_examples as examples
from shared.http.auth import Caller, Forbidden, Unauthenticated, caller_with
from shared.http.front import Asked, Entrance, Reply
from shared.http.openapi import answers, operation, refuses, takes
from shared.http.paging import MOST_POSITION, Before, Limit
from shared.http.problems import BodyTooLarge, Malformed
from shared.http.requests import decode
from shared.http.responses import Json
from shared.seals.rejections import NotSealedYet, UnknownSeal, UnknownWitness, WrongCosignature
from shared.seals.served import (
    ConsistencyProof,
    InclusionProof,
    Seal,
    SealKeys,
    SealPage,
    Seals,
    SealStatus,
)

SIZE_PATTERN: Final = "^[1-9][0-9]{0,14}$"

Inspector = Annotated[Caller, caller_with("audit")]
Size = Annotated[
    int, Path(ge=1, le=MOST_POSITION, description="How many events it seals.", examples=[16])
]
Position = Annotated[int, Query(ge=1, le=MOST_POSITION, description="Of the event.", examples=[3])]
LogSize = Annotated[
    int | None,
    Query(ge=1, le=MOST_POSITION, description="Of the log; else that of the newest seal."),
]
From = Annotated[
    int,
    Query(alias="from", ge=1, le=MOST_POSITION, description="The smaller size.", examples=[3]),
]
To = Annotated[
    int | None,
    Query(
        alias="to",
        ge=1,
        le=MOST_POSITION,
        description="The larger size; else that of the newest seal.",
    ),
]
_REFUSED = refuses(Unauthenticated, Forbidden, Malformed)
_SIZE_IN_PATH: Final[dict[str, Any]] = {
    "name": "size",
    "in": "path",
    "required": True,
    "description": "How many events it seals.",
    "schema": {"type": "string", "pattern": SIZE_PATTERN},
    "example": "16",
}


class Cosigned(Struct, frozen=True, forbid_unknown_fields=True):
    """What a witness has signed: a line of a signed note, `— <name> <base64>`."""

    cosignature: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]


PUBLISHED: Final[dict[str, Any]] = {
    cls.__name__: cls
    for cls in (Cosigned, ConsistencyProof, InclusionProof, Seal, SealPage, SealKeys)
} | {"SealStatus": SealStatus}
_read: Final = msgspec.json.Decoder(Cosigned)


def routes(seals: Seals) -> APIRouter:
    """The routes that read seals, and proofs by them."""
    router = APIRouter(prefix="/v1/audit", tags=["Seals"], default_response_class=Response)
    _seals(router, seals)
    _proofs(router, seals)
    _status(router, seals)
    return router


def entrances(seals: Seals) -> Iterator[Entrance]:
    """Where witnesses bring what they have signed, in front of the app."""

    async def cosign(asked: Asked) -> Reply:
        if not re.fullmatch(SIZE_PATTERN, asked.id):
            raise Malformed.at("path.size", "A seal is named by the number of events it seals.")
        line = decode(asked.body, _read).cosignature
        return Reply(await seals.cosign(asked.caller.house, int(asked.id), line))

    described = operation(
        *("cosign_seal", "Seals", "Cosign a seal"),
        "For witnesses who have found a seal consistent with those they saw before: the line that "
        "says so becomes part of the seal. The first of each witness stays.",
        takes("Cosigned", {"a witness": {"cosignature": examples.COSIGNATURE}}),
        answers("Seal", "The seal with it.", examples.SEAL)
        | refuses(Unauthenticated, Forbidden, UnknownWitness, UnknownSeal, BodyTooLarge)
        | refuses(Malformed, WrongCosignature),
        [_SIZE_IN_PATH],
    )
    yield Entrance("POST", "/v1/audit/seals/{size}/cosignatures", "audit", cosign, described)


def _seals(router: APIRouter, seals: Seals) -> None:
    @router.get(
        "/seals",
        summary="All seals",
        responses=answers("SealPage", "Newest first.", examples.SEALS) | _REFUSED,
    )
    async def every_seal(
        caller: Inspector, before: Before = MOST_POSITION, limit: Limit = 100
    ) -> Response:
        """The seals of the house's log: each a signed hash of all events up to its size."""
        return Json(await seals.page(caller.house, before, limit))

    @router.get(
        "/seals/latest",
        summary="The newest seal",
        responses=answers("Seal", "The seal.", examples.SEAL) | _REFUSED | refuses(UnknownSeal),
    )
    async def latest_seal(caller: Inspector) -> Response:
        """Its `note` is a checkpoint in a signed note (C2SP): save it, and `croupier verify` holds
        an export of any later day against it."""
        return Json(await seals.latest(caller.house))

    @router.get(
        "/seals/{size}",
        summary="A seal",
        responses=answers("Seal", "The seal.", examples.SEAL) | _REFUSED | refuses(UnknownSeal),
    )
    async def one_seal(caller: Inspector, size: Size) -> Response:
        """The seal of exactly so many events, with what witnesses have signed meanwhile."""
        return Json(await seals.at(caller.house, size))


def _proofs(router: APIRouter, seals: Seals) -> None:
    @router.get(
        "/proofs/inclusion",
        summary="That an event is in the log",
        responses=answers("InclusionProof", "The proof.", examples.INCLUSION)
        | _REFUSED
        | refuses(NotSealedYet),
    )
    async def inclusion_proof(
        caller: Inspector,
        position: Position,
        size: LogSize = None,
    ) -> Response:
        """The hashes that lead from the leaf of an event, SHA-256(0x00 ‖ envelope), to the root of
        a seal (RFC 6962)."""
        return Json((await seals.inclusion(caller.house, [position], size))[0])

    @router.get(
        "/proofs/consistency",
        summary="That the log only grew",
        responses=answers("ConsistencyProof", "The proof.", examples.CONSISTENCY)
        | _REFUSED
        | refuses(NotSealedYet),
    )
    async def consistency_proof(
        caller: Inspector,
        old: From,
        new: To = None,
    ) -> Response:
        """The hashes that show that the log of the larger size begins with all of the smaller one
        (RFC 6962)."""
        return Json(await seals.consistency(caller.house, old, new))


def _status(router: APIRouter, seals: Seals) -> None:
    @router.get(
        "/keys",
        summary="The keys that seal",
        responses=answers("SealKeys", "Oldest first.", examples.KEYS) | _REFUSED,
    )
    async def seal_keys(caller: Inspector) -> Response:
        """Every public key that ever sealed the log, so that old seals can be checked. Whom to
        believe is yours to say: compare them with those that you were given otherwise."""
        return Json(await seals.keys(caller.house))

    @router.get(
        "/status",
        summary="How far the log was checked",
        responses=answers("SealStatus", "The status.", examples.STATUS) | _REFUSED,
    )
    async def audit_status(caller: Inspector) -> Response:
        """Where the log ends, up to where its hashes were checked and sealed, how old the newest
        seal is, and whether anything was ever found wrong."""
        return Json(await seals.status(caller.house))
