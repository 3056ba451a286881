"""What `croupier demo` does: plays through the API as anybody could, then checks the whole log."""

from collections import Counter
from collections.abc import Iterator
from random import Random
from secrets import token_hex
from time import sleep
from typing import Any, Final, TypeVar

import httpx
import msgspec
from msgspec import Struct

from services.audit.application.feed import from_feed
from services.audit.domain.verify import Report, Verifier
from services.blackjack.domain.cards import POINTS
from services.blackjack.domain.moves import Move
from services.blackjack.domain.rules import Ruleset
from services.blackjack.domain.view import HandView, TableView
from services.ledger.projections import TrialBalance
from shared.eventstore.jsonlines import FeedLine
from shared.kernel.rejected import problem_in

PLAYERS: Final = ("ada", "bob", "cyd")
CHIPS: Final = 500
"""What a player brings to a table, and again when it is gone."""

_PAGE: Final = 1000
_TRIES: Final = 5
_PAUSE_SECONDS: Final = 1
"""How long a server that has too much to do is left alone before the next try."""

_TIMEOUT_SECONDS: Final = 30

T = TypeVar("T")


class CannotDemonstrate(Exception):
    """The demo cannot go on. The message says what to do about it."""


class Played(Struct, frozen=True):
    """An answer to a command, as far as a player needs it."""

    table: TableView


class Rulesets(Struct, frozen=True):
    """The games that are offered."""

    data: list[Ruleset]


class Page(Struct, frozen=True):
    """A part of the log."""

    data: list[FeedLine]
    next: int


class Api:
    """A client of a running Croupier. Every method raises CannotDemonstrate."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        try:
            self._client = httpx.Client(
                base_url=url,
                headers={b"Authorization": f"Bearer {key}".encode()},
                timeout=_TIMEOUT_SECONDS,
                trust_env=False,
            )
        except httpx.InvalidURL as error:
            raise CannotDemonstrate(f"{url} is no address of a server: {error}.") from None

    def knock(self) -> None:
        """Fails early: when nobody answers, or the key is wrong or may not audit."""
        self.get("/v1/events", Page, limit=1)

    def get(self, path: str, answer: type[T], **query: Any) -> T:
        """The answer to a question, in its type."""
        return self._decoded(self._send("GET", path, params=query), answer)

    def put(self, path: str, body: dict[str, Any]) -> None:
        """Put something in its place."""
        self._send("PUT", path, json=body)

    def post(self, path: str, body: dict[str, Any], answer: type[T]) -> T:
        """A command that happens once, however often it has to be sent."""
        headers = {"Idempotency-Key": token_hex(16)}
        return self._decoded(self._send("POST", path, json=body, headers=headers), answer)

    def _send(self, method: str, path: str, **request: Any) -> bytes:
        for _ in range(_TRIES):
            try:
                answer = self._client.request(method, path, **request)
            except httpx.TransportError as error:
                raise CannotDemonstrate(
                    f"Nothing answers at {self._url} ({error}). Start `croupier up` in another "
                    "terminal, or name the server with --url, or its port with CROUPIER_PORT."
                ) from None
            if answer.is_success:
                return answer.content
            if answer.status_code not in (429, 503):
                break
            sleep(_PAUSE_SECONDS)
        raise CannotDemonstrate(self._refusal(answer, f"{method} {path}"))

    def _decoded(self, content: bytes, answer: type[T]) -> T:
        try:
            return msgspec.json.decode(content, type=answer)
        except msgspec.DecodeError as error:
            raise CannotDemonstrate(
                f"What answers at {self._url} is not this version of Croupier: {error}."
            ) from None

    def _refusal(self, answer: httpx.Response, request: str) -> str:
        said = problem_in(answer.content) or "The answer is no problem document."
        match answer.status_code:
            case 401:
                return f"{self._url} does not take this key. {said} Name another with --key."
            case 403:
                return f"This key cannot run the demo. {said}"
            case status:
                return f"{request} was answered with {status}. {said}"


class Game:
    """A fresh table of one ruleset with players of its own, who touch nothing else."""

    def __init__(self, api: Api, ruleset: Ruleset, tag: str, chance: Random) -> None:
        self._api = api
        self._ruleset = ruleset
        self._chance = chance
        self.table = f"demo-{tag}-{ruleset.name}"
        self.players = [f"{name}-{tag}" for name in PLAYERS[: ruleset.seats]]

    def rounds(self, count: int) -> Iterator[str]:
        """Plays so many rounds and gives the id of each when it is over; then closes the table."""
        self._api.put(
            f"/v1/tables/{self.table}", {"ruleset": self._ruleset.name, "host": self.players[0]}
        )
        for seat, player in enumerate(self.players, 1):
            seen = self._arrive(seat, player)
        for _ in range(count):
            seen = self._deal(seen)
            while seen.phase in ("insurance", "player_turn"):
                seen = self._do(self._command(_choose(seen, self._chance)))
            assert seen.round is not None
            yield seen.round.id
        self._do({"type": "close"})

    def _deal(self, seen: TableView) -> TableView:
        """Every seat bets; where the host deals, the host does."""
        for seat, player in enumerate(self.players, 1):
            while (move := _find(seen, "bet", seat)) is None:
                seen = self._go_on(seat, player)
            bet = {"type": "bet", "seat": seat, "amount": self._amount(move)}
            seen = self._do(bet | {"client_seed": f"{PLAYERS[seat - 1]}-{token_hex(3)}"})
        deal = _find(seen, "deal")
        return self._do(self._command(deal)) if deal else seen

    def _arrive(self, seat: int, player: str) -> TableView:
        """Bring chips to a seat: any, or those that a run may begin with."""
        self._grant(player)
        if run := self._ruleset.run:
            stake = run.max_stake
            start = {"type": "start_run", "seat": seat, "player": player, "stake": stake}
            return self._do(start)
        return self._do({"type": "sit", "seat": seat, "player": player, "buy_in": CHIPS})

    def _go_on(self, seat: int, player: str) -> TableView:
        """The seat cannot bet: buy in or, when its run is over, start the next."""
        if self._ruleset.run:
            return self._arrive(seat, player)
        self._grant(player)
        return self._do({"type": "buy_in", "seat": seat, "amount": CHIPS})

    def _amount(self, bet: Move) -> int:
        least, most, step = bet.min or 1, bet.max or 1, bet.step or 1
        return self._chance.choice(range(least, min(most, least + 50) + 1, step))

    def _grant(self, player: str) -> None:
        if self._ruleset.bankroll == "vault":
            self._api.post(f"/v1/players/{player}/grants", {"amount": CHIPS}, dict)

    def _do(self, command: dict[str, Any]) -> TableView:
        return self._api.post(f"/v1/tables/{self.table}/commands", command, Played).table

    def _command(self, move: Move) -> dict[str, Any]:
        names = ("type", "seat", "hand", "player")
        return {name: value for name in names if (value := getattr(move, name)) is not None}


class Audit:
    """Reads the log of the house from its first event on and checks all of it, trusting nobody."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._verifier = Verifier()  # whose log it is, only the key says
        self.trial_balance = api.get("/v1/ledger/trial-balance", TrialBalance)

    def read(self) -> Iterator[int]:
        """Reads up to the position of the trial balance; gives the position reached, by page."""
        position, end = 0, self.trial_balance.position
        while position < end:
            limit = min(_PAGE, end - position)
            page = self._api.get("/v1/events", Page, after=position, limit=limit)
            if not page.data:
                return
            for record in page.data:
                self._verifier.read(from_feed(record))
            position = page.next
            yield position

    def report(self) -> tuple[Report, list[str]]:
        """What was read, and everything that is wrong: with it, or with the trial balance."""
        report, books = self._verifier.report(), self.trial_balance
        wrong = [f"At position {fault.position}: {fault.what}" for fault in report.faults]
        if more := report.fault_count - len(report.faults):
            wrong.append(f"There are {more} more.")
        if report.position != books.position:
            wrong.append(f"The log ends at {report.position}, the ledger at {books.position}.")
        if books.total != 0:
            wrong.append(f"The trial balance is {books.total}, not 0.")
        ours = Counter[str]()
        for account, balance in report.balances.items():
            ours[account.rpartition("/")[2]] += balance
        theirs = Counter({kind.kind: kind.balance for kind in books.accounts})
        wrong += [
            f"The ledger has {theirs[kind]} in all {kind} accounts, the log gives {ours[kind]}."
            for kind in sorted(ours | theirs)
            if ours[kind] != theirs[kind]
        ]
        return report, wrong


