"""Routes of the ledger: grants, vaults, accounts, entries, the trial balance."""

from collections.abc import Iterator
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Query, Response
from msgspec import Struct

from services.ledger.application import Grant, Ledger
from services.ledger.projections import AccountPage, Books, EntryPage, TrialBalance
from shared.eventstore.rejections import KeyReused, Overloaded, UnknownPosition, WaitedTooLong
from shared.http.auth import Caller, Forbidden, Unauthenticated, caller_with
from shared.http.front import Asked, Entrance, Reply
from shared.http.openapi import answers, id_in_path, operation, refuses, takes
from shared.http.paging import (
    MOST_NAME_CHARACTERS,
    MOST_POSITION,
    NAME_PATTERN,
    After,
    AfterName,
    Limit,
)
from shared.http.places import PlayerId
from shared.http.problems import BodyTooLarge, Malformed
from shared.http.requests import IDEMPOTENCY_KEY, cause, decode
from shared.http.responses import Json
from shared.kernel.chips import vault

AccountName = Annotated[
    str,
    Query(
        max_length=MOST_NAME_CHARACTERS,
        pattern=NAME_PATTERN,
        description="The account.",
        examples=["player/ada/vault"],
    ),
]
Prefix = Annotated[
    str,
    Query(
        max_length=MOST_NAME_CHARACTERS,
        pattern=NAME_PATTERN,
        description="Only accounts whose name starts so.",
        examples=["table/table-3/"],
    ),
]
AtPosition = Annotated[
    int | None,
    Query(
        ge=0,
        le=MOST_POSITION,
        description="After the command with the event at this position of the log; else now.",
        examples=[1],
    ),
]
Accountant = Annotated[Caller, caller_with("ledger")]
_read_grant: Final = msgspec.json.Decoder(Grant)
_REFUSED = refuses(Unauthenticated, Forbidden, Malformed)


class Vault(Struct, frozen=True):
    """A player's chips outside of any table."""

    player: str
    balance: int


class Granted(Struct, frozen=True):
    """A grant: its amount, the vault right after it, and its place in the log."""

    player: str
    amount: int
    balance: int
    position: int


PUBLISHED: Final[dict[str, Any]] = {
    cls.__name__: cls for cls in (Grant, Granted, Vault, AccountPage, EntryPage, TrialBalance)
}

_GRANTED = {"player": "ada", "amount": 1000, "balance": 1000, "position": 1}
_ENTRY = {
    "position": 1,
    "line": 1,
    "account": "player/ada/vault",
    "amount": 1000,
    "balance_after": 1000,
    "type": "ledger.chips_granted",
}
_ACCOUNTS = {"data": [{"account": "player/ada/vault", "balance": 1000}], "next": None}
_TRIAL_BALANCE = {
    "position": 1,
    "accounts": [
        {"kind": "issuance", "accounts": 1, "balance": -1000},
        {"kind": "vault", "accounts": 1, "balance": 1000},
    ],
    "total": 0,
    "balanced": True,
}


def routes(books: Books) -> APIRouter:
    """The ledger's routes that read, over its books."""
    router = APIRouter(prefix="/v1", tags=["Ledger"], default_response_class=Response)
    _read_players(router, books)
    _read_accounts(router, books)
    _read_trial_balance(router, books)
    return router


def entrances(ledger: Ledger, books: Books) -> Iterator[Entrance]:
    """The one route that records, in front of the app."""

    async def grant(asked: Asked) -> Reply:
        caller, player = asked.caller, asked.id
        why, command = cause(caller, asked.headers), decode(asked.body, _read_grant)
        appended = await ledger.grant(why, player, command)
        position = appended.last_position
        balance = await books.balance_at(caller.house, vault(player), position)
        granted = Granted(player, command.amount, balance, position)
        return Reply(granted, replayed=appended.replayed)

    described = operation(
        *("grant", "Ledger", "Grant chips"),
        "Give a player new chips, from the issuance into the vault.",
        takes("Grant", {"a thousand": {"amount": 1000}}),
        answers("Granted", "The chips are in the vault.", _GRANTED)
        | refuses(Unauthenticated, Forbidden, Malformed, KeyReused, BodyTooLarge, Overloaded)
        | refuses(WaitedTooLong),
        [id_in_path("player", "The player's id.", "ada"), IDEMPOTENCY_KEY],
    )
    yield Entrance("POST", "/v1/players/{player}/grants", "ledger", grant, described)


def _read_players(router: APIRouter, books: Books) -> None:
    @router.get(
        "/players/{player}/vault",
        summary="A player's vault",
        responses=answers("Vault", "The vault.", {"player": "ada", "balance": 1000}) | _REFUSED,
    )
    async def player_vault(caller: Accountant, player: PlayerId) -> Response:
        """The chips of a player outside of any table; 0 for a player nobody has heard of."""
        return Json(Vault(player, await books.balance(caller.house, vault(player))))

    @router.get(
        "/players/{player}/entries",
        summary="A player's entries",
        responses=answers("EntryPage", "Oldest first.", {"data": [_ENTRY], "next": None})
        | _REFUSED,
    )
    async def player_entries(
        caller: Accountant, player: PlayerId, after: After = 0, limit: Limit = 100
    ) -> Response:
        """Every movement of the player's vault with the balance after it."""
        return Json(await books.entries(caller.house, vault(player), after, limit))


def _read_accounts(router: APIRouter, books: Books) -> None:
    @router.get(
        "/ledger/accounts",
        summary="Accounts and balances",
        responses=answers("AccountPage", "By name.", _ACCOUNTS) | _REFUSED,
    )
    async def accounts(
        caller: Accountant,
        prefix: Prefix = "",
        after: AfterName = "",
        limit: Limit = 100,
    ) -> Response:
        """All accounts of the house: vaults, stacks, stakes in play, banks, the issuance."""
        return Json(await books.accounts(caller.house, prefix, after, limit))

    @router.get(
        "/ledger/entries",
        summary="An account's entries",
        responses=answers("EntryPage", "Oldest first.", {"data": [_ENTRY], "next": None})
        | _REFUSED,
    )
    async def entries(
        caller: Accountant,
        account: AccountName,
        after: After = 0,
        limit: Limit = 100,
    ) -> Response:
        """Every line of one account with the balance after it and the event that caused it."""
        return Json(await books.entries(caller.house, account, after, limit))


def _read_trial_balance(router: APIRouter, books: Books) -> None:
    @router.get(
        "/ledger/trial-balance",
        summary="The trial balance",
        responses=answers("TrialBalance", "All chips at one position.", _TRIAL_BALANCE)
        | _REFUSED
        | refuses(UnknownPosition),
    )
    async def trial_balance(caller: Accountant, position: AtPosition = None) -> Response:
        """All accounts by kind at one position of the log: the present one, or any earlier one. An
        account counts from its first line on. A command balances as a whole, so amid the events of
        one it is that of its last. The total is always 0."""
        return Json(await books.trial_balance(caller.house, position))
