"""Routes of the auditor: a round in words, and the proof of its cards."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Response

from services.audit.api import seals_examples as sealed
from services.audit.application.bundles import Bundler
from services.audit.application.rounds import Auditor
from services.audit.domain.bundle import Bundle
from services.audit.domain.proof import Proof, RoundNotOver
from services.audit.domain.recall import Recall
from services.blackjack.domain.rejections import UnknownRound
from shared.eventstore.rejections import Archived
from shared.http.auth import Caller, Forbidden, Unauthenticated, caller_with
from shared.http.openapi import answers, refuses
from shared.http.places import RoundId
from shared.http.problems import Malformed
from shared.http.responses import Json
from shared.seals.rejections import NotSealedYet

PUBLISHED: Final[dict[str, Any]] = {"Bundle": Bundle, "Recall": Recall, "Proof": Proof}

_REFUSED = refuses(Unauthenticated, Forbidden, UnknownRound, Archived, Malformed)
_RECALL: Final[dict[str, Any]] = {
    "round": "table-3.5",
    "ruleset": "a2g",
    "over": True,
    "steps": [
        {"version": 12, "text": "ada bets 20 of 200 chips."},
        {"version": 14, "text": "The dealer shows the jack of spades."},
        {"version": 14, "text": "ada holds the queen of hearts and the 7 of spades: 17."},
        {"version": 15, "text": "ada stands on 17."},
        {"version": 16, "text": "The dealer turns over the 8 of spades: 18."},
        {"version": 17, "text": "ada loses 20."},
        {"version": 18, "text": "ada ends the round with 180 chips, 20 down."},
    ],
    "results": [
        {"seat": 1, "player": "ada", "stack_before": 200, "stack_after": 180, "net": -20},
    ],
}
_PROOF: Final[dict[str, Any]] = {
    "round": "table-3.5",
    "algorithm": "croupier.shoe.v1",
    "decks": 6,
    "commitment": "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd",
    "seed": "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    "client_seeds": ["lucky-7"],
    "drawn": 4,
    "cards": [
        {"place": 0, "to": "seat 1", "logged": "Qh", "derived": "Qh"},
        {"place": 1, "to": "the upcard", "logged": "Js", "derived": "Js"},
        {"place": 2, "to": "seat 1", "logged": "7s", "derived": "7s"},
        {"place": 3, "to": "the hole card", "logged": "8s", "derived": "8s"},
    ],
    "faults": [],
}


_BUNDLE: Final[dict[str, Any]] = {
    "format": "croupier.bundle.v1",
    "house": "local",
    "round": "table-3.5",
    "seal": sealed.SEAL["note"],
    "before": {
        "version": 11,
        "host": "ada",
        "seats": [
            {
                "player": "ada",
                "stack": 200,
                "since": 1,
                "sits_out": False,
                "run": None,
                "items": [],
                "computer": None,
            },
            None,
        ],
        "runs": 0,
    },
    "foundation": [],
    "events": [
        {
            "position": 3,
            "leaf": sealed.INCLUSION["leaf"],
            "hashes": sealed.INCLUSION["hashes"],
            "event": {},
        }
    ],
    "recall": _RECALL,
    "proof": _PROOF,
}


def routes(auditor: Auditor, bundler: Bundler) -> APIRouter:
    """The routes over an auditor."""
    router = APIRouter(prefix="/v1/rounds", tags=["Rounds"], default_response_class=Response)

    @router.get(
        "/{round}/recall",
        summary="A round in words",
        responses=answers("Recall", "The round, step by step.", _RECALL) | _REFUSED,
    )
    async def recall(caller: Annotated[Caller, caller_with("read")], round: RoundId) -> Response:
        """What happened, as a person would read it out: bets, cards, totals, decisions, the
        dealer, what everybody won or lost. A running round is told as far as it has come."""
        return Json(await auditor.recall(caller.house, round))

    @router.get(
        "/{round}/proof",
        summary="The proof of a round",
        responses=answers("Proof", "The proof.", _PROOF) | _REFUSED | refuses(RoundNotOver),
    )
    async def proof(caller: Annotated[Caller, caller_with("audit")], round: RoundId) -> Response:
        """Every card of a finished round, derived again from the seed that was committed to before
        the first card, beside what the log says; and every settlement, judged again. `faults`
        is empty when the round was fair."""
        return Json(await auditor.prove(caller.house, round))

    @router.get(
        "/{round}/bundle",
        summary="A round to take away",
        responses=answers("Bundle", "The bundle.", _BUNDLE)
        | _REFUSED
        | refuses(RoundNotOver)
        | refuses(UnknownRound, NotSealedYet),
    )
    async def bundle(caller: Annotated[Caller, caller_with("audit")], round: RoundId) -> Response:
        """One file to judge a finished round by, without us: its events, each with the proof that
        it is in the sealed log, what committed to the seed, the seal, and the round in words and
        cards. `croupier verify` decides all of it again. It is there once the round is sealed."""
        return Json(await bundler.bundle(caller.house, round))

    return router