_PLAY: Final = frozenset(
    ("hit", "stand", "double_down", "split", "surrender", "insure", "decline_insurance")
)


def _choose(seen: TableView, chance: Random) -> Move:
    """A sensible legal move; one that shows something off where there is a choice."""
    turn = seen.turn
    moves = {
        move.type: move
        for move in seen.legal_moves
        if move.type in _PLAY and (turn is None or move.seat == turn.seat)
    }
    if "insure" in moves and chance.random() < 0.5:
        return moves["insure"]
    if turn is None:
        return moves["decline_insurance"]
    hand = next(
        hand
        for seat in seen.seats
        if seat.seat == turn.seat
        for hand in seat.hands
        if hand.hand == turn.hand
    )
    assert seen.dealer is not None
    dealer_is_strong = POINTS[seen.dealer.cards[0]] in (1, 7, 8, 9, 10)
    return next(moves[type] for type in _wishes(hand, dealer_is_strong) if type in moves)


def _wishes(hand: HandView, dealer_is_strong: bool) -> Iterator[str]:
    """What to do with a hand, best first: the rough shape of basic strategy."""
    if hand.total not in (10, 20):
        yield "split"
    if hand.total in (9, 10, 11):
        yield "double_down"
    if hand.total in (15, 16) and dealer_is_strong and not hand.soft:
        yield "surrender"
    if hand.total < (18 if hand.soft else 17 if dealer_is_strong else 12):
        yield "hit"
    yield "stand"


def _find(seen: TableView, type: str, seat: int | None = None) -> Move | None:
    moves = (move for move in seen.legal_moves if move.type == type)
    return next((move for move in moves if seat in (None, move.seat)), None)
